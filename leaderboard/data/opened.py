"""The items of revealed quarters of ko-fresh, with every answer of every model and its score, computed again.

They are read from the datasets in the folder HANNUN_OPENED_BOOKS.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evaluator.opened.books import SET, open_books
from evaluator.results.answer_rows import answers_hash
from leaderboard.data.explorer import ExploredItem, ModelAnswer
from submissions.records.operator import Commitment


@dataclass(frozen=True)
class Rescored:
    """The headline score of a result, as published and as computed here from its published answers."""

    model: str
    key: str
    published: float | None
    computed: float
    is_hash_right: bool  # whether the answers are those that were hashed when the result was published


@dataclass(frozen=True)
class OpenedQuarter:
    items: list[ExploredItem]  # most disputed first
    results: list[Rescored]


def opened_quarters(folder: Path | None) -> dict[str, Path]:
    """Return the folder of each revealed quarter by its name."""
    found = (file.parent for file in sorted(folder.glob("*/commitment.json"))) if folder else ()
    return {quarter: place for place in found if (quarter := _revealed(place))}


@cache
def _revealed(folder: Path) -> str:
    """Return the quarter of a dataset, or an empty text if it is not revealed or cannot be read."""
    try:
        public = Commitment.read_known((folder / "commitment.json").read_bytes())
    except (OSError, ValueError):
        return ""
    return public.quarter if public.revealed_at else ""


@cache
def opened_quarter(folder: Path) -> OpenedQuarter:
    """Read the dataset of a revealed quarter and score all of its answers. Raises DataError if it cannot be read."""
    books = open_books(folder)
    benchmark, results = books.benchmark, []
    answers: dict[str, list[ModelAnswer]] = {}
    for result in books.results:
        key, model = result.request_key, result.config.model_name
        given = {row.id: row.answer for row in books.answers[key]}
        for score in books.scores_of(key):
            right = score.values[benchmark.item_metric.name] == 1.0
            answers.setdefault(score.id, []).append(ModelAnswer(model, [given[score.id]], right))
        computed = round(100 * benchmark.aggregate(books.scores_of(key))[result.headline], 2)
        same = answers_hash(books.answers[key]) == result.answers_sha256
        results.append(Rescored(model, key, result.results[result.benchmark].get(result.headline), computed, same))
    place = books.folder.resolve()
    items = [
        ExploredItem(
            item,
            item.answer,
            [f"{books.commitment.quarter}/{path.relative_to(place).as_posix()}" for path in item.images],
            answers.get(item.id, []),
        )
        for item in books.items
    ]
    return OpenedQuarter(sorted(items, key=lambda one: -one.disagreement), results)


def opened_file(folder: Path | None, path: str) -> bytes | None:
    """Return a picture of a revealed item, or None if no such item has it. The path begins with the quarter."""
    quarter, _, inside = path.partition("/")
    place = opened_quarters(folder).get(quarter)
    if place is None or all(path not in one.pictures for one in opened_quarter(place).items):
        return None
    return (place / SET / inside).read_bytes()
