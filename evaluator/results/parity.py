"""Ask the same questions with the built-in engine and with a model server, and compare the answers (engine parity).

`python -m evaluator parity MODEL` asks evenly spaced questions of a benchmark both ways, so that an operator sees whether
results of a server may be compared with others. Nothing is published.
"""

import os.path
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evaluator.core.errors import Details
from evaluator.job.events import OnProgress
from evaluator.results.evaluate import evaluate
from evaluator.results.task import Task, evenly_spaced, load_items
from evaluator.statistics.paired import PairedComparison, paired_comparison

MAX_DIFFERENCES_SHOWN = 10
SHOWN_CHARS = 40  # of an answer, before and after the first difference


@dataclass(frozen=True)
class Difference:
    """A question that the two engines answered differently."""

    id: str  # of the item
    position: int  # of the first different character, from 0
    built_in: str  # the part of the answer around that character
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

    `task` runs the built-in engine, `served` is the same task on a server. Their job folders are made below `out`. Raises
    DataError, EvaluationError.
    """
    all_items, dataset = load_items(replace(task, limit=None))
    chosen = evenly_spaced(all_items, items)
    dataset = dataset.evolve(n=len(chosen))

    def details_of(run: Task, name: str) -> Details:
        run = replace(run, latency_samples=0, cache=None)
        return evaluate(run, chosen, dataset, out / name, on_progress=show).details

    built_in_details = details_of(task, "built-in")
    served_details = details_of(served, "served")
    metric = task.benchmark.item_metric.name
    built_in_scores = [float(row[metric]) for row in built_in_details]
    served_scores = [float(row[metric]) for row in served_details]
    different = []
    for row, served_row in zip(built_in_details, served_details, strict=True):
        if row["answers"] != served_row["answers"]:
            different.append(_difference(row["id"], row["answers"], served_row["answers"]))
    return Parity(
        n=len(chosen),
        built_in=sum(built_in_scores) / len(chosen),
        served=sum(served_scores) / len(chosen),
        comparison=paired_comparison(built_in_scores, served_scores, [item.cluster for item in chosen]),
        different=different,
    )


def _difference(item_id: str, built_in: Sequence[str], served: Sequence[str]) -> Difference:
    """Return where the answers to the prompts of an item first differ. At least one of them must differ."""
    pairs = zip(built_in, served, strict=True)
    built_in_text, served_text = next((first, second) for first, second in pairs if first != second)
    position = len(os.path.commonprefix([built_in_text, served_text]))  # noqa: RUF071 - of characters
    shown = slice(max(0, position - SHOWN_CHARS), position + SHOWN_CHARS)
    return Difference(item_id, position, built_in_text[shown], served_text[shown])
