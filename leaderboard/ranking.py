"""Who stands where: rows by headline score, with the ranks that their intervals allow."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace

from evaluator.benchmarks import BENCHMARKS
from submissions.records import BoardRow


@dataclass(frozen=True)
class RankedRow:
    rank: int | None  # None: a reference, another split, or no score
    row: BoardRow
    best: int | None = None  # the ranks its interval allows: ahead of it only who is surely ahead,
    worst: int | None = None  # behind it only who is surely behind


Boards = dict[str, list[RankedRow]]  # by benchmark, best first


def ranked(rows: list[BoardRow], benchmark: str) -> list[RankedRow]:
    """Rows by headline score, best first. Models measured on the benchmark's own split have ranks; ties share one."""
    card = BENCHMARKS[benchmark].card
    ordered = _by_score(rows, card.headline)
    ranks: list[RankedRow] = []
    place, last_score, last_rank = 0, None, 0
    for row in ordered:
        score = getattr(row, card.headline)
        if row.role != "model" or row.split != card.split or score is None:
            ranks.append(RankedRow(None, row))
            continue
        place += 1
        last_rank = last_rank if score == last_score else place
        last_score = score
        ranks.append(RankedRow(last_rank, row))
    return _with_ranges(ranks, card.headline)


def _with_ranges(rows: list[RankedRow], headline: str) -> list[RankedRow]:
    bounds = {r.row.key: _bounds(r.row, headline) for r in rows if r.rank}
    lows = sorted(low for low, _ in bounds.values())
    highs = sorted(high for _, high in bounds.values())

    def ranged(ranked: RankedRow) -> RankedRow:
        low, high = bounds.get(ranked.row.key, (None, None))
        if low is None or high is None or low == high:
            return ranked
        ahead = len(lows) - bisect_right(lows, high)
        behind = bisect_left(highs, low)
        return replace(ranked, best=ahead + 1, worst=len(bounds) - behind)

    return [ranged(r) for r in rows]


def _bounds(row: BoardRow, headline: str) -> tuple[float, float]:
    """The headline's interval; the bare score where none is known."""
    low, high, score = (getattr(row, f"{headline}{end}") for end in ("_low", "_high", ""))
    return (score, score) if low is None or high is None else (low, high)


def _by_score(rows: list[BoardRow], headline: str) -> list[BoardRow]:
    return sorted(
        rows, key=lambda r: (getattr(r, headline) is None, -(getattr(r, headline) or 0.0), r.model.casefold())
    )


def score_of(row: BoardRow) -> float | None:
    """The headline score of the row's benchmark, in percent."""
    score: float | None = getattr(row, BENCHMARKS[row.benchmark].card.headline)
    return score
