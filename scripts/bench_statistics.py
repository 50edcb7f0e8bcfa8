"""Statistics rows of `make bench`: error rates, coverage and power of the board's paired tests and intervals.

Models and items are simulated with a probit item response model: a model is right on an item if its ability minus the item's
difficulty plus noise is positive. The seeds are fixed, so the numbers are the same in each run.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evaluator.benchmarks import BENCHMARKS
from evaluator.publication.item_scores import MAX_PAIRS, rounded_up
from evaluator.statistics.intervals import mean_interval
from evaluator.statistics.paired import paired_comparison, paired_p_value
from evaluator.statistics.power import smallest_difference
from leaderboard.data.ranking import ranked
from leaderboard.data.significance import paired_verdicts
from submissions.records.index_rows import BoardRow

CARD = BENCHMARKS["ko-vqa"].card
MODELS = 20
BOARDS = 300
PAIRS = 1000  # simulated pairs for a coverage
# Standard deviation of the noise, relative to 1.0 of the difficulties, by the share of items on which equal models differ.
NOISES = {12: 0.3, 33: 1.0, 40: 1.5}
NOISE = NOISES[12]
CLUSTER = 5  # items a figure, as in InfoChartQA
SHARED = 0.9  # share of the variance of a model's noise that is common to the items of a figure
RESAMPLES = 2000
TRUTHS = (0.5, 0.9, 0.97, 0.98)

Row = tuple[str, str, str]  # name, measured, expected
Rights = npt.NDArray[np.float64]  # models × items


@dataclass(frozen=True)
class Population:
    n: int
    cluster: int = 1
    noise: float = NOISE

    @property
    def clusters(self) -> list[str]:
        return [str(item // self.cluster) for item in range(self.n)]

    def rights(self, abilities: npt.NDArray[np.float64], seed: int) -> Rights:
        """Return 1.0 where a model is right on an item, shape (models, items).

        The difficulty of items is common to all models, the noise of a figure is not.
        """
        random = np.random.default_rng(seed)
        groups = -(-self.n // self.cluster)
        difficulty = random.normal(0, 1, self.n)
        own = random.normal(0, 1, (len(abilities), self.n))
        common = random.normal(0, 1, (len(abilities), groups)).repeat(self.cluster, axis=1)[:, : self.n]
        shared = SHARED if self.cluster > 1 else 0.0
        noise = self.noise * (shared**0.5 * common + (1 - shared) ** 0.5 * own)
        right: Rights = (abilities[:, None] - difficulty + noise > 0).astype(np.float64)
        return right


def statistics_rows() -> Iterator[Row]:
    for n, cluster in ((200, 1), (1500, 1), (1500, CLUSTER)):
        population = Population(n, cluster)
        what = f"{n:,} items" + (f", {cluster} a figure" if cluster > 1 else "")
        yield (
            f"{what}: boards of {MODELS} equal models with anything called ahead",
            f"{error_rate(population):.1%}",
            "≤ 5 %",
        )
        yield f"{what}: 95 % intervals that hold the difference", f"{coverage(population):.1%}", "95 %"
        before, after, wrong = resolved(population)
        boards = BOARDS // 10
        yield (
            f"{what}: adjacent pairs distinguished, intervals alone → paired",
            f"{before} → {after} of {boards * (MODELS - 1)}",
            "more",
        )
        yield f"{what}: boards with any pair in the wrong order", f"{wrong} of {boards}", "≤ 5 %"
    for disagreement, models in ((33, 20), (33, 50), (40, 50)):
        population = Population(200, noise=NOISES[disagreement])
        yield (
            f"200 items, equal models differ on {disagreement} %: boards of {models} with anything called ahead",
            f"{error_rate(population, models):.1%}",
            "≤ 5 %",
        )
    for n, cluster in ((200, 1), (1500, 1), (1500, CLUSTER)):
        what = f"{n:,} items" + (f", {cluster} a figure" if cluster > 1 else "")
        held = [f"{mean_coverage(n, cluster, truth):.1%}" for truth in TRUTHS]
        expected = "93 to 97 %"
        yield (
            f"{what}: intervals that hold a true score of {', '.join(f'{t:.0%}' for t in TRUTHS)}",
            ", ".join(held),
            expected,
        )
    for measured in (1, MODELS // 2):
        yield (
            f"200 items: boards of {MODELS} equal models, {measured} measured, with anything called ahead; rows without an interval",
            f"{mixed_error_rate(measured):.1%}",
            "≤ 5 %",
        )
    for n in (200, 1500):
        yield f"{n:,} items: power at {100 * smallest_difference(n):.1f} points", f"{power(n):.1%}", "79 to 81 %"


def error_rate(population: Population, models: int = MODELS) -> float:
    """Return the share of boards of equal models on which any model is called ahead."""
    wrong = 0
    for seed in range(BOARDS):
        rights = population.rights(np.zeros(models), seed)
        rows = ranked(_rows(rights, population))
        assert all(row.rank for row in rows)
        wrong += any(row.best != 1 or row.worst != models for row in rows)
    return wrong / BOARDS


def mixed_error_rate(measured: int) -> float:
    """Return the share of boards of equal models on which any is called ahead; most rows have no interval."""
    wrong = 0
    population = Population(200)
    for seed in range(BOARDS):
        rows = _rows(population.rights(np.zeros(MODELS), seed), population)
        rows[measured:] = [replace(row, kind="reported", intervals={}, paired=()) for row in rows[measured:]]
        board = ranked(rows)
        sizes = {"verified": measured, "reported": MODELS - measured}
        assert all(r.rank for r in board)
        wrong += any(r.best not in (None, 1) or r.worst not in (None, sizes[r.row.kind]) for r in board)
    return wrong / BOARDS


def mean_coverage(n: int, cluster: int, truth: float) -> float:
    """Return how often the interval of a score holds the truth. Items of a figure are equally easy."""
    random = np.random.default_rng(3)
    held = 0
    groups = n // cluster
    clusters = [str(item // cluster) for item in range(n)]
    for _ in range(PAIRS):
        ease = random.beta(3 * truth, 3 * (1 - truth), groups).repeat(cluster) if cluster > 1 else truth
        low, high = mean_interval((random.random(n) < ease).astype(float).tolist(), clusters)
        held += low <= truth <= high
    return held / PAIRS


def coverage(population: Population) -> float:
    """Return how often the interval of a paired difference holds the truth, for models as close as neighbours in a ranking."""
    random = np.random.default_rng(0)
    held = 0
    for seed in range(PAIRS):
        abilities = random.uniform(-1, 1) + np.array([0, random.uniform(0, 0.3)])
        truth = np.diff(_accuracy(abilities))[0]
        a, b = population.rights(abilities, seed)
        low, high = paired_comparison(b, a, population.clusters, RESAMPLES).interval
        held += low <= truth <= high
    return held / PAIRS


def resolved(population: Population) -> tuple[int, int, int]:
    """Return three counts: adjacent pairs separated by intervals alone, by paired tests, and boards with a wrong order."""
    random = np.random.default_rng(1)
    before = 0
    after = 0
    wrong = 0
    for seed in range(BOARDS // 10):
        abilities = np.sort(random.uniform(-1, 1, MODELS))[::-1]
        rows = _rows(population.rights(abilities, seed), population)
        ahead = paired_verdicts(rows, {row.key for row in rows}).ahead
        wrong += any(first > second for first, second in ahead)  # keys are in the order of the abilities
        board = [ranked_row.row for ranked_row in ranked(rows)]
        for upper, lower in itertools.pairwise(board):
            before += (upper.interval or (0, 0))[0] > (lower.interval or (0, 0))[1]
            after += (upper.key, lower.key) in ahead
    return before, after, wrong


def power(n: int) -> float:
    """Return how often McNemar's test detects the difference from `smallest_difference`, which should be 80 %."""
    difference = smallest_difference(n)
    discordant = 0.12
    random = np.random.default_rng(2)
    found = 0
    tests = PAIRS * 10
    for _ in range(tests):
        first, second, _ = random.multinomial(
            n, [(discordant + difference) / 2, (discordant - difference) / 2, 1 - discordant]
        )
        a = np.r_[np.ones(first), np.zeros(n - first)]
        b = np.r_[np.zeros(first), np.ones(second), np.zeros(n - first - second)]
        found += paired_p_value(a, b, [str(i) for i in range(n)]) < 0.05
    return found / tests


def _accuracy(abilities: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    from scipy.stats import norm

    accuracy: npt.NDArray[np.float64] = norm.cdf(abilities / (1 + NOISE**2) ** 0.5)
    return accuracy


def _rows(rights: Rights, population: Population) -> list[BoardRow]:
    """Return the rows of a board. Each is compared with the rows before it, as a worker does."""
    clusters = population.clusters
    rows = []
    for number, own in enumerate(rights):
        differences = [float((own - rights[other]).mean()) for other in range(number)]
        nearest = sorted(range(number), key=lambda other: abs(differences[other]))[:MAX_PAIRS]
        pairs = [
            [_key(other), np.sign(differences[other]), rounded_up(paired_p_value(own, rights[other], clusters))]
            for other in nearest
        ]
        low, high = mean_interval(own.tolist(), clusters)
        rows.append(
            BoardRow(
                path="",
                blob="",
                key=_key(number),
                benchmark="ko-vqa",
                benchmark_version=BENCHMARKS["ko-vqa"].version,
                model=f"bench/{number}",
                role="model",
                split=CARD.split,
                dataset="bench",
                outcome="scored",
                kind="verified",
                paired=tuple((other, sign, p) for other, sign, p in pairs),
                headline="score",
                metrics={"score": 100 * float(own.mean())},
                intervals={"score": (100 * low, 100 * high)},
            )
        )
    return rows


def _key(number: int) -> str:
    return f"{number:032x}"
