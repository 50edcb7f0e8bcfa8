"""Copy a store to another place, and compare every file afterwards.

A public store is copied from git to git (local folders and datasets on the Hub), without its history. A private store is
copied from one fsspec address to another.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from itertools import product
from typing import TypeVar

from tqdm import tqdm

from submissions.config.addresses import DATASETS, is_remote, overlap
from submissions.config.settings import Settings
from submissions.store.base import Changes, Snapshot, Store, transact, unchanged
from submissions.store.open import local_path, open_private_store_at, open_store
from submissions.store.private import PrivateStore
from submissions.texts.errors import StoreError

T = TypeVar("T")
FILES_PER_COMMIT = 500
# Folders of a private store with the state of running evaluations, which is not copied. `answers/` of a public
# store, with the answers to sample items, is copied.
VOLATILE = ("answers/", "leases/", "paused/", "workers/")
# The Hub adds this file to every dataset. The snapshot of a dataset leaves it out (`Mirror.hidden`), that of a local clone
# does not.
HUB_FILE = ".gitattributes"
OTHER_CONTENT = "is not what the source has, and may be newer: name an empty place, or delete the copy and begin again"


def copy_store(source: str, target: str, settings: Settings) -> int:
    """Copy a store and return its number of files. An interrupted copy is continued, and no file of the target is replaced.

    Raises StoreError if the target has other files or other contents, or if the copy would be incomplete.
    """
    check_places([source], [target])
    if _is_git(source):
        return _copy_git(open_store(source, settings), target, settings)
    return _copy_private(open_private_store_at(source, settings), target, settings)


def check_places(sources: Iterable[str], targets: Iterable[str]) -> None:
    """Raise StoreError if a source does not exist, or if one of a source and a target is inside the other."""
    for source, target in product(sources, targets):
        if not is_remote(source) and not local_path(source).exists():
            raise StoreError(f"{source} does not exist")
        if overlap(source, target):
            raise StoreError(f"one of {source} and {target} is inside the other: name another place")


def _is_git(url: str) -> bool:
    """Return whether an address is that of a public store: a dataset, or a local bare repository."""
    return url.startswith(DATASETS) or (not is_remote(url) and (local_path(url) / "HEAD").is_file())


def _copy_private(store: PrivateStore, target: str, settings: Settings) -> int:
    """Copy a private store, compare each file, and return the number of files."""
    paths = [path for path in store.paths("") if not path.startswith(VOLATILE)]
    if not paths:
        raise StoreError(f"{store.url} has no files: name a store with files")
    copy = open_private_store_at(target, settings)
    existing = {path for path in copy.paths("") if not path.startswith(VOLATILE)}
    if others := sorted(existing.difference(paths)):
        raise StoreError(f"{target} already has other files ({others[0]}): name an empty place")
    for path in sorted(existing):  # all of them before anything is written
        try:
            content = store.read(path)
        except KeyError:  # the file was deleted meanwhile, so the copy must not have it either
            copy.delete(path)
            continue
        if copy.read(path) != content:
            raise StoreError(f"{target}: {path} {OTHER_CONTENT}")
    copied = 0
    for path in _with_progress(paths):
        try:
            content = store.read(path)
        except KeyError:
            copy.delete(path)
            continue
        copied += 1
        if path not in existing:
            copy.write(path, content)
        if copy.read(path) != content:
            raise StoreError(
                f"{target}: {path} differs from the source; stop the board and the workers, then run the command again"
            )
    return copied


def _copy_git(store: Store, target: str, settings: Settings) -> int:
    """Copy the newest snapshot of a public store, compare each file, and return the number of files."""
    copy = open_store(target, settings)
    snapshot = store.snapshot()
    paths = [path for path in snapshot.files if path != HUB_FILE]
    existing = copy.snapshot()
    if others := [path for path in existing.files if path not in snapshot.files and path != HUB_FILE]:
        raise StoreError(f"{target} already has other records ({others[0]}): name an empty store")
    for path in paths:
        if path in existing.files and not unchanged(existing, path, store.read(path, snapshot.head)):
            raise StoreError(f"{target}: {path} {OTHER_CONTENT}")
    for start in _with_progress(range(0, len(paths), FILES_PER_COMMIT)):
        contents = {path: store.read(path, snapshot.head) for path in paths[start : start + FILES_PER_COMMIT]}
        transact(copy, partial(_add_missing, contents))
    after = copy.snapshot()
    for path in paths:
        if not unchanged(after, path, store.read(path, snapshot.head)):
            raise StoreError(f"{target}: {path} differs from the source; run the command again")
    return len(paths)


def _add_missing(contents: Mapping[str, bytes], target: Snapshot) -> tuple[Changes, str, None]:
    """Return the commit that adds the files that the target lacks, for `transact`."""
    missing = {path: content for path, content in contents.items() if not unchanged(target, path, content)}
    return missing, f"Copy {len(missing)} records", None


def _with_progress(steps: Collection[T]) -> Iterable[T]:
    """Iterate with a progress bar if stderr is a terminal."""
    bar: Iterable[T] = tqdm(steps, disable=None)
    return bar
