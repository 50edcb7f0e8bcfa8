"""How a model compares on each benchmark: its rank, and the best model of its size. Also finds related models.

`View.standings` is built once for a view; the model's page and its preview picture use it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.data.families import base_models
from leaderboard.data.models import ModelRow
from leaderboard.data.query import size_of
from leaderboard.data.ranking import Boards, RankedRow

MAX_RELATIVES = 12  # derived models, and models of other sizes, that a page names
# A number of parameters in a model's name: 8B, 0.5B, 270M, A3B (active parameters), E4B (effective parameters).
_SIZE = re.compile(r"(?<![A-Za-z0-9])[AE]?\d+(\.\d+)?[BM](?![A-Za-z0-9])", re.IGNORECASE)


@dataclass(frozen=True)
class Standing:
    """The rank of a result on its benchmark, among the results of the same kind (measured or reported)."""

    ranked: RankedRow
    of: int  # number of ranked results of this kind
    same_size: RankedRow | None  # the best other model in the same range of sizes

    @property
    def difference(self) -> float | None:
        """The score minus that of the best other model of the same size, in points."""
        own = self.ranked.row.score
        other = self.same_size.row.score if self.same_size else None
        return None if own is None or other is None else own - other


@dataclass(frozen=True)
class Relatives:
    """The names of models that are related to a model."""

    # What it was made from, as model cards name it, oldest first. Some may not be on the board.
    ancestors: Sequence[str] = ()
    derived: Sequence[str] = ()  # what was made directly from it
    other_sizes: Sequence[str] = ()  # models whose names differ only in the size


class Standings:
    """Looks up standings and related models. It is built once for a view, because it goes through all rows."""

    def __init__(self, boards: Boards, models: Sequence[ModelRow]) -> None:
        self._counts: dict[tuple[str, str], int] = {}  # ranked rows by benchmark and kind
        # The rows of the best two models by benchmark, kind and size. A model is compared with the best other one, which is the
        # second for the best.
        self._best: dict[tuple[str, str, str], list[RankedRow]] = {}
        self._bases = base_models(boards)
        self._derived: dict[str, list[str]] = {}  # models by base model
        self._by_name_without_size: dict[str, list[str]] = {}
        for model_name, base in self._bases.items():
            self._derived.setdefault(base, []).append(model_name)
        for benchmark, rows in boards.items():
            for ranked in rows:
                self._add(benchmark, ranked)
        for model in models:
            self._by_name_without_size.setdefault(_name_without_size(model.model), []).append(model.model)

    def _add(self, benchmark: str, ranked: RankedRow) -> None:
        """Add a row of a benchmark. Rows are added best first."""
        row = ranked.row
        if not ranked.rank:
            return
        self._counts[benchmark, row.kind] = self._counts.get((benchmark, row.kind), 0) + 1
        if size := size_of(row.params):
            best = self._best.setdefault((benchmark, row.kind, size), [])
            if len(best) < 2 and row.model not in [other.row.model for other in best]:
                best.append(ranked)

    def of(self, ranked: RankedRow) -> Standing:
        """Return the standing of a row that has a rank."""
        row = ranked.row
        best = self._best.get((row.benchmark, row.kind, size_of(row.params) or ""), [])
        same_size = next((other for other in best if other.row.model != row.model), None)
        return Standing(ranked, self._counts[row.benchmark, row.kind], same_size)

    def relatives(self, model: str) -> Relatives:
        """Return what a model was made from, what was made from it, and its other sizes. A model is named only once."""
        ancestors: list[str] = []
        base = self._bases.get(model)
        while base and base not in (model, *ancestors):  # cards may name each other
            ancestors.insert(0, base)
            base = self._bases.get(base)
        all_derived = [name for name in self._derived.get(model, ()) if name not in (model, *ancestors)]
        derived = all_derived[:MAX_RELATIVES]
        named = {model, *ancestors, *derived}
        same_name = self._by_name_without_size.get(_name_without_size(model), ())
        other_sizes = [name for name in same_name if name not in named]
        return Relatives(ancestors, derived, other_sizes[:MAX_RELATIVES])


def _name_without_size(model: str) -> str:
    """Return a name with each size replaced by *: "Qwen/Qwen3-VL-30B-A3B" -> "qwen/qwen3-vl-*-*"."""
    return _SIZE.sub("*", model).casefold()
