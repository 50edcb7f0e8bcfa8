"""Compare each model's rank on questions that nobody can have seen with its rank on a set that anybody can download.

Both ranks are among the models that were measured on both sets, so that they can be subtracted. A model that was trained on
the public set falls on the unseen one; so does one that is simply worse at it, which is why the pages only say what is seen.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.models import ModelRow
from leaderboard.data.ranking import Boards, RankedRow, ranked

MIN_MODELS = 3  # measured on both sets; with fewer a difference of ranks says nothing
Direction = Literal["falls", "rises", "stays", "unknown"]


@dataclass(frozen=True)
class RankChange:
    """A model's rank on an unseen set minus its rank on a public one; positive: it falls by so many places."""

    model: str
    unseen: str  # benchmark
    public: str  # benchmark
    unseen_rank: int
    public_rank: int
    models: int  # that both ranks are among
    low: int  # smallest and largest difference that the ranges of both ranks allow
    high: int

    @property
    def difference(self) -> int:
        return self.unseen_rank - self.public_rank

    @property
    def direction(self) -> Direction:
        """Whether it falls or rises whatever the true ranks are. If the range includes 0, that is unknown."""
        if self.low == self.high == 0:
            return "stays"
        if self.low > 0:
            return "falls"
        return "rises" if self.high < 0 else "unknown"

    @property
    def places(self) -> tuple[int, int]:
        """The smallest and the largest number of places, without a sign."""
        low, high = sorted((abs(self.low), abs(self.high)))
        return low, high


def is_compared(benchmark: str) -> bool:
    """Return whether ranks on a benchmark are compared: its set is unseen, or public."""
    return BENCHMARKS[benchmark].drawn or BENCHMARKS[benchmark].card.is_public


def rank_changes_unseen(models: Sequence[ModelRow]) -> list[RankChange]:
    """Return the differences of all models for each pair of an unseen and a public set, largest certain fall first."""
    changes: list[RankChange] = []
    for unseen, benchmark in BENCHMARKS.items():
        if not benchmark.drawn:
            continue
        for public, other in BENCHMARKS.items():
            if other.card.is_public:
                changes += _changes(models, unseen, public)
    return sorted(changes, key=lambda change: (-change.low, -change.difference, change.model.casefold()))


def _changes(models: Sequence[ModelRow], unseen: str, public: str) -> list[RankChange]:
    both = [model for model in models if model.rank_by(unseen, "verified") and model.rank_by(public, "verified")]
    if len(both) < MIN_MODELS:
        return []
    on_unseen = _ranks(both, unseen)
    on_public = _ranks(both, public)
    changes = []
    for name, new in on_unseen.items():
        old = on_public.get(name)
        if old is None or new.rank is None or old.rank is None:
            continue
        if new.best is None or new.worst is None or old.best is None or old.worst is None:
            continue
        low = new.best - old.worst
        high = new.worst - old.best
        changes.append(RankChange(name, unseen, public, new.rank, old.rank, len(both), low, high))
    return changes


def _ranks(models: Sequence[ModelRow], benchmark: str) -> dict[str, RankedRow]:
    """Return the models' ranks on a benchmark among themselves."""
    rows = [model.cells[benchmark].row for model in models]
    return {one.row.model: one for one in ranked(rows)}


def with_rank_changes(boards: Boards, changes: Sequence[RankChange]) -> Boards:
    """Return the boards with the differences on the rows of the public sets. Boards without any stay the same lists."""
    known = {(one.public, one.model): (one.difference, one.low, one.high) for one in changes}
    changed: Boards = {}
    for name, own in boards.items():
        rows = [_with_change(one, known.get((name, one.row.model))) for one in own]
        is_same = all(new is old for new, old in zip(rows, own, strict=True))
        changed[name] = own if is_same else rows
    return changed


def _with_change(one: RankedRow, change: tuple[int, int, int] | None) -> RankedRow:
    shown = change if one.rank and one.row.kind == "verified" else None
    return one if shown == one.row.unseen_change else replace(one, row=replace(one.row, unseen_change=shown))


def rows(changes: Sequence[RankChange]) -> list[dict[str, Any]]:
    """Return the differences as flat rows, as in exported files."""
    return [asdict(change) | {"difference": change.difference, "direction": change.direction} for change in changes]


COLUMNS = (
    "model", "unseen", "public", "unseen_rank", "public_rank", "models", "difference", "low", "high", "direction",
)  # fmt: skip
