"""Files named by their content, and files that a process of a stranger's model has written."""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def place(root: Path, folder: str, suffix: str, content: bytes) -> str:
    """Put a file below `root`, whole or not at all, and return its relative name."""
    name = f"{folder}/{hashlib.sha256(content).hexdigest()[:32]}{suffix}"
    target = root / name
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        partial = target.with_suffix(".part")
        partial.write_bytes(content)
        partial.replace(target)
    return name


@contextmanager
def opened_plain(path: Path, *, create: bool = False) -> Iterator[BinaryIO]:
    """A file to read and write that must be one: no link that leads elsewhere, no pipe or device. Raises OSError."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | (os.O_CREAT if create else 0)
    with os.fdopen(os.open(path, flags, 0o644), "r+b") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path.name} is no plain file")
        yield file
