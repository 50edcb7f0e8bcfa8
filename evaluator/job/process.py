"""Run the inference process: start it in the sandbox, read its events, and end it with the worker.

This is the worker's side of `evaluator/job/child.py`, which writes one event a line to its stdout: first "environment", then
"loaded", "answered" and "measured" for each answer, and "failed" if it fails. The answers themselves are in the job folder.
`evaluator/results/evaluate.py` calls `run_inference`.
"""

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from evaluator.core.data_types import MAX_MESSAGE
from evaluator.core.errors import EvaluationError, EvaluationStopped, ModelServerError
from evaluator.core.files import size_of
from evaluator.core.signals import SIGKILL_EXIT_CODES, STOP_NOTICE_SECONDS, was_stopped
from evaluator.engines.options import VERSION, EngineOptions
from evaluator.job.folder import REMOTE_MEMORY, Job, tail_of
from evaluator.sandbox.control_group import NO_GROUP, ControlGroup, control_group
from evaluator.sandbox.environment import child_environment, inside_sandbox, program_path
from evaluator.sandbox.policy import (
    BUILDER,
    MAX_PROCESSES,
    SandboxPolicy,
    grant_access,
    new_user,
    sandbox_command,
)
from submissions.config.paths import ROOT
from submissions.config.server_command import program_of
from submissions.records.base import MAX_PARAMS
from submissions.texts.failure_codes import FailureCode

CHILD = "evaluator.job.child"  # the module run as the inference process
MAX_EVENT_BYTES = 65_536
MAX_BATCH_SIZE = 65_536
MAX_EXTRA_EVENTS = 10  # beyond one event for each answer and latency sample
# Infrastructure failures that only the process in the sandbox can detect: the device is too small, a library is
# missing, a server did not start. All others that it reports count as model failures.
TRUSTED_CHILD_CODES = {FailureCode.OUT_OF_MEMORY, FailureCode.MISSING_LIBRARY, FailureCode.SERVER_FAILED}
# Limit on the bytes of the files that it writes, mostly raw output: a constant, and more for each prompt.
OUT_BYTES = 256 * 2**20
OUT_BYTES_PER_PROMPT = 64 * 2**10
# Time limit for loading: a constant, and the size of the weights divided by a speed that even slow disks reach.
LOAD_SECONDS = 1800.0
LOAD_BYTES_PER_SECOND = 20e6
# Time for the first answer of a model on this machine after it is loaded. A tokenizer may never end.
FIRST_ANSWER_SECONDS = 3600.0
SIZE_CHECK_SECONDS = 2.0  # between checks of how much it has written
WATCH_SECONDS = 0.2  # between checks of the time limits

OnProgress = Callable[[str, int, int], None]  # called with the stage, the number of prompts done in it, and their total


def run_inference(
    job: Job,
    answered: int,
    total: int,
    latency_samples: int,
    on_progress: OnProgress,
    stop: threading.Event | None = None,
    *,
    sandbox: bool = True,
    devices: Sequence[str] | None = None,
) -> float:
    """Run the inference process until all `total` prompts are answered and the latency samples are measured.

    `answered` prompts have answers from an earlier run. `devices` are names as in CUDA_VISIBLE_DEVICES. Return the seconds
    from the end of loading to the end of the process.

    Raises EvaluationError if the process fails, EvaluationStopped once `stop` is set, and SandboxError if the sandbox
    cannot be built.
    """
    on_progress("load", answered, total)
    command = _command(job, sandbox, devices)
    with (
        control_group(command.memory, MAX_PROCESSES) if command.memory else nullcontext(NO_GROUP) as group,
        job.log.open("ab") as log,
        subprocess.Popen(
            group.wrap_command(command.words),
            stdin=subprocess.PIPE,  # the child exits when this closes, also if the worker is killed
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=ROOT,
            env=command.environment,
            process_group=0,
        ) as child,
    ):
        assert child.stdout is not None
        max_bytes = OUT_BYTES + OUT_BYTES_PER_PROMPT * (total + latency_samples)
        watchdog = _Watchdog(child, stop or threading.Event(), job, max_bytes)
        threading.Thread(target=watchdog.run, daemon=True).start()
        observer = _Observer(job, watchdog, answered, total, latency_samples, on_progress, group.version, sandbox)
        try:
            for line in iter(partial(child.stdout.readline, MAX_EVENT_BYTES), b""):
                observer.handle(line)
            child.wait()  # before its stdin closes, which would kill it while it exits
        except BaseException as error:
            _kill(child)
            if isinstance(error, EvaluationError) and stop and stop.is_set():
                raise EvaluationStopped from None  # the watchdog killed it in the middle of a line
            raise
        # The group can be asked only as long as it exists.
        memory_error = _memory_error(group, observer) if child.returncode else None
    if child.returncode and stop and stop.wait(STOP_NOTICE_SECONDS if was_stopped(child.returncode) else 0):
        raise EvaluationStopped
    if watchdog.exceeded:
        raise watchdog.exceeded
    if memory_error:
        raise memory_error
    if child.returncode:
        raise _exit_error(child.returncode, observer, job)
    return time.monotonic() - observer.loaded_at


def _memory_error(group: ControlGroup, observer: "_Observer") -> EvaluationError | None:
    """Return the error of a process that ended because memory ran out, or None if it ended for another reason."""
    if not group.has_run_out_of_memory():
        return None
    if observer.is_loaded and group.has_reached_its_limit():
        return EvaluationError(FailureCode.MODEL_ERROR, "the inference process took more memory than its limit")
    return EvaluationError(FailureCode.OUT_OF_MEMORY, "the memory of this machine or container ran out")


def _exit_error(returncode: int, observer: "_Observer", job: Job) -> EvaluationError:
    """Return the error of a process that failed by itself: the one that it reported, else by its exit code."""
    if returncode < 0 or returncode in SIGKILL_EXIT_CODES:
        number = -returncode if returncode < 0 else returncode - 128
        return EvaluationError(FailureCode.PROCESS_KILLED, f"the inference process was ended by signal {number}")
    message = observer.reason or _last_line(job.log)
    if observer.failure == FailureCode.SERVER_FAILED:  # a server that does not start was asked nothing
        return ModelServerError(message, may_quote_questions=observer.is_loaded)
    # After loading, an exit without a failure event may be caused by the model.
    unreported = FailureCode.MODEL_ERROR if observer.sandbox and observer.is_loaded else FailureCode.INTERNAL_ERROR
    return EvaluationError(observer.failure or unreported, message, may_quote_questions=True)


@dataclass(frozen=True)
class _Command:
    """How to start the inference process."""

    words: list[str]  # the command line
    environment: dict[str, str]
    memory: int | None  # bytes that the process and its children may use together; None: no limit


def _command(job: Job, sandbox: bool, devices: Sequence[str] | None) -> _Command:
    """Return how to start the inference process, in a sandbox or without.

    Raises SandboxError if the sandbox cannot be built, EvaluationError if its user cannot read the model.
    """
    options = job.options()
    folder = job.folder.resolve()
    environment = child_environment(options.api, devices)
    words = [sys.executable, "-m", CHILD, str(folder)]
    if not sandbox:
        return _Command(words, environment, memory=REMOTE_MEMORY if options.remote else None)
    user = new_user()
    folders = [path for path in (options.model, options.adapter) if path]
    # The files may be symbolic links into the operator's Hub cache.
    files = (path for model in folders for path in model.rglob("*"))
    linked = [path.resolve() for path in files if path.is_symlink()]
    for model in folders:
        grant_access(job.out, model, user)
    if os.geteuid() == 0:
        _check_readable(linked)
    program = _installation(options.api.spawn) if options.api and options.api.spawn else []
    environment = inside_sandbox(environment, custom_code=options.custom_code)
    policy = SandboxPolicy(
        visible=[*folders, *linked, *program, folder],
        writable=folder / job.out.name,
        environment=environment,
        user=user,
    )
    return _Command(sandbox_command(words, policy), environment, memory=policy.memory_limit)


def _check_readable(linked: Sequence[Path]) -> None:
    """Raise EvaluationError if not every user may read these files. The operator's own files get no other permissions."""
    for path in linked:
        if not path.stat().st_mode & stat.S_IROTH:
            message = f"{path}: the sandbox's user may not read it; chmod o+r"
            raise EvaluationError(FailureCode.INTERNAL_ERROR, message)


class _Event(BaseModel):
    """An event: one line of JSON from the inference process, such as `{"event": "loaded", "batch_size": 64}`."""

    kind: Literal["environment", "loaded", "answered", "measured", "failed"] = Field(alias="event")
    # Of "environment": the engine's library versions and hardware.
    values: dict[str, str | float] = {}
    # Of "loaded".
    batch_size: int | None = Field(default=None, ge=1, le=MAX_BATCH_SIZE)
    params: int | None = Field(default=None, ge=0, le=MAX_PARAMS)
    image_processor: str | None = Field(default=None, pattern=r"^[A-Za-z0-9]{1,40}ImageProcessor(Fast|Pil)?$")
    server_version: str | None = Field(default=None, pattern=f"^{VERSION}$")
    server_context: int | None = Field(default=None, ge=1, le=MAX_PARAMS)
    # Of "failed".
    code: FailureCode | None = None
    message: str = Field(default="", max_length=MAX_MESSAGE)

    @property
    def reported(self) -> dict[str, str | int]:
        """What the loaded engine reports of itself. Names that it leaves out are missing."""
        names = ("image_processor", "server_version", "server_context")
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value}


def _parse_event(line: bytes) -> _Event:
    """Return the event in a line. Raises EvaluationError if there is none."""
    try:
        return _Event.model_validate_json(line)
    except ValueError:
        message = "the inference process wrote a line that is not an event"
        raise EvaluationError(FailureCode.MODEL_ERROR, message) from None


class _Observer:
    """Reads the events of an inference process, records what they report, and passes on its progress.

    The first event comes before any file of the model is read. In the sandbox, later ones may be sent by code of the model.
    """

    def __init__(
        self,
        job: Job,
        watchdog: "_Watchdog",
        answered: int,
        total: int,
        latency_samples: int,
        on_progress: OnProgress,
        group_version: str,
        sandbox: bool,
    ) -> None:
        """Create the observer. `group_version` is that of the process's control group, which is recorded."""
        self.sandbox = sandbox
        self.loaded_at = time.monotonic()
        self.failure: FailureCode | None = None  # that the process reported before its end
        self.reason = ""  # its message about the failure
        self._job = job
        self._watchdog = watchdog
        self._on_progress = on_progress
        self._group_version = group_version
        self._total = total
        self._latency_samples = latency_samples
        self._answered = answered
        self._measured = 0
        self._events = 0  # number of events so far

    @property
    def is_loaded(self) -> bool:
        """Whether the model has been loaded."""
        return self._watchdog.loaded.is_set()

    def handle(self, line: bytes) -> None:
        """Handle an event. Raises EvaluationError if the line is not an event, or there are too many."""
        event = _parse_event(line)
        is_first = self._events == 0
        has_too_many = self._events > self._total + self._latency_samples + MAX_EXTRA_EVENTS
        if has_too_many or (event.kind == "loaded" and self.is_loaded):
            raise EvaluationError(FailureCode.MODEL_ERROR, "the inference process sent too many events")
        self._events += 1
        if event.kind == "environment":
            if is_first:
                self._record_environment(event)
        elif event.kind == "failed":
            self._record_failure(event, is_first=is_first)
        else:
            if event.kind == "loaded":
                self._record_loaded(event)
            self._report_progress(event)

    def _record_environment(self, event: _Event) -> None:
        built_by = BUILDER if self.sandbox else "none"
        self._job.write_environment({**event.values, "sandbox": built_by, "cgroup": self._group_version})

    def _record_loaded(self, event: _Event) -> None:
        if event.batch_size is None:
            raise EvaluationError(FailureCode.MODEL_ERROR, "the inference process reported no batch size")
        loaded_as = {"batch_size": event.batch_size, "params": event.params}
        # Custom code could report any name or version here.
        reported = {} if self._job.options().custom_code else event.reported
        self._job.write_environment({**self._job.environment(), **loaded_as, **reported})
        self.loaded_at = time.monotonic()
        self._watchdog.loaded.set()

    def _record_failure(self, event: _Event, *, is_first: bool) -> None:
        """Keep a reported failure for the end of the process. A model cannot pass its failure off as the machine's."""
        self.failure = event.code
        self.reason = _printable(event.message)
        may_be_from_model = self.sandbox and not is_first
        is_infrastructure = self.failure is not None and self.failure.is_infrastructure
        if may_be_from_model and is_infrastructure and self.failure not in TRUSTED_CHILD_CODES:
            self.failure = FailureCode.MODEL_ERROR

    def _report_progress(self, event: _Event) -> None:
        # Bounded, because code of the model may send extra events.
        if event.kind == "answered":
            self._answered = min(self._total, self._answered + 1)
        if event.kind == "measured":
            self._measured = min(self._latency_samples, self._measured + 1)
        if event.kind in ("answered", "measured"):
            self._watchdog.answered.set()
        if self._measured:
            self._on_progress("measure", self._measured, self._latency_samples)
        else:
            self._on_progress("infer", self._answered, self._total)


class _Watchdog:
    """Kills the inference process if the evaluation is stopped, or if it writes too much or takes too long to begin.

    Finished answers are in its file already, so at most one batch has to be asked again.
    """

    def __init__(self, child: subprocess.Popen[bytes], stop: threading.Event, job: Job, max_bytes: int) -> None:
        """Create the watchdog. `run` is to be called in a thread of its own; it returns when the process has ended."""
        self.loaded = threading.Event()  # set once the model is loaded
        self.answered = threading.Event()  # set once any question is answered
        self.exceeded: EvaluationError | None = None  # error for the limit that was exceeded
        self._child = child
        self._stop = stop
        self._job = job
        self._max_bytes = max_bytes

    def run(self) -> None:
        """Check the limits until the process has ended."""
        size_checked = time.monotonic()  # when that was last
        options = self._job.options()
        seconds = _load_seconds(options)
        load_deadline = size_checked + seconds
        answer_deadline: float | None = None  # for the first answer; set once the model is loaded
        while self._child.poll() is None:
            if self._stop.wait(WATCH_SECONDS):
                _kill(self._child)
            elif not self.loaded.is_set() and time.monotonic() > load_deadline:
                self._end(FailureCode.LOAD_TIMEOUT, f"the model was not loaded within {seconds:,.0f} s")
            elif self._is_late(answer_deadline):
                self._end(FailureCode.LOAD_TIMEOUT, f"no answer within {FIRST_ANSWER_SECONDS:,.0f} s after loading")
            elif time.monotonic() - size_checked > SIZE_CHECK_SECONDS:
                with suppress(FileNotFoundError):  # the job is finished and its folder removed
                    if size_of(self._job.out, self._max_bytes) + self._job.log.stat().st_size > self._max_bytes:
                        message = f"the inference process wrote more than {self._max_bytes:,} bytes"
                        self._end(FailureCode.MODEL_ERROR, message)
                size_checked = time.monotonic()
            if answer_deadline is None and self.loaded.is_set() and not options.remote:
                answer_deadline = time.monotonic() + FIRST_ANSWER_SECONDS

    def _is_late(self, answer_deadline: float | None) -> bool:
        """Return whether there is a deadline for the first answer that has passed without one."""
        return answer_deadline is not None and not self.answered.is_set() and time.monotonic() > answer_deadline

    def _end(self, code: FailureCode, message: str) -> None:
        self.exceeded = self.exceeded or EvaluationError(code, message)
        _kill(self._child)


def _load_seconds(options: EngineOptions) -> float:
    """Return how long a model may take to load, in proportion to its files."""
    folders = [path for path in (options.model, options.adapter) if path and not options.remote]
    size = sum(path.stat().st_size for folder in folders for path in folder.glob("*.safetensors"))
    return LOAD_SECONDS + size / LOAD_BYTES_PER_SECOND


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill a process and its process group.

    The group, because bubblewrap leaves a child behind if it is killed just after its start. That child would wait forever
    and keep the pipe of the events open.
    """
    if child.poll() is None:  # otherwise the process id may have been reused
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def _installation(command: str) -> list[Path]:
    """Return the paths that a server's program needs inside the sandbox. `command` is the template of `--spawn`.

    They are its virtual environment with the base Python if it is in one, else its file. Paths in /usr are left out,
    because they are always visible.
    """
    try:
        found = shutil.which(program_of(command), path=program_path())
    except ValueError:  # malformed, which the engine reports
        return []
    if found is None:
        return []
    needed: set[Path] = set()
    for program in (Path(found), Path(found).resolve()):  # a link, and what it points to
        settings = program.parent.parent / "pyvenv.cfg"
        if settings.is_file():
            needed |= {settings.parent, *_base_python(settings)}
        else:
            needed.add(program)
    return sorted(path for path in needed if not path.is_relative_to("/usr"))


def _base_python(settings: Path) -> list[Path]:
    """Return the folder of the Python that a virtual environment's pyvenv.cfg names, in a list that is empty without one.

    "home = /opt/python/bin" -> [/opt/python]
    """
    lines = (line.partition("=") for line in settings.read_text(encoding="utf-8").splitlines())
    homes = [Path(value.strip()) for name, _, value in lines if name.strip() == "home"]
    return [home.parent for home in homes if home.name == "bin" and home.parent != Path("/")]


def _last_line(log: Path) -> str:
    """Return the last line of a log, without terminal control characters."""
    lines = tail_of(log).strip().splitlines()
    return _printable(lines[-1]) if lines else "no output"


def _printable(message: str) -> str:
    """Return the first MAX_MESSAGE characters of a message, without control characters."""
    return "".join(c for c in message[:MAX_MESSAGE] if c.isprintable())
