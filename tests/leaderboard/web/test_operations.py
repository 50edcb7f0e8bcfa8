"""Test the health checks, the metrics (parsed by the Prometheus client) and the upkeep of the store."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from leaderboard.data.live_board import LiveBoard
from leaderboard.web.late_app import LateApp
from leaderboard.web.operations import operations
from scripts.support.evaluated import submit_in_every_status
from scripts.support.hub.repos import Fault, Hub
from scripts.support.records import Make, unreachable
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.queue.upkeep import UPKEEP, tidy_if_due
from submissions.records.worker import Pause, Upkeep
from submissions.store import retry_after as backoff
from submissions.store.base import Store
from submissions.store.hub import TRIES
from submissions.store.open import open_store
from submissions.store.private import PrivateStore
from submissions.texts.errors import StoreUnavailableError
from submissions.texts.failure_codes import FailureCode


@pytest.fixture
def board(store: Store, heartbeats: Heartbeats) -> LiveBoard:
    return LiveBoard(store, heartbeats)


@pytest.fixture
def http(board: LiveBoard, tmp_path: Path) -> Iterator[TestClient]:
    app = FastAPI()
    app.include_router(operations(board, LateApp(FastAPI), tmp_path))
    with TestClient(app) as client:
        yield client


def samples(http: TestClient, name: str) -> dict[str, float]:
    """Return the values of a metric by its labels, joined with commas."""
    text = http.get("/metrics").text
    found = [s for family in text_string_to_metric_families(text) for s in family.samples if s.name == name]
    return {",".join(sample.labels.values()): sample.value for sample in found}


def test_metrics_report_queue(
    http: TestClient,
    board: LiveBoard,
    store: Store,
    heartbeats: Heartbeats,
    make_request: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    submit_in_every_status(Queue(store, heartbeats=heartbeats), make_request)
    monkeypatch.setattr("leaderboard.data.worker_status.LEASES_EVERY", 0.0)
    board.refresh()
    states = samples(http, "hannun_requests")
    assert states == {"pending": 1, "running": 1, "finished": 1, "failed": 1, "quarantined": 1}
    assert samples(http, "hannun_oldest_pending_seconds")[""] > 0
    assert list(samples(http, "hannun_heartbeat_age_seconds")) == ["w"]
    assert samples(http, "hannun_evaluation_seconds_count") == {"ko-vqa": 1}
    assert samples(http, "hannun_refresh_age_seconds")[""] < 60


def test_metrics_report_paused_worker(
    http: TestClient,
    board: LiveBoard,
    store: Store,
    heartbeats: Heartbeats,
    make_request: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("leaderboard.data.worker_status.WORKERS_EVERY", 0.0)
    queue = Queue(store)
    now = datetime.now(UTC)
    queue.submit(make_request())
    heartbeats.pause(Pause(worker="w", code=FailureCode.DISK_FULL, since=now, until=now + timedelta(hours=1)))
    board.refresh()
    assert samples(http, "hannun_worker_paused") == {"disk_full,w": 1}


def test_readyz_fails_when_store_is_unreachable(
    http: TestClient, board: LiveBoard, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (http.get("/healthz").status_code, http.get("/readyz").status_code) == (200, 200)

    with monkeypatch.context() as patch:
        patch.setattr(store, "head", unreachable)
        board.refresh()
        answer = http.get("/readyz")
        assert answer.status_code == 503 and "out of reach since 2" in answer.text
        assert http.get("/healthz").status_code == 200
    board.refresh()
    assert http.get("/readyz").status_code == 200


def test_readyz_fails_without_api(board: LiveBoard, tmp_path: Path) -> None:
    api = LateApp(FastAPI)
    app = FastAPI()
    app.include_router(operations(board, api, tmp_path))
    with TestClient(app) as http:
        assert http.get("/readyz").status_code == 200
        api.failure = RuntimeError("no Gradio")
        answer = http.get("/readyz")
        assert answer.status_code == 503 and "restart the board" in answer.text and "Gradio" not in answer.text


def test_metrics_count_every_failed_store_attempt(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backoff, "LONGEST_WAIT", 0.01)
    store = open_store("hf://datasets/org/store")
    board = LiveBoard(store)
    app = FastAPI()
    app.include_router(operations(board, LateApp(FastAPI), tmp_path))
    hub.faults = [Fault("GET .*refs", status=503, times=10_000)]
    board.refresh()
    with TestClient(app) as http:
        assert samples(http, "hannun_store_errors_total")[""] == TRIES
        assert http.get("/readyz").status_code == 503


def test_metrics_report_sizes_and_upkeep(
    http: TestClient,
    board: LiveBoard,
    store: Store,
    private: PrivateStore,
    make_request: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("leaderboard.data.worker_status.WORKERS_EVERY", 0.0)
    queue = Queue(store)
    for number in range(3):
        queue.submit(make_request(model_id=f"me/model{number}"))
        board.refresh()
    assert samples(http, "hannun_commits_last_hour")[""] == 3
    folders = Counter(Path(path).parent for path in board.view().snapshot.files)
    assert samples(http, "hannun_fullest_folder_entries")[""] >= max(folders.values())
    assert samples(http, "hannun_disk_free_bytes")[""] > 2**20
    oldest = samples(http, "hannun_oldest_pending_seconds")[""]
    assert samples(http, "hannun_worker_seen_age_seconds")[""] >= oldest > 0, "no worker has ever been seen"
    assert samples(http, "hannun_upkeep_failed") == {"": 0}
    for hours, failed in ((0, 0), (2, 1)):
        private.write(UPKEEP, Upkeep(at=datetime.now(UTC) - timedelta(hours=hours), done=False).to_bytes())
        board.refresh()
        assert samples(http, "hannun_upkeep_failed") == {"": failed}


def test_upkeep_is_retried_the_day_after_a_failure(
    store: Store, private: PrivateStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    assert not tidy_if_due(store, private, now - timedelta(days=7))

    with monkeypatch.context() as patch:
        patch.setattr(store, "tidy", unreachable)
        with pytest.raises(StoreUnavailableError):
            tidy_if_due(store, private, now)
    assert not tidy_if_due(store, private, now + timedelta(hours=1))
    assert tidy_if_due(store, private, now + timedelta(days=1))
    assert not tidy_if_due(store, private, now + timedelta(days=3))
