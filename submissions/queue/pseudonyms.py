"""Who a submitter is: the public records hold a pseudonym, the private store whose it is.

A pseudonym is random, so without its file in the private store nothing leads from it to the name (GDPR, article 4(5)). Whether
a submitter belongs to the model's owner is not public either: beside the owner's name that would be the submitter's.
"""

import hmac
import secrets
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import Annotated

from pydantic import Field

from submissions.config.settings import Settings
from submissions.records.base import Label, Record, Time
from submissions.records.request import EvalRequest
from submissions.store.folders import sharded
from submissions.store.open import open_private_store
from submissions.store.private import PrivateStore

ERASED, KEY = "erased", "people.key"


class Person(Record):
    """At `people/` of the private store."""

    name: Label
    pseudonym: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]


class Erased(Record):
    """Whose name was erased, at `erased/` under a keyed hash of the name: until then the quota still counts."""

    pseudonym: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    until: Time


class Pseudonyms:
    """Opens the private store at the first use. Every method raises StoreError where it is out of reach."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def find(self, name: str) -> str | None:
        """The pseudonym of a person or an organisation; None for one who has never submitted."""
        record = self._files.read_record(_path(name), Person)
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
        records = (self._files.read_record(path, Person) for path in self._files.paths("people"))
        return next((record.name for record in records if record and record.pseudonym == pseudonym), None)

    def erase(self, name: str, now: datetime) -> str | None:
        """Forget whose pseudonym it is. Return the pseudonym, None if there was none.

        A keyed hash of the name stays for the window of the quota, which a new pseudonym would otherwise renew.
        """
        if pseudonym := self.find(name):
            erased = Erased(pseudonym=pseudonym, until=now + self._settings.quota_window)
            self._files.write(f"{self._erased(name)}{pseudonym}.json", erased.to_bytes())
        self._files.delete(_path(name))
        return pseudonym

    def former(self, name: str, now: datetime) -> frozenset[str]:
        """Return the pseudonyms of erased records of this name that the quota still counts."""
        paths = (path for path in self._files.paths(ERASED) if path.startswith(self._erased(name)))
        records = (self._files.read_record(path, Erased) for path in paths)
        return frozenset(record.pseudonym for record in records if record and record.until > now)

    def mark(self, owner: str, key: str) -> str:
        """Return the mark of a request, by its key, whose submitter belongs to the model's owner.

        To those who do not have the key of the private store it is a random number, another one for each request.
        """
        return self._keyed(f"{owner}/{key}")

    def belongs(self, request: EvalRequest) -> bool:
        """Return whether a request's submitter belongs to the model's owner."""
        return request.organisation == self.mark(request.model_id.partition("/")[0], request.key)

    def _erased(self, name: str) -> str:
        return f"{ERASED}/{self._keyed(name)}-"

    def _keyed(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), sha256).hexdigest()[:16]

    @cached_property
    def _key(self) -> bytes:
        self._files.create(KEY, secrets.token_hex(32).encode())
        return self._files.read(KEY)

    @cached_property
    def _files(self) -> PrivateStore:
        return open_private_store(self._settings)


def forget_erased(private: PrivateStore, now: datetime) -> None:
    """Delete the marks of erased names that no quota counts any more. Raises StoreError."""
    for path in private.paths(ERASED):
        erased = private.read_record(path, Erased)
        if erased is None or erased.until <= now:
            private.delete(path)


def _path(name: str) -> str:
    return sharded(f"people/{sha256(name.encode()).hexdigest()}.json")  # a name may hold what no path can
