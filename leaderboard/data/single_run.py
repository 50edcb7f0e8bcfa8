"""Let one thread at a time do a job that other threads can wait for: the refresh of the board, the reading of the workers."""

import math
import threading
import time

NEVER = -math.inf  # a time by the monotonic clock, which may begin at 0


class SingleRun:
    """A job that at most one thread does at a time.

        if job.try_begin():
            try:
                ...
            finally:
                job.end()

    The thread that begins a run may hand it to another one, which ends it. All methods may be called from any thread.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()  # guards the following, and tells waiting threads that a run has ended
        self._is_running = False
        self._began = NEVER  # the last run, by the monotonic clock
        self._ended = NEVER

    def try_begin(self) -> bool:
        """Begin a run and return True, or return False if one is under way."""
        with self._changed:
            if self._is_running:
                return False
            self._note_begin()
            return True

    def begin(self) -> None:
        """Wait until no run is under way, and begin one."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_running)
            self._note_begin()

    def end(self) -> None:
        """End the run."""
        with self._changed:
            self._is_running = False
            self._ended = time.monotonic()
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait for the end of the run that is under way, if there is one, but at most until `seconds` after it began."""
        with self._changed:
            if self._is_running:
                self._changed.wait(max(0.0, self._began + seconds - time.monotonic()))

    @property
    def running_for(self) -> float | None:
        """The seconds since the run that is under way began, or None if there is none."""
        with self._changed:
            return time.monotonic() - self._began if self._is_running else None

    @property
    def ended_for(self) -> float:
        """The seconds since the last run ended. Infinity if none has ended."""
        return time.monotonic() - self._ended

    def _note_begin(self) -> None:
        """Note that a run begins. The caller holds `_changed`."""
        self._is_running = True
        self._began = time.monotonic()
