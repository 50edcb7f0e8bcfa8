"""The queue: a state machine over request records. Every step is one compare-and-swap commit.

    pending → running → finished | failed | quarantined,   running → pending when a lease is lost

Execution is at least once, publication exactly once: `attempt` and the lease's nonce are the fencing token,
so a worker that lost its lease cannot publish.
"""

import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import islice
from typing import TypeVar

from submissions.errors import AlreadySubmittedError, LostLeaseError, OptedOutError, QueueError, QuotaSpentError
from submissions.failure_codes import FailureCode
from submissions.queue.quota import Quota, opted_out
from submissions.queue.wait_time import fair_order
from submissions.records import CodeApproval, EvalRequest, Failure, Lease, OptOut, Pause, Progress, Stage, Status
from submissions.results import EvalResult
from submissions.rows import QueueRow
from submissions.store.base import Changes, Snapshot, Store, transact
from submissions.store.index import parse_record, queue_reader, with_requests, with_result

R = TypeVar("R", Lease, Pause)

LEASES = "leases"  # a branch of their own: a repository slows down after thousands of commits to main
SKEW = timedelta(minutes=2)
MAX_HEARTBEATS = 500  # heartbeats after which their branch is squashed


class Queue:
    def __init__(self, store: Store, lease: timedelta = timedelta(minutes=30), max_attempts: int = 3) -> None:
        self.store = store
        self._lease = lease
        self._max_attempts = max_attempts
        self._reader = queue_reader(store)

    def rows(self, snapshot: Snapshot | None = None) -> list[QueueRow]:
        """Open and recent requests, oldest first."""
        return sorted(self._reader.read(snapshot or self.store.snapshot())[0], key=lambda r: (r.submitted_at, r.key))

    def get(self, key: str, snapshot: Snapshot | None = None) -> EvalRequest:
        """Raises QueueError where no request has this key or its record is unreadable."""
        snapshot = snapshot or self.store.snapshot()
        path = _path_of(key, snapshot)
        if path is None:
            raise QueueError(f"no request {key}")
        return self._load(path, snapshot)

    def find(self, key: str, snapshot: Snapshot) -> EvalRequest | None:
        """The request with this key, in whatever state; None if there is none. Raises QueueError if it is unreadable."""
        path = _path_of(key, snapshot)
        return self._load(path, snapshot) if path else None

    def submit(self, request: EvalRequest, quota: Quota | None = None) -> None:
        """Queue a request. Raises AlreadySubmittedError where it is there in any state, OptedOutError, or QuotaSpentError.

        All are decided in the commit that queues it: of many submissions at once, no more than the quota come through.
        """

        def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
            if known := self.find(request.key, snapshot):
                raise AlreadySubmittedError(known)
            if owner := opted_out(request.model_id, snapshot):
                raise OptedOutError(f"{owner} has asked not to be evaluated here")
            if quota and (free_at := quota.free_at(self.rows(snapshot), request)):
                raise QuotaSpentError(
                    f"no submission to {request.benchmark} is left until {free_at:%Y-%m-%d %H:%M} UTC"
                )
            return self._move(snapshot, [], [request]), f"Submit {request.key}", None

        transact(self.store, decide)

    def opt_out(self, name: str, now: datetime) -> list[str]:
        """Keep an owner's wish, and take its pending requests out. Returns their keys."""

        def decide(snapshot: Snapshot) -> tuple[Changes, str, list[str]]:
            wish = OptOut(name=name, since=now)
            ended = Snapshot(snapshot.head, {**snapshot.files, wish.path_of(name): ""})
            rows = [row for row in self.rows(snapshot) if row.status == Status.PENDING]
            gone = [self._load(row.path, snapshot) for row in rows if opted_out(row.model_id, ended)]
            changes = {wish.path_of(name): wish.to_bytes(), **(self._move(snapshot, gone, []) if gone else {})}
            return changes, f"Opt out {name}", [request.key for request in gone]

        return transact(self.store, decide)

    def opt_in(self, name: str) -> None:
        """Drop that wish. Raises QueueError if there is none."""

        def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
            if (path := OptOut.path_of(name)) not in snapshot.files:
                raise QueueError(f"{name} has not opted out")
            return {path: None}, f"Opt in {name}", None

        transact(self.store, decide)

    def approve_code(self, approval: CodeApproval) -> None:
        """Let the code of a model at a commit run. The approval stands in the public store."""
        path = approval.path_of(approval.model_id, approval.revision)
        transact(self.store, lambda _: ({path: approval.to_bytes()}, f"Approve the code of {approval.model_id}", None))

    def withdraw_approval(self, model_id: str, revision: str) -> None:
        """Raises QueueError where there is none."""
        path = CodeApproval.path_of(model_id, revision)

        def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
            if path not in snapshot.files:
                raise QueueError(f"the code of {model_id}@{revision} is not approved")
            return {path: None}, f"Withdraw the approval of the code of {model_id}", None

        transact(self.store, decide)

    def approval(self, model_id: str, revision: str) -> CodeApproval | None:
        """Of a model's code at a commit; None where there is none that can be read."""
        path, snapshot = CodeApproval.path_of(model_id, revision), self.store.snapshot()
        try:
            content = self.store.read(path, snapshot.head) if path in snapshot.files else b""
            return CodeApproval.model_validate_json(content) if content else None
        except ValueError:
            return None

    def claim(self, worker: str, now: datetime) -> EvalRequest | None:
        """Take the next pending request: round-robin over submitters, oldest first. None if there is none.

        Requests whose lease has run out are returned to pending, or quarantined after too many attempts, first.
        """

        def decide(snapshot: Snapshot) -> tuple[Changes, str, EvalRequest | bool]:
            if lost := self._expired(snapshot, now):
                changes = self._move(snapshot, [before for before, _ in lost], [after for _, after in lost])
                return changes, "Take back lost leases", True
            rows = self.rows(snapshot)
            for row in fair_order(rows):
                request = self._try_load(row.path, snapshot)
                if request is None:
                    continue  # a poison record must not stop the queue behind it
                lease = Lease(
                    worker=worker, nonce=secrets.token_hex(16), heartbeat_at=now, expires_at=now + self._lease
                )
                claimed = request.evolve(
                    status=Status.RUNNING, attempt=request.attempt + 1, lease=lease, started_at=now, failure=None
                )
                return self._move(snapshot, [request], [claimed]), f"Claim {request.key}", claimed
            return {}, "", False

        while (claimed := transact(self.store, decide)) is True:
            continue  # leases were taken back: now there may be something to claim
        return claimed or None

    def heartbeat(self, request: EvalRequest, now: datetime, progress: Progress | None = None) -> None:
        """Extend the lease of a running request. Raises LostLeaseError if it is no longer held."""
        self._held(request, self.store.snapshot())
        assert request.lease is not None
        lease = request.lease.evolve(heartbeat_at=now, expires_at=now + self._lease, progress=progress)
        path = _lease_path(request.key)
        transact(self.store, lambda _: ({path: lease.to_bytes()}, f"Heartbeat {request.key}", None), LEASES)

    def leases(self, keys: Iterable[str]) -> dict[str, Lease]:
        """The last heartbeat of running requests, by key; those that have sent none yet are not there."""
        beats = self.store.snapshot(LEASES)
        paths = {key: _lease_path(key) for key in keys}
        found = {key: self._beat(path, beats) for key, path in paths.items() if path in beats.files}
        return {key: lease for key, lease in found.items() if lease}

    def pause(self, pause: Pause) -> None:
        """Tell the board that a worker takes no request for a while."""
        path = _pause_path(pause.worker)
        transact(self.store, lambda _: ({path: pause.to_bytes()}, f"Pause {pause.worker}", None), LEASES)

    def resume(self, worker: str) -> None:
        transact(self.store, lambda _: ({_pause_path(worker): None}, f"Resume {worker}", None), LEASES)

    def pauses(self, now: datetime) -> list[Pause]:
        """Workers that pause now."""
        beats = self.store.snapshot(LEASES)
        paths = [path for path in beats.files if path.startswith("paused/")]
        found = [_known(Pause, self.store.read(path, beats.head)) for path in paths]
        return [pause for pause in found if pause and pause.until > now]

    def tidy(self) -> None:
        """Drop the heartbeats of what no longer runs, with all their history, once there are many."""
        head = self.store.head(LEASES)
        if len(list(islice(self.store.history(head), MAX_HEARTBEATS))) < MAX_HEARTBEATS:
            return
        running = {_lease_path(row.key) for row in self.rows() if row.status == Status.RUNNING}

        def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
            gone = [p for p in snapshot.files if p.startswith("leases/") and p not in running]
            return dict.fromkeys(gone), "Tidy up", None

        transact(self.store, decide, LEASES)
        self.store.squash(LEASES)

    def publish(self, request: EvalRequest, result: EvalResult, now: datetime) -> None:
        """Result, finished request and index rows in one commit. Raises LostLeaseError if the lease is not held."""

        def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
            self._held(request, snapshot)
            done = request.evolve(status=Status.FINISHED, lease=None, finished_at=now)
            changes = {**self._move(snapshot, [request], [done]), **with_result(self.store, snapshot, result)}
            return changes, f"Publish {request.key}", None

        transact(self.store, decide)

    def fail(self, request: EvalRequest, failure: Failure, now: datetime) -> EvalRequest:
        """End a running request. A fault of ours is tried again, up to the limit; the model's ends it at once.

        Raises LostLeaseError if the lease is not held.
        """

        def decide(snapshot: Snapshot) -> tuple[Changes, str, EvalRequest]:
            self._held(request, snapshot)
            after = self._after_failure(request, failure, now)
            return self._move(snapshot, [request], [after]), f"Fail {request.key}: {failure.code}", after

        return transact(self.store, decide)

    def release(self, request: EvalRequest) -> None:
        """Hand a running request back unharmed, its attempt not counted (a worker that stops cleanly)."""

        def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
            self._held(request, snapshot)
            after = _pending(request, request.attempt - 1)
            return self._move(snapshot, [request], [after]), f"Release {request.key}", None

        transact(self.store, decide)

    def requeue(self, key: str) -> EvalRequest:
        """Put a failed, quarantined or stuck request back to pending by hand. Raises QueueError otherwise."""

        def decide(snapshot: Snapshot) -> tuple[Changes, str, EvalRequest]:
            request = self.get(key, snapshot)
            if request.status in (Status.PENDING, Status.FINISHED):
                raise QueueError(f"request {key} is {request.status}; only failed, quarantined or running ones go back")
            after = _pending(request, attempt=0)
            return self._move(snapshot, [request], [after]), f"Requeue {key}", after

        return transact(self.store, decide)

    def requeue_all(self) -> list[str]:
        """Put every quarantined request back to pending. Returns their keys."""

        def decide(snapshot: Snapshot) -> tuple[Changes, str, list[str]]:
            quarantined = [row for row in self.rows(snapshot) if row.status == Status.QUARANTINED]
            before = [request for row in quarantined if (request := self._try_load(row.path, snapshot))]
            after = [_pending(request, attempt=0) for request in before]
            changes = self._move(snapshot, before, after) if before else {}
            return changes, f"Requeue {len(before)} quarantined", [request.key for request in before]

        return transact(self.store, decide)

    def cancel(self, key: str) -> None:
        """Take a pending or quarantined request out of the queue, as if never submitted. Raises QueueError for any other."""

        def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
            request = self.get(key, snapshot)
            if request.status not in (Status.PENDING, Status.QUARANTINED):
                raise QueueError(
                    f"request {key} is {request.status}; only pending and quarantined ones can be cancelled"
                )
            return self._move(snapshot, [request], []), f"Cancel {key}", None

        transact(self.store, decide)

    def _expired(self, snapshot: Snapshot, now: datetime) -> list[tuple[EvalRequest, EvalRequest]]:
        running = [p for p in snapshot.files if p.startswith(f"requests/{Status.RUNNING}/")]
        if not running:
            return []
        beats = self.store.snapshot(LEASES)
        lost = []
        for path in running:
            request = self._try_load(path, snapshot)
            if request is None or request.lease is None:
                continue
            lease = request.lease
            beat = _lease_path(request.key)
            latest = self._beat(beat, beats) if beat in beats.files else None
            if latest and latest.nonce == lease.nonce:
                lease = latest
            if now > lease.expires_at + SKEW:
                failure = Failure(stage=Stage.INFER, code=FailureCode.WORKER_LOST)
                lost.append((request, self._after_failure(request, failure, now)))
        return lost

    def _beat(self, path: str, beats: Snapshot) -> Lease | None:
        """None where it cannot be read: then the lease in the request itself holds."""
        return _known(Lease, self.store.read(path, beats.head))

    def _after_failure(self, request: EvalRequest, failure: Failure, now: datetime) -> EvalRequest:
        if failure.code.ours and not failure.code.lasting and request.attempt < self._max_attempts:
            return _pending(request, request.attempt)
        status = Status.QUARANTINED if failure.code.ours else Status.FAILED
        return request.evolve(status=status, lease=None, finished_at=now, failure=failure)

    def _held(self, request: EvalRequest, snapshot: Snapshot) -> None:
        current = self._load(request.path, snapshot) if request.path in snapshot.files else None
        if request.lease is None or current is None or current.lease is None:
            raise LostLeaseError(f"request {request.key} is no longer running")
        if (current.lease.nonce, current.attempt) != (request.lease.nonce, request.attempt):
            raise LostLeaseError(f"request {request.key} is held by {current.lease.worker} now")

    def _move(self, snapshot: Snapshot, before: Iterable[EvalRequest], after: Iterable[EvalRequest]) -> Changes:
        return with_requests(self.rows(snapshot), before, after)

    def _load(self, path: str, snapshot: Snapshot) -> EvalRequest:
        try:
            request: EvalRequest = parse_record(self.store.read(path, snapshot.head), EvalRequest)
            return request
        except ValueError as error:
            raise QueueError(f"{path} is unreadable: {error}") from error

    def _try_load(self, path: str, snapshot: Snapshot) -> EvalRequest | None:
        try:
            return self._load(path, snapshot)
        except QueueError:
            return None


def _known(kind: type[R], content: bytes) -> R | None:
    try:
        return kind.read_known(content)
    except ValueError:
        return None


def _pause_path(worker: str) -> str:
    return f"paused/{sha256(worker.encode()).hexdigest()[:16]}.json"


def _lease_path(key: str) -> str:
    return f"leases/{key}.json"


def _path_of(key: str, snapshot: Snapshot) -> str | None:
    """Where a request stands, whatever its state."""
    paths = (EvalRequest.path_of(key, status) for status in Status)
    return next((path for path in paths if path in snapshot.files), None)


def _pending(request: EvalRequest, attempt: int) -> EvalRequest:
    return request.evolve(
        status=Status.PENDING, attempt=attempt, lease=None, started_at=None, finished_at=None, failure=None
    )
