"""Pause Python's garbage collector during work that creates many objects and little garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Pause garbage collection for a large import or read, which it would slow down by scanning new objects many times.

    Objects that exist at the end are frozen: later collections skip them.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
