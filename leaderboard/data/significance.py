"""Which of the ranked results are told apart by paired tests, over all that are known of a board."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from evaluator.statistics.holm import holm
from submissions.records.index_rows import BoardRow

ERROR = 0.05  # how often anything at all that is said of a board by paired tests may be wrong


@dataclass(frozen=True)
class PairedVerdicts:
    """Of pairs of results, in both orders."""

    tested: set[tuple[str, str]] = field(default_factory=set)
    ahead: set[tuple[str, str]] = field(default_factory=set)  # the first of these surely before the second


def paired_verdicts(rows: Iterable[BoardRow], keys: Collection[str]) -> PairedVerdicts:
    """Of the results with these keys."""
    tests = [
        (p_at_most, row.key, other, sign)
        for row in rows
        if row.key in keys
        for other, sign, p_at_most in row.paired
        if other in keys
    ]
    verdicts = PairedVerdicts()
    for (_, key, other, sign), rejected in zip(tests, holm([test[0] for test in tests], ERROR), strict=True):
        verdicts.tested.update(((key, other), (other, key)))
        if rejected and sign:
            verdicts.ahead.add((key, other) if sign > 0 else (other, key))
    return verdicts
