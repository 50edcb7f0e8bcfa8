"""Kill an inference process that is to stop, writes too much, or takes too long to begin."""

import os
import signal
import subprocess
import threading
import time
from contextlib import suppress

from evaluator.core.errors import EvaluationError
from evaluator.core.files import size_of
from evaluator.engines.options import EngineOptions
from evaluator.job.folder import Job
from submissions.texts.failure_codes import FailureCode

# Time limit for loading: a constant, and the size of the weights divided by a speed that even slow disks reach.
LOAD_SECONDS = 1800.0
LOAD_BYTES_PER_SECOND = 20e6
# Time for the first answer of a model on this machine after it is loaded. A tokenizer may never end.
FIRST_ANSWER_SECONDS = 3600.0
SIZE_CHECK_SECONDS = 2.0  # between checks of how much it has written
WATCH_SECONDS = 0.2  # between checks of the time limits


class Watchdog:
    """Kills the inference process if the evaluation is stopped, or if it writes too much or takes too long to begin.

    Answers are written to a file as they are finished, so at most one batch has to be asked again.
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
        started = time.monotonic()
        last_size_check = started
        options = self._job.options()
        load_seconds = _load_seconds(options)
        load_deadline = started + load_seconds
        answer_deadline: float | None = None  # for the first answer; set once the model is loaded
        while self._child.poll() is None:
            if self._stop.wait(WATCH_SECONDS):
                kill_group(self._child)
            elif not self.loaded.is_set() and time.monotonic() > load_deadline:
                self._end(FailureCode.LOAD_TIMEOUT, f"the model was not loaded within {load_seconds:,.0f} s")
            elif self._is_late(answer_deadline):
                self._end(FailureCode.LOAD_TIMEOUT, f"no answer within {FIRST_ANSWER_SECONDS:,.0f} s after loading")
            elif time.monotonic() - last_size_check > SIZE_CHECK_SECONDS:
                with suppress(FileNotFoundError):  # the job is finished and its folder removed
                    if size_of(self._job.out, self._max_bytes) + self._job.log.stat().st_size > self._max_bytes:
                        message = f"the inference process wrote more than {self._max_bytes:,} bytes"
                        self._end(FailureCode.MODEL_ERROR, message)
                last_size_check = time.monotonic()
            if answer_deadline is None and self.loaded.is_set() and not options.remote:
                answer_deadline = time.monotonic() + FIRST_ANSWER_SECONDS

    def _is_late(self, answer_deadline: float | None) -> bool:
        """Return whether there is a deadline for the first answer that has passed without one."""
        return answer_deadline is not None and not self.answered.is_set() and time.monotonic() > answer_deadline

    def _end(self, code: FailureCode, message: str) -> None:
        self.exceeded = self.exceeded or EvaluationError(code, message)
        kill_group(self._child)


def _load_seconds(options: EngineOptions) -> float:
    """Return how long a model may take to load, in proportion to its files."""
    if options.remote:  # no weights are read here: `model` is an empty folder, or only a name
        return LOAD_SECONDS
    folders = [path for path in (options.model, options.adapter) if path]
    size = sum(path.stat().st_size for folder in folders for path in folder.glob("*.safetensors"))
    return LOAD_SECONDS + size / LOAD_BYTES_PER_SECOND


def kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kill a process and its process group.

    The group, because bubblewrap leaves a child behind if it is killed just after its start. That child would wait forever
    and keep the pipe of the events open.
    """
    if child.poll() is None:  # otherwise the process id may have been reused
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
