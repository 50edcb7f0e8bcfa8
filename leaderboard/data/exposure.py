"""Which providers of APIs have received the questions of a set that is not public, and how often.

A provider could store the questions and train on them, so a later result is weaker evidence. Rows show how often the provider
was asked before (`BoardRow.asked_before`) and, on sets that are drawn each quarter, how late in the quarter (`day_in_quarter`).
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime

from evaluator.benchmarks import BENCHMARKS
from submissions.records.index_rows import BoardRow

QUARTER = re.compile(r"(\d{4})Q([1-4])")  # the split of a drawn set: 2026Q4


def asked_before(rows: Iterable[BoardRow]) -> dict[str, int]:
    """Return how often the provider of each API result had been asked the same set before, by the result's key.

    The rows are those of one benchmark, so their split names the set. The provider is the owner in the model's name. Results
    on public sets and on samples are left out.
    """
    asked = sorted(filter(exposes, rows), key=lambda row: (row.date or 0.0, row.key))
    counts: Counter[tuple[str, str]] = Counter()  # results until now, by provider and split
    times_asked_before = {}
    for row in asked:
        provider_and_set = (row.model.partition("/")[0].casefold(), row.split)
        times_asked_before[row.key] = counts[provider_and_set]
        counts[provider_and_set] += 1
    return times_asked_before


def exposes(row: BoardRow) -> bool:
    """Return whether a result came from an API that received questions of a set that is not public."""
    # A measured model has closed weights only if the operator offers it behind an API.
    is_api = row.kind == "verified" and row.weights == "closed"
    return is_api and not row.is_sample and not BENCHMARKS[row.benchmark].card.is_public


def day_in_quarter(row: BoardRow) -> int | None:
    """Return the day of an API result within the quarter of its drawn set, from 1; None for other results.

    The set is the same for the whole quarter, so the later the day, the more likely the provider knows its questions.
    """
    match = QUARTER.fullmatch(row.split)
    if not (match and exposes(row) and BENCHMARKS[row.benchmark].drawn and row.date):
        return None
    year = int(match[1])
    quarter = int(match[2])
    first_day = date(year, 3 * quarter - 2, 1)
    return (datetime.fromtimestamp(row.date, UTC).date() - first_day).days + 1
