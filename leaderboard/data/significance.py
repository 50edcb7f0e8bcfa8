"""Decide which ranked results differ significantly, from all paired tests of a board."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from evaluator.statistics.holm import holm
from submissions.records.index_rows import BoardRow

FAMILYWISE_ERROR = 0.05  # probability of any wrong verdict among all paired tests of a board


@dataclass(frozen=True)
class PairedVerdicts:
    """Verdicts on pairs of results, as pairs of keys."""

    tested: set[tuple[str, str]] = field(default_factory=set)  # in both orders
    ahead: set[tuple[str, str]] = field(default_factory=set)  # the first is significantly ahead of the second


def paired_verdicts(rows: Iterable[BoardRow], keys: Collection[str]) -> PairedVerdicts:
    """Return the verdicts on all tested pairs of results with these keys, after Holm's correction."""
    pairs = ((row.key, *pair) for row in rows for pair in row.paired)
    tests = [(p_at_most, key, other, sign) for key, other, sign, p_at_most in pairs if key in keys and other in keys]
    verdicts = PairedVerdicts()
    for (_, key, other, sign), rejected in zip(tests, holm([test[0] for test in tests], FAMILYWISE_ERROR), strict=True):
        verdicts.tested.update(((key, other), (other, key)))
        if rejected and sign:
            verdicts.ahead.add((key, other) if sign > 0 else (other, key))
    return verdicts
