"""The breakdown of a result: its scores by axis and bucket."""

from typing import NamedTuple

from evaluator.benchmarks import BENCHMARKS
from submissions.records.index_rows import BoardRow

BIG_LOSS = 10.0  # points


class BucketKey(NamedTuple):
    axis: str
    bucket: str


class Part(NamedTuple):
    """The score on some of the questions."""

    score: float  # headline score, in percent
    n: int | None


def ladder_of(row: BoardRow) -> dict[str, float]:
    """Return the scores of a row by step of the degradation ladder, from clean to worst; empty if there are none."""
    card = BENCHMARKS[row.benchmark].card
    axis = next((axis for axis in card.axes if axis.name == card.ladder), None)
    parts = row.breakdown.get(axis.name, {}) if axis else {}
    scores = {step: parts[step].score for step in (axis.buckets if axis else ()) if step in parts}
    known = {step: score for step, score in scores.items() if score is not None}
    return known if len(known) > 1 else {}


def loss_metrics(benchmark: str) -> dict[str, str]:
    """Return the names of the metrics of what is lost on each degraded step of the ladder."""
    return {metric.loss_on: metric.name for metric in BENCHMARKS[benchmark].metrics if metric.loss_on}


def first_big_loss(row: BoardRow) -> str | None:
    """Return the first step at which a row loses more than BIG_LOSS points against the clean pictures.

    It is "" if there is none, and None if nothing was asked on degraded pictures.
    """
    losses = {step: row.metrics.get(metric) for step, metric in loss_metrics(row.benchmark).items()}
    known = {step: loss for step, loss in losses.items() if loss is not None}
    return next((step for step, loss in known.items() if loss > BIG_LOSS), "") if known else None


def parts_of(row: BoardRow) -> dict[BucketKey, Part]:
    """Return the parts of a row that have a score, on the axes that its benchmark has today."""
    axes = {axis.name for axis in BENCHMARKS[row.benchmark].card.axes}
    found: dict[BucketKey, Part] = {}
    for axis, buckets in row.breakdown.items():
        if axis not in axes:
            continue
        for name, bucket in buckets.items():
            if bucket.score is not None:
                found[BucketKey(axis, name)] = Part(bucket.score, bucket.n)
    return found
