"""The ranking: rows by headline score, with the ranks that their intervals allow."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import partial

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.breakdown import parse_metrics
from submissions.records import MAX_REASONING_TOKENS
from submissions.rows import BoardRow

STANDARD_METRICS = ("em", "f1", "em_strict")


@dataclass(frozen=True, slots=True)
class RankedRow:
    rank: int | None  # None: a reference, another split, or no score
    row: BoardRow
    best: int | None = None  # the ranks its interval allows: ahead of it only who is surely ahead,
    worst: int | None = None  # behind it only who is surely behind


Boards = dict[str, list[RankedRow]]  # by benchmark, best first


def ranked(rows: list[BoardRow], benchmark: str) -> list[RankedRow]:
    """Rows by headline score, best first. Models measured on the benchmark's own split, and decoded like all others,
    have ranks; ties share one."""
    card = BENCHMARKS[benchmark].card
    score = partial(metric_of, metric=card.headline)
    ordered = sorted(rows, key=lambda r: (score(r) is None, -(score(r) or 0.0), r.model.casefold()))
    entered = [
        r for r in ordered if r.role == "model" and r.split == card.split and score(r) is not None and decoded_alike(r)
    ]
    # Where no interval is known, the bare score stands for it.
    intervals = {r.key: interval_of(r) or (score_of(r) or 0.0, score_of(r) or 0.0) for r in entered}
    losses = [-(score_of(r) or 0.0) for r in entered]  # ascending, as bisect needs them
    lows, highs = (sorted(bounds) for bounds in zip(*intervals.values(), strict=True)) if intervals else ([], [])

    def standing(row: BoardRow) -> RankedRow:
        if row.key not in intervals:
            return RankedRow(None, row)
        rank = bisect_left(losses, -(score_of(row) or 0.0)) + 1
        low, high = intervals[row.key]
        if low == high:
            return RankedRow(rank, row)
        return RankedRow(rank, row, len(lows) - bisect_right(lows, high) + 1, len(highs) - bisect_left(highs, low))

    return [standing(row) for row in ordered]


def decoded_alike(row: BoardRow) -> bool:
    """Whether answers were decoded as the benchmark has it, to the same budgets, so that they may share a rank.

    Of reported results only the makers know.
    """
    greedy = row.decoding != "repository"
    answer = row.max_answer_tokens in (None, BENCHMARKS[row.benchmark].max_new_tokens)
    return greedy and answer and row.max_reasoning_tokens in (None, MAX_REASONING_TOKENS)


def metric_of(row: BoardRow, metric: str) -> float | None:
    """A metric of a row in percent, one of its benchmark's own included; None where it is not known."""
    if metric in STANDARD_METRICS:
        value: float | None = getattr(row, metric)
        return value
    return parse_metrics(row.metrics).get(metric)


def score_of(row: BoardRow) -> float | None:
    """The headline score of the row's benchmark, in percent."""
    return metric_of(row, BENCHMARKS[row.benchmark].card.headline)


def interval_of(row: BoardRow) -> tuple[float, float] | None:
    """The 95% interval of the headline score, in percent; None where it is not known."""
    headline = BENCHMARKS[row.benchmark].card.headline
    low, high = {"em": (row.em_low, row.em_high), "f1": (row.f1_low, row.f1_high)}.get(headline, (None, None))
    return None if low is None or high is None else (low, high)
