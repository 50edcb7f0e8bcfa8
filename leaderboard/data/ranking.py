"""The ranking: rows by headline score, with the ranks that their intervals allow."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

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
    scored = [(metric_of(row, card.headline), row) for row in rows]
    scored.sort(key=lambda pair: (pair[0] is None, -(pair[0] or 0.0), pair[1].model.casefold()))
    # Where no interval is known, the bare score stands for it.
    entered = {
        row.key: (score, *(interval_of(row) or (score, score)))
        for score, row in scored
        if score is not None and row.role == "model" and row.split == card.split and decoded_alike(row)
    }
    losses = [-score for score, _, _ in entered.values()]  # ascending, as bisect needs them
    lows, highs = sorted(low for _, low, _ in entered.values()), sorted(high for _, _, high in entered.values())

    def standing(row: BoardRow) -> RankedRow:
        if row.key not in entered:
            return RankedRow(None, row)
        score, low, high = entered[row.key]
        rank = bisect_left(losses, -score) + 1
        if low == high:
            return RankedRow(rank, row)
        return RankedRow(rank, row, len(lows) - bisect_right(lows, high) + 1, len(highs) - bisect_left(highs, low))

    return [standing(row) for _, row in scored]


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
