"""Measure what an output that reads no picture earns: the same answer to every question, a dump, or an echo of the question.

Such an output must earn next to nothing under the headline that ranks models (docs/scoring.md). `python -m evaluator
strategies` prints the best ones; a benchmark's card declares the result as a baseline of kind "constant".
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Answer, Item
from submissions.config.paths import ASSETS


@dataclass(frozen=True)
class Strategy:
    """A way to answer without looking at the picture."""

    name: str
    text: str  # the output for every question; `{question}` stands for the question

    def output(self, question: str) -> str:
        """Return the output for a question."""
        return self.text.replace("{question}", question)


@dataclass(frozen=True)
class Earned:
    """The score that a strategy earns on a test set."""

    strategy: Strategy
    score: float  # the headline in percent


def all_strategies() -> Iterator[Strategy]:
    """Yield the strategies of assets/strategies.json, and dumps of numbers and years, which would be long in that file."""
    texts_by_name = json.loads((ASSETS / "strategies.json").read_text(encoding="utf-8"))
    yield from (Strategy(name, text) for name, text in texts_by_name.items())
    numbers = " ".join(map(str, range(1000)))
    yield Strategy("numbers from 0 to 999", numbers)
    # For pages with up to three pictures: a missing description scores 0, and one too many is ignored.
    yield Strategy("numbers from 0 to 999 in every description", f"[image]{numbers}[/image]" * 3)
    yield Strategy("every year", ", ".join(f"{year}년" for year in range(1990, 2031)))


def earned(
    benchmark: Benchmark, items: Sequence[Item], on_progress: Callable[[int, int], None] = lambda *_: None
) -> list[Earned]:
    """Return what each strategy earns on the items of a benchmark, the best first.

    `on_progress` is called with the number of measured strategies and of all.
    """
    strategies = list(all_strategies())
    results = []
    for number, strategy in enumerate(strategies, 1):
        answers = [
            [Answer(prompt.id, strategy.output(prompt.question), "ok", 0.0) for prompt in benchmark.prompts(item)]
            for item in items
        ]
        totals = benchmark.aggregate(benchmark.score(items, answers))
        results.append(Earned(strategy, 100 * totals.get(benchmark.card.headline, 0.0)))
        on_progress(number, len(strategies))
    return sorted(results, key=lambda result: -result.score)
