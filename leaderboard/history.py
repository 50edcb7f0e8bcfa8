"""What changed between two moments of the board."""

from dataclasses import dataclass

from leaderboard.board import View


@dataclass(frozen=True)
class RankChange:
    """A model that came, went, or holds another rank; None where it has none."""

    benchmark: str
    model: str
    before: int | None
    after: int | None


def rank_changes(before: View, after: View) -> list[RankChange]:
    """By benchmark, the best rank now first."""
    changes = []
    for benchmark in after.boards:
        old, new = _best_ranks(before, benchmark), _best_ranks(after, benchmark)
        changed = [RankChange(benchmark, m, old.get(m), new.get(m)) for m in old.keys() | new.keys()]
        changed = [c for c in changed if c.before != c.after]
        changes += sorted(changed, key=lambda c: (c.after is None, c.after or 0, c.model))
    return changes


def _best_ranks(view: View, benchmark: str) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for ranked in view.boards.get(benchmark, []):
        if ranked.rank is not None:
            ranks.setdefault(ranked.row.model, ranked.rank)  # rows stand best first
    return ranks
