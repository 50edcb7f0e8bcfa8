"""Map submitters to pseudonyms. Public records hold the pseudonym, and only the private store holds the name.

A pseudonym is random, so without its file in the private store it cannot be traced to the name (GDPR, article 4(5)). Whether
a submitter belongs to the model's owner is not public either, because together with the owner's name it could identify
the submitter, so a request has only a keyed mark of it (`owner_mark`).
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
from submissions.records.index_rows import QueueRow
from submissions.records.request import EvalRequest
from submissions.store.folders import in_key_folder
from submissions.store.open import open_private_store
from submissions.store.private import PrivateStore

ERASED = "erased"
HASH_KEY_FILE = "people.key"  # the key of all keyed hashes here, also of owner marks


class SubmitterName(Record):
    """The name of the submitter behind a pseudonym, stored at `people/` in the private store."""

    name: Label
    pseudonym: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]


class Erased(Record):
    """A pseudonym whose name was erased, stored at `erased/` in the private store under a keyed hash of the name.

    Its submissions count towards the quota until `counted_until`.
    """

    pseudonym: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    counted_until: Time


class Pseudonyms:
    """Look up pseudonyms in the private store, which is opened at the first use.

    Every method raises StoreError if the store cannot be reached.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def find(self, name: str) -> str | None:
        """Return the pseudonym of a submitter, or None if they have never submitted."""
        record = self._files.read_record(_path(name), SubmitterName)
        return record.pseudonym if record else None

    def find_or_make(self, name: str) -> str:
        """Return the pseudonym of a submitter, and create it if there is none."""
        if known := self.find(name):
            return known
        fresh = SubmitterName(name=name, pseudonym=secrets.token_hex(8))
        self._files.create(_path(name), fresh.to_bytes())
        if stored := self.find(name):  # the fresh one, or that of another process that was faster
            return stored
        self._files.write(_path(name), fresh.to_bytes())  # there was a record, but it is unreadable
        return fresh.pseudonym

    def name_of(self, pseudonym: str) -> str | None:
        """Return the name behind a pseudonym, or None if it was erased."""
        records = (self._files.read_record(path, SubmitterName) for path in self._files.paths("people"))
        return next((record.name for record in records if record and record.pseudonym == pseudonym), None)

    def erase(self, name: str, now: datetime) -> str | None:
        """Erase the name behind a pseudonym. Return the pseudonym, or None if there was none.

        A keyed hash of the name is kept for the quota window. Otherwise the same person, signing in again, would get a fresh
        quota with a new pseudonym.
        """
        if pseudonym := self.find(name):
            erased = Erased(pseudonym=pseudonym, counted_until=now + self._settings.quota_window)
            self._files.write(f"{self._erased_prefix(name)}{pseudonym}.json", erased.to_bytes())
        self._files.delete(_path(name))  # also if it cannot be read, and so has no pseudonym
        return pseudonym

    def erased_pseudonyms(self, name: str, now: datetime) -> frozenset[str]:
        """Return the erased pseudonyms of a name that the quota still counts."""
        paths = (path for path in self._files.paths(ERASED) if path.startswith(self._erased_prefix(name)))
        records = (self._files.read_record(path, Erased) for path in paths)
        return frozenset(record.pseudonym for record in records if record and record.counted_until > now)

    def owner_mark(self, owner: str, request_key: str) -> str:
        """Return what `owner_mark` of a request is if its submitter belongs to the model's owner, a keyed hash.

        Otherwise `submissions.checks.submit` stores a random value of the same length, so that the two cannot be told apart
        without the key in the private store.
        """
        return self._keyed_hash(f"{owner}/{request_key}")

    def belongs(self, request: EvalRequest | QueueRow) -> bool:
        """Return whether the submitter of a request belongs to the model's owner."""
        return request.owner_mark == self.owner_mark(request.model_id.partition("/")[0], request.key)

    def _erased_prefix(self, name: str) -> str:
        return f"{ERASED}/{self._keyed_hash(name)}-"

    def _keyed_hash(self, text: str) -> str:
        return hmac.new(self._hash_key, text.encode(), sha256).hexdigest()[:16]

    @cached_property
    def _hash_key(self) -> bytes:
        self._files.create(HASH_KEY_FILE, secrets.token_hex(32).encode())
        return self._files.read(HASH_KEY_FILE)

    @cached_property
    def _files(self) -> PrivateStore:
        return open_private_store(self._settings)


def forget_erased(private: PrivateStore, now: datetime) -> None:
    """Delete records of erased names that the quota no longer counts. Raises StoreError on failure."""
    for path in private.paths(ERASED):
        erased = private.read_record(path, Erased)
        if erased is None or erased.counted_until <= now:
            private.delete(path)


def _path(name: str) -> str:
    # Hashed, because a name may contain characters that a path cannot. Without a key, because the file has the name itself.
    return in_key_folder(f"people/{sha256(name.encode()).hexdigest()}.json")
