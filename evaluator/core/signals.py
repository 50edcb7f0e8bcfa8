"""Protect helper processes from the signals that stop the worker.

A scheduler or a terminal sends SIGTERM or SIGINT to the whole process group of a worker. The worker then stops its
helpers itself; a helper that ended before that would look like a failure.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT}
SIGKILL_EXIT_CODES = (-signal.SIGKILL, 128 + signal.SIGKILL)  # the second is reported by bubblewrap and shells
STOP_EXIT_CODES = {*SIGKILL_EXIT_CODES, *(-s for s in STOP_SIGNALS), *(128 + s for s in STOP_SIGNALS)}
# After a helper was ended by a signal, how long to wait for a stop of this process: the signal of a group may reach the helper
# first. Without a stop, the helper was killed for another reason, such as its memory.
STOP_NOTICE_SECONDS = 1.0


@contextmanager
def stop_signals_blocked() -> Iterator[None]:
    """Block SIGTERM and SIGINT in multiprocessing processes started inside: they inherit this thread's signal mask."""
    resource_tracker.ensure_running()  # first, because it unblocks these signals when it starts its process
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def was_stopped(returncode: int | None) -> bool:
    """Return whether an exit code means that SIGTERM, SIGINT or SIGKILL ended the process."""
    return returncode in STOP_EXIT_CODES
