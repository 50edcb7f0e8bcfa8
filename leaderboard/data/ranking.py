"""The ranking: rows by headline score, with the ranks that their intervals allow."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.significance import paired_verdicts
from submissions.records import MAX_REASONING_TOKENS
from submissions.rows import BoardRow


@dataclass(frozen=True, slots=True)
class RankedRow:
    rank: int | None  # None: a reference, another split, or no score
    row: BoardRow
    best: int | None = None  # the ranks it may have: ahead of it only who is surely ahead,
    worst: int | None = None  # behind it only who is surely behind


Boards = dict[str, list[RankedRow]]  # by benchmark, best first


def ranked(rows: list[BoardRow], benchmark: str) -> list[RankedRow]:
    """Rows by headline score, best first. Models measured on the benchmark's own split, and decoded like all others,
    have ranks; ties share one. Retired results stand last."""
    card = BENCHMARKS[benchmark].card
    scored = [(row.metric(card.headline), row) for row in rows]
    scored.sort(
        key=lambda pair: (pair[1].retired is not None, pair[0] is None, -(pair[0] or 0.0), pair[1].model.casefold())
    )
    # Where no interval is known, the bare score stands for it.
    entered = {
        row.key: (score, *(interval_of(row) or (score, score)))
        for score, row in scored
        if score is not None
        and row.role == "model"
        and row.split == card.split
        and row.retired is None
        and decoded_alike(row)
    }
    losses = [-score for score, _, _ in entered.values()]  # ascending, as bisect needs them
    lows, highs = sorted(low for _, low, _ in entered.values()), sorted(high for _, _, high in entered.values())
    corrections = _corrections([row for _, row in scored], entered)

    def standing(row: BoardRow) -> RankedRow:
        if row.key not in entered:
            return RankedRow(None, row)
        score, low, high = entered[row.key]
        rank = bisect_left(losses, -score) + 1
        if low == high:
            return RankedRow(rank, row)
        ahead, behind = corrections.get(row.key, (0, 0))
        best, worst = len(lows) - bisect_right(lows, high) + 1 + ahead, len(highs) - bisect_left(highs, low) - behind
        return RankedRow(rank, row, min(best, rank), max(worst, rank))

    return [standing(row) for _, row in scored]


def _corrections(
    rows: Sequence[BoardRow], entered: Mapping[str, tuple[float, float, float]]
) -> dict[str, tuple[int, int]]:
    """How many more, by key, are surely ahead and surely behind by paired tests than by their intervals: where a pair was
    tested, the test decides."""
    verdicts = paired_verdicts(rows, entered)
    found: dict[str, tuple[int, int]] = {}
    for key, other in verdicts.tested:
        (_, low, high), (_, other_low, other_high) = entered[key], entered[other]
        ahead, behind = found.get(key, (0, 0))
        found[key] = (
            ahead + ((other, key) in verdicts.ahead) - (other_low > high),
            behind + ((key, other) in verdicts.ahead) - (other_high < low),
        )
    return found


def decoded_alike(row: BoardRow) -> bool:
    """Whether answers were decoded as the benchmark has it, to the same budgets, so that they may share a rank.

    Of reported results only the makers know.
    """
    greedy = row.decoding != "repository"
    answer = row.max_answer_tokens in (None, BENCHMARKS[row.benchmark].max_new_tokens)
    return greedy and answer and row.max_reasoning_tokens in (None, MAX_REASONING_TOKENS)


def score_of(row: BoardRow) -> float | None:
    """The headline score of the row's benchmark, in percent."""
    return row.metric(BENCHMARKS[row.benchmark].card.headline)


def interval_of(row: BoardRow) -> tuple[float, float] | None:
    """The 95% interval of the headline score, in percent; None where it is not known."""
    headline = BENCHMARKS[row.benchmark].card.headline
    low, high = {"em": (row.em_low, row.em_high), "f1": (row.f1_low, row.f1_high)}.get(headline, (None, None))
    return None if low is None or high is None else (low, high)
