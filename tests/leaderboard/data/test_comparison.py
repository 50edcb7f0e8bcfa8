"""Test the intervals of differences and the verdicts of model comparisons."""

import random
from dataclasses import replace

import pytest

from evaluator.statistics.intervals import Interval, difference_interval, wilson
from leaderboard.data.comparison import compare
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.ranking import ranked
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.records.index_rows import board_row
from submissions.store.base import Store


def test_difference_interval_matches_newcombe_example() -> None:
    """Newcombe 1998, table II, row (a), method 10, gives 0.0524 to 0.3339 for 56/70 against 48/80."""
    low, high = difference_interval(
        (80.0, 60.0), *(Interval(*(100 * b for b in wilson(*s))) for s in ((0.8, 70), (0.6, 80)))
    )
    assert low == pytest.approx(5.24, abs=0.01) and high == pytest.approx(33.39, abs=0.01)


@pytest.mark.parametrize(("a", "b", "n"), [(0.5, 0.5, 200), (0.9, 0.8, 200), (0.97, 0.95, 1500), (0.3, 0.25, 100)])
def test_difference_interval_covers_true_difference(a: float, b: float, n: int) -> None:
    rng = random.Random(4)

    def sampled(truth: float) -> tuple[float, Interval]:
        """Return a share and its Wilson interval, in percent, of `n` draws with probability `truth`."""
        share = sum(rng.random() < truth for _ in range(n)) / n
        low, high = wilson(share, n)
        return 100 * share, Interval(100 * low, 100 * high)

    covered = 0
    for _ in range(1000):
        first, first_interval = sampled(a)
        second, second_interval = sampled(b)
        low, high = difference_interval((first, second), first_interval, second_interval)
        covered += low <= 100 * (a - b) <= high
    assert 930 <= covered <= 985


def breakdown_of(**scores: float) -> dict[str, dict[str, dict[str, object]]]:
    """Return a breakdown by domain with these scores."""
    return {"domain": {name: {"n": 100, "scores": {"em_strict": score}} for name, score in scores.items()}}


@pytest.fixture
def board(store: Store, make_request: Make) -> LiveBoard:
    results = [
        evaluated(make_request(model_id="o/high", benchmark="ko-vqa"), 80.0, breakdown=breakdown_of(a=95, b=20, c=50)),
        evaluated(make_request(model_id="o/near", benchmark="ko-vqa"), 79.0, breakdown=breakdown_of(a=90, b=25, c=50)),
        evaluated(make_request(model_id="o/far", benchmark="ko-vqa"), 40.0, breakdown=breakdown_of(a=20, b=60, c=45)),
        evaluated(make_request(model_id="o/high", benchmark="ko-vdc"), 40.0),
        evaluated(make_request(model_id="o/unlike", benchmark="ko-vqa"), 50.0,
                  dataset={"id": "x", "revision": None, "split": "sample", "n": 45}),
    ]  # fmt: skip
    store.commit({r.path: r.to_bytes() for r in results}, store.head(), "results")
    return LiveBoard(store)


def test_compare_verdicts_follow_intervals(board: LiveBoard) -> None:
    (vqa,) = compare(board.view().boards, ["o/far", "o/near", "o/high", "o/unlike"])
    assert [r.row.model for r in vqa.rows] == ["o/high", "o/near", "o/far"]
    assert vqa.missing == ["o/unlike"], "a result on another split is not compared"
    near, far = vqa.differences
    assert (near.verdict, round(near.difference, 6)) == ("same", 1.0)
    assert far.verdict == "ahead" and far.interval is not None and far.interval.low > 30
    assert (far.ahead, far.behind) == (["a"], ["b"]) and not near.ahead and not near.behind
    assert [part.bucket for part in vqa.parts] == ["a", "b", "c"] and all(len(part.each) == 3 for part in vqa.parts)


def test_compare_widens_intervals_for_more_models(board: LiveBoard) -> None:
    (two,) = compare(board.view().boards, ["o/high", "o/near"])
    (three,) = compare(board.view().boards, ["o/high", "o/near", "o/far"])
    first = two.differences[0].interval
    second = three.differences[0].interval
    assert first and second and second.low < first.low < first.high < second.high


def test_measured_leader_may_be_behind_a_reported_score(store: Store, make_request: Make) -> None:
    measured, reported = (
        evaluated(make_request(model_id=f"o/{name}", benchmark="ko-vqa"), em) for name, em in (("m", 40.0), ("r", 80.0))
    )
    rows = [board_row(measured, "m", "m"), replace(board_row(reported, "r", "r"), kind="reported")]
    (vqa,) = compare({"ko-vqa": ranked(rows)}, ["o/m", "o/r"])
    (difference,) = vqa.differences
    assert difference.leader.row.model == "o/m" and difference.verdict == "behind"
    assert difference.interval and difference.interval.high < 0


def test_compare_is_unknown_without_item_count(board: LiveBoard) -> None:
    (info,) = compare(board.view().boards, ["GPT-4o", "deepseek-community/Janus-Pro-7B"])
    assert info.benchmark == "infochartqa"
    assert (info.differences[0].verdict, info.differences[0].interval) == ("unknown", None)
    assert not info.differences[0].ahead


@pytest.mark.parametrize("models", [[], ["o/high"], ["no/such", "o/high"], ["Human", "o/high"]])
def test_compare_is_empty_without_two_comparable_models(board: LiveBoard, models: list[str]) -> None:
    assert compare(board.view().boards, models) == []


def test_compare_prefers_paired_test_over_intervals(store: Store, make_request: Make) -> None:
    first = evaluated(make_request(model_id="o/first", benchmark="ko-vqa"), 80.0)
    pair = {"other": first.request_key, "interval": (-1, 0), "p_at_most": 0.05}
    second = evaluated(make_request(model_id="o/second", benchmark="ko-vqa"), 79.53, paired=[pair])
    third = evaluated(make_request(model_id="o/third", benchmark="ko-vqa"), 79.0)
    store.commit({r.path: r.to_bytes() for r in (first, second, third)}, store.head(), "results")
    board = LiveBoard(store)
    ((two,),) = (c.differences for c in compare(board.view().boards, ["o/first", "o/second"], board.pairs))
    assert two.paired and (two.paired.interval, two.paired.sign) == ((0, 1), 1), (
        "the interval is from the leader's side"
    )
    assert two.verdict == "ahead" and two.interval and two.interval.low == pytest.approx(0)
    ((again, unpaired),) = (
        c.differences for c in compare(board.view().boards, ["o/first", "o/second", "o/third"], board.pairs)
    )
    assert again.verdict == "same", "two comparisons need smaller p-values than one"
    assert unpaired.paired is None and unpaired.interval is not None
