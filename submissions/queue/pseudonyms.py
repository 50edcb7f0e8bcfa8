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
from submissions.store.open import open_private_store
from submissions.store.private import PrivateStore
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
        record = self._record(_path(name))
        return record.pseudonym if record else None

    def find_or_make(self, name: str) -> str:
        if known := self.find(name):
            return known
        fresh = Person(name=name, pseudonym=secrets.token_hex(8))
        self._files.create(_path(name), fresh.to_bytes())
        if known := self.find(name):
            return known
        self._files.write(_path(name), fresh.to_bytes())  # over one that cannot be read
        return fresh.pseudonym

    def name_of(self, pseudonym: str) -> str | None:
        """Whose it is; None where that was erased."""
        records = (self._record(path) for path in self._files.paths("people"))
        return next((record.name for record in records if record and record.pseudonym == pseudonym), None)

    def erase(self, name: str) -> str | None:
        """Forget whose pseudonym it is. Returns the pseudonym, None where there was none."""
        pseudonym = self.find(name)
        self._files.delete(_path(name))
        return pseudonym

    @cached_property
    def _files(self) -> PrivateStore:
        return open_private_store(self._settings)

    def _record(self, path: str) -> Person | None:
        """None where there is none, or none that can be read."""
        try:
            return Person.read_known(self._files.read(path))
        except (KeyError, ValueError):
            return None


def _path(name: str) -> str:
    return sharded(f"people/{sha256(name.encode()).hexdigest()}.json")  # a name may hold what no path can
