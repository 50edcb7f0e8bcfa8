"""Rank rows by headline score, with the range of ranks that is compatible with their intervals.

What was measured here comes before what makers report, in every order and for every model.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt
from statistics import NormalDist

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.significance import paired_verdicts
from submissions.records.errata import version_with, version_without
from submissions.records.index_rows import BoardRow
from submissions.records.options import ResultKind

FAMILY_ERROR = 0.05  # chance that intervals tell any two of a board's equal rows apart


@dataclass(frozen=True, slots=True)
class Tie:
    """Neighbouring rows that cannot be told apart from the first of them."""

    first: int  # rank of the first of these rows
    last: int  # rank of the last one
    rows: int


def rank_text(rank: int | None, kind: ResultKind) -> str:
    """Return a rank as it is shown: among reported results it is in brackets."""
    if rank is None:
        return "–"
    return f"({rank})" if kind == "reported" else str(rank)


@dataclass(frozen=True, slots=True)
class RankedRow:
    """A row and its rank among rows of the same kind: measured here, or reported by others.

    The prompt and decoding of reported rows are unknown. `best` to `worst` is the range of ranks that the data allow: `best`
    counts only rows that are significantly ahead, `worst` all rows except those significantly behind. These and `tie` are
    None if the row has no interval.
    """

    rank: int | None  # None: a reference, another split or version, or no score
    row: BoardRow
    best: int | None = None
    worst: int | None = None
    tie: Tie | None = None  # of one row if the next is significantly behind

    @property
    def rank_text(self) -> str:
        """The rank as it is shown: that of a reported row is in brackets."""
        return rank_text(self.rank, self.row.kind)

    @property
    def is_tied(self) -> bool:
        return self.tie is not None and self.tie.rows > 1


Boards = dict[str, list[RankedRow]]  # by benchmark, best first


@dataclass(frozen=True, slots=True)
class _Entry:
    row: BoardRow
    score: float
    interval: tuple[float, float] | None


def ranked(rows: list[BoardRow], benchmark: str) -> list[RankedRow]:
    """Return rows sorted by headline score, best first: measured rows, then reported ones, then sample runs, rows without
    a score and retired rows.

    Only models on the benchmark's ranked split, with its current version and standard decoding, get a rank. Ties share a
    rank. Reported rows are ranked separately from measured ones.
    """
    scored = [(row.score, row) for row in rows]
    scored.sort(
        key=lambda pair: (
            pair[1].retired is not None,
            pair[0] is None,
            pair[1].is_sample,
            pair[1].kind == "reported",
            -(pair[0] or 0.0),
            pair[1].model.casefold(),
        )
    )
    found: dict[str, RankedRow] = {}
    for kind in {row.kind for row in rows}:
        entries = [
            _Entry(row, score, row.interval)
            for score, row in scored
            if score is not None and row.kind == kind and _may_have_rank(row)
        ]
        losses = [-entry.score for entry in entries]  # ascending, as bisect requires
        ranks = [bisect_left(losses, -entry.score) + 1 for entry in entries]
        ranges = _rank_ranges(entries, losses)
        bests = [ranges[entry.row.key][0] if entry.row.key in ranges else None for entry in entries]
        for entry, rank, tie in zip(entries, ranks, _ties(ranks, bests), strict=True):
            best, worst = ranges.get(entry.row.key, (None, None))
            found[entry.row.key] = RankedRow(rank, entry.row, best, worst, tie)
    return [found.get(row.key) or RankedRow(None, row) for _, row in scored]


def _ties(ranks: Sequence[int], bests: Sequence[int | None]) -> list[Tie | None]:
    """Return the tie that each row belongs to, from the ranks and the best possible ranks of rows sorted best first.

    A tie ends before the first row that is significantly behind its first one. Rows without an interval have no tie.
    """
    found: list[Tie | None] = []
    start = 0
    while start < len(ranks):
        end = start + 1
        if bests[start] is None:
            found.append(None)
        else:
            while end < len(ranks) and (best := bests[end]) is not None and best <= ranks[start]:
                end += 1
            found += [Tie(ranks[start], ranks[end - 1], end - start)] * (end - start)
        start = end
    return found


def standing_row(rows: Iterable[RankedRow]) -> RankedRow:
    """Return the row that stands for a model on a benchmark, from its rows in the order of the board.

    A measured row comes before a reported one, even if a new version of the benchmark has taken its rank.
    """
    return min(rows, key=lambda r: (not _is_measured(r.row), r.rank is None))


def standing_rows(rows: Iterable[RankedRow]) -> list[RankedRow]:
    """Return the rows without what makers report of models that were measured."""
    given = list(rows)
    measured = {r.row.model for r in given if _is_measured(r.row)}
    return [r for r in given if r.row.kind == "verified" or r.row.model not in measured]


def _is_measured(row: BoardRow) -> bool:
    return (
        row.kind == "verified"
        and row.split == BENCHMARKS[row.benchmark].card.split
        and row.score is not None
        and row.retired is None
    )


def is_outdated(row: BoardRow) -> bool:
    """Return whether a row was measured with another version of its benchmark than the current one.

    The version counts the errata of its test set.
    """
    if row.kind != "verified":
        return False
    current = BENCHMARKS[row.benchmark].version
    if row.errata:
        return row.benchmark_version != version_with(current, row.errata)
    return version_without(row.benchmark_version) != current


def _may_have_rank(row: BoardRow) -> bool:
    benchmark = BENCHMARKS[row.benchmark]
    return (
        row.role == "model"
        and row.split == benchmark.card.split
        and row.retired is None
        and not is_outdated(row)
        and benchmark.ranks_decoding(row.decoding, row.max_answer_tokens, row.max_reasoning_tokens)
    )


def _rank_ranges(entries: Sequence[_Entry], losses: Sequence[float]) -> dict[str, tuple[int, int]]:
    """Return the best and worst rank of each entry with an interval, by key. `entries` are sorted best first."""
    measured = [entry for entry in entries if entry.interval]
    stretch = _stretch(len(measured))
    known = {entry.row.key: (entry.score, *_stretched(entry, stretch)) for entry in measured}
    corrections = _corrections([entry.row for entry in entries], known)
    lows = sorted(low for _, low, _ in known.values())
    highs = sorted(high for _, _, high in known.values())
    ranges = []
    for key, (score, low, high) in known.items():
        ahead, behind = corrections.get(key, (0, 0))
        rank = bisect_left(losses, -score) + 1
        best = len(lows) - bisect_right(lows, high) + 1 + ahead
        worst = len(entries) - bisect_left(highs, low) - behind
        ranges.append((min(best, rank), max(worst, rank)))
    # Widen the ranges so that both ends increase with the rank, even if wide intervals follow narrow ones.
    bests = reversed(list(accumulate((best for best, _ in reversed(ranges)), min)))
    worsts = accumulate((worst for _, worst in ranges), max)
    return dict(zip(known, zip(bests, worsts, strict=True), strict=True))


def _stretch(rows: int) -> float:
    """Return how much wider intervals must be so that with 95 % chance no two of so many equal rows are told apart.

    Two independent intervals of 95 % do not overlap if the scores differ by 2.77 standard errors of a difference. With
    Bonferroni's correction for all pairs of the board, more is needed from 6 rows on.
    """
    pairs = rows * (rows - 1) / 2
    if pairs < 1:
        return 1.0
    needed = NormalDist().inv_cdf(1 - FAMILY_ERROR / (2 * pairs))
    return max(1.0, needed / (sqrt(2) * NormalDist().inv_cdf(0.975)))


def _stretched(entry: _Entry, stretch: float) -> tuple[float, float]:
    """Return an entry's interval with both arms stretched."""
    low, high = entry.interval or (entry.score, entry.score)
    return entry.score - stretch * (entry.score - low), entry.score + stretch * (high - entry.score)


def _corrections(
    rows: Sequence[BoardRow], entries: Mapping[str, tuple[float, float, float]]
) -> dict[str, tuple[int, int]]:
    """Return by key how many more rows are significantly ahead and behind under paired tests than under intervals.

    If a pair was tested, the test decides instead of the intervals.
    """
    verdicts = paired_verdicts(rows, entries)
    found: dict[str, tuple[int, int]] = {}
    for key, other in verdicts.tested:
        _, low, high = entries[key]
        _, other_low, other_high = entries[other]
        ahead, behind = found.get(key, (0, 0))
        found[key] = (
            ahead + ((other, key) in verdicts.ahead) - (other_low > high),
            behind + ((key, other) in verdicts.ahead) - (other_high < low),
        )
    return found
