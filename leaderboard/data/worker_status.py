"""What workers report in the private store: running evaluations, pauses, when each worker was last seen.

`LiveBoard.workers` is the only instance of WorkerStatus. The queue page, `/queue.json` and the operator's metrics show its
attributes.

The thread that refreshes the board also refreshes the status of the workers, in these steps:

1. After it has read the public store, it calls `try_begin`. From now on a refresh of the status is under way.
2. It ends the board's refresh, so another thread can begin the next one.
3. It calls `refresh`, which reads what is due in the private store. This takes long if that store does not answer.

`LiveBoard.fresh_view` waits until the board's refresh has ended (step 2), and then calls `wait`, which waits for the end of
step 3. Because the refresh of the status is announced before step 2, `wait` cannot miss one that is about to begin.
"""

import logging
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from leaderboard.data.single_run import NEVER, SingleRun
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
# Time without any worker after which waiting requests count as unattended. A scheduled Job runs every hour.
AWAY = timedelta(hours=2)
SILENT = timedelta(minutes=5)  # without a heartbeat (ten are missing): the worker has died or cannot reach the store


class WorkerStatus:
    """Holds what was read last from the private store, also while that store is out of reach."""

    def __init__(self, heartbeats: Heartbeats | None) -> None:
        """Without `heartbeats` nothing is known of workers."""
        self._heartbeats = heartbeats
        self._queue: Sequence[QueueRow] = ()  # open and recent requests
        # When each was last read or tried, by the monotonic clock.
        self._leases_read = NEVER
        self._workers_read = NEVER
        self._probed = NEVER
        self._workers_as_of: datetime | None = None  # when `workers` was read, by the wall clock
        self._refresh_run = SingleRun()
        self._pauses: list[Pause] = []  # including those that have ended since they were read
        self.leases: dict[str, Lease] = {}  # of running evaluations, by request key
        # The last heartbeat of running evaluations whose worker sends none any more, by request key.
        self.silent_since: dict[str, datetime] = {}
        self.workers: list[Presence] = []  # seen within about the last 30 days
        self.upkeep: Upkeep | None = None  # the last upkeep of the store
        self.diagnosis: Diagnosis | None = None  # what the command `doctor` found last

    @property
    def private_failing_since(self) -> datetime | None:
        """Since when the private store cannot be read or written, or None if it can."""
        return self._heartbeats.health.failing_since if self._heartbeats else None

    def try_begin(self, queue: Sequence[QueueRow]) -> bool:
        """Note the open and recent requests, and begin a refresh. Return whether it was begun.

        If it was, the caller must call `refresh`, which ends it. If not, the caller must not: there is no private store, or
        another thread is refreshing.
        """
        self._queue = queue
        return self._heartbeats is not None and self._refresh_run.try_begin()

    def wait(self, seconds: float) -> None:
        """Wait for a refresh that is under way, but at most until `seconds` after it began."""
        self._refresh_run.wait(seconds)

    def refresh(self) -> None:
        """Read what is due, and end the refresh that `try_begin` has begun."""
        assert self._heartbeats is not None
        try:
            self._probe_if_due(self._heartbeats)
            self._read(self._heartbeats)
        except StoreError as error:
            log.warning("%s", error)
        finally:
            self._refresh_run.end()

    def _probe_if_due(self, heartbeats: Heartbeats) -> None:
        """Try to write to a store that could not be written. Otherwise only a submission would show that it works again.

        Raises StoreError if the attempt fails. This refresh then reads nothing, but the next one does, because no other
        attempt is due by then.
        """
        now = time.monotonic()
        last_write_failed = "written" in heartbeats.health.since
        if last_write_failed and now - self._probed >= PROBE_EVERY:
            self._probed = now
            heartbeats.probe()

    def _read(self, heartbeats: Heartbeats) -> None:
        """Read leases and workers, each if the time for it has come. Raises StoreError."""
        running = [row.key for row in self._queue if row.status == Status.RUNNING]
        now = time.monotonic()
        # Evaluations that are shown as running, but have ended. If there are any, the leases are read again at once.
        ended = self.leases.keys() - running
        if now - self._leases_read >= LEASES_EVERY or ended:
            self._leases_read = now
            self.leases = heartbeats.last_by_key(running) if running else {}
            # Judged when the heartbeats are read. If it were judged when they are shown, a board that has read nothing for an
            # hour would call every worker silent.
            self.silent_since = {
                key: lease.heartbeat_at
                for key, lease in self.leases.items()
                if datetime.now(UTC) - lease.heartbeat_at > SILENT
            }
        if now - self._workers_read >= WORKERS_EVERY:
            self._workers_read = now
            self.workers = heartbeats.workers()
            self.upkeep = heartbeats.upkeep()
            self.diagnosis = heartbeats.diagnosis()
            self._pauses = heartbeats.pauses(datetime.now(UTC))
            self._workers_as_of = datetime.now(UTC)

    @property
    def pauses(self) -> list[Pause]:
        """The pauses of workers that take no request for now, because something fails on their hosts."""
        return [pause for pause in self._pauses if pause.until > datetime.now(UTC)]

    @property
    def unattended_since(self) -> datetime | None:
        """When the last worker was seen, if the oldest open request has waited for AWAY without one; None otherwise.

        The last worker may have been seen long before that request was submitted. If none was ever seen, return when the
        request was submitted.
        """
        submitted = [row.submitted_at for row in self._queue if row.status in (Status.PENDING, Status.RUNNING)]
        if not submitted:
            return None
        if self._workers_as_of is None:  # workers were not read yet
            return None
        oldest = min(submitted)
        seen = [worker.seen_at for worker in self.workers] + [lease.heartbeat_at for lease in self.leases.values()]
        last_seen = max(seen, default=oldest)
        # Requests wait since the last worker was seen or, if that was later, since the oldest request was submitted. AWAY is
        # compared with the wait up to when workers were read, not up to now: a board that has read nothing for an hour does
        # not know whether one was there.
        waiting_since = max(last_seen, oldest)
        return last_seen if self._workers_as_of - waiting_since > AWAY else None

    @property
    def version(self) -> str:
        """A text that changes whenever a page has something new to show. The metrics also show what is not in it."""
        beats = [f"{key}{lease.heartbeat_at:%H%M%S}" for key, lease in sorted(self.leases.items())]
        return blob_id(f"{beats}{self.unattended_since}{self.silent_since}{[p.until for p in self.pauses]}".encode())
