"""Reported numbers beside those measured here: which were reproduced.

A number is reproduced where it lies within the 95% interval of the measured score of the same model on the same split.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from leaderboard.data.attempts import attempts_of
from leaderboard.data.ranking import Boards
from submissions.records.index_rows import BoardRow

Verdict = Literal["reproduced", "higher", "lower"]  # the measured score, against the reported one


@dataclass(frozen=True)
class Reproduction:
    reported: BoardRow
    measured: BoardRow
    metric: str  # what both are compared by: the headline of the reported number
    difference: float  # measured minus reported, in points
    margin: float  # half of the measured score's 95% interval
    verdict: Verdict


def reproductions(rows: Sequence[BoardRow]) -> Iterator[Reproduction]:
    """Of one benchmark: each reported number with each measurement of the model it is of."""
    measured: dict[tuple[object, ...], list[BoardRow]] = {}
    for row in rows:
        if row.kind == "verified" and row.retired is None:
            measured.setdefault((row.model, row.split), []).append(row)
    for row in rows:
        if row.kind != "reported" or (reported := row.score) is None:
            continue
        for own in measured.get((row.model, row.split), ()):
            metric = row.headline  # the rule that the number was reported under
            score, interval = own.metrics.get(metric), own.intervals.get(metric)
            if score is None or interval is None or (row.thinking and row.thinking != own.thinking):
                continue
            low, high = interval
            verdict: Verdict = "higher" if low > reported else "lower" if high < reported else "reproduced"
            yield Reproduction(row, own, metric, score - reported, (high - low) / 2, verdict)


def marked(rows: Sequence[BoardRow], retired: Mapping[str, str]) -> list[BoardRow]:
    """The rows with what the board finds out itself: reasons of retirement by key, attempts, what was reproduced."""
    several = {key: (one.number, one.of) for key, one in attempts_of(rows).items() if one.of > 1}
    known = [
        replace(row, retired=retired.get(row.key), attempt=several.get(row.key))
        if row.key in retired or row.key in several
        else row
        for row in rows
    ]
    verdicts: dict[str, Verdict] = {}
    for found in reproductions(known):
        for row in (found.reported, found.measured):
            if verdicts.get(row.key) != "reproduced":  # by any of several measurements
                verdicts[row.key] = found.verdict
    return [replace(row, reproduction=verdicts[row.key]) if row.key in verdicts else row for row in known]


def all_reproductions(boards: Boards) -> list[Reproduction]:
    """Of all benchmarks, the newest measurement first."""
    found = [one for ranked in boards.values() for one in reproductions([r.row for r in ranked])]
    return sorted(found, key=lambda one: -(one.measured.date or 0.0))


def not_measured(boards: Boards) -> int:
    """How many reported numbers of models with a repository nobody has measured here yet."""
    rows = (r.row for ranked in boards.values() for r in ranked)
    return sum(row.kind == "reported" and "/" in row.model and row.reproduction is None for row in rows)
