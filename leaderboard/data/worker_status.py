"""What the workers report in the private store: running evaluations, pauses, when a worker was last seen."""

import logging
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from submissions.queue.heartbeats import Heartbeats
from submissions.records.index_rows import QueueRow
from submissions.records.request import Lease, Status
from submissions.records.worker import Diagnosis, Pause, Presence, Upkeep
from submissions.store.base import blob_id
from submissions.texts.errors import StoreError

log = logging.getLogger(__name__)

LEASES_EVERY = 10.0  # seconds between two reads of the running evaluations
WORKERS_EVERY = 30.0  # seconds between two reads of workers, pauses and upkeep
PROBE_EVERY = 30.0  # seconds between two attempts to write to a private store that could not be written
AWAY = timedelta(hours=2)  # since the last worker was seen; a scheduled Job comes each hour
SILENT = timedelta(minutes=5)  # ten heartbeats: the worker has died or cannot reach the store
START = datetime.fromtimestamp(0, UTC)


class WorkerStatus:
    """Read by the board now and then. If the private store is out of reach, what was read last stays."""

    def __init__(self, heartbeats: Heartbeats | None) -> None:
        """Without `heartbeats` nothing is known of workers."""
        self._heartbeats = heartbeats
        self._queue: Sequence[QueueRow] = ()
        self._leases_read = self._workers_read = self._pauses_read = 0.0  # when, by the monotonic clock
        self._probed = 0.0
        self._workers_as_of = START
        self._refreshing = threading.Lock()
        self._began = 0.0  # the last refresh, by the monotonic clock
        self._idle = threading.Event()  # set while no refresh is under way
        self._idle.set()
        self._pauses: list[Pause] = []
        self.leases: dict[str, Lease] = {}  # of running evaluations, by request key
        self.silent_since: dict[str, datetime] = {}  # the last heartbeat of those whose worker sends none any more
        self.workers: list[Presence] = []  # seen within the last weeks
        self.upkeep: Upkeep | None = None  # the last one of the store
        self.diagnosis: Diagnosis | None = None  # what the doctor found last

    @property
    def private_failing_since(self) -> datetime | None:
        """Since when the private store cannot be read or written, or None if it can."""
        return self._heartbeats.health.failing_since if self._heartbeats else None

    def begin(self, queue: Sequence[QueueRow]) -> bool:
        """Return whether the caller has to call `refresh` now. `queue` are the open and recent requests."""
        self._queue = queue
        if self._heartbeats is None or not self._refreshing.acquire(blocking=False):
            return False
        self._began = time.monotonic()
        self._idle.clear()
        return True

    def wait(self, seconds: float) -> None:
        """Wait for a refresh that is under way, until `seconds` after it began at most."""
        self._idle.wait(max(0.0, self._began + seconds - time.monotonic()))

    def refresh(self) -> None:
        """Read what is due, after `begin`. This takes long if the private store does not answer."""
        assert self._heartbeats is not None
        try:
            self._probe_if_due(self._heartbeats)
            self._read(self._heartbeats)
        except StoreError as error:
            log.warning("%s", error)
        finally:
            self._refreshing.release()
            self._idle.set()

    def _probe_if_due(self, heartbeats: Heartbeats) -> None:
        """Write to a store that could not be written: otherwise only the next submission would find out."""
        now = time.monotonic()
        if "written" in heartbeats.health.since and now - self._probed >= PROBE_EVERY:
            self._probed = now
            heartbeats.probe()

    def _read(self, heartbeats: Heartbeats) -> None:
        running = [row.key for row in self._queue if row.status == Status.RUNNING]
        pending = any(row.status == Status.PENDING for row in self._queue)
        now = time.monotonic()
        if now - self._leases_read >= LEASES_EVERY or self.leases.keys() - running:
            self._leases_read = now
            self.leases = heartbeats.last_by_key(running) if running else {}
            beats = {key: lease.heartbeat_at for key, lease in self.leases.items()}
            # As of this read: a board that nobody has opened for a while knows only old heartbeats.
            self.silent_since = {key: at for key, at in beats.items() if datetime.now(UTC) - at > SILENT}
        if now - self._workers_read >= WORKERS_EVERY:
            self._workers_read = now
            self.workers = heartbeats.workers()
            self.upkeep = heartbeats.upkeep()
            self.diagnosis = heartbeats.diagnosis()
            self._workers_as_of = datetime.now(UTC)
        if running or not pending:
            self._pauses = []
        elif now - self._pauses_read >= WORKERS_EVERY:
            self._pauses_read = now
            self._pauses = heartbeats.pauses(datetime.now(UTC))

    @property
    def pauses(self) -> list[Pause]:
        """Workers that take no request for now, because something fails on their hosts."""
        return [pause for pause in self._pauses if pause.until > datetime.now(UTC)]

    @property
    def unattended_since(self) -> datetime | None:
        """Since when no worker was seen although requests wait; None if one was, or if that is not known."""
        waiting = [row.submitted_at for row in self._queue if row.status in (Status.PENDING, Status.RUNNING)]
        if not waiting:
            return None
        seen = [worker.seen_at for worker in self.workers] + [lease.heartbeat_at for lease in self.leases.values()]
        last = max(seen, default=min(waiting))
        return last if self._workers_as_of - max(last, min(waiting)) > AWAY else None

    @property
    def version(self) -> str:
        """A text that differs whenever there is something new to show."""
        beats = [f"{key}{lease.heartbeat_at:%H%M%S}" for key, lease in sorted(self.leases.items())]
        return blob_id(f"{beats}{self.unattended_since}{self.silent_since}{[p.until for p in self.pauses]}".encode())
