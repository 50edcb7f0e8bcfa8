"""Test the queue: submitting, claiming, publishing, failing, releasing, requeueing and cancelling requests."""

import itertools
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from scripts.support.records import NOW, Make, claimed, result_of, unreachable
from submissions.operator.opt_out import opt_in, opt_out
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.leases import SKEW
from submissions.queue.queue import Queue
from submissions.queue.wait_time import waits
from submissions.records.request import EvalRequest, Failure, Progress, Stage, Status
from submissions.store.base import Store
from submissions.store.git import GitStore
from submissions.texts.errors import LostLeaseError, QueueError, RefusedError, StoreUnavailableError
from submissions.texts.failure_codes import FailureCode
from submissions.texts.refusals import RefusalCode

LEASE = timedelta(minutes=30)


@pytest.fixture
def queue(store: Store, heartbeats: Heartbeats) -> Queue:
    return Queue(store, LEASE, max_attempts=3, heartbeats=heartbeats)


def fail(code: FailureCode) -> Failure:
    return Failure(stage=Stage.INFER, code=code)


def test_request_moves_from_pending_to_finished(queue: Queue, make_request: Make) -> None:
    request = make_request()
    queue.submit(request)
    assert [r.status for r in queue.rows()] == ["pending"]
    running = claimed(queue)
    assert (running.key, running.status, running.attempt) == (request.key, "running", 1)
    assert [r.status for r in queue.rows()] == ["running"]
    queue.publish(running, result_of(running), NOW)
    snapshot = queue.store.snapshot()
    assert [r.status for r in queue.rows()] == ["finished"]
    assert {p for p in snapshot.files if not p.startswith("index/")} == {
        f"requests/finished/{request.key[:2]}/{request.key}.json",
        f"results/{request.model_id}/{request.key}.json",
    }


def test_submit_rejects_duplicate(queue: Queue, make_request: Make) -> None:
    request = make_request()
    queue.submit(request)
    with pytest.raises(RefusedError, match="pending"):
        queue.submit(request)
    claimed(queue)
    with pytest.raises(RefusedError, match="running"):
        queue.submit(request)
    assert len(queue.rows()) == 1


def test_claim_returns_none_if_queue_is_empty(queue: Queue) -> None:
    head = queue.store.head()
    assert queue.claim("w", NOW) is None
    assert queue.store.head() == head


def test_claim_skips_benchmarks_of_newer_version(queue: Queue, make_request: Make) -> None:
    queue.submit(make_request(benchmark="ko-new"))
    assert queue.claim("w", NOW, ["ko-vqa"]) is None
    queue.submit(known := make_request(benchmark="ko-vqa"))
    request = queue.claim("w", NOW, ["ko-vqa"])
    assert request and request.key == known.key


def test_fail_retries_only_infrastructure_failures(queue: Queue, make_request: Make) -> None:
    queue.submit(make_request())
    after = queue.fail(claimed(queue), fail(FailureCode.NAN_LOGITS), NOW)
    assert after.status == Status.FAILED
    assert [(r.status, r.failure_stage, r.failure_code) for r in queue.rows()] == [("failed", "infer", "nan_logits")]
    queue.submit(make_request())
    seen = [queue.fail(claimed(queue), fail(FailureCode.OUT_OF_MEMORY), NOW).status for _ in range(3)]
    assert seen == [Status.PENDING, Status.PENDING, Status.QUARANTINED]
    assert queue.claim("w", NOW) is None


def test_submit_all_makes_one_commit(queue: Queue, make_request: Make) -> None:
    before = len(list(queue.store.history(queue.store.head())))
    known = make_request()
    first = make_request()
    second = make_request()
    queue.submit(known)
    refusals = queue.submit_all([first, known, second, first])
    assert [refusal and refusal.refusal for refusal in refusals] == [None, RefusalCode.SUBMITTED] * 2
    assert len(list(queue.store.history(queue.store.head()))) == before + 2
    assert {row.key for row in queue.rows()} == {known.key, first.key, second.key}


def _await_forms(queue: Queue, count: int, futures: Sequence[Future[Any]]) -> None:
    """Wait until so many forms wait for the commit of another one, or one of the threads has ended."""
    while len(queue._forms) < count and not any(one.done() for one in futures):
        pass


def test_submit_all_batches_concurrent_forms(queue: Queue, make_request: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Submit 50 forms at once: each returns only after its commit, and two commits hold all of them."""
    forms = [[make_request() for _ in range(4)] for _ in range(50)]
    commit = GitStore.commit
    landed = list[str]()
    all_wait = threading.Event()

    def slow(store: GitStore, *arguments: Any) -> str:
        assert all_wait.wait(60)
        landed.append(done := commit(store, *arguments))
        return done

    def submitted(form: list[EvalRequest]) -> None:
        assert queue.submit_all(form) == [None] * 4
        held = Queue(queue.store)
        assert all(held.get(request.key).status == "pending" for request in form), (
            "a form returns only after its commit"
        )

    monkeypatch.setattr(GitStore, "commit", slow)
    with ThreadPoolExecutor(50) as pool:
        futures = [pool.submit(submitted, form) for form in forms]
        _await_forms(queue, 49, futures)
        all_wait.set()
        for one in futures:
            one.result()
    assert len(landed) == 2 and len(queue.rows()) == 200


def test_form_whose_commit_was_interrupted_is_not_taken_for_queued(
    queue: Queue, make_request: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that commits for others too is stopped, as by Ctrl-C."""
    commit = GitStore.commit
    all_wait = threading.Event()
    commits = itertools.count()

    def interrupted(store: GitStore, *arguments: Any) -> str:
        assert all_wait.wait(60)
        if next(commits):
            raise KeyboardInterrupt
        return commit(store, *arguments)

    monkeypatch.setattr(GitStore, "commit", interrupted)
    with ThreadPoolExecutor(5) as pool:
        futures = [pool.submit(queue.submit, make_request()) for _ in range(5)]
        _await_forms(queue, 4, futures)
        all_wait.set()
        errors = [type(one.exception()) for one in futures]
    assert sorted(error.__name__ for error in errors) == [
        "KeyboardInterrupt",
        "NoneType",
        *["StoreUnavailableError"] * 3,
    ]
    assert len(queue.rows()) == 1


def test_submit_raises_if_commit_fails(queue: Queue, make_request: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(GitStore, "commit", unreachable)
        with pytest.raises(StoreUnavailableError):
            queue.submit(request := make_request())
    queue.submit(request)


def test_claim_takes_over_expired_lease(queue: Queue, make_request: Make) -> None:
    queue.submit(make_request())
    slow = claimed(queue)
    assert queue.claim("other", NOW + LEASE + SKEW) is None, "within the skew allowance the lease is respected"
    after_expiry = NOW + LEASE + SKEW + timedelta(seconds=1)
    again = queue.claim("other", after_expiry)
    assert again is not None and again.attempt == 2
    for step in (
        lambda: queue.publish(slow, result_of(slow), NOW),
        lambda: queue.fail(slow, fail(FailureCode.MODEL_ERROR), NOW),
        lambda: queue.release(slow),
        lambda: queue.heartbeat(slow, NOW),
    ):
        with pytest.raises(LostLeaseError):
            step()
    queue.publish(again, result_of(again), after_expiry)
    assert [r.status for r in queue.rows()] == ["finished"]


def test_claim_quarantines_after_max_attempts(queue: Queue, make_request: Make) -> None:
    queue.submit(make_request())
    now = NOW
    for _ in range(3):
        assert queue.claim("w", now) is not None
        now += LEASE + SKEW + timedelta(seconds=1)
    assert queue.claim("w", now) is None
    assert [(r.status, r.failure_code) for r in queue.rows()] == [("quarantined", "worker_lost")]


def test_requeue_resets_failed_request(queue: Queue, make_request: Make) -> None:
    request = make_request()
    queue.submit(request)
    with pytest.raises(QueueError, match="is pending"):
        queue.requeue(request.key)
    queue.release(claimed(queue))
    running = claimed(queue)
    assert running.attempt == 1, "a released request keeps its number of attempts"
    queue.fail(running, fail(FailureCode.MODEL_ERROR), NOW)
    assert queue.requeue(request.key).status == Status.PENDING
    assert claimed(queue).attempt == 1
    with pytest.raises(QueueError, match="no request"):
        queue.requeue("0" * 32)


def test_opt_out_cancels_own_requests_only(queue: Queue, make_request: Make) -> None:
    """Requests of models that were opted out before do not come back, and are not cancelled by the opt-out of others."""
    queue.submit(make_request(model_id="alpha/one"))
    running = claimed(queue)
    assert opt_out(queue, "alpha", NOW) == []
    queue.submit(other := make_request(model_id="beta/one"))
    later = queue.fail(running, fail(FailureCode.DISK_FULL), NOW)
    assert later.status == Status.PENDING and claimed(queue).key == other.key
    assert [row.key for row in queue.rows()] == [other.key], (
        "the request of the model that was opted out meanwhile is gone"
    )
    queue.submit(third := make_request(model_id="beta/two"))
    assert opt_out(queue, "gamma", NOW) == [] and opt_out(queue, "Beta/Two", NOW) == [third.key]


def test_requeue_leaves_opted_out_models(queue: Queue, make_request: Make) -> None:
    queue.submit(failed := make_request(model_id="alpha/one"))
    queue.fail(claimed(queue), fail(FailureCode.NAN_LOGITS), NOW)
    queue.submit(lost := make_request(model_id="alpha/two"))
    queue.fail(claimed(queue), fail(FailureCode.MISSING_LIBRARY), NOW)
    opt_out(queue, "alpha", NOW)
    with pytest.raises(QueueError, match="alpha has opted out"):
        queue.requeue(failed.key)
    assert queue.requeue_all() == []
    opt_in(queue, "alpha")
    assert queue.requeue_all() == [lost.key]


def test_lost_worker_is_recorded_with_its_stage(store: Store, heartbeats: Heartbeats, make_request: Make) -> None:
    queue = Queue(store, LEASE, max_attempts=1, heartbeats=heartbeats)
    queue.submit(make_request())
    queue.heartbeat(claimed(queue), NOW, Progress(stage=Stage.FETCH))
    assert queue.claim("w", NOW + LEASE + SKEW + LEASE) is None
    (row,) = queue.rows()
    assert queue.get(row.key).failure == Failure(stage=Stage.FETCH, code=FailureCode.WORKER_LOST)


def test_claim_alternates_between_submitters(queue: Queue, make_request: Make) -> None:
    for minute, (who, model) in enumerate([("a", "a/1"), ("a", "a/2"), ("a", "a/3"), ("b", "b/1"), ("c", "c/1")]):
        queue.submit(make_request(model_id=model, submitted_by=who, submitted_at=NOW + timedelta(minutes=minute)))
    order = [claimed(queue).model_id for _ in range(5)]
    assert order == ["a/1", "b/1", "c/1", "a/2", "a/3"]


@pytest.mark.parametrize("poison", [b"", b"{", b"[]", b'{"key": 1}', b"\xff\xfe", b'{"key": NaN}', b"[" * 100_000])
def test_claim_skips_broken_record(queue: Queue, make_request: Make, poison: bytes) -> None:
    first = make_request()
    store = queue.store
    store.commit({f"requests/pending/00/{'0' * 32}.json": poison}, store.head(), "poison")
    queue.submit(first)
    assert claimed(queue).key == first.key
    assert queue.claim("w", NOW) is None


def test_cancel_allows_resubmission(queue: Queue, make_request: Make) -> None:
    request = make_request()
    queue.submit(request)
    queue.cancel(request.key)
    assert queue.rows() == []
    with pytest.raises(QueueError, match="no request"):
        queue.cancel(request.key)
    queue.submit(request)
    claimed(queue)
    with pytest.raises(QueueError, match="only pending"):
        queue.cancel(request.key)


def test_waits_uses_models_of_similar_size(queue: Queue, make_request: Make) -> None:
    def measured(params: int, minutes: int, **fields: object) -> None:
        queue.submit(make_request(params=params, **fields))
        running = claimed(queue)
        queue.publish(running, result_of(running), NOW + timedelta(minutes=minutes))

    for minutes in (9, 10, 30):
        measured(7_000_000_000, minutes)
    measured(300_000_000, 2)
    small = make_request(params=500_000_000, submitted_by="a")
    first = make_request(params=8_000_000_000, submitted_by="a", submitted_at=NOW + timedelta(seconds=1))
    second = make_request(params=8_000_000_000, submitted_by="a", submitted_at=NOW + timedelta(seconds=2))
    other = make_request(params=8_000_000_000, benchmark="ko-vqa", engine="chat", submitted_by="b")
    for request in (small, first, second, other):
        queue.submit(request)
    expected = waits(queue.rows(), NOW)
    ready = {k: w.ready_in and w.ready_in.total_seconds() / 60 for k, w in expected.items()}
    assert [expected[r.key].place for r in (small, other, first, second)] == [1, 2, 3, 4]
    assert ready[small.key] == 2 and ready[other.key] is None, "no similar model was measured"
    assert ready[first.key] is None, "the duration of the request before it is unknown"
    queue.cancel(other.key)
    expected = waits(queue.rows(), NOW)
    assert [w.ready_in and w.ready_in.total_seconds() / 60 for w in expected.values()] == [2, 12, 22]
    claimed(queue)
    expected = waits(queue.rows(), NOW + timedelta(minutes=1))
    minutes_left = {w.place: w.ready_in and w.ready_in.total_seconds() / 60 for w in expected.values()}
    assert minutes_left == {None: 1.0, 1: 11.0, 2: 21.0}, "one request is running"
    late = waits(queue.rows(), NOW + timedelta(minutes=3))
    assert {w.ready_in for w in late.values()} == {None}, (
        "it already takes longer than the measured ones; others wait for it"
    )


def test_requeue_all_requeues_quarantined(queue: Queue, make_request: Make) -> None:
    for _ in range(3):
        queue.submit(make_request())
        queue.fail(claimed(queue), fail(FailureCode.MISSING_LIBRARY), NOW)
    assert len(queue.requeue_all()) == 3
    assert [(row.status, queue.get(row.key).attempt) for row in queue.rows()] == [("pending", 0)] * 3
    head = queue.store.head()
    assert queue.requeue_all() == [] and queue.store.head() == head
