"""Files named by their content, and files that an untrusted process has written."""

import errno
import hashlib
import os
import stat
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from evaluator.core.errors import DataError


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


def check_new_folder(folder: Path) -> None:
    """Before the long work of filling it. Raises DataError where something is there already, or it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.rmdir()
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            raise DataError(f"{folder} is there already: name a new folder") from None
        raise DataError(f"{folder}: {error.strerror}") from None


def remove_path(path: Path) -> None:
    """Remove a file, or a folder with all that is in it, however deep: Python's own way ends at a thousand folders before 3.13."""
    if not os.path.lexists(path):
        return
    if subprocess.run(["rm", "-rf", "--", str(path)], stderr=subprocess.DEVNULL).returncode:
        subprocess.run(["chmod", "-R", "u+rwX", "--", str(path)], stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", "--", str(path)], stderr=subprocess.DEVNULL)


def size_of(folder: Path, most: int) -> int:
    """Bytes of all files below a folder, a file or folder counting 4,096 at least. More than `most` need not be right,
    and folders that cannot be looked into are more."""
    total, waiting = 0, [str(folder)]
    while waiting and total <= most:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    total += _size(entry)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError as error:
            total += 4096 if error.errno == errno.ENOENT else most  # gone meanwhile; else hidden, by depth or by rights
    return total


def _size(entry: os.DirEntry[str]) -> int:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:  # gone meanwhile
        return 4096
    return max(4096, found.st_size, found.st_blocks * 512)


def keep_newest(entries: Iterable[Path], most: int) -> list[Path]:
    """Remove the files and folders whose own time is oldest, until the rest has `most` bytes. Returns what went."""
    aged = sorted(((entry.stat().st_mtime, entry) for entry in entries), reverse=True)
    total, removed = 0, []
    for _, entry in aged:
        total += size_of(entry, most) if entry.is_dir() else entry.stat().st_size
        if total > most:
            remove_path(entry)
            removed.append(entry)
    return removed


@contextmanager
def open_regular_file(path: Path, *, create: bool = False) -> Iterator[BinaryIO]:
    """Open a regular file to read and write. Raises OSError for a symbolic link, a pipe or a device."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | (os.O_CREAT if create else 0)
    with os.fdopen(os.open(path, flags, 0o644), "r+b") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path.name} is not a regular file")
        yield file
