"""The public items of the benchmarks, with what each model answered, for the pages /explore/BENCHMARK.

Public items are the sample items of this project (`SAMPLES`). Items of test sets cannot be reached from here: items and
pictures are read from `SAMPLES` only, never from the folder of a test set, and answers of runs on samples only. Items of
revealed quarters of ko-fresh are in `opened.py`.
"""

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Item
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.ranking import is_outdated
from submissions.config.paths import SAMPLES
from submissions.records.index_rows import BoardRow


@dataclass(frozen=True)
class ModelAnswer:
    """What a model answered to an item, and whether that is right."""

    model: str
    answers: list[str]  # untrusted texts; several if a page was read in several windows
    right: bool


@dataclass(frozen=True)
class ExploredItem:
    """A public item, and what the models answered."""

    item: Item
    gold: str  # the right answer
    pictures: list[str]  # paths relative to the set's folder, as in addresses
    answers: list[ModelAnswer] = field(default_factory=list)

    @property
    def disagreement(self) -> float:
        """How much the models disagree: 0 if all are right or all are wrong, 0.25 if half of them are right."""
        if not self.answers:
            return 0.0
        share_right = sum(answer.right for answer in self.answers) / len(self.answers)
        return share_right * (1 - share_right)


def public_folder(benchmark: str) -> Path | None:
    """Return the folder of a benchmark's public items: the samples of this project, if its card says they are public."""
    folder = SAMPLES / benchmark
    return folder if BENCHMARKS[benchmark].card.samples_are_public and folder.is_dir() else None


@cache
def public_items(benchmark: str) -> tuple[ExploredItem, ...]:
    """Return the public items of a benchmark, without answers."""
    folder = public_folder(benchmark)
    if folder is None:
        return ()
    items = []
    for item in BENCHMARKS[benchmark].load(folder):
        pictures = [path.relative_to(folder).as_posix() for path in item.images]
        items.append(ExploredItem(item, item.answer, pictures))
    return tuple(items)


def explored_items(board: LiveBoard, benchmark: str) -> list[ExploredItem]:
    """Return the public items with the answers of each model's newest sample run, most disputed first."""
    answers: dict[str, list[ModelAnswer]] = {}
    for model, key in _newest_sample_runs(board, benchmark).items():
        for item_id, answer in board.public_answers(key).items():
            answers.setdefault(item_id, []).append(ModelAnswer(model, answer.answers, answer.right))
    items = [replace(explored, answers=answers.get(explored.item.id, [])) for explored in public_items(benchmark)]
    return sorted(items, key=lambda explored: -explored.disagreement)


def public_file(benchmark: str, path: str) -> bytes | None:
    """Return a picture of a public item, or None if no public item has it.

    `path` comes from an address, so a file is read only if an item names it.
    """
    folder = public_folder(benchmark)
    if folder is None or all(path not in item.pictures for item in public_items(benchmark)):
        return None
    return (folder / path).read_bytes()


def _newest_sample_runs(board: LiveBoard, benchmark: str) -> dict[str, str]:
    """Return the key of each model's newest sample run, by the name of the model, newest first.

    Runs of an older version of the benchmark are left out: their answers may be to other questions with the same ids, or were
    scored by another rule. So are runs without pictures ("sample/blind"), whose answers are not published.
    """
    rows: list[BoardRow] = []
    for ranked in board.view().boards[benchmark]:
        row = ranked.row
        if row.split == "sample" and row.retired is None and not is_outdated(row):
            rows.append(row)
    keys: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: row.date or 0.0, reverse=True):
        keys.setdefault(row.model, row.key)  # the first one of each model is its newest
    return keys
