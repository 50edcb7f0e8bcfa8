"""Recognize errors of too little memory. They count as `out_of_memory`, not as another failure of the model."""

import errno
import sys

# Parts of the messages of such errors, in lower case.
WORDS = ("out of memory", "can't allocate memory", "cannot allocate memory", "can't start new thread")


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether Python, torch, CUDA or the system reports that memory is too small, also for another thread."""
    torch = sys.modules.get("torch")  # an error of torch can only occur once it is loaded
    if isinstance(error, MemoryError) or (torch is not None and isinstance(error, torch.OutOfMemoryError)):
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    return isinstance(error, RuntimeError | OSError) and any(words in str(error).lower() for words in WORDS)
