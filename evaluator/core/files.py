"""File helpers: content-addressed names, and safe handling of files that an untrusted process wrote."""

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
    """Write `content` atomically to a file named after its SHA-256, and return its path relative to `root`."""
    name = f"{folder}/{hashlib.sha256(content).hexdigest()[:32]}{suffix}"
    target = root / name
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        partial = target.with_suffix(".part")
        partial.write_bytes(content)
        partial.replace(target)
    return name


def replace_file(path: Path, content: bytes) -> None:
    """Write a file in one step: readers never find a part of it, and a full disk leaves the file of before."""
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        new.write_bytes(content)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def check_new_folder(folder: Path) -> None:
    """Check that a folder can be created, before the long work of filling it.

    Raises DataError if the path exists and is not an empty folder, or if it cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.rmdir()
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            raise DataError(f"{folder} already exists: name a new folder") from None
        raise DataError(f"{folder}: {error.strerror}") from None


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder to fill, which becomes `folder` once the block ends without an error.

    Raises DataError as `check_new_folder` does.
    """
    check_new_folder(folder)
    partial = folder.with_name(f"{folder.name}.partial")
    remove_path(partial)
    partial.mkdir(parents=True)
    try:
        yield partial
        partial.rename(folder)
    finally:
        remove_path(partial)


def remove_path(path: Path) -> None:
    """Remove a file or a whole folder, of any depth.

    `rm` is used because shutil.rmtree fails beyond a thousand nested folders before Python 3.13.
    """
    if not os.path.lexists(path):
        return
    if subprocess.run(["rm", "-rf", "--", str(path)], stderr=subprocess.DEVNULL).returncode:
        subprocess.run(["chmod", "-R", "u+rwX", "--", str(path)], stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", "--", str(path)], stderr=subprocess.DEVNULL)


def size_of(folder: Path, limit: int) -> int:
    """Return the bytes of all files below a folder, counting at least 4,096 for each file and folder.

    Counting stops above `limit`, so a larger result is not exact. A folder that cannot be read counts as `limit` bytes.
    """
    total = 0
    waiting = [str(folder)]
    while waiting and total <= limit:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    total += _size(entry)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError as error:
            # ENOENT: removed meanwhile. Otherwise the content is hidden by its depth or by permissions.
            total += 4096 if error.errno == errno.ENOENT else limit
    return total


def _size(entry: os.DirEntry[str]) -> int:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:  # removed meanwhile
        return 4096
    return max(4096, found.st_size, found.st_blocks * 512)


def keep_newest(entries: Iterable[Path], limit: int) -> list[Path]:
    """Remove the oldest files and folders until at most `limit` bytes are left. Return what was removed.

    Age is the modification time of each entry itself, not of files inside it.
    """
    aged = sorted(((entry.stat().st_mtime, entry) for entry in entries), reverse=True)
    total, removed = 0, []
    for _, entry in aged:
        total += size_of(entry, limit) if entry.is_dir() else entry.stat().st_size
        if total > limit:
            remove_path(entry)
            removed.append(entry)
    return removed


@contextmanager
def open_regular_file(path: Path, *, create: bool = False) -> Iterator[BinaryIO]:
    """Open a regular file for reading and writing. Raises OSError for a symbolic link, a pipe or a device."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | (os.O_CREAT if create else 0)
    with os.fdopen(os.open(path, flags, 0o644), "r+b") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path.name} is not a regular file")
        yield file
