"""Engine parity: ask the same questions with the built-in engine and with a server, and compare the answers.

`python -m evaluator parity MODEL` asks evenly spaced questions of a benchmark both ways. Nothing is published.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evaluator.core.errors import Details
from evaluator.job.process import OnProgress
from evaluator.results.evaluate import evaluate
from evaluator.results.task import Task, evenly_spaced, load_items
from evaluator.statistics.paired import PairedComparison, paired_comparison

MAX_DIFFERENCES_SHOWN = 10
SHOWN_CHARS = 40  # of an answer, before and after the first difference


@dataclass(frozen=True)
class Difference:
    """A question that the two engines answered differently."""

    id: str
    position: int  # of the first different character
    built_in: str  # the answer from a little before that character on
    served: str


@dataclass(frozen=True)
class Parity:
    """The scores of both engines, from 0 to 1, and their difference (built-in minus server)."""

    n: int
    built_in: float
    served: float
    comparison: PairedComparison
    different: list[Difference]  # all questions whose answers differ in text

    @property
    def agrees(self) -> bool:
        """Whether the scores do not differ significantly: the 95 % interval of the difference includes 0."""
        return self.comparison.interval.low <= 0 <= self.comparison.interval.high


def parity(task: Task, served: Task, items: int, out: Path, show: OnProgress = lambda *_: None) -> Parity:
    """Ask `items` questions with both engines and compare them.

    `task` runs the built-in engine, `served` is the same task on a server. Raises DataError, EvaluationError.
    """
    everything, dataset = load_items(replace(task, limit=None))
    chosen = evenly_spaced(everything, items)
    dataset = dataset.evolve(n=len(chosen))
    details: list[Details] = [
        evaluate(replace(run, latency_samples=0, cache=None), chosen, dataset, out / name, on_progress=show).details
        for name, run in (("built-in", task), ("served", served))
    ]
    metric = task.benchmark.item_metric.name
    scores = [[float(row[metric]) for row in rows] for rows in details]
    different = []
    for row, served_row in zip(*details, strict=True):
        if row["answers"] != served_row["answers"]:
            different.append(_difference(row["id"], row["answers"], served_row["answers"]))
    comparison = paired_comparison(scores[0], scores[1], [item.cluster for item in chosen])
    means = [sum(values) / len(values) for values in scores]
    return Parity(len(chosen), means[0], means[1], comparison, different)


def _difference(item_id: str, built_in: Sequence[str], served: Sequence[str]) -> Difference:
    """Return where the answers to the prompts of an item first differ."""
    one, other = next(pair for pair in zip(built_in, served, strict=True) if pair[0] != pair[1])
    pairs = zip(one, other, strict=False)
    position = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
    shown = slice(max(0, position - SHOWN_CHARS), position + SHOWN_CHARS)
    return Difference(item_id, position, one[shown], other[shown])
