"""Compute the rank changes that the newest results have caused, for the news on the overview.

`LiveBoard` computes them for the results of the last seven days (`RECENT`). Nothing is stored about earlier ranks: they are
those that the rows would have without the newest results.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import get_args

from leaderboard.data.models import shared_in_group
from leaderboard.data.ranking import Boards, RankedRow, without_reported_if_measured
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
    """Return the rank changes caused by the results since a time.

    New models come first, then those that rose, then those that fell; each group is sorted by the new rank.
    """
    changes: list[RankChange] = []
    for benchmark, rows in boards.items():
        ranked = [r for r in rows if r.rank is not None]
        old = [r for r in ranked if _is_older(r, since)]
        if len(old) == len(ranked):
            continue
        # The ranks are those of the board, so they count all rows. But the overview does not show the reported row of a model
        # that was measured too, so its rank is no news.
        shown = {(r.row.kind, r.row.model) for r in without_reported_if_measured(ranked)}
        for kind in {kind for kind, _ in shown}:  # measured and reported results are ranked separately
            before = _best_ranks([r for r in old if r.row.kind == kind])
            after = _best_ranks([r for r in ranked if r.row.kind == kind])
            changes += (
                RankChange(benchmark, kind, model, before.get(model), rank)
                for model, rank in after.items()
                if rank != before.get(model) and (kind, model) in shown
            )
    return sorted(changes, key=_sort_key)


def _is_older(ranked: RankedRow, since: datetime) -> bool:
    """Return whether a result is older than `since`. Published results without a date are."""
    return ranked.row.date is None or ranked.row.date < since.timestamp()


def shared_before(boards: Boards, since: datetime) -> dict[Inputs, tuple[str, ...]]:
    """Return the benchmarks that the overall score of measured models was averaged over before a time, by group.

    A group is the benchmarks with one kind of inputs, images or pages, which have an overall score of their own. If its
    benchmarks differ from today's, overall ranks have changed for that reason, which the overview explains.
    """
    ranked_on: dict[str, set[str]] = {}
    for benchmark, rows in boards.items():
        for r in rows:
            if r.rank is not None and r.row.kind == "verified" and _is_older(r, since):
                ranked_on.setdefault(r.row.model, set()).add(benchmark)
    benchmarks_of_models = [frozenset(names) for names in ranked_on.values()]
    shared_by_group = {group: shared_in_group(group, benchmarks_of_models) for group in get_args(Inputs)}
    return {group: shared for group, shared in shared_by_group.items() if shared}


def _sort_key(change: RankChange) -> tuple[int, int, str]:
    """Return the sort key of a change: new models first, then those that rose, then those that fell."""
    if change.before is None:
        group = 0
    elif change.after < change.before:
        group = 1
    else:
        group = 2
    return group, change.after, change.model


def _best_ranks(rows: Sequence[RankedRow]) -> dict[str, int]:
    """Return each model's best rank among these rows, which are a part of a board, sorted best first.

    The rows are numbered again from 1, because newer results may be left out. Rows with equal ranks on the board stay tied:
    ranks 2, 2, 7 become 1, 1, 3.
    """
    ranks: dict[str, int] = {}
    rank = 0
    rank_on_board: int | None = None
    for place, row in enumerate(rows, 1):
        if row.rank != rank_on_board:
            rank = place
            rank_on_board = row.rank
        ranks.setdefault(row.row.model, rank)
    return ranks
