"""What the heads of the overview's columns show: for each benchmark, which of the listed models leads, and a histogram.

A visitor's search changes which models are listed, and so the heads. `Heads` is prepared once for a view (`View.heads`), so that
each search only counts.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.models import ModelRow
from leaderboard.data.ranking import RankedRow

BINS = 25  # of a histogram: scores from 0 to 100 in steps of 4 points
NO_RANK = 255  # stands for the bin of a model without a rank; a bin is stored as a byte


@dataclass(frozen=True)
class Head:
    """The head of a benchmark's column."""

    leader: RankedRow | None  # None if no listed model has a rank
    distribution: list[int]  # numbers of models by bin of scores, lowest scores first


class Heads:
    """Makes the heads for any choice of the models of a view."""

    def __init__(self, models: Sequence[ModelRow]) -> None:
        self._bins: dict[str, bytes] = {}  # by model: a byte for each benchmark, which is the bin of the model's score
        # By benchmark: models with a rank and their rows; measured ones first, each best first.
        self._best_first: dict[str, list[tuple[str, RankedRow]]] = {name: [] for name in BENCHMARKS}
        for model in models:
            self._bins[model.model] = bytes(_bin(model.cells.get(name)) for name in BENCHMARKS)
            for name, cell in model.cells.items():
                if cell.rank:
                    self._best_first[name].append((model.model, cell))
        for cells in self._best_first.values():
            cells.sort(key=lambda pair: (pair[1].row.kind == "reported", pair[1].rank))

    def of(self, models: Sequence[ModelRow]) -> dict[str, Head]:
        """Return the head of each benchmark's column, if these models are listed."""
        listed = {model.model for model in models}
        bins = b"".join([self._bins[name] for name in listed])
        heads: dict[str, Head] = {}
        for number, name in enumerate(BENCHMARKS):
            bins_of_benchmark = bins[number :: len(BENCHMARKS)]
            counts = Counter(bins_of_benchmark)
            leader = next((cell for model, cell in self._best_first[name] if model in listed), None)
            heads[name] = Head(leader, [counts[bin_number] for bin_number in range(BINS)])
        return heads


def _bin(cell: RankedRow | None) -> int:
    """Return the bin of a model's score: 0.0 -> 0, 99.0 -> 24. Scores outside of 0 to 100 are in the first and last bin."""
    if cell is None or cell.rank is None:
        return NO_RANK
    return max(0, min(BINS - 1, int((cell.row.score or 0.0) * BINS / 100)))
