"""The store of records: a tree of files with history, changed only by compare-and-swap commits."""

import errno
import random
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha1, sha256
from typing import Protocol, TypeVar

from submissions.texts.errors import ConflictError

MAIN = "main"
TRIES = 30
LONGEST_WAIT = 5.0  # seconds between two tries
PASSING = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)  # may be over soon
POINTER = b"version https://git-lfs.github.com/spec/v1\n"
T = TypeVar("T")


@dataclass(frozen=True)
class Commit:
    id: str
    time: datetime
    message: str


@dataclass(frozen=True)
class Snapshot:
    """The store at one moment: its head and the blob id of every path in it."""

    head: str
    files: Mapping[str, str]
    since: str | None = field(default=None, compare=False)  # the head of an earlier snapshot
    changed: frozenset[str] = field(default=frozenset(), compare=False)  # paths in which the two differ


Changes = Mapping[str, bytes | None]  # path → new content, or None to delete


class Store(Protocol):
    url: str
    write_lock: threading.Lock  # writers that share one Store take turns

    @property
    def failed_attempts(self) -> int:
        """How many disk operations or requests to the Hub failed, including those that were retried."""
        ...

    def head(self) -> str:
        """The newest commit. A store that was never written has an empty one."""
        ...

    def snapshot(self, head: str | None = None) -> Snapshot:
        """All paths, as they are now or at the commit `head`. Raises KeyError for a commit that is not there."""
        ...

    def read(self, path: str, head: str) -> bytes:
        """The content of a path at a commit. Raises KeyError if it is not there."""
        ...

    def entries(self, folder: str, head: str) -> int:
        """How many files and folders are in a folder, not counting what is in those; 0 where it is not there."""
        ...

    def session(self) -> AbstractContextManager[None]:
        """While it lasts, what this thread reads is opened once."""
        ...

    def prefetch(self, paths: Collection[str], snapshot: Snapshot) -> None:
        """Have at hand what will be read next, so that many paths take few requests."""
        ...

    def commit(self, changes: Changes, parent: str, message: str) -> str:
        """All changes as one commit on top of `parent`, or none. Raises ConflictError if the store has moved."""
        ...

    def history(self, head: str) -> Iterator[Commit]:
        """The commits up to this one, newest first, as far back as they are known here."""
        ...

    def tidy(self) -> None:
        """Forget the history, not the files, and what nothing leads to any more. Readers and writers go on meanwhile."""
        ...

    def now(self) -> datetime:
        """The time by the store's clock, which all who use it share."""
        ...


def blob_id(content: bytes) -> str:
    """The id git gives a blob, known before it is committed."""
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def pointer(content: bytes) -> bytes:
    """What stands in git for a file that is kept beside it (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md)."""
    return POINTER + f"oid sha256:{sha256(content).hexdigest()}\nsize {len(content)}\n".encode()


def unchanged(snapshot: Snapshot, path: str, content: bytes | None) -> bool:
    """Whether a change would change nothing."""
    there = snapshot.files.get(path)
    return there is None if content is None else there in (blob_id(content), blob_id(pointer(content)))


def transact(store: Store, decide: Callable[[Snapshot], tuple[Changes, str, T]]) -> T:
    """Commit what `decide` makes of the current snapshot; where another writer was first, decide anew.

    `decide` returns (changes, message, value). Where all is as wanted already there is no commit. Raises ConflictError
    after too many lost races.
    """
    for attempt in range(TRIES):
        with store.write_lock, store.session():
            snapshot = store.snapshot()
            changes, message, value = decide(snapshot)
            if all(unchanged(snapshot, path, content) for path, content in changes.items()):
                return value
            try:
                store.commit(changes, snapshot.head, message)
                return value
            except ConflictError:
                pass
        # Full jitter, so that losers do not meet again.
        time.sleep(random.uniform(0, min(LONGEST_WAIT, 0.05 * 2**attempt)))
    raise ConflictError(f"{store.url} is busy: lost {TRIES} races in a row; try again")
