"""A folder with copies of both stores: `store.git`, `private`, and `private.sha256`, the checksums of the latter.

Git knows the hash of all it holds; of private files the checksums tell one that was changed since. They are written last:
where they are missing, the backup was not finished. `sha256sum --check ../private.sha256` in `private` reads them too.
"""

import hashlib
from pathlib import Path

from submissions.config.settings import Settings
from submissions.store.copy import copy_store
from submissions.texts.errors import StoreError

PUBLIC, PRIVATE, CHECKSUMS = "store.git", "private", "private.sha256"


def backup(folder: Path, settings: Settings) -> dict[str, int]:
    """How many files of each store are there now. Raises StoreError."""
    checksums = folder / CHECKSUMS
    checksums.unlink(missing_ok=True)
    copied = {
        url: copy_store(url, str(folder / name), settings)
        for url, name in ((settings.store, PUBLIC), (settings.private_store, PRIVATE))
    }
    partial = checksums.with_suffix(".part")
    partial.touch(0o600)
    partial.write_text("".join(f"{digest}  {name}\n" for name, digest in _digests(folder / PRIVATE).items()))
    partial.replace(checksums)
    return copied


def restore(folder: Path, settings: Settings) -> dict[str, int]:
    """How many files each store has now. Raises StoreError where the backup is not whole, before anything is written."""
    _check(folder)
    return {
        url: copy_store(str(folder / name), url, settings)
        for url, name in ((settings.store, PUBLIC), (settings.private_store, PRIVATE))
    }


def _check(folder: Path) -> None:
    for name in (PUBLIC, PRIVATE, CHECKSUMS):
        if not (folder / name).exists():
            raise StoreError(f"{folder / name} is not there: name a folder that `backup` has made and finished")
        for path in (folder / name, *(folder / name).rglob("*")):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise StoreError(f"{path} is a link or a pipe, which no backup has; restore from another one")
    if (folder / PUBLIC / "objects/info/alternates").exists():
        raise StoreError(
            f"{folder / PUBLIC} takes objects from another repository; restore from a backup that is whole"
        )
    lines = (folder / CHECKSUMS).read_text(encoding="utf-8").splitlines()
    expected = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    found = _digests(folder / PRIVATE)
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            raise StoreError(f"{folder / PRIVATE}: {name} is missing; take another backup")
        if expected.get(name) != found[name]:
            raise StoreError(f"{folder / PRIVATE}: {name} is not what was backed up; take another backup")


def _digests(folder: Path) -> dict[str, str]:
    """SHA-256 of each file, by its path in the folder."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                digests[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests
