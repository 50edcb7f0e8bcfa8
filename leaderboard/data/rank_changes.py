"""What changed between two moments of the board."""

from dataclasses import dataclass
from datetime import datetime

from leaderboard.data.ranking import Boards, ranked


@dataclass(frozen=True)
class RankChange:
    """A model that came, went, or holds another rank; None where it has none."""

    benchmark: str
    model: str
    before: int | None
    after: int | None


def as_of(boards: Boards, moment: datetime) -> Boards:
    """The boards without the results since then, for one of these that changed nothing the same list."""
    before: Boards = {}
    for name, rows in boards.items():
        old = [r.row for r in rows if r.row.date is None or r.row.date < moment.timestamp()]
        before[name] = rows if len(old) == len(rows) else ranked(old, name)
    return before


def rank_changes(before: Boards, after: Boards) -> list[RankChange]:
    """Who is new first, then who rose, then who was pushed down or went; of each the best rank now first."""
    changes: list[RankChange] = []
    for benchmark in after:
        if before.get(benchmark) is after[benchmark]:
            continue
        old, new = _best_ranks(before, benchmark), _best_ranks(after, benchmark)
        changed = (RankChange(benchmark, m, old.get(m), new.get(m)) for m in old.keys() | new.keys())
        changes += (c for c in changed if c.before != c.after)
    return sorted(changes, key=_newsworthiness)


def _newsworthiness(change: RankChange) -> tuple[int, int, str]:
    if change.after is None:
        return 3, change.before or 0, change.model
    kind = 0 if change.before is None else 1 if change.after < change.before else 2
    return kind, change.after, change.model


def _best_ranks(boards: Boards, benchmark: str) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for row in boards.get(benchmark, []):
        if row.rank is not None:
            ranks.setdefault(row.row.model, row.rank)  # rows stand best first
    return ranks
