"""How sure a score is: intervals of a mean, and the paired comparison of two models.

Shares are from 0 to 1. Intervals are two-sided, 95 %. Items that share a document or image are
not independent, so they are drawn together (cluster bootstrap; Cameron, Gelbach & Miller 2008).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from submissions.confidence_interval import Interval, wilson

RESAMPLES = 10_000
SEED = 20_260_101
_CHUNK = 250  # resamples at a time: bounds memory

Floats = npt.NDArray[np.float64]


class PairedComparison(NamedTuple):
    """Two models on the same items: first minus second."""

    difference: float
    interval: Interval
    p_value: float  # McNemar's exact test on the items only one of them got right
    first_only: int
    second_only: int


def cluster_bootstrap(scores: Sequence[float], clusters: Sequence[str], resamples: int = RESAMPLES) -> Interval:
    """Percentile interval of the mean score, whole clusters redrawn. The same input gives the same interval."""
    return _interval(_redrawn_means(np.asarray(scores, dtype=np.float64), clusters, resamples))


def mean_interval(scores: Sequence[float], clusters: Sequence[str]) -> Interval:
    """The interval of a mean score: Wilson's where items are independent and right or wrong, else by bootstrap."""
    mean = sum(scores) / len(scores)
    independent = len(set(clusters)) == len(clusters)
    if (independent and set(scores) <= {0.0, 1.0}) or len(set(scores)) == 1:
        return wilson(mean, len(set(clusters)))  # all alike: a bootstrap would claim certainty
    return cluster_bootstrap(scores, clusters)


def paired_comparison(first: Sequence[float], second: Sequence[float], clusters: Sequence[str]) -> PairedComparison:
    """Two models' right-or-wrong scores on the same items, in the same order. Raises ValueError if lengths differ."""
    if not len(first) == len(second) == len(clusters):
        raise ValueError("the two models must have answered the same items")
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    first_only, second_only = int((a > b).sum()), int((b > a).sum())
    flipped = first_only + second_only
    from scipy.stats import binomtest  # here, for it takes longer to import than all the rest

    p_value = float(binomtest(first_only, flipped).pvalue) if flipped else 1.0
    interval = _interval(_redrawn_means(a - b, clusters, RESAMPLES))
    return PairedComparison(float((a - b).mean()), interval, p_value, first_only, second_only)


def _interval(means: Floats) -> Interval:
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(float(low), float(high))


def _redrawn_means(scores: Floats, clusters: Sequence[str], resamples: int) -> Floats:
    _, member = np.unique(np.asarray(clusters), return_inverse=True)
    count = int(member.max()) + 1
    # A cluster's sum and size in one complex number: one gather draws both.
    packed = (np.bincount(member, scores, count) + 1j * np.bincount(member, minlength=count)).astype(np.complex64)
    random = np.random.default_rng(SEED)
    means = np.empty(resamples)
    for start in range(0, resamples, _CHUNK):
        size = min(_CHUNK, resamples - start)
        drawn = packed[random.integers(0, count, (size, count), dtype=np.uint32)].sum(axis=1)
        means[start : start + size] = drawn.real / drawn.imag
    return means
