"""The data of a benchmark's charts, as flat rows that can also be downloaded."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from math import inf
from typing import Any, Literal, get_args

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.breakdown import ladder_of, loss_metrics, parts_of
from leaderboard.data.models import ModelRow
from leaderboard.data.ranking import RankedRow, without_superseded_claims
from leaderboard.data.significance import paired_verdicts
from submissions.records.index_rows import BoardRow

Kind = Literal["size", "speed", "cost", "parts", "wins", "time", "letters", "ladder", "benchmarks"]
Data = list[dict[str, Any]]
# What identifies a result in all charts: a model may have several.
RESULT = ("key", "model", "mode", "kind")
COLUMNS: dict[Kind, tuple[str, ...]] = {
    "size": (*RESULT, "score", "weights", "params", "front"),
    "speed": (*RESULT, "score", "weights", "latency_ms", "hardware", "front"),
    "cost": (*RESULT, "score", "weights", "usd_per_1000", "front"),
    "wins": (*RESULT, "other_key", "other", "other_mode", "verdict"),
    "benchmarks": (*RESULT, "benchmark", "score", "rank"),
    "parts": (*RESULT, "split", "axis", "bucket", "score", "n"),
    "time": (*RESULT, "date", "score", "state_of_the_art"),
    "letters": (*RESULT, "letter", "n", "percent"),
    "ladder": (*RESULT, "step", "score", "rank", "lost", "low", "high", "degraded_rank"),
}
# The fields of BoardRow that charts of scores are plotted against.
AGAINST: dict[Kind, str] = {"size": "params", "speed": "latency_ms", "cost": "usd_per_1000"}
MAX_HEATMAP_MODELS, MAX_HISTOGRAM_MODELS, MAX_WINS_MODELS, MAX_OVERVIEW_MODELS = 15, 5, 12, 25
MAX_LADDER_MODELS = 5
MAX_SEARCHED = 200  # rows in which a histogram is looked for
OVERVIEW: Kind = "benchmarks"  # the only chart that belongs to no benchmark


def charts_of(benchmark: str) -> list[Kind]:
    """Return the kinds of chart of a benchmark. "letters" and "ladder" are only for benchmarks whose card declares them."""
    card = BENCHMARKS[benchmark].card
    declared = {"letters": card.histogram is not None, "ladder": card.ladder is not None, OVERVIEW: False}
    return [kind for kind in get_args(Kind) if declared.get(kind, True)]


def chart_data(kind: Kind, rows: Sequence[RankedRow], axis: str = "") -> Data:
    """Return the rows of a chart from the rows of a board, best first. Scores are in percent, latencies in milliseconds.

    What makers report of a model that was measured is left out. With `axis`, only parts on that axis are returned.
    """
    data = _DATA[kind](without_superseded_claims(rows))
    return [row for row in data if row["axis"] == axis] if axis else data


def axes_in(rows: Sequence[RankedRow]) -> list[str]:
    """Return the axes of the parts that the rows have scores on, in the order of the benchmark's card."""
    known = {axis for r in islice(rows, MAX_SEARCHED) for axis, _ in parts_of(r.row)}
    return [axis.name for axis in BENCHMARKS[rows[0].row.benchmark].card.axes if axis.name in known] if rows else []


def has_data(kind: Kind, rows: Iterable[RankedRow]) -> bool:
    """Return whether a chart of these rows has anything to show, without computing it."""
    if kind in AGAINST:
        return any(_is_plotted(r, AGAINST[kind]) for r in rows)
    match kind:
        case "wins":
            return any(r.row.paired for r in rows)
        case "time":
            return any(r.rank and (r.row.released or r.row.date) for r in rows)
        case "parts":
            return any(r.row.packed_breakdown != b"{}" for r in rows)
        case _:
            return bool(chart_data(kind, list(islice(rows, MAX_SEARCHED))))


def _is_plotted(ranked: RankedRow, field: str) -> bool:
    return bool(ranked.rank and getattr(ranked.row, field))


def _against(field: str, *others: str) -> Callable[[Sequence[RankedRow]], Data]:
    """Return a function that plots scores against a field of BoardRow. `others` are more fields of its points."""

    def plot(rows: Sequence[RankedRow]) -> Data:
        points = []
        for row in (r.row for r in rows if _is_plotted(r, field)):
            point = result_of(row) | {"score": row.score, "weights": row.weights}
            points.append(point | {name: getattr(row, name) for name in (field, *others)})
        return _with_front(points, field)

    return plot


def result_of(row: BoardRow) -> dict[str, Any]:
    """Return what identifies a result in a chart, the fields of RESULT."""
    return {"key": row.key, "model": row.model, "mode": row.thinking, "kind": row.kind}


def _with_front(points: Data, cost: str) -> Data:
    """Sort points by cost, cheapest first, and mark those on the Pareto front: no cheaper point of its kind scores as high."""
    best: dict[str, float] = {}
    ordered = sorted(points, key=lambda p: (p[cost], -p["score"]))
    for point in ordered:
        known = best.get(point["kind"], -inf)
        point["front"] = point["score"] > known
        best[point["kind"]] = max(known, point["score"])
    return ordered


def _parts(rows: Sequence[RankedRow]) -> Data:
    """Return the scores by bucket of the best models that have a breakdown."""
    known = islice((r for r in rows if parts_of(r.row)), MAX_HEATMAP_MODELS)
    return [
        result_of(r.row) | {"split": r.row.split, "axis": axis, "bucket": bucket, "score": part.score, "n": part.n}
        for r in known
        for (axis, bucket), part in parts_of(r.row).items()
    ]


def _wins(rows: Sequence[RankedRow]) -> Data:
    """Return the verdicts of the paired tests between the best models: "ahead", "behind" or "same" as the other one."""
    tested_keys: set[str] = set()
    for row in (r.row for r in rows if r.row.paired):
        tested_keys.add(row.key)
        tested_keys.update(other for other, _, _ in row.paired)
    best = list(islice((r.row for r in rows if r.rank and r.row.key in tested_keys), MAX_WINS_MODELS))
    verdicts = paired_verdicts([r.row for r in rows], {r.row.key for r in rows if r.rank})
    data: Data = []
    for row in best:
        for other in best:
            if (row.key, other.key) in verdicts.tested:
                verdict = "same"
                if (row.key, other.key) in verdicts.ahead:
                    verdict = "ahead"
                elif (other.key, row.key) in verdicts.ahead:
                    verdict = "behind"
                against = {"other_key": other.key, "other": other.model, "other_mode": other.thinking}
                data.append(result_of(row) | against | {"verdict": verdict})
    return data


def overview_data(models: Sequence[ModelRow]) -> Data:
    """Return the headline score and rank of the first models on every benchmark."""
    data: Data = []
    for model in models[:MAX_OVERVIEW_MODELS]:
        for name, cell in model.cells.items():
            if cell.rank:
                data.append(result_of(cell.row) | {"benchmark": name, "score": cell.row.score, "rank": cell.rank})
    return data


def _time(rows: Sequence[RankedRow]) -> Data:
    """Return the models by month of release, or by the date of the result if that is unknown.

    `state_of_the_art` is the best score of its kind so far.
    """
    ranked = [(_day(r.row), r.row) for r in rows if r.rank]
    dated = [(day, row) for day, row in ranked if day]
    data: Data = []
    best: dict[str, float] = {}
    for day, row in sorted(dated, key=lambda pair: (pair[0], pair[1].model)):
        score = row.score or 0.0
        best[row.kind] = max(best.get(row.kind, -inf), score)
        data.append(result_of(row) | {"date": day, "score": score, "state_of_the_art": best[row.kind]})
    return data


def _day(row: BoardRow) -> str | None:
    if row.released:
        return f"{row.released}-01"
    return datetime.fromtimestamp(row.date, UTC).date().isoformat() if row.date else None


def _histogram(rows: Sequence[RankedRow]) -> Data:
    """Return how often the best models with answer counts gave each answer; `-` is an unclear answer."""
    data: Data = []
    every = ((r.row, _answers(r)) for r in rows)
    counted = ((row, counts) for row, counts in every if any(counts.values()))
    for row, counts in islice(counted, MAX_HISTOGRAM_MODELS):
        total = sum(counts.values())
        for letter, n in counts.items():
            data.append(result_of(row) | {"letter": letter, "n": n, "percent": round(100 * n / total, 2)})
    return data


def _ladder(rows: Sequence[RankedRow]) -> Data:
    """Return scores and ranks of the best models on each step of the ladder, and what they lost against the clean pictures.

    Ranks are among all rows that have a ladder; `degraded_rank` is that of the mean over all steps but the first. The loss
    is a mean over pairs of items, with its 95 % interval, in points.
    """
    data: Data = []
    ladders = [(r.row, ladder_of(r.row)) for r in rows]
    known = [(row, steps) for row, steps in ladders if steps]
    degraded = [sum(list(steps.values())[1:]) / max(1, len(steps) - 1) for _, steps in known]
    for number, (row, steps) in enumerate(known[:MAX_LADDER_MODELS]):
        degraded_rank = 1 + sum(other > degraded[number] for other in degraded)
        metrics = loss_metrics(row.benchmark)
        for step, score in steps.items():
            rank = 1 + sum(others.get(step, 0.0) > score for _, others in known)
            metric = metrics.get(step, "")  # none for the clean step
            low, high = row.intervals.get(metric, (None, None))
            lost = None if low is None else row.metrics.get(metric)
            place = {"step": step, "score": score, "rank": rank, "degraded_rank": degraded_rank}
            data.append(result_of(row) | place | {"lost": lost, "low": low, "high": high})
    return data


def _answers(ranked: RankedRow) -> dict[str, int]:
    histogram = BENCHMARKS[ranked.row.benchmark].card.histogram
    counted = ranked.row.breakdown.get(histogram.name, {}) if histogram else {}
    return {kind: bucket.n or 0 for kind, bucket in counted.items()}


_DATA: dict[Kind, Callable[[Sequence[RankedRow]], Data]] = {
    "size": _against(AGAINST["size"]),
    "speed": _against(AGAINST["speed"], "hardware"),
    "cost": _against(AGAINST["cost"]),
    "wins": _wins,
    "parts": _parts,
    "time": _time,
    "letters": _histogram,
    "ladder": _ladder,
}
