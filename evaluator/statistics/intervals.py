"""Compute confidence intervals of accuracies, mean scores and their differences.

`build_result` calls `mean_interval` for each metric that is a mean over items. The board calls `difference_interval` for
two results without a paired test, and `wilson` for scores on parts of the questions.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

EQUAL_SCORES = 1e-9  # scores that differ by less differ by rounding only


def are_equal(scores: npt.ArrayLike) -> bool:
    """Return whether all scores are the same. Then their variance is 0, from which no interval follows."""
    return bool(np.ptp(scores) < EQUAL_SCORES)


class Interval(NamedTuple):
    """A two-sided confidence interval."""

    low: float
    high: float


def wilson(share: float, n: float, confidence: float = 0.95, quantile: float | None = None) -> Interval:
    """Return Wilson's two-sided score interval of an accuracy (Wilson, JASA 22 (1927)).

    `share` is the accuracy, from 0 to 1. `n` may be an effective number of items. `quantile` replaces the quantile
    of the normal distribution, and then `confidence` is not used. For the mean of scores between 0 and 1 the interval is
    conservative: their variance is at most that of 0-or-1 scores.
    """
    z = quantile or NormalDist().inv_cdf((1 + confidence) / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half_width = z / (1 + z * z / n) * (max(0.0, share * (1 - share)) / n + z * z / (4 * n * n)) ** 0.5
    return Interval(max(0.0, centre - half_width), min(1.0, centre + half_width))


def variance_of_weighted_mean(scores: npt.ArrayLike, weights: npt.ArrayLike) -> float:
    """Return the variance of a weighted mean of at least two independent scores."""
    values = np.asarray(scores, dtype=np.float64)
    weight = np.asarray(weights, dtype=np.float64)
    n = len(values)
    mean = float(np.average(values, weights=weight))
    return float((weight**2 * (values - mean) ** 2).sum() / weight.sum() ** 2 * n / (n - 1))


def mean_interval(
    scores: Sequence[float], clusters: Sequence[str], lowest: float = 0.0, weights: Sequence[float] | None = None
) -> Interval:
    """Return the 95 % Wilson interval of a mean score on the effective number of items.

    The effective number is how many independent 0-or-1 items would give a mean with the same variance, which is
    estimated from the spread between clusters (Korn & Graubard, Survey Methodology 24 (1998)). The quantile is that of
    a t distribution, whose degrees of freedom are fewer if few clusters make the spread, as for a score near 100 %.

    Args:
        scores: of the items, from `lowest` to 1; at least one
        clusters: for each item, the id of the document or image that it shares with others. Only clusters are independent
        lowest: the lowest possible score. If it is not 0, scores are scaled to 0 to 1, and the interval is scaled back
        weights: of the items in a weighted mean, all above 0; None: all equal
    """
    if lowest:
        span = 1 - lowest
        low, high = mean_interval([(score - lowest) / span for score in scores], clusters, 0.0, weights)
        return Interval(lowest + span * low, lowest + span * high)
    values = np.asarray(scores, dtype=np.float64)
    weight = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    n = len(values)
    mean = min(1.0, max(0.0, float(np.average(values, weights=weight))))
    _, cluster_of_item = np.unique(np.asarray(clusters), return_inverse=True)  # numbers from 0
    n_clusters = int(cluster_of_item.max()) + 1
    if n_clusters == 1:
        return wilson(mean, 1)  # the spread between clusters is unknown, so all items count as one
    if n_clusters == n and set(np.unique(values)) <= {0.0, 1.0} and len(np.unique(weight)) == 1:
        return wilson(mean, n)  # independent items, right or wrong
    from scipy.special import stdtrit  # the quantiles of Student's t; imported here because it is slow to import

    if are_equal(values):  # each cluster counts as one item
        return wilson(mean, n_clusters, quantile=float(stdtrit(n_clusters - 1, 0.975)))
    weighted_residuals = weight * (values - mean)
    residuals: npt.NDArray[np.float64] = np.bincount(cluster_of_item, weighted_residuals, n_clusters).astype(np.float64)
    quantile = float(stdtrit(_degrees_of_freedom(residuals), 0.975))
    between_clusters = n_clusters / (n_clusters - 1) * float((residuals**2).sum()) / float(weight.sum()) ** 2
    # Clusters that balance by chance must not raise the effective number of items.
    variance = max(between_clusters, variance_of_weighted_mean(values, weight))
    return wilson(mean, mean * (1 - mean) / variance, quantile=quantile)


def _degrees_of_freedom(residuals: npt.NDArray[np.float64]) -> float:
    """Return the degrees of freedom, at least 1, of a variance that is estimated from one residual of each cluster.

    The number of clusters minus 1 is too many if most clusters have the same score. Kish's effective number of clusters is
    too few. So the geometric mean of both is returned: in simulations, intervals with it contain a true score of 97 % in 94
    to 96 % of cases (`make bench PARTS=statistics`).
    """
    most = len(residuals) - 1
    squares = residuals**2
    # All residuals are 0 if each cluster has the mean of the whole set, such as one right and one wrong answer in each.
    effective_clusters = float(squares.sum() ** 2 / (squares**2).sum()) if squares.any() else most
    return max(1.0, float((most * min(most, effective_clusters)) ** 0.5))


def difference_interval(scores: tuple[float, float], first: Interval, second: Interval) -> Interval:
    """Return the interval of the first score minus the second, from the interval of each (Newcombe 1998, method 10).

    It is for scores on different items, or for scores whose answers are unknown. `paired.py` compares answers to the same
    items.
    All values have one unit, such as percent.
    """
    a, b = scores
    difference = a - b
    down = ((a - first.low) ** 2 + (second.high - b) ** 2) ** 0.5
    up = ((first.high - a) ** 2 + (b - second.low) ** 2) ** 0.5
    return Interval(difference - down, difference + up)
