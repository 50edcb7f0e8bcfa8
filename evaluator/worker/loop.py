"""The worker, which claims requests and evaluates each of them with a launcher.

`python -m evaluator worker` runs it once (`run_pending`) or every few minutes (`run_every`), and the board may run it in its
own process. A launcher (`launchers/`) decides where an evaluation runs: on this host or as a job elsewhere. The evaluation
itself is `run.py`.

Requests of private evaluations are in a queue of their own, in the private store. The worker of the public queue has a
second Worker for it, whose requests come first.
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
        self._private_worker: Worker | None = None  # created when the first private request is found
        self._private_failed = False  # whether the store of private requests could not be reached in this round
        self._unclaimable_keys: set[str] = set()  # of private requests that the last round left, as of newer releases
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._private = open_private_store(settings)
        self._heartbeats = Heartbeats(settings)
        self._queue = open_queue(settings, is_private=is_private)
        self._launcher = make_launcher(settings, self._queue)
        self._edition = EditionUpdates(settings)
        self.stopped = threading.Event()
        self.pause = HostFaultPause(self._name, self._heartbeats, self._now)
        self._next_clean_up = 0.0  # by time.monotonic()
        self._next_presence_report = 0.0  # by time.monotonic()

    def stop(self) -> None:
        """Stop all runs, keep their answers and hand the requests back to the queue."""
        self.stopped.set()
        self._launcher.stop()
        self._edition.stop()
        if self._private_worker:
            self._private_worker.stop()

    def round(self) -> None:
        """Evaluate pending requests. If the store cannot be reached, log it and wait for the next round."""
        try:
            self.run_pending()
        except StoreError as error:
            log.warning("%s", error)

    def run_pending(self) -> int:
        """Evaluate until no request is pending and return how many were claimed. Raises StoreError if the store fails.

        Private evaluations come first. They are few, and nobody outside sees them wait.
        """
        claimed = 0
        while True:
            claimed += self._run_private()
            claimed += self._run_own_queue()
            # Private requests that came in the meantime have interrupted the claims of public ones, see `_claim`.
            if self.stopped.is_set() or self.pause.is_active or not self._private_is_pending():
                return claimed

    def _run_private(self) -> int:
        """Evaluate private requests, if there ever were any, and return how many were claimed.

        A failure of their store is logged: the public ones go on.
        """
        if self._queue.is_private or not has_private_queue(self._settings):
            return 0
        self._private_failed = False
        try:
            if self._private_worker is None:
                self._private_worker = Worker(self._settings, is_private=True)
                if self.stopped.is_set():  # another thread has called `stop` meanwhile
                    self._private_worker.stop()
            pending_before = self._private_worker.pending()
            claimed = self._private_worker.run_pending()
            # A request that came during the round is not one of them: `run_pending` starts another round for it.
            self._unclaimable_keys = pending_before & self._private_worker.pending()
        except StoreError as error:
            log.warning("private evaluations: %s", error)
            self._private_failed = True
            return 0
        return claimed

    def _private_is_pending(self) -> bool:
        """Return whether private requests wait that came after the last ones were evaluated."""
        if self._queue.is_private or self._private_failed or not has_private_queue(self._settings):
            return False
        if self._private_worker is None:  # the first one ever has come
            return True
        try:
            return bool(self._private_worker.pending() - self._unclaimable_keys)
        except StoreError:
            return False

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
                    self._edition.finish()  # the machine of a scheduled job ends with this process, and so would a build
                    return claimed
                self._edition.poll()
                every = self._settings.worker_every.total_seconds()
                ended, running = wait(running, every, return_when=FIRST_COMPLETED)
                if ended:
                    self._edition.request()
                self._raise_store_error(ended, last=not running)
                try:
                    self._report_presence()
                except StoreError as error:  # not raised: leaving `pool` would wait for all runs before the next claim
                    log.warning("%s", error)

    def _claim(self) -> EvalRequest | None:
        """Claim the next request, or return None if there is none or none may be claimed now."""
        if self.stopped.is_set() or self.pause.is_active or self._private_is_pending():
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


def start_schedule(interval: timedelta, worker: Worker) -> BackgroundScheduler:
    """Start a scheduler that runs a round now and every `interval`. Rounds never overlap."""
    scheduler = BackgroundScheduler(timezone=UTC)
    scheduler.add_job(
        worker.round,
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
