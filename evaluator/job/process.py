"""Run the inference process: start it in the sandbox, read its events, and end it with the worker.

This is the worker's side of `evaluator/job/child.py`. Its parts are `command.py` (how the process is started), `events.py`
(what it reports) and `watchdog.py` (when it is killed). `evaluator/results/evaluate.py` calls `run_inference`. The answers
themselves are in the job folder.
"""

import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from evaluator.core.errors import EvaluationError, EvaluationStopped, ModelServerError
from evaluator.core.files import has_full_disk, is_disk_full
from evaluator.core.signals import SIGKILL_EXIT_CODES, STOP_NOTICE_SECONDS, was_stopped
from evaluator.job.command import inference_command
from evaluator.job.events import MAX_EVENT_BYTES, Observer, OnProgress, printable_part
from evaluator.job.folder import Job, tail_of
from evaluator.job.watchdog import Watchdog, kill_group
from evaluator.sandbox.control_group import NO_GROUP, ControlGroup, control_group
from evaluator.sandbox.policy import MAX_PROCESSES
from submissions.config.paths import ROOT
from submissions.texts.failure_codes import FailureCode

# Limit on the bytes that the inference process writes, mostly raw output: a constant, and more for each prompt.
OUT_BYTES = 256 * 2**20
OUT_BYTES_PER_PROMPT = 64 * 2**10


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
    command = inference_command(job, sandbox, devices)
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
        watchdog = Watchdog(child, stop or threading.Event(), job, max_bytes)
        threading.Thread(target=watchdog.run, daemon=True).start()
        observer = Observer(job, watchdog, answered, total, latency_samples, on_progress, group.version, sandbox)
        try:
            for line in iter(partial(child.stdout.readline, MAX_EVENT_BYTES), b""):
                observer.handle(line)
            child.wait()  # before its stdin closes, which would kill it while it exits
        except BaseException as error:
            kill_group(child)
            # Once `stop` is set, the watchdog kills the process, perhaps in the middle of a line. Half a line is not an event,
            # so `handle` raises EvaluationError.
            is_cut_line = isinstance(error, EvaluationError) and stop is not None and stop.is_set()
            if is_cut_line:
                raise EvaluationStopped from None
            if is_disk_full(error):  # what the process reported could not be written
                raise _full_disk(job) from error
            raise
        # The group can be asked only as long as it exists.
        memory_error = _memory_error(group, observer) if child.returncode else None
    if child.returncode and stop:
        _check_stopped(child.returncode, stop)
    cause = _cause_of_end(child.returncode, watchdog, memory_error, observer, job)
    if cause:
        raise cause
    return time.monotonic() - observer.loaded_at


def _check_stopped(returncode: int, stop: threading.Event) -> None:
    """Raise EvaluationStopped if the worker is stopping.

    One signal may stop both the process and the worker, and reach the worker later. After such a signal, wait for it a moment.
    """
    notice_seconds = STOP_NOTICE_SECONDS if was_stopped(returncode) else 0
    if stop.wait(notice_seconds):
        raise EvaluationStopped


def _cause_of_end(
    returncode: int, watchdog: Watchdog, memory_error: EvaluationError | None, observer: Observer, job: Job
) -> EvaluationError | None:
    """Return why the process ended, or None if it has done its work. The first cause that applies hides those below it:

    1. a limit of the watchdog, which killed the process
    2. memory that ran out
    3. a full disk, whatever the process reported: without space for its answers it cannot do its work
    4. what the process reported, else its exit code
    """
    if watchdog.exceeded:
        return watchdog.exceeded
    if memory_error:
        return memory_error
    if returncode and has_full_disk(job.folder):
        return _full_disk(job)
    if returncode:
        return _exit_error(returncode, observer, job)
    return None


def _memory_error(group: ControlGroup, observer: Observer) -> EvaluationError | None:
    """Return the error of a process that ended because memory ran out, or None if it ended for another reason."""
    if not group.has_run_out_of_memory():
        return None
    # While the weights are loaded, this machine may be too small for them, which is not a model failure.
    if observer.is_loaded and group.has_reached_its_limit():
        return EvaluationError(FailureCode.MODEL_ERROR, "the inference process took more memory than its limit")
    return EvaluationError(FailureCode.OUT_OF_MEMORY, "the memory of this machine or container ran out")


def _full_disk(job: Job) -> EvaluationError:
    return EvaluationError(FailureCode.DISK_FULL, f"no space is left on the disk of {job.folder}")


def _exit_error(returncode: int, observer: Observer, job: Job) -> EvaluationError:
    """Return the error of a process that failed by itself: the one that it reported, else by its exit code."""
    if returncode < 0 or returncode in SIGKILL_EXIT_CODES:
        number = -returncode if returncode < 0 else returncode - 128
        return EvaluationError(FailureCode.PROCESS_KILLED, f"the inference process was ended by signal {number}")
    message = observer.reason or _last_line(job.log)
    if observer.failure == FailureCode.SERVER_FAILED:
        # A server that did not start was not asked anything, so its message quotes no question.
        return ModelServerError(message, may_quote_questions=observer.is_loaded)
    # A model may make the process exit without a failure event while it is loaded: a library in Rust panics on its files.
    is_models_fault = observer.sandbox and observer.may_have_read_model
    unreported = FailureCode.MODEL_ERROR if is_models_fault else FailureCode.INTERNAL_ERROR
    return EvaluationError(observer.failure or unreported, message, may_quote_questions=True)


def _last_line(log: Path) -> str:
    """Return the last line of a log, without terminal control characters."""
    lines = tail_of(log).strip().splitlines()
    return printable_part(lines[-1]) if lines else "no output"
