"""Compare the books of a quarter with what a board has published, for `ko-fresh verify --board`.

What the board answers is untrusted, and may have any form.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from evaluator.core.errors import DataError
from evaluator.quarters.books import Books
from submissions.records.operator import Commitment
from submissions.records.result import EvalResult


def board_differences(books: Books, read: Callable[[str], bytes]) -> list[str]:
    """Return how the commitment and the records differ from those of a board, one line for each difference.

    `read` returns what the board has at a path, such as `record.json`, and raises DataError if it has nothing there. Raises
    DataError if the board's record or table has another form.
    """
    quarter = books.commitment.quarter
    try:
        commitments = {entry["quarter"]: entry for entry in json.loads(read("record.json"))["commitments"]}
        rows = [_TableRow.of(row) for row in json.loads(read(f"boards/{books.benchmark.name}.json"))]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"the board answers in a form that boards do not have: {type(error).__name__}") from None
    differences: list[str] = []
    if quarter not in commitments:
        differences.append(f"the board has no commitment of {quarter}")
    elif not _is_same(commitments[quarter], books.commitment):
        differences.append(f"the board has another commitment of {quarter}")
    for result in books.results:
        key = result.request_key
        try:
            if EvalResult.from_json(read(f"results/{key}.json")) != result:
                differences.append(f"{key} ({result.config.model_name}): the board has another record")
        except ValueError:
            differences.append(f"{key} ({result.config.model_name}): the board has a record that cannot be read")
        except DataError as error:
            differences.append(f"{key} ({result.config.model_name}): the board has no such record: {error}")
    keys = {result.request_key for result in books.results}
    for row in rows:
        belongs_to_quarter = (row.split, row.benchmark_version, row.kind) == (quarter, books.version, "verified")
        # The dataset has no retired results. The board also retires those that were measured after the reveal.
        if belongs_to_quarter and not row.retired and row.key not in keys:
            differences.append(f"{row.key} ({row.model}): is on the board, but not in the dataset")
    return differences


class _TableRow(NamedTuple):
    """The fields of a row of a board's table that are compared. They are untrusted: all but the key may have any type."""

    key: str
    model: Any
    split: Any
    benchmark_version: Any
    kind: Any
    retired: Any

    @classmethod
    def of(cls, row: Any) -> "_TableRow":
        """Return these fields of a row. Raises KeyError or TypeError if it lacks one, or has no text as its key."""
        if not isinstance(row["key"], str):
            raise TypeError("the key of a row is not text")
        return cls(*(row[name] for name in cls._fields))


def _is_same(published: Any, commitment: Commitment) -> bool:
    """Return whether a commitment as the board publishes it has the same content."""
    try:
        return Commitment.model_validate(published) == commitment
    except ValueError:
        return False
