"""Write files in one step, and handle files safely that an untrusted process wrote (the sandbox's `out/`)."""

import errno
import hashlib
import os
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from evaluator.core.errors import DataError

HASH_LENGTH = 32  # hex digits of a SHA-256 in the name of a file; half of them, 128 bits, is enough
MIN_SIZE = 4096  # bytes that a file or folder counts at least: about what it takes on the disk
MIN_FREE = 65_536  # bytes; with less, a disk counts as full
BLOCK = 512  # bytes; the unit of `st_blocks`


def write_content_addressed(root: Path, folder: str, suffix: str, content: bytes) -> str:
    """Write `content` atomically to a file named after its SHA-256, and return its path relative to `root`.

    The path is FOLDER/HASH and the suffix, for example `images/0b1c….png`, so equal contents are one file.
    """
    name = f"{folder}/{hashlib.sha256(content).hexdigest()[:HASH_LENGTH]}{suffix}"
    target = root / name
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        partial = target.with_suffix(".part")
        partial.write_bytes(content)
        partial.replace(target)
    return name


def replace_file(path: Path, content: bytes) -> None:
    """Write a file in one step: readers never see a part of it, and if the disk is full, the earlier file stays."""
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        new.write_bytes(content)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def is_disk_full(error: BaseException) -> bool:
    """Return whether an error says that a disk or the quota of a user is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def has_full_disk(folder: Path) -> bool:
    """Return whether the disk of a folder, or this user's quota there, has less than MIN_FREE bytes left."""
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(MIN_FREE))
    except OSError as error:
        return is_disk_full(error)
    return False


def check_new_folder(folder: Path) -> None:
    """Check that a folder can be created, before the long work of filling it.

    Missing parent folders are created, and an empty folder at the path is removed. Raises DataError if the path exists and
    is not an empty folder, or if it cannot be created.
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
    """Return the bytes of all files below a folder, counting at least MIN_SIZE for each file and folder.

    Counting stops above `limit`, so a larger result is not exact. A folder that cannot be read counts as `limit` bytes,
    because files may be hidden in it.
    """
    total = 0
    folders = [str(folder)]  # still to be read
    while folders and total <= limit:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    total += _size(entry)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError as error:
            # ENOENT: the folder was removed meanwhile. With other errors, its path is too long or its permissions forbid it.
            total += MIN_SIZE if error.errno == errno.ENOENT else limit
    return total


def _size(entry: os.DirEntry[str] | Path) -> int:
    """Return the bytes of a file or folder itself. A sparse file counts as its length, which it can still be filled to."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:  # removed meanwhile
        return MIN_SIZE
    return max(MIN_SIZE, status.st_size, status.st_blocks * BLOCK)


def keep_newest(entries: Iterable[Path], limit: int) -> list[Path]:
    """Remove the oldest files and folders until at most `limit` bytes are left. Return what was removed.

    Age is the modification time of each entry itself, not of files inside it. Links are not followed, and entries may be
    removed meanwhile.
    """
    newest_first = sorted(((_modified(entry), entry) for entry in entries), reverse=True)
    total = 0
    removed: list[Path] = []
    for _, entry in newest_first:
        is_folder = entry.is_dir() and not entry.is_symlink()
        total += size_of(entry, limit) if is_folder else _size(entry)
        if total > limit:
            remove_path(entry)
            removed.append(entry)
    return removed


def _modified(entry: Path) -> float:
    """Return when an entry was modified, in seconds since 1970; 0 if it does not exist any more."""
    try:
        return entry.lstat().st_mtime
    except OSError:
        return 0.0


@contextmanager
def open_regular_file(path: Path, *, create: bool = False) -> Iterator[BinaryIO]:
    """Open a regular file for reading and writing. Raises OSError for a symbolic link, a pipe or a device.

    With `create`, a file that does not exist is created, else OSError is raised for it too.
    """
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK  # opening a pipe would otherwise wait for its other end
    if create:
        flags |= os.O_CREAT
    with os.fdopen(os.open(path, flags, 0o644), "r+b") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path.name} is not a regular file")
        yield file
