"""Describe the items of a quarter by the answers of all its models: how hard they are, and whether they tell models apart."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.quarters.books import Books

MIN_MODELS = 5  # fewer say nothing about how items tell models apart


@dataclass(frozen=True)
class PartStatistics:
    """The items of one bucket of an axis. Shares are from 0 to 1."""

    axis: str
    bucket: str
    n: int
    right: float  # mean share of models that are right
    # Mean correlation of an item with the rest of the set over models, over the items that some models get. None if there
    # are fewer than MIN_MODELS models or no such item.
    discrimination: float | None
    everybody: int  # items that every model gets
    nobody: int


def item_statistics(books: Books) -> list[PartStatistics]:
    """Return the statistics of the whole set, then of each kind and layout. There must be a result."""
    name = books.benchmark.item_metric.name
    right = np.array([[score.values[name] for score in scores] for scores in map(books.scores_of, books.answers)])
    discrimination = _discrimination(right)
    return list(_parts(books, right, discrimination))


def _parts(
    books: Books, right: npt.NDArray[np.float64], discrimination: npt.NDArray[np.float64]
) -> Iterator[PartStatistics]:
    everything = np.arange(len(books.items))
    yield _part("all", "", right, discrimination, everything)
    for axis in ("kind", "layout", "version"):
        buckets = [item.buckets[axis] for item in books.items]
        for bucket in sorted(set(buckets)):
            chosen = everything[np.array(buckets) == bucket]
            yield _part(axis, bucket, right, discrimination, chosen)


def _part(
    axis: str,
    bucket: str,
    right: npt.NDArray[np.float64],
    discrimination: npt.NDArray[np.float64],
    chosen: Sequence[int] | npt.NDArray[np.int_],
) -> PartStatistics:
    known = discrimination[chosen][~np.isnan(discrimination[chosen])]
    shares = right[:, chosen].mean(0)
    return PartStatistics(
        axis,
        bucket,
        len(shares),
        float(shares.mean()),
        float(known.mean()) if len(known) else None,
        int((shares == 1).sum()),
        int((shares == 0).sum()),
    )


def _discrimination(right: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return each item's correlation with the sum of the others over models; NaN where all models score alike.

    `right` has shape (models, items).
    """
    if len(right) < MIN_MODELS:
        return np.full(right.shape[1], np.nan)
    rest = right.sum(1, keepdims=True) - right
    item = right - right.mean(0)
    rest = rest - rest.mean(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: npt.NDArray[np.float64] = (item * rest).sum(0) / np.sqrt((item**2).sum(0) * (rest**2).sum(0))
    return found
