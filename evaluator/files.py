"""Files named by their content, and files that an untrusted process has written."""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_content_addressed(root: Path, folder: str, suffix: str, content: bytes) -> str:
    """Write a file below `root` under the sha256 of its content, atomically. Returns its relative name."""
    name = f"{folder}/{hashlib.sha256(content).hexdigest()[:32]}{suffix}"
    target = root / name
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        partial = target.with_suffix(".part")
        partial.write_bytes(content)
        partial.replace(target)
    return name


@contextmanager
def open_regular_file(path: Path, *, create: bool = False) -> Iterator[BinaryIO]:
    """Open a regular file to read and write. Raises OSError for a symbolic link, a pipe or a device."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | (os.O_CREAT if create else 0)
    with os.fdopen(os.open(path, flags, 0o644), "r+b") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path.name} is not a regular file")
        yield file
