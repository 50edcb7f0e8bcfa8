"""What the newest results changed on the board."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from leaderboard.data.ranking import Boards, RankedRow


@dataclass(frozen=True, slots=True)
class RankChange:
    """A model that is new, or holds another rank."""

    benchmark: str
    model: str
    before: int | None  # None: it was not there
    after: int


def rank_changes(boards: Boards, since: datetime) -> list[RankChange]:
    """What the results since then changed: who is new first, then who rose, then who was pushed down; of each the best
    rank now first."""
    changes: list[RankChange] = []
    for benchmark, rows in boards.items():
        ranked = [r for r in rows if r.rank is not None]
        old = [r for r in ranked if r.row.date is None or r.row.date < since.timestamp()]
        if len(old) < len(ranked):
            for kind in {r.row.kind for r in ranked}:  # which are ranked apart
                before = _best_ranks([r for r in old if r.row.kind == kind])
                changes += (
                    RankChange(benchmark, model, before.get(model), rank)
                    for model, rank in _best_ranks([r for r in ranked if r.row.kind == kind]).items()
                    if rank != before.get(model)
                )
    return sorted(changes, key=_newsworthiness)


def _newsworthiness(change: RankChange) -> tuple[int, int, str]:
    kind = 0 if change.before is None else 1 if change.after < change.before else 2
    return kind, change.after, change.model


def _best_ranks(rows: Sequence[RankedRow]) -> dict[str, int]:
    """Each model's best rank among these rows, which stand best first; those that tie now tie among fewer, too."""
    ranks: dict[str, int] = {}
    rank, tied = 0, None
    for place, row in enumerate(rows, 1):
        if row.rank != tied:
            rank, tied = place, row.rank
        ranks.setdefault(row.row.model, rank)
    return ranks
