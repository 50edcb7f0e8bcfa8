"""How a model compares: its rank on each benchmark, the best model of its size, and related models."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.data.models import ModelRow
from leaderboard.data.query import size_of
from leaderboard.data.ranking import Boards, RankedRow

MAX_RELATIVES = 12  # of a kind
_SIZE = re.compile(r"(?<![A-Za-z0-9])[AE]?\d+(\.\d+)?[BM](?![A-Za-z0-9])", re.IGNORECASE)  # 8B, A3B, 0.5B


@dataclass(frozen=True)
class Standing:
    """A ranked result of a model among all ranked results of its kind."""

    ranked: RankedRow
    of: int  # ranked results of the same kind
    same_size: RankedRow | None  # the best other model in the same range of sizes

    @property
    def difference(self) -> float | None:
        """The score minus that of the best other model of the same size, in points."""
        own = self.ranked.row.score
        other = self.same_size.row.score if self.same_size else None
        return None if own is None or other is None else own - other


@dataclass(frozen=True)
class Relatives:
    """The models that a model was made from, as cards name them, the first one first; those made from it; other sizes."""

    ancestors: Sequence[str] = ()  # not all of them are on the board
    derived: Sequence[str] = ()
    family: Sequence[str] = ()


class Standings:
    """Looks up standings and related models; built once for a view."""

    def __init__(self, boards: Boards, models: Sequence[ModelRow]) -> None:
        self._counts: dict[tuple[str, str], int] = {}
        self._best: dict[tuple[str, str, str], list[RankedRow]] = {}  # of two models, by benchmark, kind and size
        self._derived: dict[str, list[str]] = {}
        self._bases: dict[str, str] = {}
        self._families: dict[str, list[str]] = {}
        for benchmark, rows in boards.items():
            for ranked in rows:
                self._add(benchmark, ranked)
        for model in models:
            self._families.setdefault(_family(model.model), []).append(model.model)

    def _add(self, benchmark: str, ranked: RankedRow) -> None:
        row = ranked.row
        if row.base_model and row.model not in self._bases:
            self._bases[row.model] = row.base_model
            self._derived.setdefault(row.base_model, []).append(row.model)
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
        """Return what a model was made from, what was made from it, and other sizes of its family."""
        ancestors: list[str] = []
        base = self._bases.get(model)
        while base and base not in (model, *ancestors):  # cards may name each other
            ancestors.insert(0, base)
            base = self._bases.get(base)
        derived = [name for name in self._derived.get(model, ()) if name not in (model, *ancestors)]
        shown = {model, *ancestors, *derived}
        family = [name for name in self._families.get(_family(model), ()) if name not in shown]
        return Relatives(ancestors, derived[:MAX_RELATIVES], family[:MAX_RELATIVES])


def _family(model: str) -> str:
    """Return the name without sizes. A name without one is a family of its own."""
    return _SIZE.sub("*", model).casefold()
