"""The inference process, seen from outside: started in the sandbox, its events read, ended with us."""

import os
import shlex
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
from evaluator.core.errors import EvaluationError, EvaluationStopped
from evaluator.core.files import size_of
from evaluator.core.signals import SIGKILL_EXIT_CODES, STOP_NOTICE_SECONDS, was_stopped
from evaluator.engines.options import EngineOptions
from evaluator.job.folder import REMOTE_MEMORY, Job
from evaluator.sandbox.control_group import NONE, control_group
from evaluator.sandbox.policy import (
    PROCESSES,
    SCRATCH,
    SandboxPolicy,
    detect_backend,
    grant_access,
    new_user,
    sandbox_command,
)
from submissions.config.paths import ROOT
from submissions.records.base import MAX_PARAMS
from submissions.texts.failure_codes import FailureCode

CHILD = "evaluator.job.child"  # the module run as the inference process
MAX_EVENT = 65_536  # bytes of a line from it
MAX_BATCH = 65_536
MORE_EVENTS = 10  # than one for each answer
# Infrastructure failures that only a process in the sandbox can notice: the device is too small, a library is missing, a
# server did not start. Any other one that it reports counts as a model failure.
TRUSTED_CHILD_CODES = {FailureCode.OUT_OF_MEMORY, FailureCode.MISSING_LIBRARY, FailureCode.SERVER_FAILED}
OUT_BYTES, OUT_BYTES_PER_PROMPT = 256 * 2**20, 64 * 2**10  # that it may write; raw output is the most of it
LOAD_SECONDS, LOAD_BYTES_PER_SECOND = 1800.0, 20e6  # to load a model, and more of it for large ones
LOOK_SECONDS = 2.0  # between looks at how much it has written

OnProgress = Callable[[str, int, int], None]  # stage, answered, of how many


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
    """Run the inference process until all `total` prompts have their answers and the latency samples are taken;
    `answered` of them have theirs from an earlier run. Returns the seconds since its model was loaded.

    Raises EvaluationError, EvaluationStopped, or SandboxError.
    """
    on_progress("load", answered, total)
    command, environment, policy = _command(job, sandbox, devices)
    memory = policy.memory_limit if policy else REMOTE_MEMORY if job.options().remote else None
    with (
        control_group(memory, PROCESSES) if memory else nullcontext(NONE) as group,
        job.log.open("ab") as log,
        subprocess.Popen(
            group.joined(command),
            stdin=subprocess.PIPE,  # its end tells the child that we are gone
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=ROOT,
            env=environment,
            process_group=0,
        ) as child,
    ):
        assert child.stdout is not None
        lines = iter(partial(child.stdout.readline, MAX_EVENT), b"")
        most = OUT_BYTES + OUT_BYTES_PER_PROMPT * (total + latency_samples)
        watch = _Watch(child, stop or threading.Event(), job, most)
        threading.Thread(target=watch.run, daemon=True).start()
        failure, reason, measured, began, loaded = None, "", 0, time.monotonic(), False
        try:
            for number, line in enumerate(lines):
                event = _parse_event(line)
                if number > total + latency_samples + MORE_EVENTS or (event.kind == "loaded" and loaded):
                    raise EvaluationError(FailureCode.MODEL_ERROR, "the inference process tells more than there is")
                if event.kind == "environment":
                    if number == 0:  # later, the model may be what is speaking
                        built_by = detect_backend() if sandbox else "none"
                        job.write_environment({**event.values, "sandbox": built_by, "cgroup": group.version})
                    continue
                if event.kind == "loaded":
                    if event.batch_size is None:
                        raise EvaluationError(FailureCode.MODEL_ERROR, "the inference process names no batch size")
                    loaded_as = {"batch_size": event.batch_size, "params": event.params}
                    # Code of its own could say anything there.
                    told = event.image_processor and not job.options().custom_code
                    images = {"image_processor": event.image_processor} if told else {}
                    job.write_environment({**job.environment(), **loaded_as, **images})
                    loaded, began = True, time.monotonic()
                    watch.loaded.set()
                elif event.kind == "failed":
                    failure, reason = event.code, _printable(event.message)
                    if sandbox and failure and failure.ours and failure not in TRUSTED_CHILD_CODES:
                        failure = FailureCode.MODEL_ERROR
                    continue  # its stage is the one it was in
                # No more than there are: a model may be what is speaking.
                answered = min(total, answered + (event.kind == "answered"))
                measured = min(latency_samples, measured + (event.kind == "measured"))
                if measured:
                    on_progress("measure", measured, latency_samples)
                else:
                    on_progress("infer", answered, total)
            child.wait()  # before its stdin closes, which would end it half-way out
        except BaseException as error:
            _kill(child)
            if isinstance(error, EvaluationError) and stop and stop.is_set():
                raise EvaluationStopped from None  # ended by us in the middle of a line
            raise
        short_of_memory = bool(child.returncode) and group.has_run_out_of_memory()
    if child.returncode and stop and stop.wait(STOP_NOTICE_SECONDS if was_stopped(child.returncode) else 0):
        raise EvaluationStopped
    if watch.exceeded:
        raise watch.exceeded
    if short_of_memory:
        code = FailureCode.MODEL_ERROR if loaded else FailureCode.OUT_OF_MEMORY
        raise EvaluationError(code, "the inference process took more memory than its limit")
    if child.returncode < 0 or child.returncode in SIGKILL_EXIT_CODES:
        number = -child.returncode if child.returncode < 0 else child.returncode - 128
        message = f"the inference process was ended by signal {number}"
        raise EvaluationError(FailureCode.PROCESS_KILLED, message)
    if child.returncode:
        # Once its model is loaded, the model may be what ends it without a word.
        silent = FailureCode.MODEL_ERROR if sandbox and loaded else FailureCode.INTERNAL_ERROR
        raise EvaluationError(failure or silent, reason or _last_line(job.log), quoted=True)
    return time.monotonic() - began


def _command(
    job: Job, sandbox: bool, devices: Sequence[str] | None
) -> tuple[list[str], dict[str, str], SandboxPolicy | None]:
    """The command line and environment of the inference process, and what confines it. Raises SandboxError."""
    options, folder = job.options(), job.folder.resolve()
    environment = child_environment(options)
    environment |= {} if devices is None else {"CUDA_VISIBLE_DEVICES": ",".join(devices)}
    command = [sys.executable, "-m", CHILD, str(folder)]
    if not sandbox:
        return command, environment, None
    user = new_user()
    folders = [path for path in (options.model, options.adapter) if path]
    # Links lead into a Hub cache of the operator's.
    linked = [path.resolve() for model in folders for path in model.rglob("*") if path.is_symlink()]
    for model in folders:
        grant_access(job.out, model, user)
    if os.geteuid() == 0 and (closed := next((p for p in linked if not p.stat().st_mode & stat.S_IROTH), None)):
        raise EvaluationError(FailureCode.INTERNAL_ERROR, f"{closed}: the sandbox's user may not read it; chmod o+r")
    environment |= {"HOME": SCRATCH[0]}
    environment |= {"HF_MODULES_CACHE": f"{SCRATCH[0]}/modules"} if options.custom_code else {}
    program = _installation(options.api.spawn) if options.api and options.api.spawn else []
    visible = [*folders, *linked, *program, folder]
    policy = SandboxPolicy(visible, folder / job.out.name, environment, user=user)
    return sandbox_command(command, policy), environment, policy


class _Event(BaseModel):
    """A line from the inference process."""

    kind: Literal["environment", "loaded", "answered", "measured", "failed"] = Field(alias="event")
    values: dict[str, str | float] = {}
    batch_size: int | None = Field(default=None, ge=1, le=MAX_BATCH)
    params: int | None = Field(default=None, ge=0, le=MAX_PARAMS)
    image_processor: str | None = Field(default=None, pattern=r"^[A-Za-z0-9]{1,40}ImageProcessor(Fast|Pil)?$")
    code: FailureCode | None = None
    message: str = Field(default="", max_length=MAX_MESSAGE)


def _parse_event(line: bytes) -> _Event:
    try:
        return _Event.model_validate_json(line)
    except ValueError:
        message = "the inference process wrote a line that is not an event"
        raise EvaluationError(FailureCode.MODEL_ERROR, message) from None


class _Watch:
    """Ends the inference process when it is stopped, writes too much or loads for too long.

    What it has answered is in its file; at most one batch is asked again.
    """

    def __init__(self, child: subprocess.Popen[bytes], stop: threading.Event, job: Job, most: int) -> None:
        self.loaded = threading.Event()
        self.exceeded: EvaluationError | None = None  # the limit that it exceeded
        self._child, self._stop, self._job, self._most = child, stop, job, most

    def run(self) -> None:
        looked = time.monotonic()
        seconds = _load_seconds(self._job.options())
        load_until = looked + seconds
        while self._child.poll() is None:
            if self._stop.wait(0.2):
                _kill(self._child)
            elif not self.loaded.is_set() and time.monotonic() > load_until:
                self._end(FailureCode.LOAD_TIMEOUT, f"the model was not loaded within {seconds:,.0f} s")
            elif time.monotonic() - looked > LOOK_SECONDS:
                with suppress(FileNotFoundError):  # the job is over, and gone
                    if size_of(self._job.out, self._most) + self._job.log.stat().st_size > self._most:
                        message = f"the inference process wrote more than {self._most:,} bytes"
                        self._end(FailureCode.MODEL_ERROR, message)
                looked = time.monotonic()

    def _end(self, code: FailureCode, message: str) -> None:
        self.exceeded = self.exceeded or EvaluationError(code, message)
        _kill(self._child)


def _load_seconds(options: EngineOptions) -> float:
    """Return how long a model may take to load, in proportion to its files."""
    folders = [path for path in (options.model, options.adapter) if path and not options.remote]
    size = sum(path.stat().st_size for folder in folders for path in folder.glob("*.safetensors"))
    return LOAD_SECONDS + size / LOAD_BYTES_PER_SECOND


def _kill(child: subprocess.Popen[bytes]) -> None:
    """With its group: bubblewrap, killed in its first moments, leaves a child that waits for it, and our pipe, for ever."""
    if child.poll() is None:  # else the number may be another's by now
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def _installation(command: str) -> list[Path]:
    """Return what the sandbox shows of a server's program: its virtual environment if it is in one, else its file alone."""
    words = shlex.split(command)
    found = shutil.which(words[0], path=program_path()) if words else None
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
    """Return the PATH of the inference process: this environment's programs first, such as `transformers`."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def child_environment(options: EngineOptions) -> dict[str, str]:
    """No token, no setting of ours, nothing that could reach a hub; for a server's engine, what reaches that server."""
    keep = ["LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "TMPDIR"]
    if options.api and options.remote:
        keep += [options.api.key, "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE"]
    elif options.api:
        keep += ["HOME"]  # where servers keep what they compile
    kept = {name: os.environ[name] for name in keep if name in os.environ}
    return {**kept, "PATH": program_path(), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "true", "PYTHONUTF8": "1"}


def _last_line(log: Path) -> str:
    """The end of a log, without what could steer a terminal."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4096))
        lines = file.read().decode(errors="replace").strip().splitlines()
    return _printable(lines[-1]) if lines else "no output"


def _printable(message: str) -> str:
    return "".join(c for c in message[:MAX_MESSAGE] if c.isprintable())
