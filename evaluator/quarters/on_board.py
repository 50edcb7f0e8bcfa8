"""Compare the books of a quarter with what a board has published."""

import json
from collections.abc import Callable
from typing import Any

from evaluator.core.errors import DataError
from evaluator.quarters.books import Books
from submissions.records.operator import Commitment
from submissions.records.result import EvalResult


def board_differences(books: Books, read: Callable[[str], bytes]) -> list[str]:
    """Return how the commitment and the records differ from those of a board.

    `read` returns what the board has at a path, and raises DataError if it has nothing there.
    """
    quarter = books.commitment.quarter
    name = books.benchmark.name
    found = []
    try:
        published = {one["quarter"]: one for one in json.loads(read("record.json"))["commitments"]}
        rows = [(row, _measured(row)) for row in json.loads(read(f"boards/{name}.json"))]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"the board answers in a form that boards do not have: {type(error).__name__}") from None
    if quarter not in published:
        found.append(f"the board has no commitment of {quarter}")
    elif not _is_same(published[quarter], books.commitment):
        found.append(f"the board has another commitment of {quarter}")
    for result in books.results:
        key = result.request_key
        try:
            if EvalResult.from_json(read(f"results/{key}.json")) != result:
                found.append(f"{key} ({result.config.model_name}): the board has another record")
        except ValueError:
            found.append(f"{key} ({result.config.model_name}): the board has a record that cannot be read")
        except DataError as error:
            found.append(f"{key} ({result.config.model_name}): the board has no such record: {error}")
    known = {result.request_key for result in books.results}
    for row, measured in rows:
        if measured != (quarter, books.version, "verified") or row["retired"]:
            continue
        if row["key"] not in known:
            found.append(f"{row['key']} ({row['model']}): is on the board, but not in the dataset")
    return found


def _measured(row: Any) -> tuple[Any, Any, Any]:
    """Return what a row of a table was measured on. Raises KeyError or TypeError if it is no such row."""
    for name in ("retired", "key", "model"):
        row[name]
    return row["split"], row["benchmark_version"], row["kind"]


def _is_same(published: Any, public: Commitment) -> bool:
    try:
        return Commitment.model_validate(published) == public
    except ValueError:
        return False
