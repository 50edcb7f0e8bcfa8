"""Files in the private store that workers update often: heartbeats, pauses, when each worker was last seen.

The last upkeep of the store and the last diagnosis by `doctor` are kept beside them.

A heartbeat is the current `Lease` of a running request, with its progress, written again at every beat. Only the newest
content of these files matters, so they are kept in the private store, which has no history, and not committed to the public
one.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import sha256

from submissions.config.settings import Settings
from submissions.queue.upkeep import UPKEEP
from submissions.records.request import Lease
from submissions.records.worker import Diagnosis, Pause, Presence, Upkeep
from submissions.store.open import open_private_store, private_store_health
from submissions.store.private import PROBE, Health, PrivateStore

DIAGNOSIS = "diagnosis.json"
LEASES, PAUSES, WORKERS = "leases", "paused", "workers"
FORGET_WORKERS_AFTER = timedelta(days=30)


class Heartbeats:
    """Reads and writes the files that workers update often. The private store is opened at the first use.

    Every method raises StoreError if the store cannot be reached.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def write(self, key: str, lease: Lease) -> None:
        """Write the current lease of a request.

        Each lease has its own file, so a worker that lost its lease cannot overwrite the file of the next worker.
        """
        self._files.write(_lease_path(key, lease), lease.to_bytes())

    def last(self, key: str, lease: Lease) -> Lease | None:
        """Return the last heartbeat of a lease, or None if there is none or it is unreadable."""
        return self._files.read_record(_lease_path(key, lease), Lease)

    def remove(self, key: str, lease: Lease) -> None:
        """Delete the heartbeat of a lease that has ended."""
        self._files.delete(_lease_path(key, lease))

    def last_by_key(self, keys: Iterable[str]) -> dict[str, Lease]:
        """Return the last heartbeat of each request by key, without requests that have none yet."""
        wanted = set(keys)
        found = dict[str, Lease]()
        for path in self._files.paths(LEASES):
            key = _key_of(path)
            if key not in wanted:
                continue
            lease = self._files.read_record(path, Lease)  # maybe of an earlier worker that lost the request
            if lease and (key not in found or found[key].heartbeat_at < lease.heartbeat_at):
                found[key] = lease
        return found

    def tidy(self, running: Iterable[str], now: datetime) -> None:
        """Delete heartbeats of requests that are not running, pauses that have ended, and workers not seen for 30 days."""
        kept = set(running)
        for path in self._files.paths(LEASES):
            if _key_of(path) not in kept:
                self._files.delete(path)
        for path in self._files.paths(PAUSES):
            pause = self._files.read_record(path, Pause)
            if pause is None or pause.until <= now:
                self._files.delete(path)
        for path in self._files.paths(WORKERS):
            presence = self._files.read_record(path, Presence)
            if presence is None or now - presence.seen_at > FORGET_WORKERS_AFTER:
                self._files.delete(path)

    def report_presence(self, presence: Presence) -> None:
        """Record that a worker is active, for the board."""
        self._files.write(_worker_path(WORKERS, presence.worker), presence.to_bytes())

    def workers(self) -> list[Presence]:
        """Return when each worker was last seen. `tidy` forgets those that have not been seen for 30 days."""
        found = (self._files.read_record(path, Presence) for path in self._files.paths(WORKERS))
        return [presence for presence in found if presence]

    def pause(self, pause: Pause) -> None:
        """Record that a worker takes no requests for a while, for the board."""
        self._files.write(_worker_path(PAUSES, pause.worker), pause.to_bytes())

    def resume(self, worker: str) -> None:
        """Record that a worker takes requests again."""
        self._files.delete(_worker_path(PAUSES, worker))

    def pauses(self, now: datetime) -> list[Pause]:
        """Return the pauses that are in effect at `now`."""
        found = (self._files.read_record(path, Pause) for path in self._files.paths(PAUSES))
        return [pause for pause in found if pause and pause.until > now]

    def upkeep(self) -> Upkeep | None:
        """Return the last upkeep of the store, or None if there was none."""
        return self._files.read_record(UPKEEP, Upkeep)

    def report_diagnosis(self, diagnosis: Diagnosis) -> None:
        """Record what the doctor found, for the board's operator."""
        self._files.write(DIAGNOSIS, diagnosis.to_bytes())

    def diagnosis(self) -> Diagnosis | None:
        """Return what the doctor found last, or None if it never ran."""
        return self._files.read_record(DIAGNOSIS, Diagnosis)

    @property
    def health(self) -> Health:
        """Return the health of the private store: since when it cannot be read or written, if so."""
        return private_store_health(self._settings)

    def probe(self) -> None:
        """Write a file to find out whether the private store can be written."""
        self._files.write(PROBE, b"")

    @cached_property
    def _files(self) -> PrivateStore:
        return open_private_store(self._settings)


def _lease_path(key: str, lease: Lease) -> str:
    return f"{LEASES}/{key}-{lease.nonce}.json"


def _key_of(path: str) -> str:
    """Return the key of the request, which has no "-": hex digits."""
    return path.removeprefix(f"{LEASES}/").partition("-")[0]


def _worker_path(folder: str, worker: str) -> str:
    return f"{folder}/{sha256(worker.encode()).hexdigest()[:16]}.json"
