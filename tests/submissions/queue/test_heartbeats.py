"""Test heartbeats, which are files of the private store and extend a lease without a commit."""

import json
from datetime import timedelta
from typing import Any

import pytest

from scripts.support.records import NOW, Make, claimed, result_of
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.leases import SKEW
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest, Lease, Progress, Stage
from submissions.records.worker import Pause, Presence
from submissions.store.base import Store
from submissions.store.private import PrivateStore
from submissions.texts.failure_codes import FailureCode
from tests.submissions.queue.test_queue import LEASE

AFTER = NOW + LEASE + SKEW + timedelta(seconds=1)


@pytest.fixture
def queue(store: Store, heartbeats: Heartbeats) -> Queue:
    return Queue(store, LEASE, max_attempts=3, heartbeats=heartbeats)


@pytest.fixture
def running(queue: Queue, make_request: Make) -> EvalRequest:
    queue.submit(make_request())
    return claimed(queue)


def path_of(request: EvalRequest) -> str:
    assert request.lease
    return f"leases/{request.key}-{request.lease.nonce}.json"


def test_heartbeat_extends_lease(queue: Queue, running: EvalRequest) -> None:
    main = queue.store.head()
    queue.heartbeat(running, NOW + LEASE)
    assert queue.store.head() == main, "a heartbeat makes no commit"
    assert queue.claim("other", AFTER) is None
    assert [r.status for r in queue.rows()] == ["running"]
    queue.publish(running, result_of(running), NOW)


def test_write_late_heartbeat_keeps_successors_lease(
    queue: Queue, running: EvalRequest, heartbeats: Heartbeats
) -> None:
    assert running.lease
    again = queue.claim("other", AFTER)
    assert again and again.lease
    queue.heartbeat(again, AFTER)
    heartbeats.write(running.key, running.lease.evolve(heartbeat_at=NOW))  # it began before the lease was taken over
    last = heartbeats.last(again.key, again.lease)
    assert last and last.heartbeat_at == AFTER
    assert heartbeats.last_by_key([again.key])[again.key].heartbeat_at == AFTER
    assert queue.claim("third", AFTER + LEASE) is None


@pytest.mark.parametrize(
    "change",
    [
        {"gpu_temperature": 80},
        {"progress": {"stage": "dream", "done": 1, "total": 2}},
        {"progress": {"stage": "infer", "done": 1, "total": 2, "speed": 3}},
    ],
)
def test_claim_respects_heartbeat_of_newer_version(
    queue: Queue, running: EvalRequest, heartbeats: Heartbeats, private: PrivateStore, change: dict[str, Any]
) -> None:
    queue.heartbeat(running, NOW + LEASE, Progress(stage=Stage.INFER, done=1, total=2))
    newer = json.loads(private.read(path_of(running))) | change
    private.write(path_of(running), json.dumps(newer).encode())
    assert queue.claim("other", AFTER) is None, "the times of the heartbeat are still read"
    assert heartbeats.last_by_key([running.key])[running.key].expires_at == NOW + 2 * LEASE


def test_claim_ignores_unreadable_heartbeat(
    queue: Queue, running: EvalRequest, heartbeats: Heartbeats, private: PrivateStore, make_request: Make
) -> None:
    queue.submit(make_request())
    queue.heartbeat(running, NOW, Progress(stage=Stage.INFER, done=1, total=2))
    for broken in (b"", b"\xff", b"[]", b'"x"', b"{}", b"[" * 10_000):
        private.write(path_of(running), broken)
        assert heartbeats.last_by_key([running.key]) == {}
    other = queue.claim("other", NOW)
    assert other is not None and other.key != running.key
    queue.claim("other", AFTER)
    assert queue.get(running.key).lease != running.lease, "the lease in the request has expired"


def test_tidy_removes_heartbeats_of_finished_requests(
    queue: Queue, running: EvalRequest, heartbeats: Heartbeats, private: PrivateStore, make_request: Make
) -> None:
    queue.submit(make_request())
    other = claimed(queue)
    for request in (running, other):
        queue.heartbeat(request, NOW + LEASE)
    queue.publish(running, result_of(running), NOW)
    heartbeats.tidy([other.key], NOW)
    assert private.paths("leases") == [path_of(other)]
    assert queue.claim("third", AFTER) is None, "the remaining heartbeat still counts"


def test_pauses_lists_pause_until_it_ends(heartbeats: Heartbeats) -> None:
    pause = Pause(worker="w", code=FailureCode.DISK_FULL, since=NOW, until=NOW + LEASE)
    heartbeats.pause(pause)
    assert heartbeats.pauses(NOW) == [pause] and heartbeats.pauses(NOW + LEASE) == []
    heartbeats.resume("w")
    assert heartbeats.pauses(NOW) == []


def test_tidy_removes_pauses_that_have_ended(heartbeats: Heartbeats, private: PrivateStore) -> None:
    for name, hours in (("gone", -1), ("paused", 1)):
        until = NOW + timedelta(hours=hours)
        heartbeats.pause(Pause(worker=name, code=FailureCode.DISK_FULL, since=NOW - timedelta(hours=2), until=until))
    private.write("paused/broken.json", b"{")
    heartbeats.tidy([], NOW)
    assert len(private.paths("paused")) == 1
    assert [pause.worker for pause in heartbeats.pauses(NOW)] == ["paused"]


def test_tidy_removes_workers_not_seen_for_long(heartbeats: Heartbeats) -> None:
    here, gone = (Presence(worker=name, seen_at=NOW - timedelta(days=days)) for name, days in (("a", 1), ("b", 40)))
    for presence in (here, gone):
        heartbeats.report_presence(presence)
    assert {presence.worker for presence in heartbeats.workers()} == {"a", "b"}
    heartbeats.tidy([], NOW)
    assert heartbeats.workers() == [here]


def test_last_returns_written_lease(heartbeats: Heartbeats, running: EvalRequest) -> None:
    lease = running.lease
    assert isinstance(lease, Lease)
    heartbeats.write(running.key, lease)
    assert heartbeats.last(running.key, lease) == lease
    heartbeats.remove(running.key, lease)
    assert heartbeats.last(running.key, lease) is None
