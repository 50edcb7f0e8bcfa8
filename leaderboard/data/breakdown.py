"""Read the breakdown of a result: its headline score on parts of the questions.

A part is a bucket of an axis, for example "fax" of the axis "version" (image quality) of ko-fresh. The benchmark's card
declares the axes. One axis may be a ladder: its buckets are steps, of which the first has clean images and the others have
the same questions on degraded images.
"""

from typing import NamedTuple

from evaluator.benchmarks import BENCHMARKS
from submissions.records.index_rows import BoardRow

BIG_LOSS = 10.0  # points


class BucketKey(NamedTuple):
    axis: str
    bucket: str


class Part(NamedTuple):
    """The score on a part of the questions."""

    score: float  # headline score, in percent
    n: int | None  # number of questions


def ladder_of(row: BoardRow) -> dict[str, float]:
    """Return the scores of a row by step of the ladder, in percent, in the order of the card: clean first.

    Return an empty dict if the benchmark has no ladder, or the row has a score on fewer than two steps.
    """
    card = BENCHMARKS[row.benchmark].card
    axis = next((axis for axis in card.axes if axis.name == card.ladder), None)
    if axis is None:
        return {}
    buckets = row.breakdown.get(axis.name, {})
    scores = {step: buckets[step].score for step in axis.buckets if step in buckets}
    known = {step: score for step, score in scores.items() if score is not None}
    return known if len(known) > 1 else {}


def loss_metrics(benchmark: str) -> dict[str, str]:
    """Return the name of the metric of the loss against clean images, by degraded step of the ladder."""
    return {metric.loss_on: metric.name for metric in BENCHMARKS[benchmark].metrics if metric.loss_on}


def first_big_loss(row: BoardRow) -> str | None:
    """Return the first step at which a row loses more than BIG_LOSS points against the clean images.

    Return "" if it loses that much on no step, and None if no loss was measured.
    """
    losses = {step: row.metrics.get(metric) for step, metric in loss_metrics(row.benchmark).items()}
    known = {step: loss for step, loss in losses.items() if loss is not None}
    if not known:
        return None
    return next((step for step, loss in known.items() if loss > BIG_LOSS), "")


def parts_of(row: BoardRow) -> dict[BucketKey, Part]:
    """Return the parts of a row that have a score.

    Axes that the benchmark's card does not declare are left out: an old result may have some, and counts of answers are
    stored as an axis too.
    """
    axes = {axis.name for axis in BENCHMARKS[row.benchmark].card.axes}
    parts: dict[BucketKey, Part] = {}
    for axis, buckets in row.breakdown.items():
        if axis not in axes:
            continue
        for name, bucket in buckets.items():
            if bucket.score is not None:
                parts[BucketKey(axis, name)] = Part(bucket.score, bucket.n)
    return parts
