"""Test what the heartbeats of a running evaluation publish."""

from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue

import pytest

from evaluator.worker.backup import AnswerBackup
from evaluator.worker.heartbeat import Heartbeat, coarse
from scripts.support.records import Make
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.records.request import Progress, Stage
from submissions.store.open import open_private_store, open_store


def test_stage_is_published_when_it_begins(
    make_request: Make, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = Queue(open_store(settings.store))
    published: SimpleQueue[Progress] = SimpleQueue()
    monkeypatch.setattr(queue, "heartbeat", lambda request, now, progress: published.put(progress))
    request = make_request()
    backup = AnswerBackup(open_private_store(settings), request.key, 1, tmp_path / "job")
    with Heartbeat(queue, request, backup, timedelta(hours=1), lambda: None) as beat:
        beat.enter(Stage.LOAD)
        assert published.get(timeout=60) == Progress(stage=Stage.LOAD), "now, not within an hour"
        beat.report("infer", 50, 100)
        assert published.get(timeout=60).stage == Stage.INFER
        beat.enter(Stage.PUBLISH)
        assert published.get(timeout=60) == Progress(stage=Stage.PUBLISH), "without the progress of the stage before"
        assert beat.stage == Stage.PUBLISH


@pytest.mark.parametrize("total", [1, 7, 20, 24, 999])
def test_progress_has_few_values(total: int) -> None:
    assert len({coarse(done, total) for done in range(total + 1)}) <= 21
