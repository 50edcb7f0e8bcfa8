"""Read, write and pack git objects while other processes do the same.

Each commit writes loose objects. The weekly upkeep (`GitStore.tidy`) removes those that nothing refers to. It then rewrites
the packs into one if there are more than REPACK_ABOVE, or in any case if something must be erased, and packs the other loose
objects. A mirror gets a pack with each fetch. Both merge the small packs if there are more than MAX_PACKS.
"""

import struct
import time
import zlib
from collections.abc import Callable, Collection, Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

from dulwich.errors import ChecksumMismatch, FileFormatException
from dulwich.file import FileLocked
from dulwich.object_store import DiskObjectStore
from dulwich.objects import ObjectID, RawObjectID, ShaFile
from dulwich.pack import Pack

OBJECTS_PER_PACK = 10_000  # loose objects are packed in groups of this size; a group is in memory at the same time
REPACK_ABOVE = 8  # packs; the weekly upkeep rewrites more than these into one
MAX_PACKS = 32  # if there are more, the small ones are merged, because reading opens every pack
MAX_LOOKUPS = 100  # of an object, while packs change
GROWTH = 2  # a pack is not merged if it is more than this many times as large as all smaller packs together
T = TypeVar("T")
# Exceptions that dulwich and zlib raise for damaged objects.
DAMAGE = (FileFormatException, ChecksumMismatch, zlib.error, struct.error, EOFError, BufferError, AssertionError)


class ObjectReader(DiskObjectStore):
    """An object store that finds objects while another process packs them.

    dulwich searches the packs first and then the loose files. If an object is packed between the two steps, or its pack is
    merged with others, it is in neither place. Another look-up lists the packs again and finds it. On a busy host packs can
    change again meanwhile, so an object only counts as missing after a look-up during which the packs stayed the same.
    """

    def get_raw(self, name: RawObjectID | ObjectID) -> tuple[int, bytes]:
        """Return the type number and the content of an object. Raises KeyError if it does not exist."""
        find = super().get_raw
        return self.look_up(lambda: find(name))

    def __contains__(self, sha: ObjectID) -> bool:
        contains = super().__contains__

        def find() -> bool:
            if not contains(sha):
                raise KeyError(sha)
            return True

        try:
            return self.look_up(find)
        except KeyError:
            return False

    def look_up(self, find: Callable[[], T]) -> T:
        """Return what `find` returns.

        If it raises KeyError, it is called again until it returns, or the packs have stayed the same during a call.
        """
        with suppress(KeyError):
            return find()  # nearly always; listing the packs takes longer than most look-ups
        for _ in range(MAX_LOOKUPS - 1):
            before = self._pack_names()
            try:
                return find()
            except KeyError:
                if self._pack_names() == before:
                    raise
        return find()

    def _pack_names(self) -> list[str]:
        return sorted(path.name for path in Path(self.pack_dir).glob("pack-*"))


class ObjectWriter:
    """The part of an object store that a commit needs. The caller must hold the store's lock."""

    def __init__(self, store: DiskObjectStore, *, survives_power_failure: bool = True) -> None:
        self._store = store
        # Without fsync, a power failure can leave empty files.
        store.fsync_object_files = survives_power_failure

    def __getitem__(self, sha: ObjectID) -> ShaFile:
        return self._store[sha]

    def add_object(self, new: ShaFile) -> None:
        """Write an object. A damaged copy and the leftovers of a killed writer are replaced."""
        path = loose_path(self._store, new.id)
        if path.exists() and not _is_intact(path, new):
            path.unlink()
        try:
            self._store.add_object(new)
        except FileLocked:
            Path(f"{path}.lock").unlink(missing_ok=True)
            self._store.add_object(new)


def loose_path(store: DiskObjectStore, sha: ObjectID) -> Path:
    return Path(store.path) / sha[:2].decode() / sha[2:].decode()


def _is_intact(path: Path, wanted: ShaFile) -> bool:
    try:
        content = zlib.decompress(path.read_bytes()).partition(b"\0")[2]
    except zlib.error:
        return False
    return content == wanted.as_raw_string()


def remove_leftovers(store: DiskObjectStore) -> None:
    """Delete the unfinished files of killed writers. The caller must hold the store's lock."""
    folder = Path(store.path)
    for path in (*folder.glob("??/*.lock"), *folder.glob("pack/*.lock"), *folder.glob("pack/tmp*")):
        path.unlink(missing_ok=True)
    for suffix, other in ((".pack", ".idx"), (".idx", ".pack")):  # one without the other is of no use
        for path in folder.glob(f"pack/*{suffix}"):
            if not path.with_suffix(other).exists():
                path.unlink()


def remove_unreachable(store: DiskObjectStore, reachable: Collection[ObjectID], grace_s: float) -> None:
    """Delete unreachable loose objects older than `grace_s` seconds. The caller must hold the store's lock."""
    since = time.time() - grace_s
    for sha, path in _loose_objects(store).items():
        if sha not in reachable and path.stat().st_mtime <= since:
            path.unlink()


def repack(store: DiskObjectStore, reachable: Collection[ObjectID], above: int = REPACK_ABOVE) -> None:
    """Replace all packs by one without unreachable objects, if there are more than `above`.

    The caller must hold the store's lock.
    """
    before = _complete_packs(store)
    if len(before) <= above:
        return
    loose = _loose_objects(store)  # these are packed by `pack_loose_objects`
    store.fsync_object_files = True
    # An object that a damaged store lacks is left out, so that the upkeep does not fail.
    _replace_packs(store, before, [store[sha] for sha in reachable if sha not in loose and sha in store])


def pack_loose_objects(store: DiskObjectStore) -> None:
    """Move loose objects into packs. The caller must hold the store's lock."""
    loose = list(_loose_objects(store).items())
    store.fsync_object_files = True
    for start in range(0, len(loose), OBJECTS_PER_PACK):
        chunk = loose[start : start + OBJECTS_PER_PACK]
        store.add_objects([(store[sha], None) for sha, _ in chunk])
        for _, path in chunk:
            path.unlink()


def _loose_objects(store: DiskObjectStore) -> dict[ObjectID, Path]:
    """Return the files of loose objects by id: `objects/ab/cdef…` is the object `abcdef…`, with 40 hex digits."""
    paths = Path(store.path).glob("[0-9a-f][0-9a-f]/" + "[0-9a-f]" * 38)
    return {ObjectID((path.parent.name + path.name).encode()): path for path in paths}


def _complete_packs(store: DiskObjectStore) -> list[Path]:
    """Return the complete packs. An unfinished pack of a killed process has no index."""
    return [path for path in Path(store.pack_dir).glob("pack-*.pack") if path.with_suffix(".idx").exists()]


def _replace_packs(store: DiskObjectStore, packs: Iterable[Path], objects: Iterable[ShaFile]) -> None:
    """Write objects into a new pack and delete the given packs."""
    new = store.add_objects([(obj, None) for obj in objects])  # None if there are no objects
    name = f"pack-{new.name().decode()}" if new else None
    for path in packs:
        if path.stem != name:  # the name is a hash of the objects' ids: dulwich keeps an old pack with the same objects
            for file in path.parent.glob(f"{path.stem}.*"):
                file.unlink()
    store.close()  # otherwise it would keep reading the deleted packs


def merge_packs(store: DiskObjectStore) -> None:
    """Merge small packs if there are more than MAX_PACKS. Large packs stay, so each object is rewritten only a few times."""
    before = sorted(_complete_packs(store), key=lambda path: path.stat().st_size)
    if len(before) <= MAX_PACKS:
        return
    small = [before[0]]
    total = before[0].stat().st_size
    for path in before[1:]:
        size = path.stat().st_size
        if size > GROWTH * total and len(small) > 1:  # at least two are merged, else there would not be fewer
            break
        small.append(path)
        total += size
    objects: dict[ObjectID, ShaFile] = {}
    for path in small:
        with closing(Pack(str(path.with_suffix("")), object_format=store.object_format)) as pack:
            objects |= {obj.id: obj for obj in pack.iterobjects()}
    # `tidy` has already turned on fsync. A mirror needs none, because it is fetched again if it is damaged.
    _replace_packs(store, small, objects.values())
