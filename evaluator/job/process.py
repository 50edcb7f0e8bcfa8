"""Run the inference process: start it in the sandbox, read its events, and end it with the worker."""

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
from evaluator.sandbox.control_group import NO_GROUP, control_group
from evaluator.sandbox.layout import SCRATCH_FOLDERS
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
MAX_EXTRA_EVENTS = 10  # beyond one event for each answer
# Infrastructure failures that only the process in the sandbox can detect: the device is too small, a library is
# missing, a server did not start. All others that it reports count as model failures.
TRUSTED_CHILD_CODES = {FailureCode.OUT_OF_MEMORY, FailureCode.MISSING_LIBRARY, FailureCode.SERVER_FAILED}
OUT_BYTES = 256 * 2**20  # limit on what it writes, mostly raw output
OUT_BYTES_PER_PROMPT = 64 * 2**10
LOAD_SECONDS, LOAD_BYTES_PER_SECOND = 1800.0, 20e6  # time limit for loading: a constant plus size divided by speed
# Time for the first answer of a model on this machine after it is loaded. A tokenizer may never end.
FIRST_ANSWER_SECONDS = 3600.0
SIZE_CHECK_SECONDS = 2.0  # between checks of how much it has written

OnProgress = Callable[[str, int, int], None]  # called with stage, number answered, total


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

    `answered` prompts have answers from an earlier run. Return the seconds from the end of loading to the end of the
    process. Raises EvaluationError if the process fails, EvaluationStopped once `stop` is set, and SandboxError if the
    sandbox cannot be built.
    """
    on_progress("load", answered, total)
    command, environment, policy = _command(job, sandbox, devices)
    if policy:
        memory = policy.memory_limit
    elif job.options().remote:
        memory = REMOTE_MEMORY
    else:
        memory = None
    with (
        control_group(memory, MAX_PROCESSES) if memory else nullcontext(NO_GROUP) as group,
        job.log.open("ab") as log,
        subprocess.Popen(
            group.wrap_command(command),
            stdin=subprocess.PIPE,  # the child exits when this closes, also if the worker is killed
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=ROOT,
            env=environment,
            process_group=0,
        ) as child,
    ):
        assert child.stdout is not None
        lines = iter(partial(child.stdout.readline, MAX_EVENT_BYTES), b"")
        max_bytes = OUT_BYTES + OUT_BYTES_PER_PROMPT * (total + latency_samples)
        watchdog = _Watchdog(child, stop or threading.Event(), job, max_bytes)
        threading.Thread(target=watchdog.run, daemon=True).start()
        failure = None
        reason = ""
        measured = 0
        loaded_at = time.monotonic()
        loaded = False
        try:
            for number, line in enumerate(lines):
                event = _parse_event(line)
                if number > total + latency_samples + MAX_EXTRA_EVENTS or (event.kind == "loaded" and loaded):
                    raise EvaluationError(FailureCode.MODEL_ERROR, "the inference process sent too many events")
                if event.kind == "environment":
                    if number == 0:  # later ones may come from code of the model
                        built_by = BUILDER if sandbox else "none"
                        job.write_environment({**event.values, "sandbox": built_by, "cgroup": group.version})
                    continue
                if event.kind == "loaded":
                    if event.batch_size is None:
                        raise EvaluationError(FailureCode.MODEL_ERROR, "the inference process reported no batch size")
                    loaded_as = {"batch_size": event.batch_size, "params": event.params}
                    # Custom code could report any name or version here.
                    reported = {} if job.options().custom_code else event.reported
                    job.write_environment({**job.environment(), **loaded_as, **reported})
                    loaded = True
                    loaded_at = time.monotonic()
                    watchdog.loaded.set()
                elif event.kind == "failed":
                    failure = event.code
                    reason = _printable(event.message)
                    # The first event comes before any file of the model is read, later ones may come from its code.
                    by_model = sandbox and number > 0
                    if by_model and failure and failure.is_infrastructure and failure not in TRUSTED_CHILD_CODES:
                        failure = FailureCode.MODEL_ERROR
                    continue  # the reported stage does not change
                # Bounded, because code of the model may send extra events.
                answered = min(total, answered + (event.kind == "answered"))
                measured = min(latency_samples, measured + (event.kind == "measured"))
                if event.kind in ("answered", "measured"):
                    watchdog.answered.set()
                if measured:
                    on_progress("measure", measured, latency_samples)
                else:
                    on_progress("infer", answered, total)
            child.wait()  # before its stdin closes, which would kill it while it exits
        except BaseException as error:
            _kill(child)
            if isinstance(error, EvaluationError) and stop and stop.is_set():
                raise EvaluationStopped from None  # the watchdog killed it in the middle of a line
            raise
        out_of_memory = bool(child.returncode) and group.has_run_out_of_memory()
        took_too_much = loaded and group.has_reached_its_limit()
    if child.returncode and stop and stop.wait(STOP_NOTICE_SECONDS if was_stopped(child.returncode) else 0):
        raise EvaluationStopped
    if watchdog.exceeded:
        raise watchdog.exceeded
    if out_of_memory:
        if took_too_much:
            raise EvaluationError(FailureCode.MODEL_ERROR, "the inference process took more memory than its limit")
        raise EvaluationError(FailureCode.OUT_OF_MEMORY, "the memory of this machine or container ran out")
    if child.returncode < 0 or child.returncode in SIGKILL_EXIT_CODES:
        number = -child.returncode if child.returncode < 0 else child.returncode - 128
        message = f"the inference process was ended by signal {number}"
        raise EvaluationError(FailureCode.PROCESS_KILLED, message)
    if child.returncode:
        # After loading, an exit without a failure event may be caused by the model.
        unreported = FailureCode.MODEL_ERROR if sandbox and loaded else FailureCode.INTERNAL_ERROR
        message = reason or _last_line(job.log)
        if failure == FailureCode.SERVER_FAILED:  # one that does not start was asked nothing
            raise ModelServerError(message, may_quote_questions=loaded)
        raise EvaluationError(failure or unreported, message, may_quote_questions=True)
    return time.monotonic() - loaded_at


def _command(
    job: Job, sandbox: bool, devices: Sequence[str] | None
) -> tuple[list[str], dict[str, str], SandboxPolicy | None]:
    """Return command line, environment and sandbox policy of the inference process.

    The policy is None without a sandbox. Raises SandboxError if the sandbox cannot be built, EvaluationError if its
    user cannot read the model.
    """
    options = job.options()
    folder = job.folder.resolve()
    environment = child_environment(options)
    environment |= {} if devices is None else {"CUDA_VISIBLE_DEVICES": ",".join(devices)}
    command = [sys.executable, "-m", CHILD, str(folder)]
    if not sandbox:
        return command, environment, None
    user = new_user()
    folders = [path for path in (options.model, options.adapter) if path]
    # The files may be symbolic links into the operator's Hub cache.
    files = (path for model in folders for path in model.rglob("*"))
    linked = [path.resolve() for path in files if path.is_symlink()]
    for model in folders:
        grant_access(job.out, model, user)
    if os.geteuid() == 0 and (unreadable := next((p for p in linked if not p.stat().st_mode & stat.S_IROTH), None)):
        raise EvaluationError(
            FailureCode.INTERNAL_ERROR, f"{unreadable}: the sandbox's user may not read it; chmod o+r"
        )
    environment |= {"HOME": SCRATCH_FOLDERS[0]}
    environment |= {"HF_MODULES_CACHE": f"{SCRATCH_FOLDERS[0]}/modules"} if options.custom_code else {}
    program = _installation(options.api.spawn) if options.api and options.api.spawn else []
    visible = [*folders, *linked, *program, folder]
    policy = SandboxPolicy(visible, folder / job.out.name, environment, user=user)
    return sandbox_command(command, policy), environment, policy


class _Event(BaseModel):
    """An event: one line of JSON from the inference process."""

    kind: Literal["environment", "loaded", "answered", "measured", "failed"] = Field(alias="event")
    values: dict[str, str | float] = {}
    batch_size: int | None = Field(default=None, ge=1, le=MAX_BATCH_SIZE)
    params: int | None = Field(default=None, ge=0, le=MAX_PARAMS)
    image_processor: str | None = Field(default=None, pattern=r"^[A-Za-z0-9]{1,40}ImageProcessor(Fast|Pil)?$")
    server_version: str | None = Field(default=None, pattern=f"^{VERSION}$")
    server_context: int | None = Field(default=None, ge=1, le=MAX_PARAMS)
    code: FailureCode | None = None
    message: str = Field(default="", max_length=MAX_MESSAGE)

    @property
    def reported(self) -> dict[str, str | int]:
        """What the loaded engine reports of itself, as far as it does."""
        names = ("image_processor", "server_version", "server_context")
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value}


def _parse_event(line: bytes) -> _Event:
    try:
        return _Event.model_validate_json(line)
    except ValueError:
        message = "the inference process wrote a line that is not an event"
        raise EvaluationError(FailureCode.MODEL_ERROR, message) from None


class _Watchdog:
    """Kills the inference process if the evaluation is stopped, or if it writes too much or takes too long to begin.

    Finished answers are in its file already, so at most one batch has to be asked again.
    """

    def __init__(self, child: subprocess.Popen[bytes], stop: threading.Event, job: Job, max_bytes: int) -> None:
        self.loaded = threading.Event()
        self.answered = threading.Event()  # whether it has answered any question
        self.exceeded: EvaluationError | None = None  # error for the limit that was exceeded
        self._child, self._stop, self._job, self._max_bytes = child, stop, job, max_bytes

    def run(self) -> None:
        size_checked = time.monotonic()
        options = self._job.options()
        seconds = _load_seconds(options)
        load_deadline = size_checked + seconds
        answer_deadline: float | None = None  # set once it is loaded
        while self._child.poll() is None:
            if self._stop.wait(0.2):
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

    If bubblewrap is killed just after its start, it leaves a child that waits for it for ever and keeps our pipe open.
    """
    if child.poll() is None:  # otherwise the process id may have been reused
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def _installation(command: str) -> list[Path]:
    """Return the paths that a server program needs inside the sandbox.

    They are its virtual environment with the base Python if it is in one, else its file. Paths in /usr are always
    visible.
    """
    try:
        found = shutil.which(program_of(command), path=program_path())
    except ValueError:  # malformed, which the engine reports
        return []
    if found is None:
        return []
    shown: set[Path] = set()
    for program in (Path(found), Path(found).resolve()):
        settings = program.parent.parent / "pyvenv.cfg"
        shown |= {settings.parent, *_base_of(settings)} if settings.is_file() else {program}
    return sorted(place for place in shown if not place.is_relative_to("/usr"))


def _base_of(settings: Path) -> list[Path]:
    """Return the Python installation that a virtual environment's pyvenv.cfg names."""
    lines = (line.partition("=") for line in settings.read_text(encoding="utf-8").splitlines())
    homes = [Path(value.strip()) for name, _, value in lines if name.strip() == "home"]
    return [home.parent for home in homes if home.name == "bin" and home.parent != Path("/")]


def program_path() -> str:
    """Return the PATH of the inference process, with the programs of this Python environment first."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def child_environment(options: EngineOptions) -> dict[str, str]:
    """Return the environment variables of the inference process.

    It contains no token and no setting of this project, and the Hub is offline. For the API engine with a remote
    server, the server's key and proxy settings are included.
    """
    keep = ["LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "TMPDIR"]
    if options.api and options.remote:
        keep += [options.api.key, "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE"]
    elif options.api:
        keep += ["HOME"]  # servers store compiled code there
    kept = {name: os.environ[name] for name in keep if name in os.environ}
    return {**kept, "PATH": program_path(), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "true", "PYTHONUTF8": "1"}


def _last_line(log: Path) -> str:
    """Return the last line of a log, without terminal control characters."""
    lines = tail_of(log).strip().splitlines()
    return _printable(lines[-1]) if lines else "no output"


def _printable(message: str) -> str:
    return "".join(c for c in message[:MAX_MESSAGE] if c.isprintable())
