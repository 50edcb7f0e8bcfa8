"""The worker: claims requests and has each of them evaluated by a launcher."""

import logging
import os
import socket
import threading
import time
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.background import BackgroundScheduler

from evaluator.results.shard import Shard
from evaluator.worker.backup import remove_answers_except
from evaluator.worker.launchers import make_launcher
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.pseudonyms import forget_erased
from submissions.queue.queue import Queue
from submissions.queue.upkeep import tidy_if_due
from submissions.records.request import EvalRequest, Status
from submissions.records.worker import Pause, Presence
from submissions.store.open import open_private_store, open_store
from submissions.texts.errors import StoreError
from submissions.texts.failure_codes import FailureCode

log = logging.getLogger(__name__)

TIDY_EVERY = 86_400.0  # seconds
PRESENCE_EVERY = 60.0  # seconds
FIRST_PAUSE, LONGEST_PAUSE = 10.0, 3600.0  # seconds after a fault of ours
FAULTS_TOLD = 3  # requests in a row, from which on the board says that the worker pauses


class Worker:
    """Two workers may share a store; the queue keeps them apart."""

    def __init__(self, settings: Settings) -> None:
        """Raises SandboxError, SettingsError, StoreError."""
        self._settings = settings
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._private = open_private_store(settings)
        self._heartbeats = Heartbeats(settings)
        store = open_store(settings.store, settings)
        self._queue = Queue(store, settings.lease, settings.max_attempts, self._heartbeats)
        self._launcher = make_launcher(settings, self._queue)
        self.stopped = threading.Event()
        self._tidy_at = self._present_until = 0.0
        self._faults: set[str] = set()  # requests that met a fault of this machine, in a row
        self._pause_until = 0.0

    def stop(self) -> None:
        """Stop what runs, its answers kept, and hand its requests back."""
        self.stopped.set()
        self._launcher.stop()

    def round(self) -> None:
        """Evaluate what is pending; while the store is out of reach, leave it to the next round."""
        try:
            self.run_pending()
        except StoreError as error:
            log.warning("%s", error)

    def run_pending(self) -> int:
        """Evaluate until nothing is pending; returns how many requests were taken. Raises StoreError."""
        self._tell_presence()
        if time.monotonic() >= self._tidy_at:
            self._tidy()
            self._tidy_at = time.monotonic() + TIDY_EVERY
        taken, running = 0, set[Future[None]]()
        with self._launcher.slots() as slots, ThreadPoolExecutor(max(1, slots)) as pool:
            while True:
                try:
                    while len(running) < slots and (request := self._claim()):
                        running.add(pool.submit(self._run, request))
                        taken += 1
                except StoreError as error:
                    if not running:
                        raise
                    log.warning("%s", error)
                if not running:
                    return taken
                every = self._settings.worker_every.total_seconds()
                ended, running = wait(running, every, return_when=FIRST_COMPLETED)
                self._check(ended, last=not running)
                self._tell_presence()

    def _claim(self) -> EvalRequest | None:
        if self.stopped.is_set() or time.monotonic() < self._pause_until:
            return None
        return self._queue.claim(self._name, self._now())

    def _check(self, ended: Iterable[Future[None]], *, last: bool) -> None:
        """Raise the StoreError that a run has met, unless others are on their way."""
        for future in ended:
            try:
                future.result()
            except StoreError as error:
                if last:
                    raise
                log.warning("%s", error)

    def _run(self, request: EvalRequest) -> None:
        """Have a request evaluated: its shards side by side, then what is left of it. Raises StoreError."""
        count = self._settings.shards.get(request.benchmark, 1)
        if count > 1:
            with ThreadPoolExecutor(count) as pool:
                list(pool.map(lambda n: self._launcher.run(request, Shard(n, count)), range(count)))
        code = self._launcher.run(request)
        if code and code.is_host_fault:
            self._pause(request.key, code)
        elif code is None or not code.is_infrastructure:
            self._recover()

    def _tell_presence(self) -> None:
        if time.monotonic() >= self._present_until:
            self._heartbeats.present(Presence(worker=self._name, seen_at=self._now()))
            self._present_until = time.monotonic() + PRESENCE_EVERY

    def _tidy(self) -> None:
        self._private.remove_leftovers()
        forget_erased(self._private, self._now())
        try:
            if tidy_if_due(self._queue.store, self._private, self._now()):
                log.info("tidied %s", self._queue.store.url)
        except StoreError as error:  # the evaluations go on; /metrics reports it, and tomorrow it is tried again
            log.error("the upkeep of the store failed: %s", error)
        rows = self._queue.rows()
        self._heartbeats.tidy((row.key for row in rows if row.status == Status.RUNNING), self._now())
        remove_answers_except(
            self._private, {row.key for row in rows if row.status in (Status.PENDING, Status.RUNNING)}
        )

    def _pause(self, key: str, code: FailureCode) -> None:
        """After a fault of the machine the next request would most likely meet the same: with each other request that does,
        twice as long until the next try, and after a few on the board too. One request alone, of a model that knows how to
        bring such a fault about, does not make it longer."""
        self._faults.add(key)
        seconds = min(FIRST_PAUSE * 2 ** (len(self._faults) - 1), LONGEST_PAUSE)
        self._pause_until = time.monotonic() + seconds
        log.warning("no request is taken for %g s: %d in a row met a fault of ours", seconds, len(self._faults))
        if len(self._faults) >= FAULTS_TOLD:
            log.error("%s again and again: mend it, then requeue --all", code)
            now = self._now()
            self._heartbeats.pause(
                Pause(worker=self._name, code=code, since=now, until=now + timedelta(seconds=seconds))
            )

    def _recover(self) -> None:
        if len(self._faults) >= FAULTS_TOLD:
            self._heartbeats.resume(self._name)
        self._faults.clear()

    def _now(self) -> datetime:
        """By the store's clock: a worker whose own is wrong neither loses leases nor steals them."""
        return self._queue.store.now()


def start_schedule(interval: timedelta, worker: Worker) -> BackgroundScheduler:
    """Look at the queue now and every `interval`. A round that takes longer is not joined by a second one."""
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
    """Evaluate what is queued, again and again, until the worker is stopped."""
    scheduler = start_schedule(interval, worker)
    worker.stopped.wait()
    scheduler.shutdown(wait=True)
