"""Test that this version reads and continues the store of the last release.

`tests/stores/0.1.0.tar.xz` was written by the commands of version 0.1.0. It has five results, one of them retired, a failed
request and a pending one, an opt-out and a commitment of KO-FRESH.
"""

import tarfile
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app import main
from evaluator.worker.loop import Worker
from leaderboard.web.application import build_app
from scripts.support.tiny_models import make_extractive
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.records.index_rows import BoardRow
from submissions.records.operator import Commitment, OptOut
from submissions.records.result import EvalResult
from submissions.store.base import Store
from submissions.store.index import BOARD, board_reader, from_lines, queue_reader
from submissions.store.open import open_store

HEADLINES = {"infochartqa": "em", "ko-fresh": "em", "ko-vdc": "em", "ko-vqa": "em", "korquad-2": "f1"}
PENDING = "4e85af82a7ccac14f317474134c32827"
RETIRED = "9ccb7ec4497379a50a06605c3836a0c4"
KORQUAD = "686c1cbfca90591769027529dd64c240"


@pytest.fixture
def store(settings: Settings, tmp_path: Path) -> Store:
    """Return the store of 0.1.0, at the place that the settings name."""
    with tarfile.open(ROOT / "tests/stores/0.1.0.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return open_store(settings.store)


def test_rows_are_read_without_conversion(store: Store) -> None:
    rows, unreadable = board_reader(store).read(store.snapshot())
    assert not unreadable
    assert {row.benchmark: row.headline for row in rows} == HEADLINES
    assert all(row.score is not None and row.breakdown for row in rows)
    requests, unreadable = queue_reader(store).read(store.snapshot())
    assert not unreadable
    assert sorted(row.status for row in requests) == ["failed"] + 5 * ["finished"] + ["pending"]


def test_results_keep_scores_of_every_part(store: Store) -> None:
    path = f"results/org/tiny-reader/{KORQUAD}.json"
    result = EvalResult.from_json(store.read(path, store.head()))
    assert set(result.results["korquad-2"]) == {"em", "f1"}
    assert set(result.standard_errors) == {"em"}
    parts = [part for axis in result.breakdown.values() for part in axis.values() if part.n]
    assert parts and all(set(part.scores) == {"em", "f1"} for part in parts)


def test_reindex_writes_rows_of_this_version(
    store: Store, settings_here: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reindex"]) == 0 and '"unreadable": {}' in capsys.readouterr().out
    snapshot = store.snapshot()
    segments = [store.read(path, snapshot.head) for path in snapshot.files if path.startswith(BOARD)]
    assert sum(len(from_lines(segment, BoardRow)) for segment in segments) == len(HEADLINES)
    assert main(["verify-stores"]) == 0 and capsys.readouterr().out == "no problems\n"


def test_board_shows_results_and_decisions(store: Store, settings: Settings) -> None:
    with TestClient(build_app(settings.model_copy(update={"worker": "off"}))) as http:
        for name in HEADLINES:
            assert "org/tiny-" in http.get(f"/en/{name}").text
        assert "the repository was deleted" in http.get("/en/models/org/tiny-vlm").text
        for kind in ("json", "lm-eval.json"):
            assert http.get(f"/results/{KORQUAD}.{kind}").status_code == 200
        assert [one["quarter"] for one in http.get("/record.json").json()["commitments"]] == ["2026Q4"]
        assert "hannun_unreadable_records 0.0" in http.get("/metrics").text


def test_decisions_are_read(store: Store) -> None:
    snapshot = store.snapshot()
    assert OptOut.from_json(store.read("opt-outs/evil-corp.json", snapshot.head)).name == "evil-corp"
    assert Commitment.from_json(store.read("fresh/2026Q4.json", snapshot.head)).n == 20


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.integration
def test_pending_request_is_evaluated(store: Store, settings: Settings, tmp_path: Path) -> None:
    folder = make_extractive(tmp_path / "models/org/waiting")
    with (folder / "README.md").open("a") as readme:
        readme.write("\n")  # as in the submitted model, whose commit is a hash of its files
    assert Worker(settings.model_copy(update={"models_dir": tmp_path / "models"})).run_pending() == 1
    assert Queue(store).get(PENDING).status == "finished"
