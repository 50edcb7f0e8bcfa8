"""Who a submitter is: the public records hold a pseudonym, the private store whose it is.

A pseudonym is random, so without its file in the private store nothing leads from it to the name (GDPR, article 4(5)).
"""

import secrets
from functools import cached_property
from hashlib import sha256
from typing import Annotated

from pydantic import Field

from submissions.records import Label, Record
from submissions.settings import Settings
from submissions.store.base import MAIN, Changes, Snapshot, Store, transact
from submissions.store.open import open_private_store
from submissions.store.shards import sharded


class Person(Record):
    """At `people/` of the private store."""

    name: Label
    pseudonym: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]


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
            return {_path(name): Person(name=name, pseudonym=fresh).to_bytes()}, "A submitter", fresh

        return transact(self._store, kept_or_fresh)

    def name_of(self, pseudonym: str) -> str | None:
        """Whose it is; None where that was erased."""
        snapshot = self._store.snapshot()
        records = (self._record(path, snapshot) for path in snapshot.files if path.startswith("people/"))
        return next((record.name for record in records if record and record.pseudonym == pseudonym), None)

    def erase(self, name: str) -> str | None:
        """Forget whose pseudonym it is, in the history too. Returns the pseudonym, None where there was none.

        The history goes in any case: an erasure may have been interrupted before.
        """
        pseudonym = self.find(name)
        transact(self._store, lambda _: ({_path(name): None}, "Erase a submitter", None))
        self._store.squash(MAIN, purge=True)
        return pseudonym

    @cached_property
    def _store(self) -> Store:
        return open_private_store(self._settings)

    def _read(self, name: str, snapshot: Snapshot) -> str | None:
        record = self._record(_path(name), snapshot) if _path(name) in snapshot.files else None
        return record.pseudonym if record else None

    def _record(self, path: str, snapshot: Snapshot) -> Person | None:
        """None where it cannot be read."""
        try:
            return Person.model_validate_json(self._store.read(path, snapshot.head))
        except ValueError:
            return None


def _path(name: str) -> str:
    return sharded(f"people/{sha256(name.encode()).hexdigest()}.json")  # a name may hold what no path can
