"""Test how much published results reveal about a private test set to somebody who owns many models.

The attack is adaptive. In one form, some answers begin with the guess, which EM and F1 read, and others only state it,
which F1 alone reads, so that each result counts the right guesses among two sets of items. In the other form each answer
begins with one guess and states another one, which strict EM reads. After some results the attacker estimates the right
descriptions by Gibbs sampling from everything that was published, and chooses the next guesses by the estimate.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.scoring.choices import LETTERS, choice_order, with_order_key
from evaluator.core.data_types import Answer, Item
from evaluator.results.build_result import scored_fields

ITEMS, RESULTS, ROUND = 200, 64, 16  # the attacker estimates anew after each round of results
SWEEPS = 200
HOTTEST = 400.0  # temperature of the first sweep
LEAST_VARIANCE = 6.0  # of an observation, in items². Smaller ones, though true, keep the sampler from moving
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Members = npt.NDArray[np.bool_]


class Attacker:
    """Guesses which of four descriptions is right, by what was published of earlier guesses."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._likely = np.full((ITEMS, len(LETTERS)), 1 / len(LETTERS))
        self._rows: list[Floats] = []
        self._counts: list[float] = []
        self._variances: list[float] = []
        self._current = random.integers(0, len(LETTERS), ITEMS)

    def guess(self) -> Ints:
        """Return a guess for each item, drawn from a flattened estimate so that it tests what is uncertain."""
        flat = self._likely**0.7
        chances = np.cumsum(flat / flat.sum(axis=1, keepdims=True), axis=1)
        found: Ints = (self._random.random((ITEMS, 1)) > chances).sum(axis=1)
        return found.clip(max=len(LETTERS) - 1)

    def observe(self, guess: Ints, members: Members, percent: float, points: float) -> None:
        """Learn the percentage of right guesses among `members`, which was published in steps of `points`."""
        row = np.zeros((ITEMS, len(LETTERS)))
        row[np.arange(ITEMS)[members], guess[members]] = 1
        items = members.sum() / 100
        self._rows.append(row.reshape(-1))
        self._counts.append(percent * items)
        self._variances.append(max(LEAST_VARIANCE, (points * items) ** 2 / 12))

    def estimate(self) -> Ints:
        """Return the most likely description of each item, by annealed Gibbs sampling."""
        rows = np.array(self._rows)
        weights = 1 / np.array(self._variances)
        weighted = rows * weights[:, None]
        products = weighted.T @ rows
        letters = len(LETTERS)
        current = self._current
        slopes = weighted.T @ (rows[:, np.arange(ITEMS) * letters + current].sum(axis=1) - np.array(self._counts))
        seen = np.zeros((ITEMS, letters))
        for sweep in range(SWEEPS):
            progress = min(1.0, sweep / (0.6 * SWEEPS))
            temperature = HOTTEST ** (1 - progress)
            noise = self._random.gumbel(size=(ITEMS, letters))
            for item in self._random.permutation(ITEMS):
                first = item * letters
                old = int(current[item])
                block = products[first : first + letters, first : first + letters]
                change = slopes[first : first + letters] - slopes[first + old]
                change = change + (block.diagonal() - 2 * block[:, old] + block[old, old]) / 2
                new = int((noise[item] - change / temperature).argmax())
                if new != old:
                    slopes = slopes + products[:, first + new] - products[:, first + old]
                    current[item] = new
            if progress == 1.0:
                seen[np.arange(ITEMS), current] += 1
        self._likely = (seen + 0.02) / (seen + 0.02).sum(axis=1, keepdims=True)
        best: Ints = self._likely.argmax(axis=1)
        return best


def revealed(benchmark: Benchmark, seed: int, *, two_guesses: bool) -> float:
    """Return the share of right descriptions that the attacker knows after RESULTS results."""
    random = np.random.default_rng(seed)
    kinds = ("보고서", "보도자료")
    items = with_order_key(
        [
            Item(str(n), "", "0", choices=tuple("0123"), buckets={"doc_type": kinds[n % 2]}, cluster=str(n))
            for n in range(ITEMS)
        ]
    )
    # The attacker knows a description by its text. `seen_as[item, label]` is its place in the item, where 0 is right.
    seen_as = np.array([random.permutation(len(LETTERS)) for _ in items])
    truth = (seen_as == 0).argmax(axis=1)
    attacker = Attacker(random)
    known = np.zeros(ITEMS, dtype=np.int64)
    for number in range(1, RESULTS + 1):
        stated = attacker.guess()
        first = attacker.guess() if two_guesses else stated
        begins = np.ones(ITEMS, dtype=np.bool_) if two_guesses else random.random(ITEMS) < 0.5
        answers = [
            _answers(item, seen_as[n, first[n]] if begins[n] else None, seen_as[n, stated[n]])
            for n, item in enumerate(items)
        ]
        fields = scored_fields(benchmark, items, benchmark.score(items, answers))
        observed = {"em": (first, begins), "em_strict": (stated, ~begins | (first == stated) | two_guesses)}
        if not two_guesses:
            observed["f1"] = (stated, np.ones(ITEMS, dtype=np.bool_))
        _observe(attacker, fields, observed)
        if number % ROUND == 0:
            known = attacker.estimate()
    return float((known == truth).mean())


def _answers(item: Item, first: int | None, stated: int) -> list[Answer]:
    """Return the answers to all rotations: the letter that they begin with, if any, and the stated one."""
    answers = []
    for turn in range(len(LETTERS)):
        order = choice_order(item, turn)
        begin = "" if first is None else LETTERS[order.index(first)]
        answers.append(Answer(f"{item.id}#{turn}", f"{begin}\n정답: {LETTERS[order.index(stated)]}", "ok", 0.0))
    return answers


def _observe(attacker: Attacker, fields: dict[str, Any], observed: dict[str, tuple[Ints, Members]]) -> None:
    """Let the attacker see every published share of right guesses. `observed` are the guesses that a metric reads."""
    totals = fields["results"]["ko-vdc"]
    steps = BENCHMARKS["ko-vdc"].card.coarse or {}
    for metric, (guess, members) in observed.items():
        if metric in totals:
            step = steps.get(metric, 0.5)
            attacker.observe(guess, members, totals[metric] * ITEMS / members.sum(), step)
    for place, bucket in enumerate(fields["breakdown"].get("doc_type", {}).values()):
        part = np.arange(ITEMS) % 2 == place
        for metric, (guess, read) in observed.items():
            members = part & read
            if metric != "f1":
                attacker.observe(guess, members, bucket.scores[metric] * part.sum() / members.sum(), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("two_guesses", [False, True])
def test_results_reveal_few_right_letters(two_guesses: bool) -> None:
    assert revealed(BENCHMARKS["ko-vdc"], seed=1, two_guesses=two_guesses) <= 0.6


@pytest.mark.slow
def test_exact_results_would_reveal_most_right_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same attack on the numbers that were published before."""
    benchmark = BENCHMARKS["ko-vdc"]
    monkeypatch.setattr(type(benchmark), "card", replace(benchmark.card, coarse=None))
    assert revealed(benchmark, seed=0, two_guesses=True) > 0.7
