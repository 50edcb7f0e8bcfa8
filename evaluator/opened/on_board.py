"""Compare the books of a quarter with what a board has published."""

import json
from collections.abc import Callable

from evaluator.core.errors import DataError
from evaluator.opened.books import Books
from submissions.records.operator import Commitment
from submissions.records.result import EvalResult


def board_differences(books: Books, read: Callable[[str], bytes]) -> list[str]:
    """Return how the commitment and the records differ from those of a board.

    `read` returns what the board has at a path, and raises DataError if it has nothing there.
    """
    quarter, name, found = books.commitment.quarter, books.benchmark.name, []
    published = {one["quarter"]: one for one in json.loads(read("record.json"))["commitments"]}
    if quarter not in published:
        found.append(f"the board has no commitment of {quarter}")
    elif Commitment.model_validate(published[quarter]) != books.commitment:
        found.append(f"the board has another commitment of {quarter}")
    for result in books.results:
        key = result.request_key
        try:
            if EvalResult.from_json(read(f"results/{key}.json")) != result:
                found.append(f"{key} ({result.config.model_name}): the board has another record")
        except DataError as error:
            found.append(f"{key} ({result.config.model_name}): the board has no such record: {error}")
    known = {result.request_key for result in books.results}
    for row in json.loads(read(f"boards/{name}.json")):
        measured = row["split"], row["benchmark_version"], row["kind"]
        if measured != (quarter, books.benchmark.version, "verified") or row["retired"]:
            continue
        if row["key"] not in known:
            found.append(f"{row['key']} ({row['model']}): is on the board, but not in the dataset")
    return found
