"""Rank the rows of a benchmark by headline score, with the range of ranks that their intervals allow.

`LiveBoard` calls `ranked` with the rows of one benchmark whenever one of them has changed. Pages, charts and downloads read
the `RankedRow`s that come out. Measured ("verified") and reported rows are ranked separately, and measured ones are listed
first.

A result gets a range of ranks in three steps:
1. Its 95 % interval is widened, because a board compares many pairs of results at once (`_interval_scale`).
2. Another result counts as ahead or behind if the two widened intervals do not overlap (`_rank_ranges`).
3. If a worker has compared the two question by question, that paired test decides instead (`_paired_corrections`).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.significance import paired_verdicts
from submissions.records.errata import version_with, version_without
from submissions.records.index_rows import BoardRow
from submissions.records.options import ResultKind

# Probability that at least one pair of a board's rows counts as different by its intervals, although all rows are equally
# good. Paired tests have a probability of their own (`significance.py`).
FAMILYWISE_ERROR = 0.05


@dataclass(frozen=True, slots=True)
class Tie:
    """A group of neighbouring rows whose ranges of ranks all reach the rank of the first one."""

    first: int  # rank of the first of these rows
    last: int  # rank of the last one
    rows: int  # number of rows; 1 if the next row has no interval, or its range does not reach the rank of this one


def rank_text(rank: int | None, kind: ResultKind) -> str:
    """Return a rank as it is shown: 3 as "3" among measured results and as "(3)" among reported ones."""
    if rank is None:
        return "–"
    return f"({rank})" if kind == "reported" else str(rank)


@dataclass(frozen=True, slots=True)
class RankedRow:
    """A row and its rank among rows of the same kind: measured here, or reported by others.

    They are ranked separately because the prompt and decoding of reported rows are unknown. `best` to `worst` is the range of
    ranks that the data allow: `best` counts only rows that are significantly ahead, `worst` all rows except those
    significantly behind. These and `tie` are None if the row has no interval.
    """

    rank: int | None  # from 1; None for rows that are not ranked, see `_may_have_rank`
    row: BoardRow
    best: int | None = None
    worst: int | None = None
    tie: Tie | None = None

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
    """A row that gets a rank. Unlike that of a BoardRow, its score is always known."""

    row: BoardRow
    score: float  # headline score in percent
    interval: tuple[float, float] | None  # 95 %, in percent


def ranked(rows: list[BoardRow]) -> list[RankedRow]:
    """Return the rows of a benchmark in the order in which its table lists them, with ranks.

    The order is: measured rows, reported rows, sample runs, rows without a score, retired rows; each group best first.
    Only models on the benchmark's ranked split, with its current version and standard decoding, get a rank. Equal scores
    share a rank.
    """
    ordered = sorted(rows, key=_listing_order)
    ranked_by_key: dict[str, RankedRow] = {}
    for kind in {row.kind for row in rows}:
        entries: list[_Entry] = []
        for row in ordered:
            score = row.score
            if score is not None and row.kind == kind and _may_have_rank(row):
                entries.append(_Entry(row, score, row.interval))
        negated_scores = [-entry.score for entry in entries]  # ascending, as bisect requires
        ranks = [bisect_left(negated_scores, -entry.score) + 1 for entry in entries]
        ranges = _rank_ranges(entries, negated_scores)
        bests = [ranges[entry.row.key][0] if entry.row.key in ranges else None for entry in entries]
        for entry, rank, tie in zip(entries, ranks, _ties(ranks, bests), strict=True):
            best, worst = ranges.get(entry.row.key, (None, None))
            ranked_by_key[entry.row.key] = RankedRow(rank, entry.row, best, worst, tie)
    return [ranked_by_key.get(row.key) or RankedRow(None, row) for row in ordered]


def _listing_order(row: BoardRow) -> tuple[object, ...]:
    """Return the sort key of a row: False comes before True, so each condition moves a row down."""
    score = row.score
    return (
        row.retired is not None,
        score is None,
        row.is_sample,
        row.kind == "reported",
        -(score or 0.0),
        row.model.casefold(),
    )


def _ties(ranks: Sequence[int], bests: Sequence[int | None]) -> list[Tie | None]:
    """Return the tie that each row belongs to, in the order of the rows.

    `ranks` and `bests` are the rank and the best possible rank of each row, sorted best first. A tie ends before the first
    row whose best possible rank is behind the rank of the tie's first row. Rows without an interval have no tie, and end
    that of the rows before them.
    """
    ties: list[Tie | None] = []
    start = 0
    while start < len(ranks):
        end = start + 1
        if bests[start] is None:
            ties.append(None)
        else:
            while end < len(ranks) and (best := bests[end]) is not None and best <= ranks[start]:
                end += 1
            ties += [Tie(ranks[start], ranks[end - 1], end - start)] * (end - start)
        start = end
    return ties


def representative_row(rows: Iterable[RankedRow]) -> RankedRow:
    """Return the row that represents a model on a benchmark, from all its rows in the order of the board.

    A measured row is preferred to a reported one, even if it has no rank because the benchmark has a newer version.
    """
    return min(rows, key=lambda r: (not _is_measured(r.row), r.rank is None))


def without_reported_if_measured(rows: Iterable[RankedRow]) -> list[RankedRow]:
    """Return the rows of a benchmark without the reported rows of models that were measured on it."""
    given = list(rows)
    measured_models = {r.row.model for r in given if _is_measured(r.row)}
    return [r for r in given if r.row.kind == "verified" or r.row.model not in measured_models]


def _is_measured(row: BoardRow) -> bool:
    """Return whether a row is a valid measurement on the ranked test set of its benchmark, of any version."""
    return (
        row.kind == "verified"
        and row.split == BENCHMARKS[row.benchmark].card.split
        and row.score is not None
        and row.retired is None
    )


def is_outdated(row: BoardRow) -> bool:
    """Return whether a row was measured with another version of its benchmark than the current one.

    A version counts the errata of the test set: with three errata, "4" and "4+2" are outdated and "4+3" is not. If the board
    can read no erratum of the set (`row.errata` is 0), those in the row's version are ignored.
    """
    if row.kind != "verified":
        return False
    current = BENCHMARKS[row.benchmark].version
    if row.errata:
        return row.benchmark_version != version_with(current, row.errata)
    return version_without(row.benchmark_version) != current


def _may_have_rank(row: BoardRow) -> bool:
    """Return whether a row is ranked if it has a score.

    Not ranked are references (humans, baselines), other splits, retired results, results with another version of the
    benchmark, and results with sampling or token budgets that the benchmark does not rank.
    """
    benchmark = BENCHMARKS[row.benchmark]
    return (
        row.role == "model"
        and row.retired is None
        and not is_outdated(row)
        and benchmark.ranks(row.split, row.decoding, row.max_answer_tokens, row.max_reasoning_tokens)
    )


class _ScoreRange(NamedTuple):
    """A score with its widened interval, in percent."""

    score: float
    low: float
    high: float


def _rank_ranges(entries: Sequence[_Entry], negated_scores: Sequence[float]) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank of each entry that has an interval, by the key of its row.

    `entries` are sorted best first, and `negated_scores` are their negated scores. An entry without an interval is never
    significantly ahead or behind, so it counts only for the worst rank of others.
    """
    scale = _interval_scale(sum(entry.interval is not None for entry in entries))
    score_ranges: dict[str, _ScoreRange] = {}
    for entry in entries:
        if entry.interval:
            score_ranges[entry.row.key] = _widened(entry.score, entry.interval, scale)
    corrections = _paired_corrections([entry.row for entry in entries], score_ranges)
    lows = sorted(low for _, low, _ in score_ranges.values())
    highs = sorted(high for _, _, high in score_ranges.values())
    rank_ranges: list[tuple[int, int]] = []
    for key, (score, low, high) in score_ranges.items():
        more_ahead, more_behind = corrections.get(key, (0, 0))
        entries_ahead = len(lows) - bisect_right(lows, high) + more_ahead
        entries_behind = bisect_left(highs, low) + more_behind
        rank = bisect_left(negated_scores, -score) + 1
        # The rank itself is in the range, even if paired tests contradict the scores.
        best = min(entries_ahead + 1, rank)
        worst = max(len(entries) - entries_behind, rank)
        rank_ranges.append((best, worst))
    scores = [own.score for own in score_ranges.values()]
    return dict(zip(score_ranges, _monotone(rank_ranges, scores), strict=True))


def _monotone(rank_ranges: Sequence[tuple[int, int]], scores: Sequence[float]) -> list[tuple[int, int]]:
    """Return ranges of ranks whose ends increase with the rank, even if wide intervals follow narrow ones.

    They are widened for that: (1, 4), (2, 2), (2, 3) become (1, 4), (2, 4), (2, 4). Ranges of equal scores become the same.
    All are sorted by score, best first.
    """
    best_of_score: dict[float, int] = {}
    worst_of_score: dict[float, int] = {}
    for score, (best, worst) in zip(scores, rank_ranges, strict=True):
        best_of_score[score] = min(best, best_of_score.get(score, best))
        worst_of_score[score] = max(worst, worst_of_score.get(score, worst))
    worsts = accumulate((worst_of_score[score] for score in scores), max)
    bests_from_last = accumulate((best_of_score[score] for score in reversed(scores)), min)
    bests = reversed(list(bests_from_last))
    return list(zip(bests, worsts, strict=True))


def _interval_scale(rows: int) -> float:
    """Return the factor by which 95 % intervals are widened before they are compared, at least 1.

    With it, the probability that any two of `rows` equally good rows have intervals that do not overlap is at most
    FAMILYWISE_ERROR (Bonferroni's correction for all pairs).

    Two independent 95 % intervals of equal width do not overlap if the scores differ by 2 * 1.96 standard errors of a score,
    which is 2.77 (1.96 * sqrt(2)) standard errors of a difference. That is enough for up to 4 rows.
    """
    pairs = rows * (rows - 1) / 2
    if pairs < 1:
        return 1.0
    needed = NormalDist().inv_cdf(1 - FAMILYWISE_ERROR / (2 * pairs))  # in standard errors of a difference
    return max(1.0, needed / (sqrt(2) * NormalDist().inv_cdf(0.975)))


def _widened(score: float, interval: tuple[float, float], scale: float) -> _ScoreRange:
    """Return a score with its interval, whose ends are `scale` times as far from the score."""
    low, high = interval
    return _ScoreRange(score, low=score - scale * (score - low), high=score + scale * (high - score))


def _paired_corrections(
    rows: Sequence[BoardRow], score_ranges: Mapping[str, _ScoreRange]
) -> dict[str, tuple[int, int]]:
    """Return by how much paired tests change the numbers of rows that are significantly ahead and behind, by key.

    If a pair was tested question by question, the test decides instead of the intervals. For example, (1, 0) means that one
    more row is ahead than the intervals show; numbers may be negative.
    """
    verdicts = paired_verdicts(rows, score_ranges.keys())
    corrections: dict[str, tuple[int, int]] = {}
    for key, other in verdicts.tested:  # each pair in both orders
        own_range = score_ranges[key]
        other_range = score_ranges[other]
        is_other_ahead = (other, key) in verdicts.ahead
        is_other_behind = (key, other) in verdicts.ahead
        seemed_ahead = other_range.low > own_range.high
        seemed_behind = other_range.high < own_range.low
        ahead, behind = corrections.get(key, (0, 0))
        corrections[key] = (ahead + is_other_ahead - seemed_ahead, behind + is_other_behind - seemed_behind)
    return corrections
