"""What monitoring reads, by Prometheus' own parser."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from leaderboard.data.live_board import LiveBoard
from leaderboard.web.operations import operations
from submissions.errors import StoreUnavailableError
from submissions.failure_codes import FailureCode
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records import EvalRequest, Pause
from submissions.store.base import Store
from tests.support.evaluated import of_each_kind

Make = Callable[..., EvalRequest]


@pytest.fixture
def board(store: Store, heartbeats: Heartbeats) -> LiveBoard:
    return LiveBoard(store, heartbeats)


@pytest.fixture
def http(board: LiveBoard) -> Iterator[TestClient]:
    app = FastAPI()
    app.include_router(operations(board))
    with TestClient(app) as client:
        yield client


def samples(http: TestClient, name: str) -> dict[str, float]:
    text = http.get("/metrics").text
    found = [s for family in text_string_to_metric_families(text) for s in family.samples if s.name == name]
    return {",".join(sample.labels.values()): sample.value for sample in found}


def test_the_queue_in_numbers(
    http: TestClient,
    board: LiveBoard,
    store: Store,
    heartbeats: Heartbeats,
    make_request: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of_each_kind(Queue(store, heartbeats=heartbeats), make_request)
    monkeypatch.setattr("leaderboard.data.live_board.LEASE_POLL_S", 0.0)
    board.refresh()
    states = samples(http, "hannun_requests")
    assert states == {"pending": 1, "running": 1, "finished": 1, "failed": 1, "quarantined": 1}
    assert samples(http, "hannun_oldest_pending_seconds")[""] > 0
    assert list(samples(http, "hannun_heartbeat_age_seconds")) == ["w"]
    assert samples(http, "hannun_evaluation_seconds_count") == {"ko-vqa": 1}
    assert samples(http, "hannun_refresh_age_seconds")[""] < 60


def test_a_pause_is_an_alarm(
    http: TestClient, board: LiveBoard, store: Store, heartbeats: Heartbeats, make_request: Make
) -> None:
    queue, now = Queue(store), datetime.now(UTC)
    queue.submit(make_request())
    heartbeats.pause(Pause(worker="w", code=FailureCode.DISK_FULL, since=now, until=now + timedelta(hours=1)))
    board.refresh()
    assert samples(http, "hannun_worker_paused") == {"disk_full,w": 1}


def test_ready_is_who_reaches_the_store(
    http: TestClient, board: LiveBoard, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (http.get("/healthz").status_code, http.get("/readyz").status_code) == (200, 200)

    def away(*_: object) -> str:
        raise StoreUnavailableError("the store is out of reach")

    with monkeypatch.context() as patch:
        patch.setattr(store, "head", away)
        board.refresh()
        answer = http.get("/readyz")
        assert answer.status_code == 503 and "out of reach since 2" in answer.text
        assert http.get("/healthz").status_code == 200
        assert samples(http, "hannun_store_errors_total")[""] >= 1
    board.refresh()
    assert http.get("/readyz").status_code == 200
