"""Queue requests in a state machine over request records. Every step is one compare-and-swap commit.

    pending → running → finished | failed | quarantined
    running → pending                               the lease is lost, the worker stops, or a failure may pass later
    failed | quarantined | running → pending        `requeue`
    pending | quarantined → deleted                 `cancel`

A worker claims a request by writing a lease into it, which expires unless the worker extends it. A request may run more than
once but is published exactly once: `attempt` and the lease's nonce act as a fencing token, so a worker that lost its lease
cannot publish.
"""

import threading
from collections import deque
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from submissions.config.logs import hide_in_logs
from submissions.queue.admission import first_refusal, opted_out_name, status_of
from submissions.queue.fair_order import pending_in_fair_order
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.leases import extended_lease, has_expired, new_lease, require_held
from submissions.queue.quota import Quota
from submissions.records.check import Check
from submissions.records.index_rows import QueueRow, queue_row
from submissions.records.request import EvalRequest, Failure, Progress, Stage, Status
from submissions.records.result import EvalResult
from submissions.store.base import Changes, Snapshot, Store, transact
from submissions.store.folders import check_room
from submissions.store.index import queue_reader, with_requests, with_result
from submissions.texts.errors import QueueError, RefusedError, StoreUnavailableError
from submissions.texts.failure_codes import FailureCode

MAX_PARSED_REQUESTS = 1000  # kept in memory


@dataclass
class _Form:
    """The requests of one submission, which wait for a commit, and afterwards the outcome."""

    requests: Sequence[EvalRequest]
    quota: Quota | None
    decided: bool = False  # whether a commit was made or failed
    refusals: list[Check | None] = field(default_factory=list)  # for each request the check that it failed, or None
    error: Exception | None = None  # why the commit failed


class _Claim(NamedTuple):
    """The outcome of one commit of `Queue.claim`."""

    request: EvalRequest | None
    try_again: bool = False  # the commit took back lost leases, so there may be a request to claim now


class Queue:
    """The queue of evaluation requests in a store."""

    def __init__(
        self,
        store: Store,
        lease: timedelta = timedelta(minutes=30),
        max_attempts: int = 3,
        heartbeats: Heartbeats | None = None,
        *,
        public: Store | None = None,
    ) -> None:
        """Open the queue of a store. Without `heartbeats`, leases expire at the time set when they were claimed.

        `public` is given if the evaluations of this queue are private (submissions.operator.private_evaluations): it is the
        public store, which has the opt-outs. The log then names none of the requests.
        """
        self.store = store
        self._public = public
        self._lease = lease
        self._max_attempts = max_attempts
        self._heartbeats = heartbeats
        self._reader = queue_reader(store)
        self._parsed: dict[str, EvalRequest] = {}  # by blob id; running requests are read many times
        self._forms: deque[_Form] = deque()  # waiting for the next commit of submissions
        self._submitting = threading.Lock()  # held during such a commit

    @property
    def is_private(self) -> bool:
        """Whether the evaluations of this queue are private."""
        return self._public is not None

    def _with_opt_outs(self, snapshot: Snapshot) -> Container[str]:
        """Return paths among which are those of all opt-outs. `snapshot` is one of the queue's store."""
        return snapshot.files if self._public is None else self._public.snapshot().files

    def rows(self, snapshot: Snapshot | None = None) -> list[QueueRow]:
        """Return the requests that are open or were closed recently (see `submissions.store.index`), oldest first."""
        rows, _ = self._reader.read(snapshot or self.store.snapshot())
        return sorted(rows, key=lambda row: (row.submitted_at, row.key))

    def get(self, key: str, snapshot: Snapshot | None = None) -> EvalRequest:
        """Return the request with this key. Raises QueueError if there is none or its record is unreadable."""
        request = self.find(key, snapshot or self.store.snapshot())
        if request is None:
            raise QueueError(f"no request {key}")
        return request

    def find(self, key: str, snapshot: Snapshot) -> EvalRequest | None:
        """Return the request with this key, or None if there is none. Raises QueueError if it is unreadable."""
        status = status_of(key, snapshot)
        return self._load(EvalRequest.path_of(key, status), snapshot) if status else None

    def submit(self, request: EvalRequest, quota: Quota | None = None) -> None:
        """Queue one request.

        Raises RefusedError if it was submitted before, the model was opted out or the quota is used up.
        """
        (refused,) = self.submit_all([request], quota)
        if refused and refused.refusal:
            raise RefusedError(refused.refusal, refused.detail)

    def submit_all(self, requests: Sequence[EvalRequest], quota: Quota | None = None) -> list[Check | None]:
        """Queue the requests of one submission in one commit. Return the check that each request failed, or None.

        Submissions that arrive during a commit share the next commit. The checks run inside the commit, so concurrent
        submissions cannot exceed the quota. This method returns after the commit.
        """
        own_form = _Form(requests, quota)
        self._forms.append(own_form)
        with self._submitting:
            if not own_form.decided:  # otherwise the thread that held the lock before has committed it
                # One by one, because other threads may append meanwhile.
                forms = [self._forms.popleft() for _ in range(len(self._forms))]
                try:
                    transact(self.store, lambda snapshot: self._queue_forms(forms, snapshot))
                except Exception as error:
                    for form in forms:
                        form.error = error
                except BaseException:  # a stop of this thread, for which the others wait
                    for form in forms:
                        form.error = StoreUnavailableError("the submission was interrupted; try again")
                    raise
                finally:
                    for form in forms:
                        form.decided = True
        if own_form.error:
            raise own_form.error
        return own_form.refusals

    def _queue_forms(self, forms: list[_Form], snapshot: Snapshot) -> tuple[Changes, str, None]:
        """Decide about each request as if those before it were queued already, and return the changes that queue them.

        It decides from the start each time, because it is called again if another writer commits first.
        """
        rows = self.rows(snapshot)
        opt_outs = self._with_opt_outs(snapshot)
        queued = list[EvalRequest]()
        for form in forms:
            form.refusals = []
            for request in form.requests:
                refused = first_refusal(request, snapshot, rows, form.quota, opt_outs)
                form.refusals.append(refused)
                if refused is None:
                    queued.append(request)
                    rows.append(queue_row(request, blob=""))  # the record has no blob yet, and the checks read none
        if not queued:
            return {}, "", None
        what = queued[0].key if len(queued) == 1 else f"{len(queued)} requests"
        return self._move(snapshot, [], queued), f"Submit {what}", None

    def claim(self, worker: str, now: datetime, benchmarks: Collection[str] | None = None) -> EvalRequest | None:
        """Claim the next pending request: round-robin over submitters, oldest first. Return None if there is none.

        Only requests for `benchmarks` are claimed, because another version may have queued one that this worker lacks. By
        default all are.

        Requests with an expired lease are first returned to pending, or quarantined after too many attempts. Pending requests
        of models that were opted out while they were running are deleted. Raises StoreError if the store has no room for the
        result.
        """

        def decide(snapshot: Snapshot) -> tuple[Changes, str, _Claim]:
            lost = [request for request in self._running(snapshot) if has_expired(request, self._heartbeats, now)]
            if lost:
                changes = self._move(snapshot, lost, [self._after_loss(request, now) for request in lost])
                return changes, "Take back lost leases", _Claim(None, try_again=True)
            for row in pending_in_fair_order(self.rows(snapshot)):
                if benchmarks is not None and row.benchmark not in benchmarks:
                    continue
                request = self._try_load(row.path, snapshot)
                if request is None:
                    continue  # an unreadable record must not block the requests behind it
                if opted_out_name(request.model_id, self._with_opt_outs(snapshot)):
                    return self._move(snapshot, [request], []), f"Cancel {request.key}", _Claim(None, try_again=True)
                finished_path = EvalRequest.path_of(request.key, Status.FINISHED)
                result_path = EvalResult.path_of(request.model_id, request.key)
                check_room(self.store, (finished_path, result_path), snapshot)
                lease = new_lease(worker, now, self._lease)
                claimed = request.evolve(
                    status=Status.RUNNING, attempt=request.attempt + 1, lease=lease, started_at=now, failure=None
                )
                return self._move(snapshot, [request], [claimed]), f"Claim {request.key}", _Claim(claimed)
            return {}, "", _Claim(None)

        claim = transact(self.store, decide)
        while claim.try_again:
            claim = transact(self.store, decide)
        return claim.request

    def take_back(self, nonces: Collection[str]) -> list[str]:
        """Take back running requests from a worker that is known to be dead. Return their keys.

        `nonces` identify their leases. The attempt counts, as for an expired lease. Raises StoreError if the store cannot
        be reached.
        """

        def decide(snapshot: Snapshot) -> tuple[Changes, str, list[str]]:
            now = self.store.now()
            lost = [r for r in self._running(snapshot) if r.lease and r.lease.nonce in nonces]
            changes = self._move(snapshot, lost, [self._after_loss(request, now) for request in lost]) if lost else {}
            return changes, f"Take back {len(lost)} of a dead worker", [request.key for request in lost]

        return transact(self.store, decide)

    def check_held(self, request: EvalRequest) -> None:
        """Raise LostLeaseError if the lease of a running request is no longer held."""
        self._check_lease(request, self.store.snapshot())

    def heartbeat(self, request: EvalRequest, now: datetime, progress: Progress | None = None) -> None:
        """Extend the lease of a running request. Raises LostLeaseError if it is no longer held."""
        self.check_held(request)
        assert request.lease is not None and self._heartbeats is not None
        lease = extended_lease(request.lease, now, self._lease, progress)
        self._heartbeats.write(request.key, lease)

    def publish(
        self,
        request: EvalRequest,
        result: EvalResult,
        now: datetime,
        statement: bytes | None = None,
        answers: bytes | None = None,
    ) -> None:
        """Publish a result, its signed statement, answers to public items, the finished request and index rows in one commit.

        Raises LostLeaseError if the lease is not held.
        """

        def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
            self._check_lease(request, snapshot)
            done = request.evolve(status=Status.FINISHED, lease=None, finished_at=now)
            changes = {**self._move(snapshot, [request], [done]), **with_result(self.store, snapshot, result)}
            if statement:
                changes[result.statement_path_of(request.key)] = statement
            if answers:
                changes[result.answers_path_of(request.key)] = answers
            return changes, f"Publish {request.key}", None

        transact(self.store, decide)

    def fail(self, request: EvalRequest, failure: Failure, now: datetime) -> EvalRequest:
        """End an attempt at a running request that failed.

        A model failure ends the request. After an infrastructure failure it is tried again, unless the failure is
        permanent or the limit of attempts is reached: then the request is quarantined. Raises LostLeaseError if the lease
        is not held.
        """

        def decide(snapshot: Snapshot) -> tuple[Changes, str, EvalRequest]:
            self._check_lease(request, snapshot)
            after = self._after_failure(request, failure, now)
            return self._move(snapshot, [request], [after]), f"Fail {request.key}: {failure.code}", after

        return transact(self.store, decide)

    def release(self, request: EvalRequest) -> None:
        """Put a running request back into the queue without counting the attempt, when a worker stops cleanly.

        Raises LostLeaseError if the lease is not held.
        """

        def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
            self._check_lease(request, snapshot)
            after = _pending(request, request.attempt - 1)
            return self._move(snapshot, [request], [after]), f"Release {request.key}", None

        transact(self.store, decide)

    def requeue(self, key: str) -> EvalRequest:
        """Put a failed, quarantined or running request back to pending.

        Raises QueueError for any other, and for a model that was opted out.
        """

        def decide(snapshot: Snapshot) -> tuple[Changes, str, EvalRequest]:
            request = self.get(key, snapshot)
            if request.status in (Status.PENDING, Status.FINISHED):
                raise QueueError(f"request {key} is {request.status}; only failed, quarantined or running ones go back")
            if name := opted_out_name(request.model_id, self._with_opt_outs(snapshot)):
                raise QueueError(f"request {key} cannot go back: {name} has opted out of evaluation")
            after = _pending(request, attempt=0)
            return self._move(snapshot, [request], [after]), f"Requeue {key}", after

        return transact(self.store, decide)

    def requeue_all(self) -> list[str]:
        """Put every quarantined request back to pending, except those of models that were opted out. Return their keys."""

        def decide(snapshot: Snapshot) -> tuple[Changes, str, list[str]]:
            quarantined = [row for row in self.rows(snapshot) if row.status == Status.QUARANTINED]
            loaded = (self._try_load(row.path, snapshot) for row in quarantined)
            opt_outs = self._with_opt_outs(snapshot)
            before = [request for request in loaded if request and not opted_out_name(request.model_id, opt_outs)]
            after = [_pending(request, attempt=0) for request in before]
            changes = self._move(snapshot, before, after) if before else {}
            return changes, f"Requeue {len(before)} quarantined", [request.key for request in before]

        return transact(self.store, decide)

    def cancel(self, key: str) -> None:
        """Delete a pending or quarantined request, as if never submitted. Raises QueueError for any other."""

        def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
            request = self.get(key, snapshot)
            if request.status not in (Status.PENDING, Status.QUARANTINED):
                raise QueueError(
                    f"request {key} is {request.status}; only pending and quarantined ones can be cancelled"
                )
            return self._move(snapshot, [request], []), f"Cancel {key}", None

        transact(self.store, decide)

    def _running(self, snapshot: Snapshot) -> list[EvalRequest]:
        running = (self._try_load(row.path, snapshot) for row in self.rows(snapshot) if row.status == Status.RUNNING)
        return [request for request in running if request]

    def _after_loss(self, request: EvalRequest, now: datetime) -> EvalRequest:
        """Return the record that replaces a running request whose worker is lost, in the stage of its last heartbeat."""
        beat = self._heartbeats.last(request.key, request.lease) if self._heartbeats and request.lease else None
        stage = beat.progress.stage if beat and beat.progress else Stage.INFER
        return self._after_failure(request, Failure(stage=stage, code=FailureCode.WORKER_LOST), now)

    def _after_failure(self, request: EvalRequest, failure: Failure, now: datetime) -> EvalRequest:
        """Return the record that replaces a running request whose attempt failed, see `fail`."""
        may_pass_later = failure.code.is_infrastructure and not failure.code.is_permanent
        if may_pass_later and request.attempt < self._max_attempts:
            return _pending(request, request.attempt)
        status = Status.QUARANTINED if failure.code.is_infrastructure else Status.FAILED
        return request.evolve(status=status, lease=None, finished_at=now, failure=failure)

    def _check_lease(self, request: EvalRequest, snapshot: Snapshot) -> None:
        """Raise LostLeaseError if the lease of a running request is no longer held."""
        current = self._load(request.path, snapshot) if request.path in snapshot.files else None
        require_held(request, current)

    def _move(self, snapshot: Snapshot, before: Iterable[EvalRequest], after: Iterable[EvalRequest]) -> Changes:
        """Return the changes that replace the records `before` by those `after`, with their rows in the index."""
        return with_requests(self.rows(snapshot), before, after)

    def _load(self, path: str, snapshot: Snapshot) -> EvalRequest:
        blob = snapshot.files[path]
        if (known := self._parsed.get(blob)) is None:
            try:
                known = EvalRequest.from_json(self.store.read(path, snapshot.head))
            except ValueError as error:
                raise QueueError(f"{path} is unreadable: {error}") from error
            if self.is_private:
                hide_in_logs(known.key, known.model_id)
            if len(self._parsed) >= MAX_PARSED_REQUESTS:
                self._parsed.clear()
            self._parsed[blob] = known
        return known

    def _try_load(self, path: str, snapshot: Snapshot) -> EvalRequest | None:
        try:
            return self._load(path, snapshot)
        except QueueError:
            return None


def _pending(request: EvalRequest, attempt: int) -> EvalRequest:
    return request.evolve(
        status=Status.PENDING, attempt=attempt, lease=None, started_at=None, finished_at=None, failure=None
    )
