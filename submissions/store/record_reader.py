"""Records that are few and small, read whole: retirements, commitments."""

from typing import Generic, TypeVar

from submissions.records.base import Record
from submissions.store.base import Snapshot, Store

R = TypeVar("R", bound=Record)


class RecordReader(Generic[R]):
    """The records of a folder of the store, each read once."""

    def __init__(self, store: Store, folder: str, kind: type[R]) -> None:
        self._store, self._folder, self._kind = store, folder, kind
        self._known: dict[str, R] = {}  # by blob

    def read(self, snapshot: Snapshot) -> list[R]:
        """In the order of their paths; what cannot be read is passed over. Raises StoreError."""
        found = []
        folder = f"{self._folder}/"
        for path in sorted(path for path in snapshot.files if path.startswith(folder)):
            blob = snapshot.files[path]
            if blob not in self._known:
                try:
                    self._known[blob] = self._kind.model_validate_json(self._store.read(path, snapshot.head))
                except ValueError:
                    continue
            found.append(self._known[blob])
        return found
