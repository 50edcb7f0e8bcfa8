"""Compare reported scores with those measured here.

A reported score is reproduced if it lies within the 95 % interval of the score measured for the same model and split.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from leaderboard.data.attempts import PrivateCounts, attempts_of
from leaderboard.data.exposure import asked_before
from leaderboard.data.ranking import Boards
from submissions.records.index_rows import BoardRow

Verdict = Literal["reproduced", "higher", "lower"]  # the measured score relative to the reported one


@dataclass(frozen=True)
class Reproduction:
    reported: BoardRow
    measured: BoardRow
    metric: str  # headline metric of the reported score, by which both are compared
    difference: float  # measured minus reported, in points
    margin: float  # half of the width of the measured score's 95 % interval
    verdict: Verdict


def reproductions(rows: Sequence[BoardRow]) -> Iterator[Reproduction]:
    """Yield each reported score of one benchmark with each measurement of the same model and split."""
    claimed = {row.model for row in rows if row.kind == "reported"}
    measured: dict[tuple[object, ...], list[BoardRow]] = {}
    for row in rows:
        if row.model in claimed and row.kind == "verified" and row.retired is None:
            measured.setdefault((row.model, row.split), []).append(row)
    for row in rows:
        if row.kind != "reported" or (reported := row.score) is None:
            continue
        for match in measured.get((row.model, row.split), ()):
            metric = row.headline  # the rule that the score was reported under
            score = match.metrics.get(metric)
            interval = match.intervals.get(metric)
            if score is None or interval is None or (row.thinking and row.thinking != match.thinking):
                continue
            low, high = interval
            verdict: Verdict
            if low > reported:
                verdict = "higher"
            elif high < reported:
                verdict = "lower"
            else:
                verdict = "reproduced"
            yield Reproduction(row, match, metric, score - reported, (high - low) / 2, verdict)


def with_annotations(
    rows: Sequence[BoardRow], retired: Mapping[str, str], errata: Mapping[str, int], private: PrivateCounts
) -> list[BoardRow]:
    """Return the rows of a benchmark with everything filled in that the board computes.

    `retired` maps keys to reasons, `errata` splits to the number of their errata; `private` are private evaluations.
    """
    several = {key: (one.number, one.of) for key, one in attempts_of(rows, private).items()}
    asked = asked_before(rows)
    known = []
    for row in rows:
        if row.key in retired or row.key in several or row.key in asked or row.split in errata:
            row = replace(
                row,
                retired=retired.get(row.key),
                attempt=several.get(row.key),
                asked_before=asked.get(row.key),
                errata=errata.get(row.split, 0),
            )
        known.append(row)
    verdicts: dict[str, Verdict] = {}
    for found in reproductions(known):
        for row in (found.reported, found.measured):
            if verdicts.get(row.key) != "reproduced":  # one of several measurements is enough
                verdicts[row.key] = found.verdict
    return [replace(row, reproduction=verdicts[row.key]) if row.key in verdicts else row for row in known]


def all_reproductions(boards: Boards) -> list[Reproduction]:
    """Return the reproductions on all benchmarks, newest measurement first."""
    found: list[Reproduction] = []
    for ranked in boards.values():
        found += reproductions([r.row for r in ranked])
    return sorted(found, key=lambda one: -(one.measured.date or 0.0))


def not_measured(boards: Boards) -> int:
    """Return the number of reported scores, of models with a repository, that were not measured here yet."""
    waiting = 0
    for ranked in boards.values():
        measured = {(r.row.model, r.row.split) for r in ranked if r.row.kind == "verified"}
        waiting += sum(
            r.row.kind == "reported"
            and r.row.score is not None
            and "/" in r.row.model
            and (r.row.model, r.row.split) not in measured
            for r in ranked
        )
    return waiting
