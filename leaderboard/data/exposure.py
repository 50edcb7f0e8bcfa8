"""Which providers of APIs have received the questions of a set that is not public, and how often."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime

from evaluator.benchmarks import BENCHMARKS
from submissions.records.index_rows import BoardRow

QUARTER = re.compile(r"(\d{4})Q([1-4])")


def asked_before(rows: Iterable[BoardRow]) -> dict[str, int]:
    """Return how often the provider of each API result had been asked the same set before, by the result's key.

    The provider is the owner in the model's name. Results on public sets and on samples are left out.
    """
    asked = sorted(filter(exposes, rows), key=lambda row: (row.date or 0.0, row.key))
    counts: dict[tuple[str, str], int] = {}
    found = {}
    for row in asked:
        provider = row.model.partition("/")[0].casefold(), row.split
        found[row.key] = counts.get(provider, 0)
        counts[provider] = found[row.key] + 1
    return found


def exposes(row: BoardRow) -> bool:
    """Return whether a result came from an API that received questions of a set that is not public."""
    is_api = row.kind == "verified" and row.weights == "closed"
    return is_api and not row.is_sample and not BENCHMARKS[row.benchmark].card.is_public


def day_in_quarter(row: BoardRow) -> int | None:
    """Return the day of an API result within the quarter of its drawn set, from 1; None for other results.

    The later the day, the longer the provider may have known the questions of earlier days.
    """
    found = QUARTER.fullmatch(row.split)
    if not (found and exposes(row) and BENCHMARKS[row.benchmark].drawn and row.date):
        return None
    first = date(int(found[1]), 3 * int(found[2]) - 2, 1)
    return (datetime.fromtimestamp(row.date, UTC).date() - first).days + 1
