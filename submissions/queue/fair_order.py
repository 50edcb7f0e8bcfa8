"""Decide which pending request a worker claims next."""

from collections.abc import Sequence
from itertools import groupby

from submissions.records.index_rows import QueueRow
from submissions.records.request import Status


def pending_in_fair_order(rows: Sequence[QueueRow]) -> list[QueueRow]:
    """Return pending rows in the order in which they are claimed, so that submitters take turns.

    A submitter's n-th pending request has the turn n plus the number of their running requests. Requests are ordered by
    turn, then by age.
    """
    running: dict[str, int] = {}
    for row in rows:
        if row.status == Status.RUNNING:
            running[row.submitted_by] = running.get(row.submitted_by, 0) + 1
    pending = sorted((r for r in rows if r.status == Status.PENDING), key=lambda r: (r.submitted_by, r.submitted_at))
    turns: list[tuple[int, QueueRow]] = []
    for submitter, group in groupby(pending, key=lambda r: r.submitted_by):
        turns += [(running.get(submitter, 0) + turn, row) for turn, row in enumerate(group)]
    return [row for _, row in sorted(turns, key=lambda t: (t[0], t[1].submitted_at, t[1].key))]
