"""Compare each model's rank on questions that nobody can have seen with its rank on a set that anybody can download.

Unseen sets are drawn again each quarter (`Benchmark.drawn`), public sets can be downloaded by anybody
(`Card.is_public`). `LiveBoard` computes the changes after ranking. The page /unseen, the model's page, the column "unseen" and
the downloads show them.

Both ranks are among the models that were measured on both sets, so that they can be subtracted. A model that was trained on
the public set falls on the unseen one; so does a model that is simply worse at it. The pages therefore only state the change
and give no reason.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.models import ModelRow
from leaderboard.data.ranking import Boards, RankedRow, ranked

ShownChange = tuple[int, int, int]  # difference of ranks, and its lowest and highest value: `BoardRow.unseen_change`
MIN_MODELS = 3  # measured on both sets; with fewer a difference of ranks says nothing
Direction = Literal["falls", "rises", "stays", "unknown"]  # of a model, from the public set to the unseen one


@dataclass(frozen=True)
class UnseenChange:
    """A model's rank on an unseen set minus its rank on a public one.

    A positive difference means that the model falls by so many places.
    """

    model: str
    unseen: str  # benchmark
    public: str  # benchmark
    unseen_rank: int
    public_rank: int
    models: int  # number of models that both ranks are among
    low: int  # smallest difference that the ranges of both ranks allow
    high: int  # largest difference that they allow

    @property
    def difference(self) -> int:
        return self.unseen_rank - self.public_rank

    @property
    def direction(self) -> Direction:
        """Whether the model falls or rises whatever the true ranks are: "falls" if `low` > 0, "rises" if `high` < 0."""
        if self.low == self.high == 0:
            return "stays"
        if self.low > 0:
            return "falls"
        return "rises" if self.high < 0 else "unknown"

    @property
    def places(self) -> tuple[int, int]:
        """The smallest and largest number of places that it falls or rises by: (2, 5) for `low` -5 and `high` -2.

        If the direction is unknown, they mean nothing.
        """
        low, high = sorted((abs(self.low), abs(self.high)))
        return low, high


def is_compared(benchmark: str) -> bool:
    """Return whether ranks on a benchmark are compared: its set is unseen, or public."""
    return BENCHMARKS[benchmark].drawn or BENCHMARKS[benchmark].card.is_public


def unseen_changes(models: Sequence[ModelRow]) -> list[UnseenChange]:
    """Return the changes of all models for each pair of an unseen and a public set, largest certain fall first."""
    changes: list[UnseenChange] = []
    for unseen, benchmark in BENCHMARKS.items():
        if not benchmark.drawn:
            continue
        for public, other in BENCHMARKS.items():
            if other.card.is_public:
                changes += _changes(models, unseen, public)
    return sorted(changes, key=lambda change: (-change.low, -change.difference, change.model.casefold()))


def _changes(models: Sequence[ModelRow], unseen: str, public: str) -> list[UnseenChange]:
    """Return the changes of the models that were measured on both sets, given as names of benchmarks."""
    both = [model for model in models if model.rank_by(unseen, "verified") and model.rank_by(public, "verified")]
    if len(both) < MIN_MODELS:
        return []
    ranked_on_unseen = _ranks(both, unseen)
    ranked_on_public = _ranks(both, public)
    changes = []
    for name, on_unseen in ranked_on_unseen.items():
        on_public = ranked_on_public[name]
        if on_unseen.rank is None or on_public.rank is None:
            continue  # for the type checker: all of `both` are ranked
        if on_unseen.best is None or on_unseen.worst is None or on_public.best is None or on_public.worst is None:
            continue  # a score without an interval
        changes.append(
            UnseenChange(
                model=name,
                unseen=unseen,
                public=public,
                unseen_rank=on_unseen.rank,
                public_rank=on_public.rank,
                models=len(both),
                low=on_unseen.best - on_public.worst,
                high=on_unseen.worst - on_public.best,
            )
        )
    return changes


def _ranks(models: Sequence[ModelRow], benchmark: str) -> dict[str, RankedRow]:
    """Return the row of each model on a benchmark, ranked among these models only, by model."""
    rows = [model.cells[benchmark].row for model in models]
    return {r.row.model: r for r in ranked(rows)}


def with_unseen_changes(boards: Boards, models: Sequence[ModelRow], changes: Sequence[UnseenChange]) -> Boards:
    """Return the boards with `BoardRow.unseen_change` filled in on the rows that represent compared models on public sets.

    `ViewReader` recognises a board in which nothing changes by its identity, so it stays the same list object.
    """
    model_of = {model.model: model for model in models}
    change_of: dict[str, ShownChange] = {}  # by key of the row
    for change in changes:
        compared_row = model_of[change.model].cells[change.public].row
        # Of changes from several unseen sets, the first is shown: the largest certain fall.
        change_of.setdefault(compared_row.key, (change.difference, change.low, change.high))
    boards_with_changes: Boards = {}
    for name, rows in boards.items():
        new_rows = [_with_change(r, change_of.get(r.row.key)) for r in rows]
        is_same = all(new is old for new, old in zip(new_rows, rows, strict=True))
        boards_with_changes[name] = rows if is_same else new_rows
    return boards_with_changes


def _with_change(ranked_row: RankedRow, change: ShownChange | None) -> RankedRow:
    """Return a row with its change, or the same object if it has it already."""
    row = ranked_row.row
    if change == row.unseen_change:
        return ranked_row
    return replace(ranked_row, row=replace(row, unseen_change=change))


def unseen_rows(changes: Sequence[UnseenChange]) -> list[dict[str, Any]]:
    """Return the changes as flat rows with the fields UNSEEN_COLUMNS, as in exported files."""
    return [asdict(change) | {"difference": change.difference, "direction": change.direction} for change in changes]


UNSEEN_COLUMNS = (
    "model", "unseen", "public", "unseen_rank", "public_rank", "models", "difference", "low", "high", "direction",
)  # fmt: skip
