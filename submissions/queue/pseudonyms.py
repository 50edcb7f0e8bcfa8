"""Who a submitter is: the public records hold a pseudonym, the private store whose it is.

A pseudonym is random, so without its file in the private store nothing leads from it to the name (GDPR, article 4(5)).
"""

import json
import secrets
from functools import cached_property
from hashlib import sha256

from submissions.settings import Settings
from submissions.store.base import MAIN, Changes, Snapshot, Store, transact
from submissions.store.open import open_private_store
from submissions.store.shards import sharded


class Pseudonyms:
    """Opens the private store at the first use. Every method raises StoreError where it is out of reach."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def find(self, name: str) -> str | None:
        """The pseudonym of a person or an organisation; None for one who has never submitted."""
        return self._read(name, self._store.snapshot())

    def find_or_make(self, name: str) -> str:
        fresh = secrets.token_hex(8)

        def kept_or_fresh(snapshot: Snapshot) -> tuple[Changes, str, str]:
            if known := self._read(name, snapshot):
                return {}, "", known
            record = json.dumps({"name": name, "pseudonym": fresh}, ensure_ascii=False)
            return {_path(name): record.encode()}, "A submitter", fresh

        return transact(self._store, kept_or_fresh)

    def name_of(self, pseudonym: str) -> str | None:
        """Whose it is; None where that was erased."""
        snapshot = self._store.snapshot()
        records = (json.loads(self._store.read(path, snapshot.head)) for path in snapshot.files if _is_record(path))
        return next((str(record["name"]) for record in records if record["pseudonym"] == pseudonym), None)

    def erase(self, name: str) -> str | None:
        """Forget whose pseudonym it is, in the history too. Returns the pseudonym, None where there was none."""
        if (pseudonym := self.find(name)) is None:
            return None
        transact(self._store, lambda _: ({_path(name): None}, "Erase a submitter", None))
        self._store.squash(MAIN, purge=True)
        return pseudonym

    @cached_property
    def _store(self) -> Store:
        return open_private_store(self._settings)

    def _read(self, name: str, snapshot: Snapshot) -> str | None:
        if _path(name) not in snapshot.files:
            return None
        return str(json.loads(self._store.read(_path(name), snapshot.head))["pseudonym"])


def _path(name: str) -> str:
    return sharded(f"people/{sha256(name.encode()).hexdigest()}.json")  # a name may hold what no path can


def _is_record(path: str) -> bool:
    return path.startswith("people/")
