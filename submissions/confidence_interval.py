"""The interval of an accuracy that is known by its share and number alone. Shares are from 0 to 1."""

from statistics import NormalDist
from typing import NamedTuple


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
