"""Compute the smallest difference between two models that a test set can detect."""

from math import sqrt
from statistics import NormalDist

DISCORDANT = 0.12  # share of items that only one of two similar models gets right
ITERATIONS = 50


def smallest_difference(n: int, discordant: float = DISCORDANT, power: float = 0.8, error: float = 0.05) -> float:
    """Return the smallest difference of two accuracies (0 to 1) on the same `n` items that McNemar's exact test detects.

    `discordant` is the share of items that only one of the models gets right, `power` the probability of detecting the
    difference, `error` the significance level. Source: Connor, Biometrics 43 (1987), the sample size of McNemar's test
    solved for the difference. Half an item is added because the exact test is discrete: the actual power is then 79 to 81 %
    for 200 items or more.
    """
    z_error = NormalDist().inv_cdf(1 - error / 2)
    z_power = NormalDist().inv_cdf(power)
    difference = 0.0
    for _ in range(ITERATIONS):  # fixed-point iteration, as `detectable` falls slowly while `difference` grows
        spread = sqrt(max(0.0, discordant - difference**2))
        detectable = (z_error * sqrt(discordant) + z_power * spread) / sqrt(n) + 0.5 / n
        difference = min(detectable, discordant)  # the largest possible one: one model got all discordant items right
    return difference
