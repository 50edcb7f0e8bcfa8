"""How long a request will take until its result: from how long the same benchmark took for models of like size."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from math import inf
from statistics import median

from submissions.records.index_rows import QueueRow
from submissions.records.request import Status

SIZES = (1e9, 4e9, 10e9, 40e9)  # parameters at which a model falls into the next class


@dataclass(frozen=True)
class Wait:
    place: int | None  # in the queue, from 1; None for one that runs
    ready_in: timedelta | None  # until its result is expected; None where nothing like it was measured yet


def fair_order(rows: Sequence[QueueRow]) -> list[QueueRow]:
    """Pending rows, one of each submitter in turn: first those with the fewest running, then oldest first."""
    running: dict[str, int] = {}
    for row in rows:
        if row.status == Status.RUNNING:
            running[row.submitted_by] = running.get(row.submitted_by, 0) + 1
    pending = sorted((r for r in rows if r.status == Status.PENDING), key=lambda r: (r.submitted_by, r.submitted_at))
    turns: list[tuple[int, QueueRow]] = []
    for submitter, own in groupby(pending, key=lambda r: r.submitted_by):
        turns += [(running.get(submitter, 0) + turn, row) for turn, row in enumerate(own)]
    return [row for _, row in sorted(turns, key=lambda t: (t[0], t[1].submitted_at, t[1].key))]


def waits(rows: Sequence[QueueRow], now: datetime) -> dict[str, Wait]:
    """Place and expected time of every request that is pending or runs, by key; as many workers as run one now, at
    least one."""
    took: dict[tuple[str, int], list[float]] = {}
    for row in rows:
        if row.status == Status.FINISHED and row.started_at and row.finished_at:
            took.setdefault(_class(row), []).append((row.finished_at - row.started_at).total_seconds())

    def expected(row: QueueRow) -> float:
        known = took.get(_class(row))
        return median(known) if known else inf

    found: dict[str, Wait] = {}
    free: list[float] = []  # seconds until each worker is free
    for row in rows:
        if row.status == Status.RUNNING and row.started_at:
            left = expected(row) - (now - row.started_at).total_seconds()
            free.append(max(0.0, left))
            found[row.key] = Wait(None, timedelta(seconds=left) if 0 < left < inf else None)
    free = free or [0.0]
    for place, row in enumerate(fair_order(rows), 1):
        worker = free.index(min(free))
        free[worker] += expected(row)
        ends = free[worker]
        found[row.key] = Wait(place, timedelta(seconds=ends) if ends < inf else None)
    return found


def _class(row: QueueRow) -> tuple[str, int]:
    return row.benchmark, sum((row.params or 0) >= size for size in SIZES)
