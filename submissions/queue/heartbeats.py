"""Signs of life of running evaluations, and of workers that pause. They change often and mean nothing later, so they are
files of the private store: none is a commit."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import sha256

from submissions.config.settings import Settings
from submissions.queue.upkeep import UPKEEP
from submissions.records.request import Lease
from submissions.records.worker import Pause, Presence, Upkeep
from submissions.store.open import open_private_store
from submissions.store.private import PrivateStore

LEASES, PAUSES, WORKERS = "leases", "paused", "workers"
REMEMBERED = timedelta(days=30)


class Heartbeats:
    """Opens the private store at the first use. Every method raises StoreError where it is out of reach."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def write(self, key: str, lease: Lease) -> None:
        """The lease of a request as it is now. Each lease has a file of its own, so that a worker that lost one does not
        write over its successor's."""
        self._files.write(_lease_path(key, lease), lease.to_bytes())

    def last(self, key: str, lease: Lease) -> Lease | None:
        """The last heartbeat of this lease; None where there is none, or none that can be read."""
        return self._files.read_record(_lease_path(key, lease), Lease)

    def remove(self, key: str, lease: Lease) -> None:
        """Of a lease that has ended."""
        self._files.delete(_lease_path(key, lease))

    def of(self, keys: Iterable[str]) -> dict[str, Lease]:
        """The last heartbeat of running requests, by key; those that have sent none yet are not there."""
        wanted, found = set(keys), dict[str, Lease]()
        for path in self._files.paths(LEASES):
            key = _key_of(path)
            lease = self._files.read_record(path, Lease) if key in wanted else None
            if lease and (key not in found or found[key].heartbeat_at < lease.heartbeat_at):
                found[key] = lease
        return found

    def tidy(self, running: Iterable[str], now: datetime) -> None:
        """Remove what killed workers have left of requests that do not run, and workers that are gone for long."""
        kept = set(running)
        for path in self._files.paths(LEASES):
            if _key_of(path) not in kept:
                self._files.delete(path)
        for presence in self.workers():
            if now - presence.seen_at > REMEMBERED:
                self._files.delete(_worker_path(WORKERS, presence.worker))

    def present(self, presence: Presence) -> None:
        """Tell the board that a worker is there."""
        self._files.write(_worker_path(WORKERS, presence.worker), presence.to_bytes())

    def workers(self) -> list[Presence]:
        """Every worker that was there within the last weeks."""
        found = (self._files.read_record(path, Presence) for path in self._files.paths(WORKERS))
        return [presence for presence in found if presence]

    def pause(self, pause: Pause) -> None:
        """Tell the board that a worker takes no request for a while."""
        self._files.write(_worker_path(PAUSES, pause.worker), pause.to_bytes())

    def resume(self, worker: str) -> None:
        self._files.delete(_worker_path(PAUSES, worker))

    def pauses(self, now: datetime) -> list[Pause]:
        """Workers that pause now."""
        found = (self._files.read_record(path, Pause) for path in self._files.paths(PAUSES))
        return [pause for pause in found if pause and pause.until > now]

    def upkeep(self) -> Upkeep | None:
        """Return the last upkeep of the store, None before the first one."""
        return self._files.read_record(UPKEEP, Upkeep)

    @cached_property
    def _files(self) -> PrivateStore:
        return open_private_store(self._settings)


def _lease_path(key: str, lease: Lease) -> str:
    return f"{LEASES}/{key}-{lease.nonce}.json"


def _key_of(path: str) -> str:
    return path.removeprefix(f"{LEASES}/").partition("-")[0]


def _worker_path(folder: str, worker: str) -> str:
    return f"{folder}/{sha256(worker.encode()).hexdigest()[:16]}.json"
