"""Compare scores that others report with those measured here.

A reported score is reproduced if it lies within the 95 % interval of the score measured for the same model and split.
`annotations.py` marks the rows with the verdicts; the page /record and the pages of models show the numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from leaderboard.data.ranking import Boards
from submissions.records.index_rows import BoardRow

Verdict = Literal["reproduced", "higher", "lower"]  # the measured score relative to the reported one


@dataclass(frozen=True)
class Reproduction:
    """A reported score and a measurement of the same model on the same split."""

    reported: BoardRow
    measured: BoardRow
    metric: str  # headline metric of the reported score, by which both are compared
    difference: float  # measured minus reported, in points
    margin: float  # half of the width of the measured score's 95 % interval
    verdict: Verdict


def reproductions(rows: Sequence[BoardRow]) -> Iterator[Reproduction]:
    """Yield each reported score of one benchmark with each measurement that it can be compared with.

    These are measurements of the same model and split, of any version of the benchmark, that are not retired.
    """
    reported_rows = [row for row in rows if row.kind == "reported"]
    reported_models = {row.model for row in reported_rows}
    measurements: dict[tuple[str, str], list[BoardRow]] = {}  # by model and split
    for row in rows:
        if row.model in reported_models and row.kind == "verified" and row.retired is None:
            measurements.setdefault((row.model, row.split), []).append(row)
    for reported in reported_rows:
        for measured in measurements.get((reported.model, reported.split), ()):
            reproduction = _reproduction(reported, measured)
            if reproduction:
                yield reproduction


def _reproduction(reported: BoardRow, measured: BoardRow) -> Reproduction | None:
    """Compare two rows of the same model and split, or return None if they cannot be compared.

    They cannot if a score or the interval of the measured one is missing, or if the reported one is known to be of another
    reasoning mode.
    """
    metric = reported.headline  # the rule that the score was reported under
    reported_score = reported.score
    measured_score = measured.metrics.get(metric)
    interval = measured.intervals.get(metric)
    if reported_score is None or measured_score is None or interval is None:
        return None
    if reported.thinking and reported.thinking != measured.thinking:
        return None
    low, high = interval
    verdict: Verdict
    if low > reported_score:
        verdict = "higher"
    elif high < reported_score:
        verdict = "lower"
    else:
        verdict = "reproduced"
    return Reproduction(reported, measured, metric, measured_score - reported_score, (high - low) / 2, verdict)


def all_reproductions(boards: Boards) -> list[Reproduction]:
    """Return the reproductions on all benchmarks, newest measurement first."""
    found: list[Reproduction] = []
    for ranked in boards.values():
        found += reproductions([r.row for r in ranked])
    return sorted(found, key=lambda reproduction: -(reproduction.measured.date or 0.0))


def not_measured(boards: Boards) -> int:
    """Return the number of reported scores that were not measured here yet.

    A score counts as measured even if the measurement was retired. Models without a repository, whose names are not like
    OWNER/NAME, are not counted.
    """
    count = 0
    for ranked in boards.values():
        rows = [r.row for r in ranked]
        measured = {(row.model, row.split) for row in rows if row.kind == "verified"}
        for row in rows:
            is_reported = row.kind == "reported" and row.score is not None
            has_repository = "/" in row.model
            if is_reported and has_repository and (row.model, row.split) not in measured:
                count += 1
    return count
