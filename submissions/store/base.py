"""Define the store of records: a tree of files with history, changed only by compare-and-swap commits."""

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

READERS_GRACE_S = 3600.0  # a reader may use an older snapshot for this many seconds
MAIN = "main"
TRIES = 30
LONGEST_WAIT = 5.0  # seconds between two attempts
TRANSIENT_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
POINTER = b"version https://git-lfs.github.com/spec/v1\n"  # begins the text that git has in the place of a large file
T = TypeVar("T")


@dataclass(frozen=True)
class Commit:
    """An entry in the history of a store."""

    id: str
    time: datetime
    message: str


@dataclass(frozen=True)
class Snapshot:
    """The state of the store at one commit: its head, and the blob id of every path."""

    head: str
    files: Mapping[str, str]
    since: str | None = field(default=None, compare=False)  # the head of the snapshot that this one was made from
    changed: frozenset[str] = field(default=frozenset(), compare=False)  # paths that differ between the two


Changes = Mapping[str, bytes | None]  # path → new content, or None to delete


class Store(Protocol):
    """A store of records, in a local git repository or on the Hub."""

    url: str
    write_lock: threading.Lock  # writers that share one Store take turns

    @property
    def failed_attempts(self) -> int:
        """Return how many disk operations or requests to the Hub failed, including those that were retried."""
        ...

    def head(self) -> str:
        """Return the id of the newest commit. A new store in a folder gets an empty first commit."""
        ...

    def snapshot(self, head: str | None = None) -> Snapshot:
        """Return the current snapshot, or that of the commit `head`. Raises KeyError if the commit does not exist."""
        ...

    def read(self, path: str, head: str) -> bytes:
        """Return the content of a path at a commit. Raises KeyError if the path does not exist."""
        ...

    def count_entries(self, folder: str, head: str) -> int:
        """Return the number of direct entries (files and folders) of a folder, or 0 if it does not exist."""
        ...

    def session(self) -> AbstractContextManager[None]:
        """Keep the underlying files open between reads of this thread while the context is active."""
        ...

    def prefetch(self, paths: Collection[str], snapshot: Snapshot) -> None:
        """Fetch the content of paths that will be read next, so that many paths need few requests."""
        ...

    def commit(self, changes: Changes, parent: str, message: str) -> str:
        """Commit all changes on top of `parent`, and return the id of the commit.

        Raises ConflictError, without any change, if `parent` is no longer the head.
        """
        ...

    def history(self, head: str) -> Iterator[Commit]:
        """Yield the commits up to `head`, newest first, as far back as they are known locally."""
        ...

    def tidy(self, grace_s: float = READERS_GRACE_S) -> None:
        """Remove the history and unreachable objects. Files stay, and readers and writers can continue meanwhile.

        Snapshots of the last `grace_s` seconds stay readable in a local store. A store on the Hub may lose them at once.
        """
        ...

    def now(self) -> datetime:
        """Return the time of the store's clock, which all of its users share."""
        ...


def blob_id(content: bytes) -> str:
    """Return the id that git gives a blob."""
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def pointer(content: bytes) -> bytes:
    """Return the LFS pointer of a file (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md).

    The Hub stores large files outside git, which then has this text in their place.
    """
    return POINTER + f"oid sha256:{sha256(content).hexdigest()}\nsize {len(content)}\n".encode()


def is_pointer(content: bytes) -> bool:
    """Return whether a content is that of an LFS pointer."""
    return content.startswith(POINTER)


def unchanged(snapshot: Snapshot, path: str, content: bytes | None) -> bool:
    """Return whether a path already has this content, or is already absent if `content` is None."""
    current = snapshot.files.get(path)
    if content is None:
        return current is None
    return current in (blob_id(content), blob_id(pointer(content)))


def transact(store: Store, decide: Callable[[Snapshot], tuple[Changes, str, T]]) -> T:
    """Commit the changes that `decide` derives from the current snapshot, and return its value.

    `decide` returns (changes, message, value). It is called again if another writer commits first. There is no commit if the
    changes would have no effect. Raises ConflictError after too many lost races.
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
        # Full jitter, so that competing writers do not collide again.
        time.sleep(random.uniform(0, min(LONGEST_WAIT, 0.05 * 2**attempt)))
    raise ConflictError(f"{store.url} is busy: lost {TRIES} races in a row; try again")
