"""Charts of a benchmark: what stands in each, as flat rows that can be downloaded too."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Literal, get_args

from leaderboard.data.breakdown import letters_of, parts_of
from leaderboard.data.ranking import RankedRow, score_of

Kind = Literal["size", "speed", "parts", "time", "letters"]
Data = list[dict[str, Any]]
MOST_PARTS, MOST_LETTERS = 15, 5  # models


def charts_of(benchmark: str) -> list[Kind]:
    return [kind for kind in get_args(Kind) if kind != "letters" or benchmark == "ko-vdc"]


def chart_data(kind: Kind, rows: Sequence[RankedRow]) -> Data:
    """The rows of a chart, from those of a board, best first. Scores are percentages, latencies milliseconds."""
    return _DATA[kind](rows)


def _size(rows: Sequence[RankedRow]) -> Data:
    return _with_front([{**_named(r), "params": r.row.params} for r in rows if r.rank and r.row.params], "params")


def _speed(rows: Sequence[RankedRow]) -> Data:
    timed = [r for r in rows if r.rank and r.row.latency_ms]
    return _with_front(
        [{**_named(r), "latency_ms": r.row.latency_ms, "hardware": r.row.hardware} for r in timed], "latency_ms"
    )


def _named(ranked: RankedRow) -> dict[str, Any]:
    return {"model": ranked.row.model, "score": score_of(ranked.row), "weights": ranked.row.weights}


def _with_front(points: Data, cost: str) -> Data:
    """Cheapest first; on the Pareto front stands what no cheaper one reaches."""
    best = -1.0
    for point in (ordered := sorted(points, key=lambda p: (p[cost], -p["score"]))):
        point["front"] = point["score"] > best
        best = max(best, point["score"])
    return ordered


def _parts(rows: Sequence[RankedRow]) -> Data:
    """Scores by bucket of the best models whose parts are known."""
    known = islice((r for r in rows if parts_of(r.row.breakdown)), MOST_PARTS)
    return [
        {"model": r.row.model, "split": r.row.split, "axis": axis, "bucket": bucket, "score": part.score, "n": part.n}
        for r in known
        for (axis, bucket), part in parts_of(r.row.breakdown).items()
    ]


def _time(rows: Sequence[RankedRow]) -> Data:
    """Models by date; the state of the art is the best score so far."""
    data: Data = []
    best = 0.0
    for row in sorted((r.row for r in rows if r.rank and r.row.date), key=lambda row: (row.date, row.model)):
        score = score_of(row) or 0.0
        best = max(best, score)
        day = datetime.fromtimestamp(row.date or 0, UTC).date().isoformat()
        data.append({"date": day, "model": row.model, "score": score, "state_of_the_art": best})
    return data


def _letters(rows: Sequence[RankedRow]) -> Data:
    """Which letters were answered how often, by the best models that were asked here; `-` names none."""
    counted = ((r.row.model, counts) for r in rows if any((counts := letters_of(r.row.breakdown)).values()))
    return [
        {"model": model, "letter": letter, "n": n, "percent": round(100 * n / sum(counts.values()), 2)}
        for model, counts in islice(counted, MOST_LETTERS)
        for letter, n in counts.items()
    ]


_DATA: dict[Kind, Callable[[Sequence[RankedRow]], Data]] = {
    "size": _size,
    "speed": _speed,
    "parts": _parts,
    "time": _time,
    "letters": _letters,
}
