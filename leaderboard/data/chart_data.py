"""The data of charts, as flat rows: one dict for each point, cell or bar.

`views/figures.py` draws them, `table_routes.py` and the static edition offer them as CSV. `chart_data` makes those of a
benchmark from the rows of its table, `overview_data` those of the only chart that belongs to no benchmark. A chart may be
empty, for example if no row has a cost (`has_data`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from math import inf
from statistics import fmean
from typing import Any, Literal, get_args

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.breakdown import ladder_of, loss_metrics, parts_of
from leaderboard.data.export import KST
from leaderboard.data.models import ModelRow
from leaderboard.data.ranking import RankedRow, without_reported_if_measured
from leaderboard.data.significance import paired_verdicts
from submissions.records.index_rows import BoardRow

Kind = Literal["size", "speed", "cost", "parts", "wins", "time", "letters", "ladder", "benchmarks"]
Data = list[dict[str, Any]]  # each row has the fields that COLUMNS lists for its kind of chart
# The fields that identify a result in all charts, because a model may have several results. Here "kind" is `BoardRow.kind`
# (measured or reported), not the kind of a chart.
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
# The fields of BoardRow that the scatter plots show scores against.
AGAINST: dict[Kind, str] = {"size": "params", "speed": "latency_ms", "cost": "usd_per_1000"}
# Models in a chart, so that it stays readable: the best ones that have the data.
MAX_PARTS_MODELS = 15
MAX_HISTOGRAM_MODELS = 5
MAX_WINS_MODELS = 12
MAX_OVERVIEW_MODELS = 25
MAX_LADDER_MODELS = 5
MAX_SEARCHED = 200  # rows in which `axes_in` and `has_data` look for breakdowns, because unpacking all takes long
OVERVIEW: Kind = "benchmarks"  # the only chart that belongs to no benchmark


def charts_of(benchmark: str) -> list[Kind]:
    """Return the kinds of chart of a benchmark. "letters" and "ladder" are only for benchmarks whose card declares them."""
    card = BENCHMARKS[benchmark].card
    declared = {"letters": card.histogram is not None, "ladder": card.ladder is not None, OVERVIEW: False}
    return [kind for kind in get_args(Kind) if declared.get(kind, True)]


def chart_data(
    kind: Kind, rows: Sequence[RankedRow], axis: str = "", board_rows: Sequence[RankedRow] | None = None
) -> Data:
    """Return the data of a chart from the rows of a board, best first. Scores are in percent, latencies in milliseconds.

    Reported rows of models that were measured are left out. With `axis`, which only charts of the kind "parts" have, only
    parts on that axis are returned. `board_rows` are all rows of the board if `rows` are only some of them: paired tests of
    all are corrected together.
    """
    shown = without_reported_if_measured(rows)
    if kind == "wins":
        data = _wins(shown, shown if board_rows is None else without_reported_if_measured(board_rows))
    else:
        data = _DATA[kind](shown)
    return [row for row in data if row["axis"] == axis] if axis else data


def axes_in(rows: Sequence[RankedRow]) -> list[str]:
    """Return the axes of the parts that the rows have scores on, in the order of the benchmark's card."""
    if not rows:
        return []
    with_scores = {axis for r in islice(rows, MAX_SEARCHED) for axis, _ in parts_of(r.row)}
    declared = BENCHMARKS[rows[0].row.benchmark].card.axes
    return [axis.name for axis in declared if axis.name in with_scores]


def has_data(kind: Kind, rows: Iterable[RankedRow]) -> bool:
    """Return whether a chart of these rows has anything to show. Most charts need not be computed for that."""
    shown = without_reported_if_measured(rows)
    if kind in AGAINST:
        return any(_is_plotted(r, AGAINST[kind]) for r in shown)
    match kind:
        case "wins":
            return _has_pair(shown)
        case "time":
            return any(r.rank and (r.row.released or r.row.date) for r in shown)
        case "parts":
            # b"{}" is an empty breakdown. Others are not unpacked, because that takes long, so they count as parts.
            return any(r.row.packed_breakdown != b"{}" for r in shown)
        case _:
            return bool(chart_data(kind, shown[:MAX_SEARCHED]))


def _has_pair(rows: Sequence[RankedRow]) -> bool:
    """Return whether two ranked rows were compared question by question."""
    ranked_rows = [r.row for r in rows if r.rank]
    keys = {row.key for row in ranked_rows}
    tested = chain.from_iterable(row.paired for row in ranked_rows)
    return any(other in keys for other, *_ in tested)


def _is_plotted(ranked: RankedRow, field: str) -> bool:
    """Return whether a row has a rank and a value to plot its score against."""
    return bool(ranked.rank and getattr(ranked.row, field))


def _scatter_of(field: str, *others: str) -> Callable[[Sequence[RankedRow]], Data]:
    """Return a function that makes a scatter plot of scores against a field of BoardRow.

    `others` are more fields of BoardRow that its points have.
    """

    def points_of(rows: Sequence[RankedRow]) -> Data:
        points = []
        for row in (r.row for r in rows if _is_plotted(r, field)):
            point = _result_fields(row) | {"score": row.score, "weights": row.weights}
            points.append(point | {name: getattr(row, name) for name in (field, *others)})
        return _with_front(points, field)

    return points_of


def _result_fields(row: BoardRow) -> dict[str, Any]:
    """Return what identifies a result in a chart, the fields of RESULT."""
    return {"key": row.key, "model": row.model, "mode": row.thinking, "kind": row.kind}


def _with_front(points: Data, field: str) -> Data:
    """Return the points sorted by a field, lowest first, with "front": whether a point is on the Pareto front.

    It is if no point before it scores as high. Of points with equal values, the best comes first. Measured and reported
    results have fronts of their own.
    """
    best_so_far: dict[str, float] = {}  # score by kind
    ordered = sorted(points, key=lambda p: (p[field], -p["score"]))
    for point in ordered:
        best = best_so_far.get(point["kind"], -inf)
        point["front"] = point["score"] > best
        best_so_far[point["kind"]] = max(best, point["score"])
    return ordered


def _parts(rows: Sequence[RankedRow]) -> Data:
    """Return the scores by bucket of the best models that have a breakdown."""
    data: Data = []
    with_parts = islice((r.row for r in rows if parts_of(r.row)), MAX_PARTS_MODELS)
    for row in with_parts:
        for (axis, bucket), part in parts_of(row).items():
            place = {"split": row.split, "axis": axis, "bucket": bucket}
            data.append(_result_fields(row) | place | {"score": part.score, "n": part.n})
    return data


def _wins(rows: Sequence[RankedRow], board_rows: Sequence[RankedRow]) -> Data:
    """Return the verdicts of the paired tests between the best models: "ahead", "behind" or "same" as the other one."""
    tested_keys: set[str] = set()
    for row in (r.row for r in rows if r.row.paired):
        tested_keys.add(row.key)
        tested_keys.update(other for other, _, _ in row.paired)
    best = list(islice((r.row for r in rows if r.rank and r.row.key in tested_keys), MAX_WINS_MODELS))
    # All tests of the board are corrected together, as for the ranks, and not only those that the chart shows.
    verdicts = paired_verdicts([r.row for r in board_rows], {r.row.key for r in board_rows if r.rank})
    data: Data = []
    for row in best:
        for other in best:
            if (row.key, other.key) not in verdicts.tested:
                continue
            verdict = "same"
            if (row.key, other.key) in verdicts.ahead:
                verdict = "ahead"
            elif (other.key, row.key) in verdicts.ahead:
                verdict = "behind"
            opponent = {"other_key": other.key, "other": other.model, "other_mode": other.thinking}
            data.append(_result_fields(row) | opponent | {"verdict": verdict})
    return data


def overview_data(models: Sequence[ModelRow]) -> Data:
    """Return the headline score and rank of the first models on every benchmark."""
    data: Data = []
    for model in models[:MAX_OVERVIEW_MODELS]:
        for name, cell in model.cells.items():
            if cell.rank:
                data.append(_result_fields(cell.row) | {"benchmark": name, "score": cell.row.score, "rank": cell.rank})
    return data


def _time(rows: Sequence[RankedRow]) -> Data:
    """Return the ranked results, oldest first, each with the best score of its kind until then: "state_of_the_art"."""
    ranked = [(_day(r.row), r.row) for r in rows if r.rank]
    dated = [(day, row) for day, row in ranked if day]
    data: Data = []
    best_so_far: dict[str, float] = {}  # score by kind
    for day, row in sorted(dated, key=lambda pair: (pair[0], pair[1].model)):
        score = row.score or 0.0
        best_so_far[row.kind] = max(best_so_far.get(row.kind, -inf), score)
        data.append(_result_fields(row) | {"date": day, "score": score, "state_of_the_art": best_so_far[row.kind]})
    return data


def _day(row: BoardRow) -> str | None:
    """Return the first day of the month of a model's release or, if that is unknown, the day of the result."""
    if row.released:
        return f"{row.released}-01"
    return datetime.fromtimestamp(row.date, KST).date().isoformat() if row.date else None


def _histogram(rows: Sequence[RankedRow]) -> Data:
    """Return how often the best models gave each answer, such as "A". The letter "-" stands for an unclear answer."""
    data: Data = []
    every = ((r.row, _answer_counts(r.row)) for r in rows)
    counted = ((row, counts) for row, counts in every if any(counts.values()))
    for row, counts in islice(counted, MAX_HISTOGRAM_MODELS):
        total = sum(counts.values())
        for letter, n in counts.items():
            data.append(_result_fields(row) | {"letter": letter, "n": n, "percent": round(100 * n / total, 2)})
    return data


def _ladder(rows: Sequence[RankedRow]) -> Data:
    """Return scores and ranks of the best models on each step of the ladder, and what they lose against the clean images.

    Only ranked rows are shown and compared. "rank" is that on the step, and "degraded_rank" that of the mean over the degraded
    steps. "lost" is the mean loss in points over the questions of the step that were also asked on the clean image, and "low"
    and "high" are its 95 % interval.
    """
    data: Data = []
    ladders = [(r.row, ladder_of(r.row)) for r in rows if r.rank]
    known = [(row, steps) for row, steps in ladders if steps]
    degraded_means = [_degraded_mean(row, steps) for row, steps in known]
    for (row, steps), degraded_mean in islice(zip(known, degraded_means, strict=True), MAX_LADDER_MODELS):
        degraded_rank = 1 + sum(other > degraded_mean for other in degraded_means)
        metrics = loss_metrics(row.benchmark)
        for step, score in steps.items():
            rank = 1 + sum(other_steps.get(step, 0.0) > score for _, other_steps in known)
            metric = metrics.get(step, "")  # none for the clean step
            low, high = row.intervals.get(metric, (None, None))
            lost = None if low is None else row.metrics.get(metric)  # shown with its interval or not at all
            place = {"step": step, "score": score, "rank": rank, "degraded_rank": degraded_rank}
            data.append(_result_fields(row) | place | {"lost": lost, "low": low, "high": high})
    return data


def _degraded_mean(row: BoardRow, steps: Mapping[str, float]) -> float:
    """Return the mean score on the degraded steps of a ladder that a row has scores on, or 0 if there are none."""
    degraded = [score for step, score in steps.items() if step in loss_metrics(row.benchmark)]
    return fmean(degraded) if degraded else 0.0


def _answer_counts(row: BoardRow) -> dict[str, int]:
    """Return how often each answer was given, which is stored as an axis of the breakdown; empty if it was not counted."""
    histogram = BENCHMARKS[row.benchmark].card.histogram
    buckets = row.breakdown.get(histogram.name, {}) if histogram else {}
    return {answer: bucket.n or 0 for answer, bucket in buckets.items()}


# The functions that make the data of a benchmark's charts from its rows, best first. That of "wins" is missing, because it
# also needs the rows of the whole board (see `chart_data`).
_DATA: dict[Kind, Callable[[Sequence[RankedRow]], Data]] = {
    "size": _scatter_of(AGAINST["size"]),
    "speed": _scatter_of(AGAINST["speed"], "hardware"),
    "cost": _scatter_of(AGAINST["cost"]),
    "parts": _parts,
    "time": _time,
    "letters": _histogram,
    "ladder": _ladder,
}
