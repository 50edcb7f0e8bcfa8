"""The interface of launchers, which run claimed requests on this host or as jobs elsewhere.

A job is `python -m evaluator worker --claimed KEY:NONCE`. It connects to the stores itself: it sends the heartbeats,
publishes the result and writes the outcome to the queue. Once it runs it does not need the launcher. Only the job with the
lease's nonce can publish, so a job that starts twice or late does no harm.

`local.py` runs evaluations on this host. `command.py` and `hf_jobs.py` start jobs, and share JobLauncher: it starts a job,
follows it until it ends, and extends the lease while the job is still queued. If a job ends without having written an
outcome, JobLauncher writes one.

A large set may be answered in shards, each by a job of its own. The jobs of shards write answers only; the run over the whole
set, which follows them, writes the outcome (`Worker` in `loop.py`).
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

MISSED_HEARTBEATS = 2  # intervals without a heartbeat of the job, after which the launcher extends the lease
CANCEL_GRACE = timedelta(minutes=2)  # for a cancelled job to hand its request back
OVERTIME = timedelta(minutes=15)  # for starting, downloading and publishing, in addition to the evaluation's deadline


class Launcher(Protocol):
    """Run claimed requests. A launcher is made from the settings and the queue; its methods must be thread-safe."""

    def slots(self) -> AbstractContextManager[int]:
        """Return a context with the number of evaluations that may run at the same time: at least 1, or 0 after `stop`."""
        ...

    def run(self, request: EvalRequest, shard: Shard | None = None) -> FailureCode | None:
        """Evaluate a claimed request, or a shard of it, and wait for the end. Return the failure code, or None.

        Raises StoreError if the store cannot be reached.
        """
        ...

    def stop(self) -> None:
        """Stop all runs, keep their answers and hand the requests back to the queue. This is irreversible."""
        ...


class LaunchError(Exception):
    """Raised with a message of one line if the scheduler cannot be reached or refuses a job."""

    code = FailureCode.LAUNCH_FAILED


class NoHardwareError(LaunchError):
    """Raised if the operator's limits allow no hardware that holds the model. Other models may fit, so the worker goes on."""

    code = FailureCode.NO_HARDWARE


@contextmanager
def as_launch_errors(scheduler: str, *kinds: type[Exception]) -> Iterator[None]:
    """Convert exceptions of a scheduler's client into a LaunchError with a message of one line."""
    try:
        yield
    except kinds as error:
        raise LaunchError(f"{scheduler}: {' '.join(str(error).split())[:300]}") from None


class JobState(Enum):
    """The state of a job, as far as launchers distinguish it."""

    ALIVE = auto()  # queued or running
    ENDED = auto()
    PREEMPTED = auto()  # ended by the scheduler through no fault of the job


@dataclass(frozen=True)
class Launch:
    """A job to start."""

    request: EvalRequest
    name: str  # unique; lower-case letters, digits and dashes
    arguments: tuple[str, ...]  # of `python -m evaluator`
    gpus: int
    memory: int | None  # device memory of the model in bytes, None if unknown
    time_limit: timedelta


class JobLauncher(ABC):
    """Base class of launchers that run jobs on a scheduler. Subclasses implement `start`, `state` and `cancel`."""

    def __init__(self, settings: Settings, queue: Queue) -> None:
        self.settings = settings
        self.queue = queue
        self._heartbeats = Heartbeats(settings)
        self._stopped = threading.Event()
        self._poll = min(settings.worker_every, settings.heartbeat).total_seconds()

    @abstractmethod
    def start(self, launch: Launch) -> str:
        """Start a job and return the scheduler's name of it. Raises LaunchError if that fails."""

    @abstractmethod
    def state(self, job: str) -> JobState:
        """Return the state of a job. Raises LaunchError if the scheduler does not report it."""

    @abstractmethod
    def cancel(self, job: str) -> None:
        """Ask a job to end, with SIGTERM if possible. Raises LaunchError if that fails."""

    @contextmanager
    def slots(self) -> Iterator[int]:
        yield 0 if self._stopped.is_set() else self.settings.slots

    def stop(self) -> None:
        self._stopped.set()

    def run(self, request: EvalRequest, shard: Shard | None = None) -> FailureCode | None:
        try:
            return self._run_job(request, shard)
        except LostLeaseError as error:
            log.warning("dropped %s: %s", request.key, error)
            return None

    def _run_job(self, request: EvalRequest, shard: Shard | None) -> FailureCode | None:
        """Start a job, wait for its end and return its failure code, or None. Raises LostLeaseError as `_wait_for_end` does."""
        if self._stopped.is_set():
            self._hand_back(request, shard)
            return None
        try:
            job = self.start(self._launch(request, shard))
        except LaunchError as error:
            log.warning("launching %s: %s", request.key, error)
            if shard:  # the run over the whole set writes the outcome, so a shard only returns the code
                return error.code
            return self._fail(request, error.code)
        log.info("launched %s%s as %s", request.key, f", shard {shard}" if shard else "", job)
        try:
            final_state = self._wait_for_end(request, job)
        except LostLeaseError:
            self._cancel_and_wait(job)
            raise
        was_stopped = final_state is None
        if was_stopped:
            self._cancel_and_wait(job)
        if shard:
            return None
        ended_by_itself = final_state is JobState.ENDED  # was neither preempted nor cancelled by `stop`
        return self._collect(request, ended_by_itself=ended_by_itself)

    def _launch(self, request: EvalRequest, shard: Shard | None) -> Launch:
        """Return the job to start for a request, or for a shard of it."""
        assert request.lease
        nonce = request.lease.nonce
        memory = memory_needed(request.params, request.precision)
        gpus = 0
        if self.settings.gpu_memory is not None:
            gpus = max(1, math.ceil((memory or 0) / self.settings.gpu_memory))
        # All users of a scheduler can see the names of jobs, so the name for a private evaluation does not contain its key.
        shown_key = "private" if self.queue.is_private else request.key[:12]
        name = f"hannun-{shown_key}-{nonce[:8]}"
        if shard:
            name += f"-{shard.number}"
        return Launch(
            request=request,
            name=name,
            arguments=self._arguments(request.key, nonce, shard),
            gpus=gpus,
            memory=memory,
            time_limit=self.settings.deadline + OVERTIME,
        )

    def _arguments(self, key: str, nonce: str, shard: Shard | None) -> tuple[str, ...]:
        """Return the arguments with which a job takes over a claim."""
        arguments = ["worker", "--claimed", f"{key}:{nonce}"]
        if shard:
            arguments += ["--shard", str(shard)]
        if self.queue.is_private:
            arguments.append("--private")
        return tuple(arguments)

    def _wait_for_end(self, request: EvalRequest, job: str) -> JobState | None:
        """Poll a job until it ends, and return how it ended. Return None if `stop` is called before.

        Raises LostLeaseError if the request is no longer this job's.
        """
        check_at = 0.0
        while not self._stopped.wait(self._poll):
            try:
                if time.monotonic() >= check_at:
                    check_at = time.monotonic() + self.settings.heartbeat.total_seconds()
                    self._check_held(request)
                state = self._state_of(request, job)
                if state is not JobState.ALIVE:
                    return state
                self._extend_lease(request)
            except (LaunchError, StoreError) as error:  # the job continues even if it cannot be observed
                log.warning("polling %s: %s", job, error)
        return None

    def _state_of(self, request: EvalRequest, job: str) -> JobState:
        """Return the state of a job. If the scheduler does not report it, a job that has written its outcome has ended."""
        try:
            return self.state(job)
        except LaunchError:
            if self._has_outcome(request):
                return JobState.ENDED
            raise

    def _check_held(self, request: EvalRequest) -> None:
        """Raise LostLeaseError if the request is no longer this job's, unless the job has written the outcome."""
        if not self._has_outcome(request):
            self.queue.check_held(request)

    def _has_outcome(self, request: EvalRequest) -> bool:
        """Return whether the job has written the outcome of the attempt that it was started for."""
        current = self._current_request(request)
        return current is not None and _is_outcome(current, request)

    def _extend_lease(self, request: EvalRequest) -> None:
        """Extend the lease of a job that sends no heartbeats.

        The job may still be queued. The caller has checked with the scheduler that it exists.
        """
        assert request.lease
        interval = self.settings.heartbeat
        beat = self._heartbeats.last(request.key, request.lease)
        now = self.queue.store.now()
        if beat is None or beat.heartbeat_at + MISSED_HEARTBEATS * interval < now:
            current = self._current_request(request)
            # The job may have written its outcome just now. Then its request has no lease, and the lease is not lost.
            if current and current.status == Status.RUNNING:
                progress = beat.progress if beat and beat.progress else Progress(stage=Stage.LAUNCH)
                self.queue.heartbeat(request, now, progress)

    def _cancel_and_wait(self, job: str) -> None:
        """Cancel a job and wait up to CANCEL_GRACE until it has ended."""
        until = time.monotonic() + CANCEL_GRACE.total_seconds()
        try:
            self.cancel(job)
        except LaunchError as error:
            log.warning("cancelling %s: %s", job, error)
            return
        while time.monotonic() < until and self._may_be_alive(job):
            time.sleep(min(1.0, self._poll))

    def _may_be_alive(self, job: str) -> bool:
        """Return whether a job is alive, or the scheduler does not report its state."""
        try:
            return self.state(job) is JobState.ALIVE
        except LaunchError as error:
            log.warning("polling %s: %s", job, error)
            return True

    def _collect(self, request: EvalRequest, *, ended_by_itself: bool) -> FailureCode | None:
        """Return the failure code of a job that has ended, or None.

        If the job wrote no outcome, its request goes back to the queue at once; the answers so far are in the private
        store. `ended_by_itself` is False for a job that was preempted or cancelled. Raises LostLeaseError if another worker
        takes the request in the meantime.
        """
        assert request.lease
        current = self._current_request(request)
        if current is None:
            return None
        if _is_outcome(current, request):
            # After an infrastructure failure that is tried again, the record has no code, only the job's log has it.
            if current.status == Status.PENDING:
                return FailureCode.WORKER_LOST
            return current.failure.code if current.failure else None
        is_held = current.lease is not None and current.lease.nonce == request.lease.nonce
        if not is_held:  # the job has handed the request back, and another worker may have taken it
            return None
        if not ended_by_itself:
            self._hand_back(request, None)
            return None
        beat = self._heartbeats.last(request.key, request.lease)
        has_begun = beat and beat.progress and beat.progress.stage != Stage.LAUNCH
        code = self._fail(request, FailureCode.WORKER_LOST if has_begun else FailureCode.LAUNCH_FAILED)
        log.warning("%s: its job ended without a result", request.key)
        return code

    def _hand_back(self, request: EvalRequest, shard: Shard | None) -> None:
        if not shard:  # the run over the whole set releases the request
            self.queue.release(request)
            log.info("handed back %s", request.key)

    def _fail(self, request: EvalRequest, code: FailureCode) -> FailureCode:
        """Mark an attempt as failed, because no job has written its outcome. Return the code."""
        assert request.lease
        beat = self._heartbeats.last(request.key, request.lease)
        stage = beat.progress.stage if beat and beat.progress else Stage.LAUNCH
        self.queue.fail(request, Failure(stage=stage, code=code), self.queue.store.now())
        return code

    def _current_request(self, request: EvalRequest) -> EvalRequest | None:
        """Return the request as the queue has it now, or None if it was removed."""
        return self.queue.find(request.key, self.queue.store.snapshot())


def _is_outcome(current: EvalRequest, claimed: EvalRequest) -> bool:
    """Return whether a request as it is now shows the outcome of the attempt that was claimed for a job.

    A job that ends by itself leaves its request in one of three states. The first two are outcomes:

    - finished, failed or quarantined, after a result or a failure that is not tried again (`Queue.publish`, `Queue.fail`)
    - pending with the same number of the attempt, after an infrastructure failure that is tried again (`Queue.fail`)
    - pending with a lower number, if the job has handed it back, because such an attempt does not count (`Queue.release`)
    """
    if current.status == Status.PENDING:
        return current.attempt == claimed.attempt
    return current.status != Status.RUNNING
