"""Reading, writing and packing git objects while other processes do the same."""

import struct
import time
import zlib
from collections.abc import Collection, Iterable
from contextlib import closing
from pathlib import Path

from dulwich.errors import ChecksumMismatch, FileFormatException
from dulwich.file import FileLocked
from dulwich.object_store import DiskObjectStore
from dulwich.objects import ObjectID, RawObjectID, ShaFile
from dulwich.pack import Pack

OBJECTS_PER_PACK = 10_000  # that are in memory together
FEW_PACKS = 8  # that are left alone by the weekly upkeep
MAX_PACKS = 32  # a repository opens each of them
GROWTH = 2  # a pack is merged with the smaller ones unless it is this many times as large as they are together
# What dulwich and zlib raise where the bytes of an object are not what they should be.
DAMAGE = (FileFormatException, ChecksumMismatch, zlib.error, struct.error, EOFError, AssertionError)


class ObjectReader(DiskObjectStore):
    """An object store that finds objects while another process packs them.

    dulwich looks into the packs, then for the loose file. An object that is packed between the two look-ups is in neither
    place, so a miss is repeated: the second look-up lists the packs again.
    """

    def get_raw(self, name: RawObjectID | ObjectID) -> tuple[int, bytes]:
        """Return the type number and the content of an object. Raises KeyError if it does not exist."""
        try:
            return super().get_raw(name)
        except KeyError:
            return super().get_raw(name)

    def __contains__(self, sha: ObjectID) -> bool:
        return super().__contains__(sha) or super().__contains__(sha)


class ObjectWriter:
    """What a commit needs of an object store. Its user holds the store's lock, so no other writer is at work."""

    def __init__(self, store: DiskObjectStore) -> None:
        self._store = store
        # A power failure otherwise leaves files without content.
        store.fsync_object_files = True

    def __getitem__(self, sha: ObjectID) -> ShaFile:
        return self._store[sha]

    def add_object(self, new: ShaFile) -> None:
        """Write an object, over one that is damaged, and in place of one that a killed writer has begun."""
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
    """What killed writers have begun. The store's lock is held, so none is at work."""
    folder = Path(store.path)
    for path in (*folder.glob("??/*.lock"), *folder.glob("pack/*.lock"), *folder.glob("pack/tmp*")):
        path.unlink(missing_ok=True)
    for path in folder.glob("pack/*.pack"):
        if not path.with_suffix(".idx").exists():
            path.unlink()


def remove_unreachable(store: DiskObjectStore, reachable: Collection[ObjectID], grace_s: float) -> None:
    """Remove loose objects that nothing leads to, unless they are new. The store's lock is held."""
    since = time.time() - grace_s
    for sha, path in _loose_objects(store).items():
        if sha not in reachable and path.stat().st_mtime <= since:
            path.unlink()


def repack(store: DiskObjectStore, reachable: Collection[ObjectID]) -> None:
    """One pack in place of many, without what nothing leads to. The store's lock is held."""
    before = _whole_packs(store)
    if len(before) <= FEW_PACKS:
        return
    loose = _loose_objects(store)
    store.fsync_object_files = True
    _replace_packs(store, before, [store[sha] for sha in reachable if sha not in loose and sha in store])


def pack_loose_objects(store: DiskObjectStore) -> None:
    """Loose objects as packs. The store's lock is held."""
    loose = list(_loose_objects(store).items())
    store.fsync_object_files = True
    for start in range(0, len(loose), OBJECTS_PER_PACK):
        some = loose[start : start + OBJECTS_PER_PACK]
        store.add_objects([(store[sha], None) for sha, _ in some])
        for _, path in some:
            path.unlink()


def _loose_objects(store: DiskObjectStore) -> dict[ObjectID, Path]:
    paths = Path(store.path).glob("[0-9a-f][0-9a-f]/" + "[0-9a-f]" * 38)
    return {ObjectID((path.parent.name + path.name).encode()): path for path in paths}


def _whole_packs(store: DiskObjectStore) -> list[Path]:
    """Without those that a killed process has begun, which have no index."""
    return [path for path in Path(store.pack_dir).glob("pack-*.pack") if path.with_suffix(".idx").exists()]


def _replace_packs(store: DiskObjectStore, packs: Iterable[Path], objects: Iterable[ShaFile]) -> None:
    """These objects as one pack, in place of those packs."""
    new = store.add_objects([(obj, None) for obj in objects])
    assert new
    for path in packs:
        if path.stem != f"pack-{new.name().decode()}":  # one of them may hold just these
            for file in path.parent.glob(f"{path.stem}.*"):
                file.unlink()
    store.close()  # it has the removed ones open still, and would look into them


def merge_packs(store: DiskObjectStore) -> None:
    """Fewer packs, where there are many. The large ones stay as they are, so that an object is moved a few times only."""
    before = sorted(_whole_packs(store), key=lambda path: path.stat().st_size)
    if len(before) <= MAX_PACKS:
        return
    few, together = [before[0]], before[0].stat().st_size
    for path in before[1:]:
        size = path.stat().st_size
        if size > GROWTH * together and len(few) > 1:
            break
        few.append(path)
        together += size
    objects: dict[ObjectID, ShaFile] = {}
    for path in few:
        with closing(Pack(str(path.with_suffix("")), object_format=store.object_format)) as pack:
            objects |= {obj.id: obj for obj in pack.iterobjects()}
    _replace_packs(store, few, objects.values())
