"""Estimate when a result will be ready, from how long the same benchmark took for models of similar size."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf
from statistics import median

from submissions.queue.fair_order import pending_in_fair_order
from submissions.records.index_rows import QueueRow
from submissions.records.request import Status

SIZES = (1e9, 4e9, 10e9, 40e9)  # limits between size classes, in parameters


@dataclass(frozen=True)
class Wait:
    """The place of a request in the queue, and the expected time until its result."""

    place: int | None  # from 1; None for a running request
    # None if it cannot be estimated: no similar request has finished, this one takes longer than those did, or it waits for
    # one of which that is true.
    ready_in: timedelta | None


def waits(rows: Sequence[QueueRow], now: datetime) -> dict[str, Wait]:
    """Return the place and expected time of every pending or running request, by key.

    The pending requests are given to workers in their order, each to the one that is free first. The number of workers is
    taken to be the number of running requests, but at least one.
    """
    durations: dict[tuple[str, int], list[float]] = {}
    for row in rows:
        if row.status == Status.FINISHED and row.started_at and row.finished_at:
            took = (row.finished_at - row.started_at).total_seconds()
            durations.setdefault(_benchmark_and_size(row), []).append(took)

    def expected(row: QueueRow) -> float:
        known = durations.get(_benchmark_and_size(row))
        return median(known) if known else inf

    found: dict[str, Wait] = {}
    free_in: list[float] = []  # seconds until each worker is free; inf: unknown
    for row in rows:
        if row.status == Status.RUNNING and row.started_at:
            left = expected(row) - (now - row.started_at).total_seconds()
            if left <= 0:  # it takes longer than expected, so its end is unknown
                left = inf
            free_in.append(left)
            found[row.key] = Wait(None, _if_known(left))
    free_in = free_in or [0.0]
    for place, row in enumerate(pending_in_fair_order(rows), 1):
        worker = free_in.index(min(free_in))
        free_in[worker] += expected(row)
        found[row.key] = Wait(place, _if_known(free_in[worker]))
    return found


def _if_known(seconds: float) -> timedelta | None:
    """Return an expected time, or None if it is infinite, which stands for unknown."""
    return timedelta(seconds=seconds) if seconds < inf else None


def _benchmark_and_size(row: QueueRow) -> tuple[str, int]:
    """Return the benchmark, and the number of the size class of a request's model."""
    return row.benchmark, bisect_right(SIZES, row.params or 0)
