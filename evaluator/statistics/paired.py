"""Compare two models on the same items (paired comparison).

Scores are from 0 to 1. Intervals are two-sided, 95 %. Items that share a document or image are not independent, so the
difference of two models is resampled by document (cluster bootstrap; Cameron, Gelbach & Miller 2008).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.statistics.intervals import Interval, difference_interval, wilson

RESAMPLES = 10_000
SEED = 20_260_101  # any fixed number, so that the same answers always give the same interval
_CHUNK = 250  # resamples computed at a time, to bound memory
_DECIMALS = 12  # to which differences and sums of scores are rounded, so that 0.1 + 0.2 − 0.3 is 0

Floats = npt.NDArray[np.float64]  # one score for each item


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
    """Compare two models' scores on the same items, given in the same order.

    `clusters` has the id of the document or image of each item. Raises ValueError if lengths differ.
    """
    if not len(first) == len(second) == len(clusters):
        raise ValueError("the two models must have answered the same items")
    a = np.asarray(first, dtype=np.float64)
    b = np.asarray(second, dtype=np.float64)
    differences = (a - b).round(_DECIMALS)
    if len(set(clusters)) == 1:
        # Resamples of a single cluster are all the same. As in `mean_interval`, it counts as one item.
        means = float(a.mean()), float(b.mean())
        interval = difference_interval(means, wilson(means[0], 1), wilson(means[1], 1))
    else:
        interval = _interval(_bootstrap_means(differences, clusters, resamples))
    return PairedComparison(
        difference=float(differences.mean()),
        interval=interval,
        p_value=paired_p_value(a, b, clusters),
        first_only=int((differences > 0).sum()),
        second_only=int((differences < 0).sum()),
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

    If both models are equally good, each item that only one of them got right is the first model's with probability 1/2. The
    p value is twice the probability that one model has at most the smaller count: for 1 and 5, 2 · (1 + 6) / 2^6 = 0.22.
    """
    discordant = first_only + second_only
    if not discordant:
        return 1.0
    from scipy.special import bdtr  # imported here because it is slow to import; scipy.stats is slower still

    smaller = min(first_only, second_only)
    return min(1.0, 2 * float(bdtr(smaller, discordant, 0.5)))


def _cluster_test(differences: Floats, clusters: Sequence[str]) -> float:
    """Return the p value of a t test on the clusters' summed differences.

    The statistic is the sum of all clusters' sums divided by the square root of the sum of their squares. The mean is not
    subtracted from the sums first, because by the hypothesis it is 0. This is close to the test of Yang, Sun & Hardin
    (Biometrical Journal 52 (2010)), but with a t distribution, which is wider for few clusters.
    """
    _, cluster_of_item = np.unique(np.asarray(clusters), return_inverse=True)  # numbers from 0
    sums = np.bincount(cluster_of_item, differences).round(_DECIMALS)
    sum_of_squares = float((sums**2).sum())
    if not sum_of_squares or len(sums) < 2:
        return 1.0
    from scipy.special import stdtr  # Student's t distribution; imported here because it is slow to import

    statistic = abs(float(sums.sum())) / sum_of_squares**0.5
    return float(2 * stdtr(len(sums) - 1, -statistic))


def _interval(means: Floats) -> Interval:
    """Return the 95 % interval of resampled means."""
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(float(low), float(high))


def _bootstrap_means(scores: Floats, clusters: Sequence[str], resamples: int) -> Floats:
    """Return the mean score of each resample. A resample is as many clusters as the set has, drawn with replacement."""
    _, cluster_of_item = np.unique(np.asarray(clusters), return_inverse=True)  # numbers from 0
    n_clusters = int(cluster_of_item.max()) + 1
    sums = np.bincount(cluster_of_item, scores, n_clusters).round(_DECIMALS)
    sizes = np.bincount(cluster_of_item, minlength=n_clusters)
    # A complex number holds each cluster's sum and size, so that one indexing operation draws both.
    sums_and_sizes = sums + 1j * sizes
    random = np.random.default_rng(SEED)
    means = np.empty(resamples)
    for start in range(0, resamples, _CHUNK):
        size = min(_CHUNK, resamples - start)
        drawn_clusters = random.integers(0, n_clusters, (size, n_clusters), dtype=np.uint32)
        drawn = sums_and_sizes[drawn_clusters].sum(axis=1)
        means[start : start + size] = drawn.real / drawn.imag
    return means
