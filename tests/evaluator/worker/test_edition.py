"""Test that the worker keeps the static edition up to date, in another process."""

import logging
from pathlib import Path

import pytest

from evaluator.worker.edition import EditionUpdates
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.config.settings import Settings
from submissions.store.base import Store

pytestmark = pytest.mark.integration


@pytest.mark.slow
def test_edition_has_the_newest_result(
    store: Store, settings: Settings, make_request: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANNUN_PRIVATE_STORE", settings.private_store)
    own = settings.model_copy(update={"static": str(tmp_path / "out"), "live_address": "https://live.example"})
    updates = EditionUpdates(own)
    for model in ("a/first", "a/second"):
        result = evaluated(make_request(model_id=model, benchmark="ko-vqa"), 50.0)
        store.commit({result.path: result.to_bytes()}, store.head(), "a result")
        updates.request()
    updates.finish()
    for model in ("first", "second"):
        assert (tmp_path / f"out/models/a/{model}.html").is_file()
    assert "https://live.example/compare" in (tmp_path / "out/index.html").read_text()


def test_failed_update_is_logged_in_one_line(
    store: Store, settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    updates = EditionUpdates(settings.model_copy(update={"static": str(tmp_path / "file")}))
    with caplog.at_level(logging.WARNING):
        updates.request()
        updates.finish()
    assert "the static edition was not updated: hannun: " in caplog.text


def test_nothing_runs_without_the_setting(settings: Settings) -> None:
    updates = EditionUpdates(settings)
    updates.request()
    updates.finish()
    assert updates._process is None
