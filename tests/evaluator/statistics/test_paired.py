"""Test the coverage of intervals and paired comparisons in simulations with a known truth."""

import numpy as np
import pytest
from scipy import stats

from evaluator.statistics.intervals import Interval, mean_interval, wilson
from evaluator.statistics.paired import paired_comparison
from evaluator.statistics.power import DISCORDANT, smallest_difference

N_CLUSTERS, SIZE = 120, 4


@pytest.mark.parametrize("truth", [0.02, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("n", [45, 200, 1500])
def test_wilson_covers_truth(truth: float, n: int) -> None:
    shares = stats.binom(n, truth).rvs(2000, random_state=1) / n
    inside = np.mean([i.low <= truth <= i.high for i in (wilson(float(s), n) for s in shares)])
    assert 0.92 <= inside <= 0.995


def test_wilson_matches_scipy() -> None:
    for right, n in [(0, 10), (7, 10), (45, 45), (918, 1500)]:
        expected = stats.binomtest(right, n).proportion_ci(method="wilson")
        assert wilson(right / n, n) == pytest.approx(Interval(expected.low, expected.high))


def _clustered(random: np.random.Generator, truth: float) -> tuple[list[float], list[str]]:
    """Return right-or-wrong scores and their clusters; each cluster has its own difficulty around the truth."""
    ease = random.beta(truth * 3, (1 - truth) * 3, N_CLUSTERS).repeat(SIZE)
    scores = (random.random(N_CLUSTERS * SIZE) < ease).astype(float)
    return scores.tolist(), [str(i // SIZE) for i in range(N_CLUSTERS * SIZE)]


@pytest.mark.parametrize("truth", [0.5, 0.9, 0.98])
def test_mean_interval_covers_clustered_scores(truth: float) -> None:
    random = np.random.default_rng(2)
    inside = naive = 0
    for _ in range(1000):
        scores, clusters = _clustered(random, truth)
        low, high = mean_interval(scores, clusters)
        inside += low <= truth <= high
        low, high = wilson(sum(scores) / len(scores), len(scores))
        naive += low <= truth <= high
    assert 0.925 <= inside / 1000 <= 0.975
    assert naive < inside, "treating items as independent gives intervals that are too narrow"


def test_mean_interval_covers_partial_scores() -> None:
    random = np.random.default_rng(3)
    inside = 0
    for _ in range(500):
        scores = random.beta(8, 2, 300)
        low, high = mean_interval(scores.tolist(), [str(i) for i in range(300)])
        inside += low <= 0.8 <= high
    assert 0.92 <= inside / 500 <= 0.98


def test_smallest_difference_has_80_percent_power() -> None:
    """Compute the power from the distribution of McNemar's exact test."""
    for n in (200, 500, 1500):
        difference = smallest_difference(n)
        for_first = (DISCORDANT + difference) / (2 * DISCORDANT)
        power = 0.0
        for discordant in range(1, n // 3):
            firsts = np.arange(discordant + 1)
            p_values = np.minimum(1, 2 * stats.binom.cdf(np.minimum(firsts, discordant - firsts), discordant, 0.5))
            found = stats.binom.pmf(firsts, discordant, for_first)[p_values < 0.05].sum()
            power += stats.binom.pmf(discordant, n, DISCORDANT) * found
        assert 0.79 <= power <= 0.81


def test_mean_interval_of_equal_scores_has_width() -> None:
    assert mean_interval([0.0] * 20, [str(i) for i in range(20)]).high > 0.1
    assert mean_interval([1.0] * 20, [str(i // 2) for i in range(20)]).low < 0.8


@pytest.mark.parametrize(("score", "lowest"), [(0.1, 0.0), (0.7, 0.0), (1 / 3, 0.0), (-0.25, -1 / 3)])
def test_mean_interval_of_scores_that_differ_by_rounding_has_width(score: float, lowest: float) -> None:
    scores = [score, score + 1e-16, *[score] * 98]
    items = [str(number) for number in range(100)]
    low, high = mean_interval(scores, items, lowest)
    assert low < score - 0.03 and high > score + 0.03


def test_paired_comparison_ignores_rounding_of_sums() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floating point, and the same in each cluster."""
    clusters = [str(number) for number in range(30) for _ in range(3)]
    compared = paired_comparison([0.1, 0.2, 0.0] * 30, [0.0, 0.0, 0.3] * 30, clusters)
    assert compared.p_value == 1.0 and compared.interval == (0.0, 0.0)
    one_more = paired_comparison([0.1 + 0.2, 0.1, 1.0], [0.3, 0.1, 0.0], ["a", "b", "c"])
    assert (one_more.first_only, one_more.second_only) == (1, 0)


def test_paired_comparison_of_equal_differences_contains_them() -> None:
    compared = paired_comparison([0.1] * 200, [0.0] * 200, [str(number) for number in range(200)])
    assert compared.interval == pytest.approx((0.1, 0.1), abs=1e-12)


def test_paired_comparison_of_one_cluster_knows_nothing() -> None:
    compared = paired_comparison([1, 1, 0], [0, 0, 0], ["a"] * 3)
    assert compared.p_value == 1.0 and compared.interval.low < 0 < compared.interval.high


@pytest.mark.slow
def test_paired_comparison_counts_flips_and_covers_difference() -> None:
    random = np.random.default_rng(4)
    covered = rejected = 0
    for _ in range(100):
        base = random.random(400)
        first = (base < 0.6).astype(float)
        second = (np.roll(base, 1) < 0.6).astype(float)
        result = paired_comparison(first.tolist(), second.tolist(), [str(i) for i in range(400)])
        covered += result.interval.low <= 0 <= result.interval.high
        rejected += result.p_value < 0.05
    assert covered / 100 >= 0.91 and rejected / 100 <= 0.09
    better = paired_comparison([1, 1, 1, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 0, 0], [str(i) for i in range(8)])
    assert (better.first_only, better.second_only, better.difference) == (6, 1, 0.625)
    with pytest.raises(ValueError, match="same items"):
        paired_comparison([1.0], [1.0, 0.0], ["a"])
