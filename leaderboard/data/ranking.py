"""Who stands where: rows by headline score, with the ranks that their intervals allow."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from operator import attrgetter

from evaluator.benchmarks import BENCHMARKS
from submissions.records import MAX_REASONING_TOKENS, BoardRow


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
    score, ends = attrgetter(card.headline), attrgetter(f"{card.headline}_low", f"{card.headline}_high")
    ordered = sorted(rows, key=lambda r: (score(r) is None, -(score(r) or 0.0), r.model.casefold()))
    entered = [
        r for r in ordered if r.role == "model" and r.split == card.split and score(r) is not None and decoded_alike(r)
    ]
    # Where no interval is known, the bare score stands for it.
    intervals = {r.key: (score(r), score(r)) if None in ends(r) else ends(r) for r in entered}
    losses = [-score(r) for r in entered]  # ascending, as bisect needs them
    lows, highs = (sorted(bounds) for bounds in zip(*intervals.values(), strict=True)) if intervals else ([], [])

    def standing(row: BoardRow) -> RankedRow:
        if row.key not in intervals:
            return RankedRow(None, row)
        rank = bisect_left(losses, -score(row)) + 1
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


def score_of(row: BoardRow) -> float | None:
    """The headline score of the row's benchmark, in percent."""
    score: float | None = getattr(row, BENCHMARKS[row.benchmark].card.headline)
    return score
