"""Read all records of a folder, for kinds that are few and small, such as retirements and commitments."""

from typing import Generic, TypeVar

from submissions.records.base import Record
from submissions.store.base import Snapshot, Store

R = TypeVar("R", bound=Record)


class RecordReader(Generic[R]):
    """Read the records in a folder of the store. Each record is read only once."""

    def __init__(self, store: Store, folder: str, kind: type[R]) -> None:
        self._store, self._folder, self._kind = store, folder, kind
        self._known: dict[str, R] = {}  # by blob id

    def read(self, snapshot: Snapshot) -> list[R]:
        """Return the readable records sorted by path. Raises StoreError if the store cannot be read."""
        found = []
        folder = f"{self._folder}/"
        for path in sorted(path for path in snapshot.files if path.startswith(folder)):
            blob = snapshot.files[path]
            if blob not in self._known:
                try:
                    self._known[blob] = self._kind.from_json(self._store.read(path, snapshot.head))
                except ValueError:
                    continue
            found.append(self._known[blob])
        return found
