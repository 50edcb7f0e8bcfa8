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

from evaluator.run.shard import Shard
from submissions.errors import LostLeaseError, StoreError
from submissions.failure_codes import FailureCode
from submissions.models.model_facts import memory_needed
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records import EvalRequest, Failure, Progress, Stage, Status
from submissions.settings import Settings

log = logging.getLogger(__name__)

JOBS = 8  # at once, where HANNUN_SLOTS does not say
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
        if self._stopped.is_set():
            if not shard:
                self.queue.release(request)
            return None
        try:
            job = self.start(self._launch(request, shard))
        except LaunchError as error:
            log.warning("launching %s: %s", request.key, error)
            if not shard:
                self.queue.release(request)
            return FailureCode.LAUNCH_FAILED
        log.info("launched %s%s as %s", request.key, f", shard {shard}" if shard else "", job)
        try:
            state = self._follow(request, job)
        except LostLeaseError as error:
            log.warning("dropped %s: %s", request.key, error)
            self._end(job)
            return None
        if state is JobState.ALIVE:
            self._end(job)
        return None if shard else self._collect(request, state)

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
        """Look at a job until it has ended, or this is stopped. Until the job's own first heartbeat its request is held
        by ours. Raises LostLeaseError."""
        beat_at = 0.0
        while not self._stopped.wait(self._poll):
            try:
                if (state := self.state(job)) is not JobState.ALIVE:
                    return state
                if time.monotonic() >= beat_at:
                    self._hold(request)
                    beat_at = time.monotonic() + self.settings.heartbeat.total_seconds()
            except LostLeaseError:
                raise
            except (LaunchError, StoreError) as error:  # the job goes on whether we see it or not
                log.warning("looking at %s: %s", job, error)
        return JobState.ALIVE

    def _hold(self, request: EvalRequest) -> None:
        assert request.lease
        beat = self._heartbeats.last(request.key, request.lease)
        if beat is None or beat.progress is None or beat.progress.stage == Stage.LAUNCH:
            self.queue.heartbeat(request, self.queue.store.now(), Progress(stage=Stage.LAUNCH))
        else:
            self.queue.check_held(request)

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
        the private store."""
        assert request.lease
        now = self.queue.find(request.key, self.queue.store.snapshot())
        if now is None or now.status != Status.RUNNING or now.lease is None or now.lease.nonce != request.lease.nonce:
            return now.failure.code if now and now.failure else None
        beat = self._heartbeats.last(request.key, request.lease)
        try:
            if state is JobState.ENDED:
                stage = beat.progress.stage if beat and beat.progress else Stage.LAUNCH
                self.queue.fail(request, Failure(stage=stage, code=FailureCode.WORKER_LOST), self.queue.store.now())
                log.warning("%s: its job ended without a result, at %s", request.key, stage)
                return FailureCode.WORKER_LOST
            self.queue.release(request)
            log.info("handed back %s", request.key)
        except LostLeaseError as error:  # the job was faster
            log.info("%s", error)
        return None
