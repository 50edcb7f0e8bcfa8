"""Describe the items of a quarter by the answers of all its models: how hard they are, and whether they tell models apart.

`ko-fresh statistics` prints them as a table. Arrays named `correct` have shape (models, items), with values from 0 to 1.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.quarters.books import Books

AXES = ("kind", "layout", "version")  # axes of ko-fresh by which items are grouped
MIN_MODELS = 5  # a correlation over fewer models says nothing about how items tell models apart


@dataclass(frozen=True)
class BucketStatistics:
    """The items of one bucket of an axis. Shares are from 0 to 1."""

    axis: str
    bucket: str
    n: int
    mean_correct: float  # share of models that answer an item correctly, averaged over the items
    # Correlation of an item with the rest of the set over models, averaged over the items that have one, see
    # `_discrimination`. None if no item has one.
    discrimination: float | None
    solved_by_all: int  # items that every model answers correctly
    solved_by_none: int


def item_statistics(books: Books) -> list[BucketStatistics]:
    """Return the statistics of the whole set, then of each bucket of AXES. There must be a result."""
    metric = books.benchmark.item_metric.name
    correct = np.array([[score.values[metric] for score in scores] for scores in map(books.scores_of, books.answers)])
    discrimination = _discrimination(correct)
    all_items = np.arange(len(books.items))
    statistics = [_of_bucket("all", "", correct, discrimination, all_items)]
    for axis in AXES:
        buckets = [item.buckets[axis] for item in books.items]
        for bucket in sorted(set(buckets)):
            chosen = all_items[np.array(buckets) == bucket]
            statistics.append(_of_bucket(axis, bucket, correct, discrimination, chosen))
    return statistics


def _of_bucket(
    axis: str,
    bucket: str,
    correct: npt.NDArray[np.float64],
    discrimination: npt.NDArray[np.float64],
    chosen: npt.NDArray[np.int_],
) -> BucketStatistics:
    """Return the statistics of the items with the numbers `chosen`. `discrimination` has one value per item of the set."""
    of_chosen = discrimination[chosen]
    known = of_chosen[~np.isnan(of_chosen)]
    shares = correct[:, chosen].mean(axis=0)
    return BucketStatistics(
        axis=axis,
        bucket=bucket,
        n=len(shares),
        mean_correct=float(shares.mean()),
        discrimination=float(known.mean()) if len(known) else None,
        solved_by_all=int((shares == 1).sum()),
        solved_by_none=int((shares == 0).sum()),
    )


def _discrimination(correct: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return each item's Pearson correlation, over models, with the sum of the other items (corrected item-total).

    It is NaN for an item on which all models score alike, or for which they have the same sum over the other items. It is NaN
    for all items if there are fewer than MIN_MODELS models.
    """
    if len(correct) < MIN_MODELS:
        return np.full(correct.shape[1], np.nan)
    rest = correct.sum(axis=1, keepdims=True) - correct  # of each model, the sum over the other items
    item = correct - correct.mean(axis=0)
    rest = rest - rest.mean(axis=0)
    covariance = (item * rest).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):  # 0 / 0 is the NaN that is wanted
        correlation: npt.NDArray[np.float64] = covariance / np.sqrt((item**2).sum(axis=0) * (rest**2).sum(axis=0))
    return correlation
