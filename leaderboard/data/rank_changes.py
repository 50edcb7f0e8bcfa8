"""Rank changes caused by the newest results."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from leaderboard.data.models import shared_benchmarks
from leaderboard.data.ranking import Boards, RankedRow, without_superseded_claims
from submissions.records.options import Inputs, ResultKind


@dataclass(frozen=True, slots=True)
class RankChange:
    """A model that is new on a benchmark or has another rank than before."""

    benchmark: str
    kind: ResultKind
    model: str
    before: int | None  # None: the model is new
    after: int


def rank_changes(boards: Boards, since: datetime) -> list[RankChange]:
    """Return the rank changes caused by results since a time.

    New models come first, then those that rose, then those that fell; each group is sorted by the new rank.
    """
    changes: list[RankChange] = []
    for benchmark, rows in boards.items():
        ranked = [r for r in rows if r.rank is not None]
        old = [r for r in ranked if r.row.date is None or r.row.date < since.timestamp()]
        if len(old) < len(ranked):
            shown = without_superseded_claims(ranked)
            old = without_superseded_claims(old)
            for kind in {r.row.kind for r in shown}:  # measured and reported results are ranked separately
                before = _best_ranks([r for r in old if r.row.kind == kind])
                after = _best_ranks([r for r in shown if r.row.kind == kind])
                changes += (
                    RankChange(benchmark, kind, model, before.get(model), rank)
                    for model, rank in after.items()
                    if rank != before.get(model)
                )
    return sorted(changes, key=_sort_key)


def shared_before(boards: Boards, since: datetime) -> dict[Inputs, tuple[str, ...]]:
    """Return the benchmarks that the overall score of measured models was averaged over before a time."""
    ranked_on: dict[str, set[str]] = {}
    for benchmark, rows in boards.items():
        for r in rows:
            is_old = r.row.date is None or r.row.date < since.timestamp()
            if r.rank is not None and r.row.kind == "verified" and is_old:
                ranked_on.setdefault(r.row.model, set()).add(benchmark)
    return shared_benchmarks(frozenset(names) for names in ranked_on.values())


def _sort_key(change: RankChange) -> tuple[int, int, str]:
    if change.before is None:
        kind = 0
    elif change.after < change.before:
        kind = 1
    else:
        kind = 2
    return kind, change.after, change.model


def _best_ranks(rows: Sequence[RankedRow]) -> dict[str, int]:
    """Return each model's best rank among these rows, which are sorted best first. Rows with equal ranks stay tied."""
    ranks: dict[str, int] = {}
    rank, tied = 0, None
    for place, row in enumerate(rows, 1):
        if row.rank != tied:
            rank = place
            tied = row.rank
        ranks.setdefault(row.row.model, rank)
    return ranks
