"""The data of a benchmark's charts, as flat rows that can also be downloaded."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import islice
from math import inf
from typing import Any, Literal, get_args

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.breakdown import parts_of
from leaderboard.data.ranking import RankedRow
from submissions.records.index_rows import BoardRow

Kind = Literal["size", "speed", "parts", "time", "letters"]
Data = list[dict[str, Any]]
COLUMNS: dict[Kind, tuple[str, ...]] = {
    "size": ("model", "score", "weights", "params", "front"),
    "speed": ("model", "score", "weights", "latency_ms", "hardware", "front"),
    "parts": ("model", "split", "axis", "bucket", "score", "n"),
    "time": ("date", "model", "score", "state_of_the_art"),
    "letters": ("model", "letter", "n", "percent"),
}
MAX_HEATMAP_MODELS, MAX_HISTOGRAM_MODELS = 15, 5


def charts_of(benchmark: str) -> list[Kind]:
    """Return the kinds of chart of a benchmark. Only benchmarks whose card declares a histogram have "letters"."""
    return [kind for kind in get_args(Kind) if kind != "letters" or BENCHMARKS[benchmark].card.histogram]


def chart_data(kind: Kind, rows: Sequence[RankedRow]) -> Data:
    """Return the rows of a chart from the rows of a board, best first. Scores are in percent, latencies in milliseconds."""
    return _DATA[kind](rows)


def _size(rows: Sequence[RankedRow]) -> Data:
    return _with_front([{**_named(r), "params": r.row.params} for r in rows if r.rank and r.row.params], "params")


def _speed(rows: Sequence[RankedRow]) -> Data:
    timed = [r for r in rows if r.rank and r.row.latency_ms]
    return _with_front(
        [{**_named(r), "latency_ms": r.row.latency_ms, "hardware": r.row.hardware} for r in timed], "latency_ms"
    )


def _named(ranked: RankedRow) -> dict[str, Any]:
    return {"model": ranked.row.model, "score": ranked.row.score, "weights": ranked.row.weights}


def _with_front(points: Data, cost: str) -> Data:
    """Sort points by cost, cheapest first, and mark those on the Pareto front: no cheaper point scores as high."""
    best = -inf
    for point in (ordered := sorted(points, key=lambda p: (p[cost], -p["score"]))):
        point["front"] = point["score"] > best
        best = max(best, point["score"])
    return ordered


def _parts(rows: Sequence[RankedRow]) -> Data:
    """Return the scores by bucket of the best models that have a breakdown."""
    known = islice((r for r in rows if parts_of(r.row)), MAX_HEATMAP_MODELS)
    return [
        {"model": r.row.model, "split": r.row.split, "axis": axis, "bucket": bucket, "score": part.score, "n": part.n}
        for r in known
        for (axis, bucket), part in parts_of(r.row).items()
    ]


def _time(rows: Sequence[RankedRow]) -> Data:
    """Return the models by month of release, or by the date of the result if that is unknown.

    `state_of_the_art` is the best score so far.
    """
    dated = [(day, r.row) for r in rows if r.rank and (day := _day(r.row))]
    data: Data = []
    best = -inf
    for day, row in sorted(dated, key=lambda pair: (pair[0], pair[1].model)):
        score = row.score or 0.0
        best = max(best, score)
        data.append({"date": day, "model": row.model, "score": score, "state_of_the_art": best})
    return data


def _day(row: BoardRow) -> str | None:
    if row.released:
        return f"{row.released}-01"
    return datetime.fromtimestamp(row.date, UTC).date().isoformat() if row.date else None


def _histogram(rows: Sequence[RankedRow]) -> Data:
    """Return how often the best models with answer counts gave each answer; `-` is an unclear answer."""
    data: Data = []
    counted = ((r.row.model, counts) for r in rows if any((counts := _answers(r)).values()))
    for model, counts in islice(counted, MAX_HISTOGRAM_MODELS):
        total = sum(counts.values())
        data += (
            {"model": model, "letter": kind, "n": n, "percent": round(100 * n / total, 2)} for kind, n in counts.items()
        )
    return data


def _answers(ranked: RankedRow) -> dict[str, int]:
    histogram = BENCHMARKS[ranked.row.benchmark].card.histogram
    counted = ranked.row.breakdown.get(histogram.name, {}) if histogram else {}
    return {kind: bucket.n or 0 for kind, bucket in counted.items()}


_DATA: dict[Kind, Callable[[Sequence[RankedRow]], Data]] = {
    "size": _size,
    "speed": _speed,
    "parts": _parts,
    "time": _time,
    "letters": _histogram,
}
