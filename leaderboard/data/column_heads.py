"""What the heads of the overview's columns show of the listed models: who leads, and how their scores are spread."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.models import ModelRow
from leaderboard.data.ranking import RankedRow

BINS = 25  # of a histogram, 4 points each
NO_RANK = 255  # in place of a bin


@dataclass(frozen=True)
class Head:
    leader: RankedRow | None
    distribution: list[int]  # models per bin of scores


class Heads:
    """Makes the heads for any of the models of a view. What does not depend on the choice is prepared once."""

    def __init__(self, models: Sequence[ModelRow]) -> None:
        self._bins: dict[str, bytes] = {}  # of a model's score on each benchmark
        self._best_first: dict[str, list[tuple[str, RankedRow]]] = {name: [] for name in BENCHMARKS}
        for model in models:
            self._bins[model.model] = bytes(_bin(model.cells.get(name)) for name in BENCHMARKS)
            for name, cell in model.cells.items():
                if cell.rank:
                    self._best_first[name].append((model.model, cell))
        for cells in self._best_first.values():
            cells.sort(key=lambda pair: (pair[1].row.kind == "reported", pair[1].rank))

    def of(self, models: Sequence[ModelRow]) -> dict[str, Head]:
        """Return the head of each benchmark's column."""
        listed = {model.model for model in models}
        bins = b"".join([self._bins[name] for name in listed])
        heads: dict[str, Head] = {}
        for number, name in enumerate(BENCHMARKS):
            counts = Counter(bins[number :: len(BENCHMARKS)])
            leader = next((cell for model, cell in self._best_first[name] if model in listed), None)
            heads[name] = Head(leader, [counts[place] for place in range(BINS)])
        return heads


def _bin(cell: RankedRow | None) -> int:
    if cell is None or cell.rank is None:
        return NO_RANK
    return max(0, min(BINS - 1, int((cell.row.score or 0.0) * BINS / 100)))
