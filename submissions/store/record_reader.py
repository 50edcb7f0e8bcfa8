"""Read all records of a folder.

This is for records that are few and small, such as retirements and commitments. Results and requests have an index
(`submissions/store/index.py`).
"""

from typing import Generic, TypeVar

from submissions.records.base import Record
from submissions.store.base import Snapshot, Store

R = TypeVar("R", bound=Record)


class RecordReader(Generic[R]):
    """Read the records in a folder of the store. Each record is read only once."""

    def __init__(self, store: Store, folder: str, kind: type[R]) -> None:
        """Create a reader of the records of one kind. `folder` has no slash at its end."""
        self._store = store
        self._folder = folder
        self._kind = kind
        self._record_by_blob: dict[str, R] = {}

    def read(self, snapshot: Snapshot) -> list[R]:
        """Return the records sorted by path, without invalid and damaged ones. Raises StoreError if the store fails."""
        records = []
        folder = f"{self._folder}/"
        for path in sorted(path for path in snapshot.files if path.startswith(folder)):
            blob = snapshot.files[path]
            if blob not in self._record_by_blob:
                try:
                    self._record_by_blob[blob] = self._kind.from_json(self._store.read(path, snapshot.head))
                except ValueError:  # an invalid record, or a DamagedError
                    continue
            records.append(self._record_by_blob[blob])
        return records
