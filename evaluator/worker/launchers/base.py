"""What a launcher is: it has claimed requests evaluated, on this machine or as jobs elsewhere.

A job is `python -m evaluator worker --claimed KEY:NONCE`. It reaches the stores itself: it sends the heartbeats, publishes
the result and writes every end to the queue, so that it needs no launcher any more once it runs. The lease's nonce lets
one run publish, whatever was started twice or late.
"""

import logging
import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from typing import Protocol

from evaluator.results.shard import Shard
from submissions.config.settings import Settings
from submissions.hub_models.model_facts import memory_needed
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest, Failure, Progress, Stage, Status
from submissions.texts.errors import LostLeaseError, StoreError
from submissions.texts.failure_codes import FailureCode

log = logging.getLogger(__name__)

JOBS = 8  # at once, where HANNUN_SLOTS does not say
MISSED = 2  # heartbeats of a job, after which the launcher sends one for it
GRACE = timedelta(minutes=2)  # for a job that is told to end to hand its request back
OVERTIME = timedelta(minutes=15)  # beyond the deadline of an evaluation: to start, to download, to publish


class Launcher(Protocol):
    """Made from the settings and the queue. Its methods are called by several threads."""

    def slots(self) -> AbstractContextManager[int]:
        """How many evaluations may run side by side while this is held: one at least, or 0 once it is stopped."""
        ...

    def run(self, request: EvalRequest, shard: Shard | None = None) -> FailureCode | None:
        """Have a claimed request evaluated, or a shard of it; returns at its end, with the code of a failure.

        Raises StoreError where the store is out of reach.
        """
        ...

    def stop(self) -> None:
        """Have all that runs handed back, its answers kept. There is no way on from here."""
        ...


class LaunchError(Exception):
    """The scheduler cannot be asked, or refuses: one line that says what it says."""


@contextmanager
def as_launch_errors(scheduler: str, *kinds: type[Exception]) -> Iterator[None]:
    """Turns what a scheduler's client raises into a LaunchError of one line."""
    try:
        yield
    except kinds as error:
        raise LaunchError(f"{scheduler}: {' '.join(str(error).split())[:300]}") from None


class JobState(Enum):
    ALIVE = auto()  # waiting for a machine, or running
    ENDED = auto()
    PREEMPTED = auto()  # ended by the scheduler, for no fault of the job


@dataclass(frozen=True)
class Launch:
    """A job to be started."""

    request: EvalRequest
    name: str  # unique, of lower-case letters, digits and dashes
    arguments: tuple[str, ...]  # of `python -m evaluator`
    gpus: int
    memory: int | None  # bytes that the model takes on its devices, where that is known
    time_limit: timedelta


class JobLauncher(ABC):
    """A launcher of jobs: what they have in common. One that starts, finds and ends them is made from this."""

    def __init__(self, settings: Settings, queue: Queue) -> None:
        self.settings = settings
        self.queue = queue
        self._heartbeats = Heartbeats(settings)
        self._stopped = threading.Event()
        self._poll = min(settings.worker_every, settings.heartbeat).total_seconds()

    @abstractmethod
    def start(self, launch: Launch) -> str:
        """Start a job; returns the name it has there. Raises LaunchError."""

    @abstractmethod
    def state(self, job: str) -> JobState:
        """Raises LaunchError where that cannot be said just now."""

    @abstractmethod
    def cancel(self, job: str) -> None:
        """Tell a job to end, by SIGTERM where that can be. Raises LaunchError."""

    @contextmanager
    def slots(self) -> Iterator[int]:
        yield 0 if self._stopped.is_set() else self.settings.slots or JOBS

    def stop(self) -> None:
        self._stopped.set()

    def run(self, request: EvalRequest, shard: Shard | None = None) -> FailureCode | None:
        try:
            if self._stopped.is_set():
                self._hand_back(request, shard)
                return None
            try:
                job = self.start(self._launch(request, shard))
            except LaunchError as error:
                log.warning("launching %s: %s", request.key, error)
                return FailureCode.LAUNCH_FAILED if shard else self._fail(request, FailureCode.LAUNCH_FAILED)
            log.info("launched %s%s as %s", request.key, f", shard {shard}" if shard else "", job)
            try:
                state = self._follow(request, job)
            except LostLeaseError:
                self._end(job)
                raise
            if state is JobState.ALIVE:
                self._end(job)
            return None if shard else self._collect(request, state)
        except LostLeaseError as error:
            log.warning("dropped %s: %s", request.key, error)
            return None

    def _launch(self, request: EvalRequest, shard: Shard | None) -> Launch:
        assert request.lease
        nonce = request.lease.nonce
        memory, own = memory_needed(request.params, request.precision), self.settings.gpu_memory
        return Launch(
            request,
            f"hannun-{request.key[:12]}-{nonce[:8]}" + (f"-{shard.number}" if shard else ""),
            ("worker", "--claimed", f"{request.key}:{nonce}", *(("--shard", str(shard)) if shard else ())),
            0 if own is None else max(1, math.ceil((memory or 0) / own)),
            memory,
            self.settings.deadline + OVERTIME,
        )

    def _follow(self, request: EvalRequest, job: str) -> JobState:
        """Look at a job until it has ended, or this is stopped. Raises LostLeaseError where its request is another's."""
        look_at = 0.0
        while not self._stopped.wait(self._poll):
            try:
                if time.monotonic() >= look_at:
                    look_at = time.monotonic() + self.settings.heartbeat.total_seconds()
                    self._check(request)
                if (state := self.state(job)) is not JobState.ALIVE:
                    return state
                self._hold(request)
            except (LaunchError, StoreError) as error:  # the job goes on whether we see it or not
                log.warning("looking at %s: %s", job, error)
        return JobState.ALIVE

    def _check(self, request: EvalRequest) -> None:
        """Raises LostLeaseError, but not where the job itself has written the end and is about to go."""
        now = self._now(request)
        failed = now is not None and now.status == Status.PENDING and now.attempt == request.attempt
        if now is None or (now.status in (Status.PENDING, Status.RUNNING) and not failed):
            self.queue.check_held(request)

    def _hold(self, request: EvalRequest) -> None:
        """Extend the lease of a job that sends no heartbeats, for it waits for a machine: of what has begun, the scheduler
        says that it is there."""
        assert request.lease
        own, beat = self.settings.heartbeat, self._heartbeats.last(request.key, request.lease)
        now = self.queue.store.now()
        if beat is None or beat.heartbeat_at + MISSED * own < now:
            running = self._now(request)
            if running and running.status == Status.RUNNING:
                progress = beat.progress if beat and beat.progress else Progress(stage=Stage.LAUNCH)
                self.queue.heartbeat(request, now, progress)

    def _end(self, job: str) -> None:
        """Tell a job to end, and wait until it has."""
        until = time.monotonic() + GRACE.total_seconds()
        try:
            self.cancel(job)
            while self.state(job) is JobState.ALIVE and time.monotonic() < until:
                time.sleep(min(1.0, self._poll))
        except LaunchError as error:
            log.warning("ending %s: %s", job, error)

    def _collect(self, request: EvalRequest, state: JobState) -> FailureCode | None:
        """What became of the request. A job that ended without a word gives it back at once; its answers so far are in
        the private store. Raises LostLeaseError."""
        assert request.lease
        now = self._now(request)
        if now is None or now.lease is None or now.lease.nonce != request.lease.nonce:
            if now and now.status == Status.PENDING and now.attempt == request.attempt:
                return FailureCode.WORKER_LOST  # the job has met a fault of ours, and its log has which
            return now.failure.code if now and now.failure else None
        if state is not JobState.ENDED:
            self._hand_back(request, None)
            return None
        beat = self._heartbeats.last(request.key, request.lease)
        began = beat and beat.progress and beat.progress.stage != Stage.LAUNCH
        return self._fail(request, FailureCode.WORKER_LOST if began else FailureCode.LAUNCH_FAILED)

    def _hand_back(self, request: EvalRequest, shard: Shard | None) -> None:
        if not shard:  # the run over the whole set does so
            self.queue.release(request)
            log.info("handed back %s", request.key)

    def _fail(self, request: EvalRequest, code: FailureCode) -> FailureCode:
        assert request.lease
        beat = self._heartbeats.last(request.key, request.lease)
        stage = beat.progress.stage if beat and beat.progress else Stage.LAUNCH
        self.queue.fail(request, Failure(stage=stage, code=code), self.queue.store.now())
        log.warning("%s: its job ended without a result, at %s", request.key, stage)
        return code

    def _now(self, request: EvalRequest) -> EvalRequest | None:
        return self.queue.find(request.key, self.queue.store.snapshot())
