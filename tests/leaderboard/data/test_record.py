"""Test the public record: reproduced numbers, counted attempts and retired results."""

from typing import Any

import pytest

from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import Query, matching_rows
from leaderboard.data.record import record_json
from leaderboard.data.view import View
from scripts.support.evaluated import evaluated
from scripts.support.records import NOW, Make
from submissions.operator.retirement import reinstate, retire
from submissions.records.result import EvalResult
from submissions.store.base import Store
from submissions.texts.errors import QueueError

QWEN = "Qwen/Qwen2.5-VL-7B-Instruct"


def record(view: View) -> dict[str, Any]:
    return record_json(view.boards, view.retired, view.commitments, view.private_attempts)


def publish(store: Store, *results: EvalResult) -> LiveBoard:
    store.commit({r.path: r.to_bytes() for r in results}, store.head(), "results")
    return LiveBoard(store)


def reported(store: Store, model: str) -> float:
    (row,) = [r.row for r in LiveBoard(store).view().boards["ko-vqa"] if r.row.model == model]
    return row.metrics["em"]


@pytest.mark.parametrize(
    ("off", "verdict"), [(0.5, "reproduced"), (-1.5, "reproduced"), (9.0, "higher"), (-9.0, "lower")]
)
def test_reproduction_verdict_follows_interval(store: Store, make_request: Make, off: float, verdict: str) -> None:
    printed = reported(store, QWEN)
    own = evaluated(make_request(model_id=QWEN, benchmark="ko-vqa"), printed + off)
    other = evaluated(make_request(model_id="o/other", benchmark="ko-vqa"), printed)
    board = publish(store, own, other)
    view = board.view()
    (found,) = record(view)["reproductions"]
    assert (found["model"], found["published_as"]) == (QWEN, "Qwen2.5-VL-7B-Instruct")
    assert (found["verdict"], found["reported"]) == (verdict, printed)
    assert found["measured"] == pytest.approx(printed + off) and found["precision"] == "bfloat16"
    rows = matching_rows(view.boards["ko-vqa"], Query(reproduced=True))
    assert [(r.row.model, r.row.reproduction) for r in rows] == [(QWEN, verdict)] * 2
    assert sum(m.model == QWEN for m in view.models) == 1, "both results share one row of the overview"


def test_reproduction_requires_same_split_and_mode(store: Store, make_request: Make) -> None:
    samples = {"id": "x", "revision": None, "split": "sample", "n": 45}
    sample = evaluated(make_request(model_id=QWEN, benchmark="ko-vqa"), 50.0, dataset=samples)
    thinking = make_request(model_id="AIDC-AI/Ovis2.5-2B", benchmark="ko-vqa")
    off = evaluated(thinking, 50.0)
    off = off.evolve(config=off.config.evolve(thinking="off"))
    found = record(publish(store, sample, off).view())["reproductions"]
    published = {(one["model"], one["published_as"]) for one in found}
    assert published <= {("AIDC-AI/Ovis2.5-2B", name) for name in ("Ovis2.5-2B", "Ovis2.5-2B (w/o thinking)")}


def test_attempts_are_counted_and_best_is_marked(store: Store, make_request: Make) -> None:
    def result(model: str, em: float, days_ago: float, **config: Any) -> EvalResult:
        made = evaluated(make_request(model_id=model, benchmark="ko-vqa"), em, days_ago)
        return made.evolve(config=made.config.evolve(**config))

    tried = [result("me/vlm", em, days, base_model="big/base") for em, days in ((40.0, 9), (44.0, 5), (42.0, 1))]
    board = publish(store, *tried, result("me/other", 30.0, 3), result("you/tune", 35.0, 2, base_model="big/base"))
    view = board.view()
    (me,) = [m for m in view.models if m.model == "me/vlm"]
    best = me.cells["ko-vqa"].row
    assert best.metrics["em"] == 44.0 and best.attempt == (2, 3)
    counted = {(one["kind"], one["name"]): (one["results"], one["models"]) for one in record(view)["attempts"]}
    assert counted[("organisation", "me")] == (4, 2) and counted[("base", "big/base")] == (4, 2)
    assert counted[("organisation", "you")] == (1, 1)


def test_retired_result_stays_public_without_rank(store: Store, make_request: Make) -> None:
    best = evaluated(make_request(model_id="o/best", benchmark="ko-vqa"), 99.0)
    board = publish(store, best)
    assert board.view().boards["ko-vqa"][0].rank == 1
    retire(store, best.request_key, "trained on the test set", NOW)
    view = board.refresh()
    (row,) = [r for r in view.boards["ko-vqa"] if r.row.key == best.request_key]
    assert (row.rank, row.row.retired) == (None, "trained on the test set")
    assert board.result_json(best.request_key) == best.to_bytes()
    (logged,) = record(view)["retired"]
    assert (logged["model"], logged["score"], logged["reason"]) == ("o/best", 99.0, "trained on the test set")
    with pytest.raises(QueueError, match="already"):
        retire(store, best.request_key, "again", NOW)
    reinstate(store, best.request_key, NOW)
    assert board.refresh().boards["ko-vqa"][0].rank == 1
    (logged,) = record(board.view())["retired"]
    assert logged["until"] == NOW.isoformat(), "the log keeps the undone retirement"
    retire(store, best.request_key, "once more", NOW)
    assert board.refresh().boards["ko-vqa"][0].rank is not None and board.view().boards["ko-vqa"][-1].row.retired
    with pytest.raises(QueueError, match="characters"):
        retire(store, best.request_key, "x" * 201, NOW)
    with pytest.raises(QueueError, match="cannot be shown"):
        retire(store, best.request_key, "wrong\x1b[2Jset", NOW)


def test_retire_rejects_unknown_result(store: Store) -> None:
    with pytest.raises(QueueError, match="no result"):
        retire(store, "a" * 32, "why", NOW)
    with pytest.raises(QueueError, match="not retired"):
        reinstate(store, "a" * 32, NOW)


def test_unreadable_retirement_is_ignored(store: Store, make_request: Make) -> None:
    best = evaluated(make_request(model_id="o/best", benchmark="ko-vqa"), 99.0)
    store.commit({f"retired/{best.request_key[:2]}/{best.request_key}.json": b"{"}, store.head(), "broken")
    assert publish(store, best).view().boards["ko-vqa"][0].rank == 1
