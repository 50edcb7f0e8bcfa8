"""Paired comparison of two models on the same items.

Scores are from 0 to 1. Intervals are two-sided, 95 %. Items that share a document or image are not independent, so the
difference of two models is resampled by document (cluster bootstrap; Cameron, Gelbach & Miller 2008).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.statistics.intervals import Interval

RESAMPLES = 10_000
SEED = 20_260_101
_CHUNK = 250  # resamples computed at a time, to bound memory

Floats = npt.NDArray[np.float64]


class PairedComparison(NamedTuple):
    """The difference of two models on the same items, first minus second."""

    difference: float
    interval: Interval
    p_value: float  # two-sided
    first_only: int  # items on which the first model scores higher
    second_only: int


def paired_comparison(
    first: Sequence[float] | Floats,
    second: Sequence[float] | Floats,
    clusters: Sequence[str],
    resamples: int = RESAMPLES,
) -> PairedComparison:
    """Compare two models' scores on the same items, given in the same order. Raises ValueError if lengths differ."""
    if not len(first) == len(second) == len(clusters):
        raise ValueError("the two models must have answered the same items")
    a = np.asarray(first, dtype=np.float64)
    b = np.asarray(second, dtype=np.float64)
    interval = _interval(_bootstrap_means(a - b, clusters, resamples))
    return PairedComparison(
        float((a - b).mean()), interval, paired_p_value(a, b, clusters), int((a > b).sum()), int((b > a).sum())
    )


def paired_p_value(first: Floats, second: Floats, clusters: Sequence[str]) -> float:
    """Return the two-sided p value of the hypothesis that both models are equally good.

    Independent items with scores of 0 or 1 are tested by McNemar's exact test, all others by the sums of differences in
    each cluster.
    """
    if len(set(clusters)) == len(clusters) and set(np.unique([first, second])) <= {0.0, 1.0}:
        return _mcnemar(int((first > second).sum()), int((second > first).sum()))
    return _cluster_test(first - second, clusters)


def _mcnemar(first_only: int, second_only: int) -> float:
    """Return the p value of McNemar's exact test (Psychometrika 12 (1947)).

    It is a binomial test with probability 1/2 over the items that only one of the models got right.
    """
    if not first_only + second_only:
        return 1.0
    from scipy.stats import binomtest  # imported here because it is slow to import

    return float(binomtest(first_only, first_only + second_only).pvalue)


def _cluster_test(differences: Floats, clusters: Sequence[str]) -> float:
    """Return the p value of a t test on the clusters' summed differences.

    The statistic is the sum of all clusters' sums divided by the square root of the sum of their squares. This is close
    to the test of Yang, Sun & Hardin (Biometrical Journal 52 (2010)), with a t distribution for few clusters.
    """
    _, member = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.bincount(member, differences)
    squares = float((sums**2).sum())
    if not squares or len(sums) < 2:
        return 1.0
    from scipy.stats import t

    return float(2 * t.sf(abs(float(sums.sum())) / squares**0.5, len(sums) - 1))


def _interval(means: Floats) -> Interval:
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(float(low), float(high))


def _bootstrap_means(scores: Floats, clusters: Sequence[str], resamples: int) -> Floats:
    _, member = np.unique(np.asarray(clusters), return_inverse=True)
    count = int(member.max()) + 1
    # A complex number holds each cluster's sum and size, so that one indexing operation draws both.
    packed = (np.bincount(member, scores, count) + 1j * np.bincount(member, minlength=count)).astype(np.complex64)
    random = np.random.default_rng(SEED)
    means = np.empty(resamples)
    for start in range(0, resamples, _CHUNK):
        size = min(_CHUNK, resamples - start)
        drawn = packed[random.integers(0, count, (size, count), dtype=np.uint32)].sum(axis=1)
        means[start : start + size] = drawn.real / drawn.imag
    return means
