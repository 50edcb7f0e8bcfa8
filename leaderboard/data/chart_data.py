"""Charts of a benchmark: what stands in each, as flat rows that can be downloaded too."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import islice
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
    """The kinds of chart a benchmark has: the answers' histogram only where its answers are of a few kinds."""
    return [kind for kind in get_args(Kind) if kind != "letters" or BENCHMARKS[benchmark].card.histogram]


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
    return {"model": ranked.row.model, "score": ranked.row.score, "weights": ranked.row.weights}


def _with_front(points: Data, cost: str) -> Data:
    """Cheapest first; on the Pareto front stands what no cheaper one reaches."""
    best = -1.0
    for point in (ordered := sorted(points, key=lambda p: (p[cost], -p["score"]))):
        point["front"] = point["score"] > best
        best = max(best, point["score"])
    return ordered


def _parts(rows: Sequence[RankedRow]) -> Data:
    """Scores by bucket of the best models whose parts are known."""
    known = islice((r for r in rows if parts_of(r.row)), MAX_HEATMAP_MODELS)
    return [
        {"model": r.row.model, "split": r.row.split, "axis": axis, "bucket": bucket, "score": part.score, "n": part.n}
        for r in known
        for (axis, bucket), part in parts_of(r.row).items()
    ]


def _time(rows: Sequence[RankedRow]) -> Data:
    """Return models by the month of their release, or else the date of the result; the state of the art is the best so far."""
    dated = [(day, r.row) for r in rows if r.rank and (day := _day(r.row))]
    data: Data = []
    best = 0.0
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
    """Which answers were given how often, by the best models that were evaluated here; `-` is an unclear one."""
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
