"""What a number of items can tell: the interval of an accuracy, and how small a difference shows. Shares are from 0 to 1."""

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

DISCORDANT = 0.12  # share of items that only one of two models alike gets right


class Interval(NamedTuple):
    low: float
    high: float


def wilson(share: float, n: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval for an accuracy, two-sided. Source: Wilson, JASA 22 (1927).

    For the mean of scores between 0 and 1 it is conservative: their variance is at most that of right and wrong.
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def smallest_difference(n: int, discordant: float = DISCORDANT, power: float = 0.8, error: float = 0.05) -> float:
    """The difference of two accuracies on the same `n` items that a paired test finds with this power.

    Source: Connor, Biometrics 43 (1987), the sample size of McNemar's test, solved for the difference.
    """
    z, z_power = NormalDist().inv_cdf(1 - error / 2), NormalDist().inv_cdf(power)
    difference = 0.0
    for _ in range(50):  # the right side falls slowly with the difference, so this settles
        spread = sqrt(max(0.0, discordant - difference**2))
        difference = min((z * sqrt(discordant) + z_power * spread) / sqrt(n), discordant)
    return difference
