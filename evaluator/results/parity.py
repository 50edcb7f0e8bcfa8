"""Engine parity: the same questions through the built-in engine and through a server, and what differs.

`python -m evaluator parity MODEL` asks some questions, evenly spread over a benchmark, both ways. Nothing is published.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from evaluator.core.errors import Details
from evaluator.job.process import OnProgress
from evaluator.results.evaluate import evaluate
from evaluator.results.task import Task, evenly_spaced, load_items
from evaluator.statistics.paired import PairedComparison, paired_comparison

SHOWN = 10  # answers that differ


@dataclass(frozen=True)
class Difference:
    """A question that the two engines answered otherwise."""

    id: str
    built_in: list[str]  # its answers, one a prompt
    served: list[str]


@dataclass(frozen=True)
class Parity:
    """The built-in engine minus the server, scores from 0 to 1."""

    n: int
    built_in: float
    served: float
    comparison: PairedComparison
    different: list[Difference]  # all answers that are not the same text

    @property
    def agrees(self) -> bool:
        """Whether the difference of the scores may be chance: its 95 % interval has 0 in it."""
        return self.comparison.interval.low <= 0 <= self.comparison.interval.high


def parity(task: Task, served: Task, items: int, out: Path, show: OnProgress = lambda *_: None) -> Parity:
    """Ask `items` questions by both; `served` is the task with its server. Raises DataError, EvaluationError."""
    everything, dataset = load_items(replace(task, limit=None))
    chosen = evenly_spaced(everything, items)
    dataset = dataset.evolve(n=len(chosen))
    details: list[Details] = [
        evaluate(replace(run, latency_samples=0, cache=None), chosen, dataset, out / name, on_progress=show).details
        for name, run in (("built-in", task), ("served", served))
    ]
    metric = task.benchmark.item_metric.name
    scores = [[float(row[metric]) for row in rows] for rows in details]
    different = [
        Difference(a["id"], a["answers"], b["answers"])
        for a, b in zip(*details, strict=True)
        if a["answers"] != b["answers"]
    ]
    comparison = paired_comparison(scores[0], scores[1], [item.cluster for item in chosen])
    means = [sum(own) / len(own) for own in scores]
    return Parity(len(chosen), means[0], means[1], comparison, different)
