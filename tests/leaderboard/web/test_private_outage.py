"""Test what the board does while the private store's storage host does not answer, although the Hub does."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from leaderboard.web.application import build_app
from leaderboard.web.auth import CHECKS_AT_ONCE
from scripts.support.hub.repos import Fault, Hub
from submissions.config.settings import Settings

FORM = {"model": "tiny/image-text", "benchmarks": "ko-vqa", "action": "submit"}


@pytest.fixture
def http(hub: Hub, bucket: str, tmp_path: Path, models_dir: Path) -> Iterator[TestClient]:
    settings = Settings(
        store="hf://datasets/org/store",
        private_store=bucket,
        work_dir=tmp_path / "work",
        models_dir=models_dir,
        worker="off",
    )
    with TestClient(build_app(settings)) as client:
        yield client


@pytest.mark.integration
def test_hanging_private_store_frees_the_form_and_is_reported(
    http: TestClient, hub: Hub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("submissions.store.private.SMALL_FILE_S", 1.0)
    monkeypatch.setattr("leaderboard.data.worker_status.PROBE_EVERY", 0.0)
    hub.faults = [Fault("/cas/", hang=True, times=1000)]

    def submit(_: int) -> Response:
        return http.post("/en/submit", data=FORM)

    with ThreadPoolExecutor(CHECKS_AT_ONCE + 1) as pool:
        answers = list(pool.map(submit, range(CHECKS_AT_ONCE + 1)))
    assert all("cannot be reached" in answer.text for answer in answers)
    ready = http.get("/readyz")
    assert ready.status_code == 503 and "the private store is out of reach since" in ready.text
    assert "hf://buckets/org/private cannot be written" in caplog.text
    assert http.get("/en/ko-vqa").status_code == 200 and "stale" not in http.get("/healthz").text

    hub.faults = []
    hub.released.set()
    monkeypatch.setattr("submissions.store.private.SMALL_FILE_S", 30.0)
    while http.get("/readyz").status_code == 503:  # the board finds out by itself
        pass
    assert "Accepted" in submit(0).text
