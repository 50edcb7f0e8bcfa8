"""The ranking: rows by headline score, with the ranks that their intervals allow."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.significance import paired_verdicts
from submissions.rows import BoardRow


@dataclass(frozen=True, slots=True)
class RankedRow:
    """A row and its rank; the rank of a reported row is shown in brackets, because its prompt and decoding are unknown.

    `best` to `worst` are the ranks that the data allow: ahead of a row is only who is surely ahead, behind it only who is
    surely behind. None if the row's own interval is unknown.
    """

    rank: int | None  # None: a reference, another split, or no score
    row: BoardRow
    best: int | None = None
    worst: int | None = None


Boards = dict[str, list[RankedRow]]  # by benchmark, best first


@dataclass(frozen=True, slots=True)
class _Entry:
    row: BoardRow
    score: float
    interval: tuple[float, float] | None
    metric: str  # rows that are ranked by different metrics are never surely ahead of each other


def ranked(rows: list[BoardRow], benchmark: str) -> list[RankedRow]:
    """Return rows by headline score, best first; retired results last.

    Models measured on the benchmark's ranked split and decoded like all others have ranks; ties share one.
    """
    card = BENCHMARKS[benchmark].card
    scored = [(score_of(row), row) for row in rows]
    scored.sort(
        key=lambda pair: (pair[1].retired is not None, pair[0] is None, -(pair[0] or 0.0), pair[1].model.casefold())
    )
    entries = [
        _Entry(row, score, interval_of(row), headline_of(row))
        for score, row in scored
        if score is not None
        and row.role == "model"
        and row.split == card.split
        and row.retired is None
        and BENCHMARKS[benchmark].ranks_decoding(row.decoding, row.max_answer_tokens, row.max_reasoning_tokens)
    ]
    losses = [-entry.score for entry in entries]  # ascending, as bisect needs them
    ranges = _rank_ranges(entries, losses)

    def standing(row: BoardRow, score: float | None) -> RankedRow:
        return RankedRow(bisect_left(losses, -(score or 0.0)) + 1, row, *ranges.get(row.key, (None, None)))

    entered = {entry.row.key for entry in entries}
    return [standing(row, score) if row.key in entered else RankedRow(None, row) for score, row in scored]


def _rank_ranges(entries: Sequence[_Entry], losses: Sequence[float]) -> dict[str, tuple[int, int]]:
    """Return the best and worst rank of each entry with an interval, by key. `entries` are in order, best first."""
    known = {entry.row.key: entry for entry in entries if entry.interval}
    corrections = _corrections([entry.row for entry in entries], known)
    found: dict[str, tuple[int, int]] = {}
    for metric in {entry.metric for entry in known.values()}:
        own = [
            (key, entry.score, *entry.interval)
            for key, entry in known.items()
            if entry.interval and entry.metric == metric
        ]
        lows, highs = sorted(low for _, _, low, _ in own), sorted(high for _, _, _, high in own)
        ranges = []
        for key, score, low, high in own:
            ahead, behind = corrections.get(key, (0, 0))
            rank = bisect_left(losses, -score) + 1
            best = len(lows) - bisect_right(lows, high) + 1 + ahead
            worst = len(entries) - bisect_left(highs, low) - behind
            ranges.append((min(best, rank), max(worst, rank)))
        # Widened so that neither end moves against the ranks, as wide and narrow intervals beside each other would have it.
        bests = reversed(list(accumulate((best for best, _ in reversed(ranges)), min)))
        worsts = accumulate((worst for _, worst in ranges), max)
        found |= {key: ends for (key, *_), ends in zip(own, zip(bests, worsts, strict=True), strict=True)}
    return found


def _corrections(rows: Sequence[BoardRow], entries: Mapping[str, _Entry]) -> dict[str, tuple[int, int]]:
    """Return how many more are surely ahead and surely behind by paired tests than by intervals, by key.

    If a pair was tested, the test decides.
    """
    verdicts = paired_verdicts(rows, entries)
    found: dict[str, tuple[int, int]] = {}
    for key, other in verdicts.tested:
        (low, high), (other_low, other_high) = entries[key].interval or (0, 0), entries[other].interval or (0, 0)
        ahead, behind = found.get(key, (0, 0))
        found[key] = (
            ahead + ((other, key) in verdicts.ahead) - (other_low > high),
            behind + ((key, other) in verdicts.ahead) - (other_high < low),
        )
    return found


def headline_of(row: BoardRow) -> str:
    """Return the metric that ranks a row."""
    card = BENCHMARKS[row.benchmark].card
    return card.headline_of({card.headline: row.metric(card.headline)})


def score_of(row: BoardRow) -> float | None:
    """Return the headline score of a row in percent."""
    return row.metric(headline_of(row))


def interval_of(row: BoardRow, metric: str = "") -> tuple[float, float] | None:
    """Return the 95 % interval of a metric, by default the headline, in percent; None if it is not known."""
    low, high = (getattr(row, f"{metric or headline_of(row)}_{end}", None) for end in ("low", "high"))
    return None if low is None or high is None else (low, high)
