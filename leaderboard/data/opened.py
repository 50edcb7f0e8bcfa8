"""The items of revealed quarters of ko-fresh, with every answer of every model and its score, computed again.

They are read from the datasets in the folder HANNUN_OPENED_BOOKS.
"""

import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock

from evaluator.core.errors import EvaluationError
from evaluator.job.limited_process import run_limited
from evaluator.quarters.books import SET, open_books
from evaluator.results.answer_rows import answers_hash
from leaderboard.data.explorer import ExploredItem, ModelAnswer
from submissions.records.operator import Commitment
from submissions.records.result import MAX_SHOWN_ANSWER

log = logging.getLogger(__name__)

SCORING_SECONDS = 900.0  # for all answers of a quarter
_scored: dict[Path, "OpenedQuarter"] = {}  # by the folder of the dataset
_lock = Lock()


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
    quarters = {_revealed(place): place for place in found}
    return {quarter: place for quarter, place in quarters.items() if quarter}


@cache
def _revealed(folder: Path) -> str:
    """Return the quarter of a dataset, or an empty text if it is not revealed or cannot be read."""
    try:
        public = Commitment.read_known((folder / "commitment.json").read_bytes())
    except (OSError, ValueError):
        return ""
    return public.quarter if public.revealed_at else ""


def opened_quarter(folder: Path) -> OpenedQuarter:
    """Return the items of a revealed quarter with all answers and their scores, which are computed once.

    The answers are of strangers, so they are scored in a process with limits; requests that come meanwhile wait for it.
    A dataset that cannot be read, or that takes too long, has no items here.
    """
    with _lock:
        if folder not in _scored:
            try:
                _scored[folder] = run_limited(_score_quarter, folder, seconds=SCORING_SECONDS)
            except (EvaluationError, RuntimeError) as error:
                log.warning("%s is not shown: %s", folder, error)
                _scored[folder] = OpenedQuarter([], [])
        return _scored[folder]


def _score_quarter(folder: Path) -> OpenedQuarter:
    books = open_books(folder)
    benchmark = books.benchmark
    results = []
    answers: dict[str, list[ModelAnswer]] = {}
    for result in books.results:
        key = result.request_key
        model = result.config.model_name
        given = {row.id: row.answer for row in books.answers[key]}
        for score in books.scores_of(key):
            right = score.values[benchmark.item_metric.name] == 1.0
            shown = given[score.id][:MAX_SHOWN_ANSWER]
            answers.setdefault(score.id, []).append(ModelAnswer(model, [shown], right))
        computed = round(100 * benchmark.aggregate(books.scores_of(key))[result.headline], 2)
        same = answers_hash(books.answers[key]) == result.answers_sha256
        results.append(Rescored(model, key, result.results[result.benchmark].get(result.headline), computed, same))
    place = books.folder.resolve()
    quarter = books.commitment.quarter
    items = []
    for item in books.items:
        pictures = [f"{quarter}/{path.relative_to(place).as_posix()}" for path in item.images]
        items.append(ExploredItem(item, item.answer, pictures, answers.get(item.id, [])))
    return OpenedQuarter(sorted(items, key=lambda one: -one.disagreement), results)


def opened_file(folder: Path | None, path: str) -> bytes | None:
    """Return a picture of a revealed item, or None if no such item has it. The path begins with the quarter."""
    quarter, _, inside = path.partition("/")
    place = opened_quarters(folder).get(quarter)
    if place is None or all(path not in one.pictures for one in opened_quarter(place).items):
        return None
    return (place / SET / inside).read_bytes()
