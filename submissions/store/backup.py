"""Back up all stores to a folder, and restore them from it.

The folder contains `store.git`, `private`, `evaluations.git` if there are private evaluations, and `private.sha256` with
the checksums of the private files. (Git has hashes of its own.) The checksums are written last, so a backup without them is
incomplete. They can also be checked by hand with `sha256sum --check ../private.sha256` in `private`.
"""

import hashlib
import os
from pathlib import Path

from submissions.config.settings import Settings
from submissions.store.consistency import damaged
from submissions.store.copy import check_places, copy_store
from submissions.store.git import GitStore
from submissions.store.open import has_private_queue
from submissions.texts.errors import StoreError

PUBLIC, PRIVATE, EVALUATIONS, CHECKSUMS = "store.git", "private", "evaluations.git", "private.sha256"


def backup(folder: Path, settings: Settings) -> dict[str, int]:
    """Back up all stores. Return the number of files by the address of the store.

    Raises StoreError on failure, and for a folder with a complete backup, which is left as it is.
    """
    stores = [(settings.store, PUBLIC), (settings.private_store, PRIVATE)]
    evaluations = settings.private_queue_address
    if evaluations and has_private_queue(settings):
        stores.append((evaluations, EVALUATIONS))
    # All are checked before the first is copied. Otherwise a folder inside the private store would be refused only after the
    # public store was copied into it.
    check_places([url for url, _ in stores], [str(folder / name) for _, name in stores])
    checksums = folder / CHECKSUMS
    if checksums.exists():
        raise StoreError(f"{folder} has a complete backup: name another folder")
    copied = {url: copy_store(url, str(folder / name), settings) for url, name in stores}
    if (folder / EVALUATIONS).exists():
        (folder / EVALUATIONS).chmod(0o700)
    partial = checksums.with_suffix(".part")
    partial.touch(0o600)
    lines = [f"{digest}  {name}\n" for name, digest in _digests_of_backup(folder).items()]
    partial.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
    partial.replace(checksums)
    return copied


def restore(folder: Path, settings: Settings) -> dict[str, int]:
    """Restore all stores. Return the number of files by the address of the store.

    Raises StoreError, before anything is written, if the backup is incomplete or damaged.
    """
    _check(folder)
    stores = [(settings.store, PUBLIC), (settings.private_store, PRIVATE)]
    if (folder / EVALUATIONS).exists():
        evaluations = settings.private_queue_address
        if evaluations is None:
            raise StoreError(f"{folder / EVALUATIONS} has private evaluations: set HANNUN_PRIVATE_QUEUE")
        stores.append((evaluations, EVALUATIONS))
    check_places([str(folder / name) for _, name in stores], [url for url, _ in stores])
    return {url: copy_store(str(folder / name), url, settings) for url, name in stores}


def _check(folder: Path) -> None:
    """Raise StoreError if a backup is incomplete or damaged."""
    for name in (PUBLIC, PRIVATE, CHECKSUMS, EVALUATIONS):
        if not os.path.lexists(folder / name):
            if name == EVALUATIONS:  # only in a backup with private evaluations
                continue
            raise StoreError(f"{folder / name} does not exist: name a folder with a complete backup")
        for path in (folder / name, *(folder / name).rglob("*")):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise StoreError(f"{path} is a link or a pipe, which a backup never contains; use another backup")
    for name in (PUBLIC, EVALUATIONS):
        if (folder / name / "objects/info/alternates").exists():
            raise StoreError(f"{folder / name} takes objects from another repository; restore from a complete backup")
    lines = (folder / CHECKSUMS).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    expected = {}
    for line in lines:
        digest, _, name = line.partition("  ")
        expected[name] = digest
    found = _digests_of_backup(folder)
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            raise StoreError(f"{folder / PRIVATE}: {name} is missing; use another backup")
        if expected.get(name) != found[name]:
            raise StoreError(f"{folder / PRIVATE}: {name} was changed after the backup; use another backup")
    for name in (PUBLIC, EVALUATIONS):
        if (folder / name).exists():
            store = GitStore(folder / name)
            if problem := next(damaged(store, store.snapshot()), None):
                raise StoreError(f"{folder / name}: {problem}; use another backup")


def _digests_of_backup(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each private file, and of HEAD in the private evaluations, if there are any.

    With that line, `restore` notices if the whole folder of the private evaluations was lost.
    """
    digests = _digests(folder / PRIVATE)
    head = folder / EVALUATIONS / "HEAD"
    if head.exists():
        digests[f"../{EVALUATIONS}/HEAD"] = hashlib.sha256(head.read_bytes()).hexdigest()
    return digests


def _digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file by its path in the folder."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                digests[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests
