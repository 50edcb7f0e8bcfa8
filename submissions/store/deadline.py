"""Bound the time of calls into libraries that may never return, such as an upload through hf_xet."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from typing import TypeVar

T = TypeVar("T")
UPLOAD_BYTES_PER_S = 250_000  # the slowest upload that is waited for
MAX_ABANDONED = 8  # calls that may still hang at the same time; above it, further calls fail at once


class Deadline:
    """Runs calls in threads of their own, and gives up on those that take too long.

    A thread cannot be ended from outside, so a call that was given up continues in the background, and its outcome is
    ignored. The threads are daemons and do not keep the process alive.
    """

    def __init__(self) -> None:
        self._abandoned: list[Thread] = []
        self._lock = Lock()

    def run(self, work: Callable[[], T], seconds: float) -> T:
        """Return the value of `work()`. Raises TimeoutError if it takes longer than `seconds`, or if too many hang."""
        with self._lock:
            self._abandoned = [thread for thread in self._abandoned if thread.is_alive()]
            if len(self._abandoned) >= MAX_ABANDONED:
                raise TimeoutError(f"{MAX_ABANDONED} earlier calls have not returned")
        outcome: Future[T] = Future()

        def call() -> None:
            try:
                outcome.set_result(work())
            except BaseException as error:  # raised again in the thread that waits
                outcome.set_exception(error)

        thread = Thread(target=call, name="bounded-call", daemon=True)
        thread.start()
        thread.join(seconds)
        if not outcome.done():
            with self._lock:
                self._abandoned.append(thread)
            raise TimeoutError(f"no answer within {seconds:.0f} s")
        return outcome.result()
