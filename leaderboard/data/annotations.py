"""Fill in the fields of rows that the board computes from all rows and records of a benchmark.

The store has rows as they were published. Before `LiveBoard` ranks them, it adds what only the board knows: whether a result
was retired, which attempt of its model it is, whether it reproduces a reported score, and so on. These are the last fields of
`BoardRow`. One of them, `unseen_change`, depends on ranks and is filled in later (`unseen.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from leaderboard.data.attempts import PrivateCounts, attempts_of
from leaderboard.data.exposure import asked_before
from leaderboard.data.reproductions import Verdict, reproductions
from submissions.records.index_rows import BoardRow


def with_annotations(
    rows: Sequence[BoardRow],
    retirement_reasons: Mapping[str, str],
    errata_counts: Mapping[str, int],
    private: PrivateCounts,
) -> list[BoardRow]:
    """Return the rows of a benchmark, in the same order, with the fields that the board computes.

    `retirement_reasons` maps keys of results to reasons, and `errata_counts` maps splits to the number of their errata.
    """
    attempts = attempts_of(rows, private)
    times_asked_before = asked_before(rows)
    annotated: list[BoardRow] = []
    for row in rows:
        key = row.key
        # Most rows have none of these. Copying every row would take most of the time, because a board has many thousands.
        if key in retirement_reasons or key in attempts or key in times_asked_before or row.split in errata_counts:
            attempt = attempts.get(key)
            row = replace(
                row,
                retired=retirement_reasons.get(key),
                attempt=(attempt.number, attempt.of) if attempt else None,
                asked_before=times_asked_before.get(key),
                errata=errata_counts.get(row.split, 0),
            )
        annotated.append(row)
    verdicts = _reproduction_verdicts(annotated)  # of rows with `retired`, because retired measurements do not count
    return [replace(row, reproduction=verdicts[row.key]) if row.key in verdicts else row for row in annotated]


def _reproduction_verdicts(rows: Sequence[BoardRow]) -> dict[str, Verdict]:
    """Return the verdict on each reported score that was measured too, and on each of those measurements, by key.

    A score that was measured several times counts as reproduced if one measurement reproduces it.
    """
    verdicts: dict[str, Verdict] = {}
    for reproduction in reproductions(rows):
        for row in (reproduction.reported, reproduction.measured):
            if verdicts.get(row.key) != "reproduced":
                verdicts[row.key] = reproduction.verdict
    return verdicts
