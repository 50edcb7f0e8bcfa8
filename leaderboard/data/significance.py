"""Decide which results of a board differ significantly, from the paired tests that workers stored with the results.

Ranks (`ranking.py`) and the chart of wins (`chart_data.py`) use these verdicts. A board has many pairs, so the p values are
corrected together.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from evaluator.statistics.holm import holm
from submissions.records.index_rows import BoardRow

FAMILYWISE_ERROR = 0.05  # probability of any wrong verdict among all paired tests of a board


@dataclass(frozen=True)
class PairedVerdicts:
    """Verdicts on pairs of results. A pair is a tuple of two result keys."""

    tested: set[tuple[str, str]] = field(default_factory=set)  # each pair in both orders
    ahead: set[tuple[str, str]] = field(default_factory=set)  # the first is significantly ahead of the second


class _PairedTest(NamedTuple):
    """A paired test of the result `key` against the result `other`, from `BoardRow.paired`.

    `evaluator.publication` stores a pair once, with the result that is published later, so Holm's correction counts it once.
    """

    key: str
    other: str
    sign: int  # 1 if `key` has the higher score, -1 if `other` has, 0 if they are equal
    p_at_most: float  # upper bound of the p value


def paired_verdicts(rows: Iterable[BoardRow], keys: Collection[str]) -> PairedVerdicts:
    """Return the verdicts, after Holm's correction, on all tested pairs of which both results are in `keys`."""
    tests: list[_PairedTest] = []
    for row in rows:
        for other, sign, p_at_most in row.paired:
            if row.key in keys and other in keys:
                tests.append(_PairedTest(row.key, other, sign, p_at_most))
    are_significant = holm([test.p_at_most for test in tests], FAMILYWISE_ERROR)
    verdicts = PairedVerdicts()
    for test, is_significant in zip(tests, are_significant, strict=True):
        pair = (test.key, test.other)
        reversed_pair = (test.other, test.key)
        verdicts.tested.update((pair, reversed_pair))
        if is_significant and test.sign > 0:
            verdicts.ahead.add(pair)
        elif is_significant and test.sign < 0:
            verdicts.ahead.add(reversed_pair)
    return verdicts
