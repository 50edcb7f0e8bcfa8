"""Copying a store to another place, every file compared afterwards.

Records go from git to git (a folder here, a dataset on the Hub, and back), as they are now, without their history. Private
files go from one fsspec address to another, or out of the git repository in which older versions kept them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import TypeVar

from tqdm import tqdm

from submissions.errors import StoreError
from submissions.settings import Settings
from submissions.store.base import Changes, Snapshot, Store, transact, unchanged
from submissions.store.open import DATASETS, is_remote, local_path, open_files, open_store
from submissions.store.shards import sharded_if_flat

T = TypeVar("T")
FILES_PER_COMMIT = 500
_PRIVATE = ("details/", "scores/", "details.key", "seeds/", "people/", "answers/")  # what only a private store has
_VOLATILE = ("answers/", "leases/", "paused/", "workers/")  # of what runs now
_OF_THE_HUB = ".gitattributes"


def migrate(source: str, target: str, settings: Settings) -> int:
    """Copy all that is there. Returns the number of files. Raises StoreError where the copy would not be whole.

    Started again, it goes on with what is missing.
    """
    _check_places(source, target)
    if not _is_git(source):
        files = open_files(source, settings)
        paths = files.paths("")
        if not paths:
            raise StoreError(f"{source} has no files: name a store that has")
        return _to_private(paths, files.read, target, settings)
    store = open_store(source, settings)
    snapshot = store.snapshot()
    if any(path.startswith(_PRIVATE) for path in snapshot.files):
        return _to_private(list(snapshot.files), lambda path: store.read(path, snapshot.head), target, settings)
    return _to_git(store, snapshot, target, settings)


def _check_places(source: str, target: str) -> None:
    """Raises StoreError where the source is not there, or one place lies in the other."""
    here, there = (None if is_remote(url) else local_path(url).resolve() for url in (source, target))
    if here and not here.exists():
        raise StoreError(f"{source} is not there")
    if here and there and (here.is_relative_to(there) or there.is_relative_to(here)):
        raise StoreError(f"{target} lies in {source}, or the other way round: name another place")


def _is_git(url: str) -> bool:
    return url.startswith(DATASETS) or (not is_remote(url) and (local_path(url) / "HEAD").is_file())


def _to_private(paths: Collection[str], read: Callable[[str], bytes], target: str, settings: Settings) -> int:
    private = open_files(target, settings)
    places = {path: sharded_if_flat(path) for path in paths if not path.startswith(_VOLATILE)}
    there = set(private.paths(""))
    if others := sorted(place for place in there - set(places.values()) if not place.startswith(_VOLATILE)):
        raise StoreError(f"{target} has files of its own ({others[0]}): name an empty place")
    for path in _shown(list(places)):
        try:
            content, place = read(path), places[path]
        except KeyError:  # erased meanwhile
            continue
        if place not in there or private.read(place) != content:
            private.write(place, content)
        if private.read(place) != content:
            raise StoreError(f"{target}: {place} is not what was written; run migrate again")
    return len(places)


def _to_git(store: Store, snapshot: Snapshot, target: str, settings: Settings) -> int:
    copy = open_store(target, settings)
    snapshot = Snapshot(snapshot.head, {path: blob for path, blob in snapshot.files.items() if path != _OF_THE_HUB})
    if other := [path for path in copy.snapshot().files if path not in (*snapshot.files, _OF_THE_HUB)]:
        raise StoreError(f"{target} has records of its own ({other[0]}): name an empty store")

    paths = list(snapshot.files)
    for start in _shown(range(0, len(paths), FILES_PER_COMMIT)):
        contents = {path: store.read(path, snapshot.head) for path in paths[start : start + FILES_PER_COMMIT]}
        transact(copy, partial(_add_missing, contents))
    after = copy.snapshot()
    for path in snapshot.files:
        if not unchanged(after, path, store.read(path, snapshot.head)):
            raise StoreError(f"{target}: {path} is not what was written; run migrate again")
    return len(snapshot.files)


def _add_missing(contents: Mapping[str, bytes], there: Snapshot) -> tuple[Changes, str, None]:
    missing = {path: content for path, content in contents.items() if not unchanged(there, path, content)}
    return missing, f"Copy {len(missing)} records", None


def _shown(steps: Collection[T]) -> Iterable[T]:
    """With a bar on a terminal."""
    shown: Iterable[T] = tqdm(steps, disable=None)
    return shown
