"""The worker, which claims requests and evaluates each of them with a launcher.

`python -m evaluator worker` runs it once (`run_pending`) or every few minutes (`run_every`), and the board may run it in its
own process. A launcher (`launchers/`) decides where an evaluation runs: on this host or as a job elsewhere. The evaluation
itself is `run.py`.

Requests of private evaluations are in a queue of their own, in the private store. The worker of the public queue evaluates
them too, and before its own (`PrivateFirst`).
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.background import BackgroundScheduler

from evaluator.benchmarks import BENCHMARKS
from evaluator.results.shard import Shard
from evaluator.worker.backup import remove_answers_except
from evaluator.worker.edition import EditionUpdates
from evaluator.worker.launchers import make_launcher
from evaluator.worker.pause import HostFaultPause
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.open import open_queue
from submissions.queue.pseudonyms import forget_erased
from submissions.queue.upkeep import tidy_if_due
from submissions.records.request import EvalRequest, Status
from submissions.records.worker import Presence
from submissions.store.open import has_private_queue, open_private_store
from submissions.texts.errors import StoreError

log = logging.getLogger(__name__)

CLEAN_UP_EVERY = 86_400.0  # seconds
PRESENCE_EVERY = 60.0  # seconds


class Worker:
    """Claim requests and run them. Several workers may share a store, because the queue gives each request to one of them."""

    def __init__(self, settings: Settings, *, is_private: bool = False) -> None:
        """Open the stores. `is_private` is whether it runs private evaluations only.

        Raises SandboxError without a sandbox, SettingsError for unusable settings, StoreError if a store fails.
        """
        self._settings = settings
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._private = open_private_store(settings)
        self._heartbeats = Heartbeats(settings)
        self._queue = open_queue(settings, is_private=is_private)
        self._launcher = make_launcher(settings, self._queue)
        # Rebuilds the board as files in another process, when there are new results.
        self._static_edition = EditionUpdates(settings)
        self.stopped = threading.Event()
        self._private_first = None if is_private else PrivateFirst(settings, self.stopped)
        self.pause = HostFaultPause(self._name, self._heartbeats, self._now)
        self._next_clean_up = 0.0  # by time.monotonic()
        self._next_presence_report = 0.0  # by time.monotonic()

    def stop(self) -> None:
        """Stop all runs, keep their answers and hand the requests back to the queue."""
        self.stopped.set()
        self._launcher.stop()
        self._static_edition.stop()
        if self._private_first:
            self._private_first.stop()

    def run_pending_or_log(self) -> None:
        """Evaluate until no request is pending. If the store fails, log that: the schedule calls this again."""
        try:
            self.run_pending()
        except StoreError as error:
            log.warning("%s", error)

    def run_pending(self) -> int:
        """Evaluate until no request is pending and return how many were claimed. Raises StoreError if the store fails.

        Private requests come first. They are few, and nobody outside sees them wait. One that arrives while public requests
        run ends the claims of public ones (`_claim`). What runs is finished, and the next pass evaluates the private request.
        """
        claimed = 0
        while True:
            if self._private_first:
                claimed += self._private_first.evaluate()
            claimed += self._run_own_queue()
            if not self._may_claim() or not self._private_request_waits():
                return claimed

    def _may_claim(self) -> bool:
        """Return whether this worker may claim requests: it is neither stopped nor pauses after a host fault."""
        return not self.stopped.is_set() and not self.pause.is_active

    def _private_request_waits(self) -> bool:
        """Return whether a private request has arrived for which the public ones have to wait."""
        return self._private_first is not None and self._private_first.is_waiting()

    def pending(self) -> set[str]:
        """Return the keys of the requests that wait in the worker's own queue. Raises StoreError if the store fails."""
        return {row.key for row in self._queue.rows() if row.status == Status.PENDING}

    def _run_own_queue(self) -> int:
        """Evaluate the requests of this worker's own queue, as many at once as the launcher has slots.

        Return how many were claimed, as soon as none is pending and none is running. Raises StoreError if the store fails
        while nothing is running. While something is, the error is logged, and the store is tried again when a run ends.
        """
        self._report_presence()
        if time.monotonic() >= self._next_clean_up:
            self._next_clean_up = time.monotonic() + CLEAN_UP_EVERY
            try:
                self._clean_up()
            except StoreError as error:  # it is tried again tomorrow
                log.error("the clean-up of the stores failed: %s", error)
        claimed = 0
        running = set[Future[None]]()
        with self._launcher.slots() as slots, ThreadPoolExecutor(max(1, slots)) as pool:
            while True:
                try:
                    while len(running) < slots and (request := self._claim()):
                        running.add(pool.submit(self._run, request))
                        claimed += 1
                except StoreError as error:
                    if not running:
                        raise
                    log.warning("%s", error)
                if not running:
                    # The machine of a scheduled job ends with this process, and so would a build.
                    self._static_edition.finish()
                    return claimed
                self._static_edition.poll()  # starts a build that was requested while another one ran
                # With a time limit, because requests may arrive for the slots that are free.
                limit = self._settings.worker_every.total_seconds()
                ended, running = wait(running, limit, return_when=FIRST_COMPLETED)
                if ended:
                    self._static_edition.request()
                self._raise_store_error(ended, last=not running)
                try:
                    self._report_presence()
                except StoreError as error:  # not raised: leaving `pool` would wait for all runs before the next claim
                    log.warning("%s", error)

    def _claim(self) -> EvalRequest | None:
        """Claim the next request, or return None if there is none or none may be claimed now."""
        if not self._may_claim() or self._private_request_waits():
            return None
        return self._queue.claim(self._name, self._now(), BENCHMARKS)

    def _raise_store_error(self, ended: Iterable[Future[None]], *, last: bool) -> None:
        """Re-raise the StoreError of a run if no other run is left, else log it."""
        for future in ended:
            try:
                future.result()
            except StoreError as error:
                if last:
                    raise
                log.warning("%s", error)

    def _run(self, request: EvalRequest) -> None:
        """Let parallel processes answer the shards of a request, then run the whole request.

        The last run reuses their answers, answers what is missing and scores. A shard's failure code is ignored, because
        the last run would meet the same failure. Raises StoreError if the store fails.
        """
        count = self._settings.shards.get(request.benchmark, 1)
        if count > 1:
            with ThreadPoolExecutor(count) as pool:
                list(pool.map(lambda n: self._launcher.run(request, Shard(n, count)), range(count)))
        self.pause.update(request.key, self._launcher.run(request))

    def _report_presence(self) -> None:
        """Note in the private store that this worker is alive, at most every PRESENCE_EVERY seconds."""
        if time.monotonic() >= self._next_presence_report:
            self._heartbeats.report_presence(Presence(worker=self._name, seen_at=self._now()))
            self._next_presence_report = time.monotonic() + PRESENCE_EVERY

    def _clean_up(self) -> None:
        """Delete what the private store no longer needs, and run the weekly upkeep of the public store if it is due.

        The worker of the public queue does this for both queues.
        """
        if self._queue.is_private:
            return
        self._private.remove_leftovers()
        forget_erased(self._private, self._now())
        try:
            if tidy_if_due(self._queue.store, self._private, self._now()):
                log.info("tidied %s", self._queue.store.url)
        except StoreError as error:  # `/metrics` shows the failure; the upkeep is tried again tomorrow
            log.error("the upkeep of the store failed: %s", error)
        rows = self._queue.rows()
        if has_private_queue(self._settings):
            try:
                rows += open_queue(self._settings, is_private=True).rows()
            except StoreError as error:  # their files are not known, so nothing may be deleted
                log.warning("private evaluations: %s", error)
                return
        self._heartbeats.tidy((row.key for row in rows if row.status == Status.RUNNING), self._now())
        remove_answers_except(
            self._private, {row.key for row in rows if row.status in (Status.PENDING, Status.RUNNING)}
        )

    def _now(self) -> datetime:
        """Return the time by the store's clock, so that a wrong clock on this host neither loses nor steals leases."""
        return self._queue.store.now()


class PrivateFirst:
    """The private requests, which the worker of the public queue evaluates before its own.

    A second Worker evaluates them. It is created when the store of private requests is first found. If that store fails, the
    failure is logged and the public requests go on.
    """

    def __init__(self, settings: Settings, stopped: threading.Event) -> None:
        """Open nothing yet. `stopped` is set before `stop` is called."""
        self._settings = settings
        self._stopped = stopped
        self._worker: Worker | None = None
        self._store_failed = False  # in the last `evaluate`
        # Keys of the requests that were pending before and after the last `evaluate`. They cannot be claimed now: only a newer
        # release has their benchmark, or the private worker pauses. They must not keep the public requests waiting.
        self._passed_over: set[str] = set()

    def evaluate(self) -> int:
        """Evaluate the private requests, if there are any, and return how many were claimed."""
        if not has_private_queue(self._settings):
            return 0
        self._store_failed = False
        try:
            if self._worker is None:
                self._worker = Worker(self._settings, is_private=True)
                if self._stopped.is_set():  # another thread has called `stop` meanwhile
                    self._worker.stop()
            pending_before = self._worker.pending()
            claimed = self._worker.run_pending()
            # A request that arrived in between is not one of these, so `is_waiting` returns True for it.
            self._passed_over = pending_before & self._worker.pending()
        except StoreError as error:
            log.warning("private evaluations: %s", error)
            self._store_failed = True
            return 0
        return claimed

    def is_waiting(self) -> bool:
        """Return whether a private request is pending that the last `evaluate` has not passed over."""
        if self._store_failed or not has_private_queue(self._settings):
            return False
        if self._worker is None:  # the store was created after `evaluate`, for the first private request
            return True
        try:
            return bool(self._worker.pending() - self._passed_over)
        except StoreError:
            return False

    def stop(self) -> None:
        """Stop the runs of private requests."""
        if self._worker:
            self._worker.stop()


def start_schedule(interval: timedelta, worker: Worker) -> BackgroundScheduler:
    """Start a scheduler that evaluates what is pending now and every `interval`, but never twice at a time."""
    scheduler = BackgroundScheduler(timezone=UTC)
    scheduler.add_job(
        worker.run_pending_or_log,
        "interval",
        seconds=interval.total_seconds(),
        next_run_time=datetime.now(UTC),
        max_instances=1,
        coalesce=True,
        misfire_grace_time=None,
    )
    scheduler.start()
    return scheduler


def run_every(interval: timedelta, worker: Worker) -> None:
    """Evaluate queued requests every `interval` until the worker is stopped."""
    scheduler = start_schedule(interval, worker)
    worker.stopped.wait()
    scheduler.shutdown(wait=True)
