"""Measure what an output that reads no picture earns: the same answer to every question, a dump, or an echo of the question.

A headline that ranks models must not be had so (docs/scoring.md).
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Answer, Item
from submissions.config.paths import ASSETS


@dataclass(frozen=True)
class Strategy:
    """A way to answer without looking."""

    name: str
    text: str  # `{question}` stands for the question

    def output(self, question: str) -> str:
        return self.text.replace("{question}", question)


@dataclass(frozen=True)
class Earned:
    """What a strategy earns on a set."""

    strategy: Strategy
    score: float  # the headline in percent


def all_strategies() -> Iterator[Strategy]:
    """Yield the strategies of assets/strategies.json, and dumps of numbers, years and letters."""
    written = json.loads((ASSETS / "strategies.json").read_text(encoding="utf-8"))
    yield from (Strategy(name, text) for name, text in written.items())
    numbers = " ".join(map(str, range(1000)))
    yield Strategy("numbers from 0 to 999", numbers)
    yield Strategy("numbers from 0 to 999 in every description", f"[image]{numbers}[/image]" * 3)
    yield Strategy("every year", ", ".join(f"{year}년" for year in range(1990, 2031)))


def earned(
    benchmark: Benchmark, items: Sequence[Item], on_progress: Callable[[int, int], None] = lambda *_: None
) -> list[Earned]:
    """Return what each strategy earns on the items of a benchmark, the best first."""
    strategies = list(all_strategies())
    found = []
    for number, strategy in enumerate(strategies, 1):
        answers = [
            [Answer(prompt.id, strategy.output(prompt.question), "ok", 0.0) for prompt in benchmark.prompts(item)]
            for item in items
        ]
        totals = benchmark.aggregate(benchmark.score(items, answers))
        found.append(Earned(strategy, 100 * totals.get(benchmark.card.headline, 0.0)))
        on_progress(number, len(strategies))
    return sorted(found, key=lambda one: -one.score)
