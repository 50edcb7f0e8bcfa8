"""Test the board's rows: published numbers, ranks, search, sorting and refreshing."""

import csv
import json
import re
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import Query
from leaderboard.data.rank_changes import RankChange, rank_changes
from scripts.support.records import NOW, Make, published, unreachable
from submissions.config.paths import PUBLISHED
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records.index_rows import BoardRow
from submissions.records.result import EvalResult
from submissions.records.worker import Pause, Presence
from submissions.store.base import Store
from submissions.store.open import open_store
from submissions.texts.failure_codes import FailureCode
from tests.conftest import SHARED


@pytest.fixture
def board(store: Store) -> LiveBoard:
    return LiveBoard(store)


def names(board: LiveBoard, benchmark: str, **query: Any) -> list[str]:
    return [r.row.model for r in board.refresh().select(benchmark, Query(**query))]


def test_board_loads_published_results(board: LiveBoard) -> None:
    view = board.refresh()
    assert {name: len(rows) for name, rows in view.boards.items() if rows} == {
        folder.name: len(list(folder.iterdir())) for folder in PUBLISHED.iterdir()
    }
    assert view.unreadable == []
    rows = [r.row for rows in view.boards.values() for r in rows]
    assert all(r.kind == "reported" and r.source and (r.source_url or "").startswith("https://") for r in rows)
    assert {r.benchmark for r in rows} <= set(BENCHMARKS)


def test_ranks_cover_only_comparable_models(board: LiveBoard) -> None:
    rows = board.refresh().boards["korquad-2"]
    ranked = [r for r in rows if r.rank]
    assert [r.rank for r in ranked] == list(range(1, 27))
    assert ranked[0].row.model == "EXAONE-LM-v1.0"
    assert all(r.row.latency_ms is None for r in ranked), (
        "the hardware is unknown, so the latency is only in the record"
    )
    assert {r.row.role for r in rows if not r.rank} == {"human", "baseline", "model"}
    assert all(r.row.split != "test" or r.row.role != "model" for r in rows if not r.rank)


def test_ranks_share_ties_and_skip_missing_scores(board: LiveBoard) -> None:
    vqa = {r.row.model: r.rank for r in board.refresh().boards["ko-vqa"]}
    assert vqa["AIDC-AI/Ovis2-16B"] == vqa["google/gemma-3-27b-it"]
    vdc = board.refresh().boards["ko-vdc"]
    out_of_memory = [r for r in vdc if r.row.outcome == "out_of_memory"]
    too_large = {"Qwen/Qwen3-VL-30B-A3B-Instruct", "Qwen/Qwen2.5-VL-32B-Instruct"}
    assert {r.row.model for r in out_of_memory} == too_large
    assert all(r.rank is None and r.row.score is None for r in out_of_memory)
    assert vdc[-1] in out_of_memory, "rows without a score come last, not as zero"


def test_rank_ranges_follow_intervals(board: LiveBoard) -> None:
    rows = {r.row.model: r for r in board.refresh().boards["ko-vqa"]}
    assert [(rows[m].best, rows[m].worst) for m in ("Gemini-3-pro", "Gemini-2.5-pro", "Gemini-2.5-flash")] == [
        (1, 2), (1, 2), (3, 3),
    ]  # fmt: skip
    qwen = rows["Qwen/Qwen3-VL-8B-Instruct"]
    assert (qwen.rank, qwen.best, qwen.worst) == (6, 5, 7)
    for ranked in board.refresh().boards["korquad-2"]:
        assert (ranked.best is None) == (ranked.rank is None)
        if ranked.best and ranked.worst and ranked.rank:
            assert ranked.best <= ranked.rank <= ranked.worst
    assert all(r.best is None for r in board.refresh().boards["infochartqa"]), (
        "without a known n there is no interval and no range"
    )


def test_board_has_every_published_number(board: LiveBoard) -> None:
    path = SHARED / "data/published_results.csv"
    if not path.exists():
        pytest.skip("published_results.csv is missing")
    results = [EvalResult.model_validate_json(p.read_bytes()) for p in PUBLISHED.glob("*/*.json")]
    board_values: dict[str, set[float]] = {}
    for result in results:
        values = {v for v in result.results[result.benchmark].values() if v is not None}
        values |= {s for axis in result.breakdown.values() for b in axis.values() for s in b.scores.values()}
        values |= {result.latency.mean_ms} if result.latency else set()
        name = re.sub(
            r" ?\(single model\)", "", result.config.published_as or result.config.model_name, flags=re.IGNORECASE
        )
        board_values.setdefault(f"{result.benchmark}/{name}", set()).update(values)
    titles = {"KO-VQA": "ko-vqa", "KO-VDC": "ko-vdc", "KO-OCRAG": "ko-ocrag", "InfoChartQA": "infochartqa"}
    titles["KorQuAD"] = "korquad-2"
    checked = 0
    with path.open(encoding="utf-8-sig") as file:
        for row in csv.DictReader(file):
            benchmark = next((name for title, name in titles.items() if row["benchmark"].startswith(title)), None)
            if benchmark is None or row["value"] == "OOM":
                continue
            # KorQuAD's own board gives the human and baseline scores with more digits than its paper.
            if row["benchmark"] == "KorQuAD 2.0 test" and "KorQuAD_2.0_paper" in row["source"]:
                continue
            model = re.sub(r" ?(\(single model\)|\[.*\]|\(\d{4}\.\d\d\.\d\d\))", "", row["model"], flags=re.IGNORECASE)
            if "table 4" in row["benchmark"]:
                model = "Baseline"  # the numbers of table 4 are in the row of the baseline
            assert float(row["value"]) in board_values[f"{benchmark}/{model}"], row
            checked += 1
    assert checked == 345


def test_select_sorts_by_latency_score_date_and_name(board: LiveBoard, store: Store, make_request: Make) -> None:
    for model, mean_ms in (("o/slow", 900.0), ("o/fast", 90.0)):
        published(store, make_request(model_id=model), latency={"protocol": "total/questions", "mean_ms": mean_ms})

    def sorted_by(key: str) -> list[BoardRow]:
        return [r.row for r in board.refresh().select("korquad-2", Query(sort=key))]

    latencies = [r.latency_ms for r in sorted_by("latency")]
    assert latencies == [90.0, 900.0, *[None] * (len(latencies) - 2)]
    em = [r.metrics["em"] for r in sorted_by("em") if "em" in r.metrics]
    assert em == sorted(em, reverse=True)
    dates = [r.date for r in sorted_by("date") if r.date]
    assert dates == sorted(dates, reverse=True)
    assert names(board, "ko-vqa", sort="name")[0] == "AIDC-AI/Ovis2-16B"


def test_sample_result_appears_without_rank(board: LiveBoard, store: Store, make_request: Make) -> None:
    assert "me/new" not in names(board, "korquad-2")
    result = published(store, make_request(model_id="me/new"))
    (row,) = [r for r in board.refresh().boards["korquad-2"] if r.row.model == "me/new"]
    assert row.rank is None and row.row.split == "sample"
    assert board.result_json(result.request_key) == result.to_bytes()


def test_board_ignores_benchmarks_of_newer_version(board: LiveBoard, store: Store, make_request: Make) -> None:
    record = published(open_store(store.url), make_request(benchmark="ko-vqa")).to_bytes()
    path = f"results/owner/model-1/{'e' * 32}.json"
    newer = {**json.loads(record.replace(b"ko-vqa", b"ko-new")), "request_key": "e" * 32}
    store.commit({path: json.dumps(newer).encode()}, store.head(), "from a newer version")
    Queue(store).submit(make_request(benchmark="ko-new"))
    view = board.refresh()
    assert [row.benchmark for row in view.queue] == ["ko-vqa"] and len(view.paths) == 1 and not view.unreadable


def test_board_counts_unreadable_records(board: LiveBoard, store: Store, tmp_path: Path) -> None:
    store.commit({f"results/a/b/{'0' * 32}.json": b"{"}, store.head(), "break")
    assert len(board.refresh().unreadable) == 1
    (tmp_path / "published/ko-vqa").mkdir(parents=True)
    (tmp_path / "published/ko-vqa/x.json").write_text("[]")
    assert len(LiveBoard(store, published=tmp_path / "published").view().unreadable) == 2


def test_rank_changes_after_new_result(board: LiveBoard, store: Store, make_request: Make) -> None:
    dataset = {"id": "korquad-2", "revision": None, "split": "test", "n": 9309}
    scores = {"em": 70.0, "f1": 80.0}
    middling = published(store, make_request(), dataset=dataset, results={"korquad-2": scores}, date=NOW.timestamp())
    before = board.refresh()
    scores = {"em": 99.0, "f1": 99.0}  # later than any published row
    since = datetime.now(UTC)
    best = published(store, make_request(), dataset=dataset, results={"korquad-2": scores}, date=since.timestamp())
    after = board.refresh()
    names_before = [r.row.model for r in before.boards["korquad-2"]]
    assert middling.config.model_name in names_before and best.config.model_name not in names_before
    changes = rank_changes(after.boards, since)
    assert changes[0] == RankChange("korquad-2", "verified", best.config.model_name, None, 1)
    assert (after.boards["korquad-2"][0].row.model, after.boards["korquad-2"][0].rank) == (best.config.model_name, 1)
    moved = [c for c in changes if c.before]
    assert moved == [RankChange("korquad-2", "verified", middling.config.model_name, 1, 2)], (
        "reported rows are ranked separately"
    )
    assert rank_changes(before.boards, since) == []


def test_fresh_view_shows_own_write_after_expect_change(
    board: LiveBoard, store: Store, make_request: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.data.live_board.HEAD_POLL_S", 3600.0)
    board.refresh()
    request = make_request()
    Queue(store).submit(request)
    assert request.key not in {row.key for row in board.fresh_view().queue}
    board.expect_change()
    assert request.key in {row.key for row in board.fresh_view().queue}


def test_board_starts_with_published_rows_when_store_is_unreachable(
    store: Store, monkeypatch: pytest.MonkeyPatch, make_request: Make
) -> None:
    result = published(store, make_request())

    with monkeypatch.context() as patch:
        patch.setattr(store, "head", unreachable)
        board = LiveBoard(store)
        assert sum(map(len, board.view().boards.values())) > 50
        assert board.stale_since is not None and board.stale_since.year == 1970
        before = board.queue_version
    board.refresh()
    assert board.stale_since is None and board.queue_version != before
    assert result.request_key in board.view().paths
    with monkeypatch.context() as patch:
        patch.setattr(store, "head", unreachable)
        last = board.view()
        assert board.refresh() is board.view() is last
        assert board.stale_since is not None and board.stale_since.year > 1970


def test_board_does_not_wait_for_a_silent_store(
    store: Store, make_request: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.data.live_board.HEAD_POLL_S", 0.0)
    board = LiveBoard(store)
    asked = threading.Event()
    answers = threading.Event()
    real = store.head

    def silent() -> str:
        asked.set()
        answers.wait()
        return real()

    monkeypatch.setattr(store, "head", silent)
    result = published(open_store(store.url), make_request())
    board.view()
    asked.wait()
    assert board.stale_since is None, "the last answer is recent"
    monkeypatch.setattr("leaderboard.data.live_board.WAIT_S", 0.0)
    monkeypatch.setattr("leaderboard.data.live_board.SLOW_S", 0.0)
    assert result.request_key not in board.fresh_view().paths
    assert board.stale_since == board.last_reached
    answers.set()
    monkeypatch.undo()
    assert result.request_key in board.fresh_view().paths and board.stale_since is None


def test_fresh_view_shows_latest_commit(store: Store, make_request: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaderboard.data.live_board.HEAD_POLL_S", 0.0)
    board = LiveBoard(store)
    for number in range(3):
        result = published(store, make_request(model_id=f"me/model{number}"))
        assert result.request_key in board.fresh_view().paths


def test_result_published_since_the_last_request_is_found(
    store: Store, make_request: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = LiveBoard(store)
    board.refresh()
    result = published(store, make_request())
    monkeypatch.setattr("leaderboard.data.live_board.HEAD_POLL_S", 0.0)  # as after a quiet time
    assert board.result_json(result.request_key) is not None
    assert board.result_json("0" * 32) is None


def test_unattended_since_is_set_when_no_worker_appears(
    store: Store, heartbeats: Heartbeats, make_request: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.data.worker_status.WORKERS_EVERY", 0.0)
    board = LiveBoard(store, heartbeats)
    queue = Queue(store)
    now = datetime.now(UTC)
    long_ago = now - timedelta(days=3)
    heartbeats.report_presence(Presence(worker="w", seen_at=long_ago))
    board.refresh()
    assert board.workers.unattended_since is None, "no request is pending"
    queue.submit(make_request(submitted_at=now - timedelta(hours=1)))
    board.refresh()
    assert board.workers.unattended_since is None, "a scheduled Job may still start"
    before = board.queue_version
    queue.submit(make_request(submitted_at=now - timedelta(hours=3)))
    board.refresh()
    assert board.workers.unattended_since == long_ago and board.queue_version != before
    heartbeats.report_presence(Presence(worker="w", seen_at=now))
    board.refresh()
    assert board.workers.unattended_since is None


def test_pauses_list_paused_workers(
    store: Store, heartbeats: Heartbeats, make_request: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.data.worker_status.WORKERS_EVERY", 0.0)
    board = LiveBoard(store, heartbeats)
    queue = Queue(store)
    now = datetime.now(UTC)
    queue.submit(make_request())
    heartbeats.pause(Pause(worker="w", code=FailureCode.DISK_FULL, since=now, until=now + timedelta(hours=1)))
    before = board.queue_version
    board.refresh()
    assert [pause.code for pause in board.workers.pauses] == ["disk_full"] and board.queue_version != before
    queue.claim("other", now)
    board.refresh()
    assert [pause.worker for pause in board.workers.pauses] == ["w"], "another worker evaluates"
    heartbeats.resume("w")
    board.refresh()
    assert board.workers.pauses == []
