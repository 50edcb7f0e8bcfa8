"""Test the degradation ladder on the board: the chart's data, and the column of the first step that costs much."""

import json
from dataclasses import replace

import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.ko_fresh import VERSIONS
from leaderboard.data.breakdown import first_big_loss, ladder_of
from leaderboard.data.chart_data import chart_data, charts_of
from leaderboard.data.columns import columns_of
from leaderboard.data.ranking import RankedRow
from leaderboard.views.figures import figure_json
from scripts.support.records import Make, result_of
from submissions.records.index_rows import board_row
from submissions.records.result import Bucket


def row(make_request: Make, losses: dict[str, float]) -> RankedRow:
    """Return a row of ko-fresh that scores 60 on clean pictures and loses some points on others."""
    scores = {"clean": 60.0} | {step: 60.0 - lost for step, lost in losses.items()}
    result = result_of(make_request(benchmark="ko-fresh"))
    metrics = {**result.results["ko-fresh"], **{f"loss_{step}": lost for step, lost in losses.items()}}
    changed = result.evolve(
        results={"ko-fresh": metrics},
        intervals={f"loss_{step}": (lost - 4, lost + 4) for step, lost in losses.items()},
        breakdown={"version": {step: Bucket(n=100, scores={"em": score}) for step, score in scores.items()}},
    )
    return RankedRow(1, board_row(changed, "p", "b"))


@pytest.mark.parametrize(
    ("losses", "first"),
    [
        ({"scan": 1.0, "photo": 12.0, "fax": 30.0, "72dpi": 2.0, "jpeg": 4.0}, "photo"),
        ({"scan": 10.0, "photo": 2.0, "fax": 10.1}, "fax"),
        ({"scan": -3.0, "fax": 9.9}, ""),
        ({}, None),
    ],
)
def test_first_big_loss_follows_order_of_ladder(
    make_request: Make, losses: dict[str, float], first: str | None
) -> None:
    assert first_big_loss(row(make_request, losses).row) == first


def test_chart_of_ladder_has_paired_losses_with_intervals(make_request: Make) -> None:
    ranked = row(make_request, {"fax": 30.0, "scan": 1.0})
    assert list(ladder_of(ranked.row)) == ["clean", "scan", "fax"], "in the order of the ladder"
    data = chart_data("ladder", [ranked])
    assert [(point["step"], point["score"], point["lost"]) for point in data] == [
        ("clean", 60.0, None),
        ("scan", 59.0, 1.0),
        ("fax", 30.0, 30.0),
    ]
    assert (data[2]["low"], data[2]["high"]) == (26.0, 34.0)
    drawn = figure_json("ladder", data, BENCHMARKS["ko-fresh"], "en").decode()
    assert VERSIONS["fax"].en in drawn and "26.0" in drawn


def test_chart_of_ladder_compares_ranked_rows_only(make_request: Make) -> None:
    """An outdated row has no rank, and takes none from others."""
    first = row(make_request, {"fax": 30.0, "scan": 1.0})
    outdated = replace(row(make_request, {"fax": 0.0, "scan": 0.0}), rank=None)
    data = chart_data("ladder", [first, outdated])
    assert [(point["rank"], point["degraded_rank"]) for point in data] == [(1, 1)] * 3


def test_chart_of_ladder_without_intervals_shows_scores(make_request: Make) -> None:
    ranked = row(make_request, {"fax": 30.0})
    without = RankedRow(1, replace(ranked.row, intervals={}))
    data = chart_data("ladder", [without])
    assert [point["lost"] for point in data] == [None, None]
    assert b"30" in figure_json("ladder", data, BENCHMARKS["ko-fresh"], "ko")


def test_only_benchmarks_with_a_ladder_show_it(make_request: Make) -> None:
    ranked = row(make_request, {"scan": 1.0, "fax": 30.0})
    assert "ladder" in [column.key for column in columns_of("ko-fresh", [ranked], None)]
    for name, benchmark in BENCHMARKS.items():
        assert ("ladder" in charts_of(name)) == (benchmark.card.ladder is not None)
        assert "ladder" not in [column.key for column in columns_of(name, [], None)] or benchmark.card.ladder


def test_chart_of_ladder_ranks_clean_and_degraded_pictures(make_request: Make) -> None:
    first = row(make_request, {"fax": 30.0, "scan": 30.0})
    second = row(make_request, {"fax": 1.0, "scan": 1.0})
    second = replace(second, row=replace(second.row, model="o/second"))
    data = chart_data("ladder", [first, second])
    assert [
        (point["step"], point["rank"], point["degraded_rank"]) for point in data if point["model"] == "o/second"
    ] == [
        ("clean", 1, 1),
        ("scan", 1, 1),
        ("fax", 1, 1),
    ]
    assert {point["degraded_rank"] for point in data if point["model"] != "o/second"} == {2}
    assert "second (1 → 1)" in json.loads(figure_json("ladder", data, BENCHMARKS["ko-fresh"], "en"))["data"][1]["name"]
