"""The items of revealed quarters of ko-fresh, with every answer of every model and its score, computed again.

A revealed quarter is published as a dataset (`evaluator.quarters.books`). The board reads the datasets in the subfolders of
the folder HANNUN_OPENED_BOOKS, for the pages /explore/ko-fresh?set=QUARTER. Quarters are named like 2026Q4.
"""

import logging
from dataclasses import dataclass
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

SCORING_SECONDS = 900.0  # limit for scoring all answers of a quarter
_revealed: dict[Path, str] = {}  # quarters that `_revealed_quarter` has found, by the folder of the dataset
_scored: dict[Path, "OpenedQuarter"] = {}  # what `opened_quarter` has computed, by the folder of the dataset
_lock = Lock()  # held while a quarter is scored


@dataclass(frozen=True)
class Rescored:
    """The headline score of a result, as published and as computed here from its published answers."""

    model: str
    key: str
    published: float | None  # percent
    computed: float  # percent
    is_hash_right: bool  # whether the answers are those that were hashed when the result was published


@dataclass(frozen=True)
class OpenedQuarter:
    """What a page shows of a revealed quarter."""

    items: list[ExploredItem]  # most disputed first
    results: list[Rescored]


def opened_quarters(folder: Path | None) -> dict[str, Path]:
    """Return the folder of each revealed quarter in the folder of datasets, by the quarter's name."""
    if folder is None:
        return {}
    datasets = [file.parent for file in sorted(folder.glob("*/commitment.json"))]
    folders = {_revealed_quarter(dataset): dataset for dataset in datasets}
    return {quarter: dataset for quarter, dataset in folders.items() if quarter}


def _revealed_quarter(dataset: Path) -> str:
    """Return the quarter of a dataset, or an empty text if it is not revealed or cannot be read.

    Only a quarter that was found is kept: a dataset may be copied into the folder while the board looks at it.
    """
    if dataset not in _revealed:
        try:
            commitment = Commitment.read_known((dataset / "commitment.json").read_bytes())
        except (OSError, ValueError):
            return ""
        if not commitment.revealed_at:
            return ""
        _revealed[dataset] = commitment.quarter
    return _revealed[dataset]


def opened_quarter(dataset: Path) -> OpenedQuarter:
    """Return the items of a revealed quarter with all answers and their scores, from the folder of its dataset.

    Scores are computed at the first call, in a process with limits, because the answers are untrusted. All calls that come
    meanwhile wait for it. A dataset that cannot be read, or that takes longer than SCORING_SECONDS, has no items here. What
    was found is kept until the board restarts: a dataset does not change after it was revealed.
    """
    with _lock:
        if dataset not in _scored:
            try:
                _scored[dataset] = run_limited(_score_quarter, dataset, seconds=SCORING_SECONDS)
            except (EvaluationError, RuntimeError) as error:  # RuntimeError: any other error of the process
                log.warning("%s is not shown: %s", dataset, error)
                _scored[dataset] = OpenedQuarter([], [])
        return _scored[dataset]


def _score_quarter(dataset: Path) -> OpenedQuarter:
    """Score all answers of a quarter. Runs in a process of its own."""
    books = open_books(dataset)
    benchmark = books.benchmark
    results: list[Rescored] = []
    answers: dict[str, list[ModelAnswer]] = {}  # by item id
    for result in books.results:
        key = result.request_key
        model = result.config.model_name
        scores = books.scores_of(key)
        texts = {row.id: row.answer for row in books.answers[key]}
        for score in scores:
            right = score.values[benchmark.item_metric.name] == 1.0
            answers.setdefault(score.id, []).append(ModelAnswer(model, [texts[score.id][:MAX_SHOWN_ANSWER]], right))
        results.append(
            Rescored(
                model=model,
                key=key,
                published=result.results[result.benchmark].get(result.headline),
                computed=round(100 * benchmark.aggregate(scores)[result.headline], 2),
                is_hash_right=answers_hash(books.answers[key]) == result.answers_sha256,
            )
        )
    set_folder = books.set_folder.resolve()  # as the paths of pictures are
    quarter = books.commitment.quarter
    items = []
    for item in books.items:
        pictures = [f"{quarter}/{path.relative_to(set_folder).as_posix()}" for path in item.images]
        items.append(ExploredItem(item, item.answer, pictures, answers.get(item.id, [])))
    return OpenedQuarter(sorted(items, key=lambda item: -item.disagreement), results)


def opened_file(folder: Path | None, path: str) -> bytes | None:
    """Return a picture of a revealed item, or None if no such item has it.

    `folder` is the folder of datasets. `path` comes from an address and begins with the quarter: "2026Q4/images/1.png".
    """
    quarter, _, path_in_set = path.partition("/")
    dataset = opened_quarters(folder).get(quarter)
    if dataset is None or all(path not in item.pictures for item in opened_quarter(dataset).items):
        return None
    return (dataset / SET / path_in_set).read_bytes()
