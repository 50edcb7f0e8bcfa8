"""Test which rows are ranked together, rank ranges and changes, paired tests, and the difference to a base model."""

import itertools
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evaluator.statistics.holm import holm
from leaderboard.data.comparison import base_difference
from leaderboard.data.rank_changes import rank_changes
from leaderboard.data.ranking import RankedRow, Tie, is_outdated, ranked
from leaderboard.data.significance import paired_verdicts
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.records.index_rows import BoardRow, board_row
from submissions.records.request import EvalRequest
from submissions.records.result import Generation

STANDARD = Generation(max_answer_tokens=1024)


def row(request: EvalRequest, em: float, generation: Generation | None = STANDARD, **config: Any) -> BoardRow:
    result = evaluated(request, em)
    result = result.evolve(config=result.config.evolve(**config), generation=generation)
    return board_row(result, f"{request.key}.json", request.key)


@pytest.mark.parametrize(
    ("generation", "has_rank"),
    [
        (None, True),  # a reported row: its settings are unknown
        (STANDARD, True),
        (STANDARD.evolve(max_reasoning_tokens=8192), True),
        (STANDARD.evolve(decoding="provider"), True),
        (STANDARD.evolve(max_reasoning_tokens=1024), False),
        (STANDARD.evolve(max_answer_tokens=2048), False),
        (STANDARD.evolve(decoding="repository"), False),
    ],
)
def test_ranked_excludes_other_generation_settings(
    make_request: Make, generation: Generation | None, has_rank: bool
) -> None:
    first, other = (make_request(benchmark="ko-vqa") for _ in range(2))
    found = {r.row.key: r.rank for r in ranked([row(first, 50.0), row(other, 60.0, generation)])}
    assert found == {first.key: 2 if has_rank else 1, other.key: 1 if has_rank else None}


def test_base_difference_uses_base_in_same_mode(make_request: Make) -> None:
    base, adapter, thinking = (make_request(benchmark="ko-vqa") for _ in range(3))
    rows = ranked(
        [
            row(base, 50.0, model_name="owner/base"),
            row(thinking, 70.0, model_name="owner/base", thinking="on"),
            row(adapter, 55.0, model_name="owner/adapter", base_model="owner/base"),
        ]
    )
    adapted = next(r for r in rows if r.row.model == "owner/adapter")
    found = base_difference(adapted, rows)
    assert found and found.difference == pytest.approx(5.0)
    assert found.interval and found.interval.low < 5.0 < found.interval.high
    alone = RankedRow(1, adapted.row)
    assert base_difference(alone, [alone]) is None


def test_rank_changes_match_ranking_of_older_rows(make_request: Make) -> None:
    rng = random.Random(5)
    since = datetime.now(UTC) - timedelta(days=10)
    results = [
        evaluated(
            make_request(model_id=f"o/m{rng.randrange(30)}", benchmark="ko-vqa"), float(rng.randrange(10, 40)), age
        )
        for age in (rng.uniform(0, 20) for _ in range(60))
    ]
    rows = [board_row(result, result.path, result.request_key) for result in results]

    def best_ranks(rows: list[BoardRow]) -> dict[str, int]:
        ranks: dict[str, int] = {}
        for r in ranked(rows):
            if r.rank:
                ranks.setdefault(r.row.model, r.rank)
        return ranks

    before = best_ranks([r for r in rows if (r.date or 0) < since.timestamp()])
    after = best_ranks(rows)
    changes = rank_changes({"ko-vqa": ranked(rows)}, since)
    assert {(c.model, c.before, c.after) for c in changes} == {
        (model, before.get(model), rank) for model, rank in after.items() if rank != before.get(model)
    }
    assert {c.before is None for c in changes} == {True, False}


def without_interval(row: BoardRow) -> BoardRow:
    return replace(row, kind="reported", intervals={})


def test_ties_end_before_first_row_that_is_significantly_behind(make_request: Make) -> None:
    rows = [row(make_request(benchmark="ko-vdc"), em) for em in (60.0, 58.0, 55.0, 30.0, 28.0, 2.0)]
    board = ranked(rows)
    assert [r.tie for r in board] == [Tie(1, 3, 3)] * 3 + [Tie(4, 5, 2)] * 2 + [Tie(6, 6, 1)]
    assert [r.is_tied for r in board] == [True] * 5 + [False]


def test_rows_with_one_score_are_tied(make_request: Make) -> None:
    board = ranked([row(make_request(benchmark="ko-vdc"), em) for em in (60.0, 60.0, 2.0)])
    assert [(r.rank, r.is_tied) for r in board] == [(1, True), (1, True), (3, False)]


def test_rows_without_interval_have_no_tie(make_request: Make) -> None:
    rows = [without_interval(row(make_request(benchmark="ko-vdc"), em)) for em in (60.0, 59.0)]
    assert [r.tie for r in ranked(rows)] == [None, None]


def test_rank_range_is_unknown_without_an_interval(make_request: Make) -> None:
    """No row is significantly better or worse than a row without an interval."""
    known = replace(row(make_request(benchmark="ko-vdc"), 90.0), kind="reported")
    unknown = [without_interval(row(make_request(benchmark="ko-vdc"), 10.0 + n)) for n in range(20)]
    first, *others = ranked([known, *unknown])
    assert (first.rank, first.best, first.worst) == (1, 1, 21)
    assert all((r.best, r.worst) == (None, None) for r in others)


def test_reported_rows_are_ranked_apart(make_request: Make) -> None:
    measured = [row(make_request(benchmark="ko-vdc"), em) for em in (60.0, 20.0)]
    reported = [replace(row(make_request(benchmark="ko-vdc"), em), kind="reported") for em in (90.0, 40.0)]
    board = ranked([*measured, *reported])
    assert [(r.row.kind, r.rank, r.best, r.worst) for r in board] == [
        ("verified", 1, 1, 1),
        ("verified", 2, 2, 2),
        ("reported", 1, 1, 1),
        ("reported", 2, 2, 2),
    ]


def test_ranked_excludes_other_benchmark_versions(make_request: Make) -> None:
    old = replace(row(make_request(benchmark="ko-vdc"), 90.0), benchmark_version="1")
    new = row(make_request(benchmark="ko-vdc"), 50.0)
    assert [(r.row.key, r.rank) for r in ranked([old, new])] == [(old.key, None), (new.key, 1)]
    assert is_outdated(old) and not is_outdated(new)


def test_rank_ranges_are_monotone(make_request: Make) -> None:
    rng = random.Random(5)
    rows = []
    for _ in range(60):
        score = rng.uniform(20, 80)
        half = rng.uniform(0.5, 15)
        made = row(make_request(benchmark="ko-vdc"), score)
        rows.append(replace(made, intervals={"em_strict": (score - half, score + half)}))
    board = ranked(rows)
    ranges = [(r.best or 0, r.worst or 0) for r in board]
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in itertools.pairwise(ranges))
    assert all((r.best or 0) <= (r.rank or 0) <= (r.worst or 0) for r in board)


@pytest.mark.parametrize("narrow_first", [True, False])
def test_equal_scores_have_the_same_range_of_ranks(narrow_first: bool, make_request: Make) -> None:
    """Whatever the order of their names."""

    def made(name: str, score: float, half: float) -> BoardRow:
        request = make_request(benchmark="ko-vdc", model_id=f"o/{name}")
        return replace(row(request, score), intervals={"em_strict": (score - half, score + half)})

    names = ("a", "b") if narrow_first else ("b", "a")
    board = ranked([made(names[0], 50.0, 1.0), made(names[1], 50.0, 20.0), made("c", 40.0, 1.0), made("d", 35.0, 1.0)])
    assert [(r.rank, r.best, r.worst) for r in board[:2]] == [(1, 1, 4)] * 2


def test_page_dump_does_not_rank_first(make_request: Make) -> None:
    """Measured KO-VQA rows are ranked by the strict scoring rule, reported rows by the published rule."""
    honest = row(make_request(benchmark="ko-vqa"), 60.0)
    dump = row(make_request(benchmark="ko-vqa"), 0.0)
    dump = replace(dump, metrics={**dump.metrics, "em": 100.0}, intervals={**dump.intervals, "em": (99.0, 100.0)})
    reported = replace(row(make_request(benchmark="ko-vqa"), 50.0), kind="reported", headline="em")
    board = ranked([dump, honest, reported])
    assert [(r.row.key, r.rank) for r in board] == [(honest.key, 1), (dump.key, 2), (reported.key, 1)]
    assert [(r.best, r.worst) for r in board] == [(1, 1), (2, 2), (1, 1)]


def test_holm_stops_at_first_failed_step() -> None:
    """The procedure rejects at 0.01 ≤ 0.05/4 and 0.012 ≤ 0.05/3, and stops at 0.03 > 0.05/2, although 0.04 ≤ 0.05."""
    assert holm([0.04, 0.01, 0.03, 0.012]) == [False, True, False, True]
    assert holm([]) == [] and holm([0.05]) == [True] and holm([0.051]) == [False]


@pytest.fixture
def rows(make_request: Make) -> list[BoardRow]:
    """Return four rows, of which the first three have overlapping intervals."""
    made = []
    for model, em in (("o/a", 62.0), ("o/b", 60.0), ("o/c", 59.9), ("o/d", 20.0)):
        result = evaluated(make_request(model_id=model, benchmark="ko-vqa"), em)
        made.append(board_row(result, model, result.request_key))
    return made


def paired(row: BoardRow, *pairs: tuple[BoardRow, int, float]) -> BoardRow:
    return replace(row, paired=tuple((other.key, points, p) for other, points, p in pairs))


def rank_ranges(rows: list[BoardRow]) -> dict[str, tuple[int | None, int | None]]:
    return {r.row.model: (r.best, r.worst) for r in ranked(rows)}


def test_ranks_follow_paired_tests(rows: list[BoardRow]) -> None:
    a, b, c, d = rows
    assert rank_ranges(rows) == {"o/a": (1, 3), "o/b": (1, 3), "o/c": (1, 3), "o/d": (4, 4)}
    tested = [a, paired(b, (a, -1, 1e-5)), paired(c, (a, -1, 1e-4), (b, -1, 0.9)), d]
    assert rank_ranges(tested) == {"o/a": (1, 1), "o/b": (2, 3), "o/c": (2, 3), "o/d": (4, 4)}


def test_paired_test_overrides_intervals(rows: list[BoardRow]) -> None:
    a, b, c, d = rows
    assert rank_ranges([a, b, c, paired(d, (c, -1, 0.2))])["o/d"] == (3, 4)


def test_paired_verdicts_correct_for_multiple_tests(rows: list[BoardRow]) -> None:
    """p = 0.02 is significant as a single test, but not among three tests."""
    a, b, c, d = rows
    keys = {row.key for row in rows}
    assert paired_verdicts([paired(b, (a, -1, 0.02))], keys).ahead == {(a.key, b.key)}
    assert not paired_verdicts([paired(b, (a, -1, 0.02), (c, 1, 0.8), (d, 1, 0.7))], keys).ahead


def test_paired_verdicts_ignore_missing_results(rows: list[BoardRow]) -> None:
    a, b, *_ = rows
    assert not paired_verdicts([paired(b, (a, -1, 1e-9))], {b.key}).tested
