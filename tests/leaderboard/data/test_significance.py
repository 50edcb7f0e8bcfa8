"""Test Holm's procedure and the ranks that follow from paired tests."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from evaluator.statistics.holm import holm
from leaderboard.data.ranking import ranked
from leaderboard.data.significance import paired_verdicts
from submissions.records.index_rows import BoardRow, board_row
from submissions.records.request import EvalRequest
from tests.support.evaluated import evaluated

Make = Callable[..., EvalRequest]


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
    return {r.row.model: (r.best, r.worst) for r in ranked(rows, "ko-vqa")}


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
