"""Python's garbage collector, out of the way of work that makes many objects and no garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """For large imports and reads. No later collection looks at what is there when it ends."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
