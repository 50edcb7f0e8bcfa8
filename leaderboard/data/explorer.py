"""The public items of the benchmarks, with what each model answered. Private items cannot be reached from here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Item
from leaderboard.data.live_board import LiveBoard
from submissions.config.paths import SAMPLES


@dataclass(frozen=True)
class ModelAnswer:
    model: str
    answers: list[str]  # untrusted texts
    right: bool


@dataclass(frozen=True)
class ExploredItem:
    """A public item, and what the models answered."""

    item: Item
    gold: str
    pictures: list[str]  # paths relative to the set's folder
    answers: list[ModelAnswer] = field(default_factory=list)

    @property
    def disagreement(self) -> float:
        """How much the models disagree: 0 if all are right or all are wrong, at most 0.25."""
        if not self.answers:
            return 0.0
        share = sum(one.right for one in self.answers) / len(self.answers)
        return share * (1 - share)


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
    made = BENCHMARKS[benchmark]
    found = []
    for item in made.load(folder):
        pictures = [path.relative_to(folder).as_posix() for path in item.images]
        found.append(ExploredItem(item, item.answer or made.gold_output(item) or "", pictures))
    return tuple(found)


def explored_items(board: LiveBoard, benchmark: str) -> list[ExploredItem]:
    """Return the public items with the answers of each model's newest sample run, most disputed first."""
    answers: dict[str, list[ModelAnswer]] = {}
    for model, key in _sample_runs(board, benchmark):
        for item_id, given in board.public_answers(key).items():
            answers.setdefault(item_id, []).append(ModelAnswer(model, given.answers, given.right))
    items = [
        ExploredItem(one.item, one.gold, one.pictures, answers.get(one.item.id, [])) for one in public_items(benchmark)
    ]
    return sorted(items, key=lambda one: -one.disagreement)


def public_file(benchmark: str, path: str) -> bytes | None:
    """Return a picture of a public item, or None if no public item has it."""
    folder = public_folder(benchmark)
    if folder is None or all(path not in one.pictures for one in public_items(benchmark)):
        return None
    return (folder / path).read_bytes()


def _sample_runs(board: LiveBoard, benchmark: str) -> Sequence[tuple[str, str]]:
    """Return the newest sample run of each model, as its name and the key of its result."""
    rows = [r.row for r in board.view().boards[benchmark] if r.row.split == "sample" and r.row.retired is None]
    newest: dict[str, tuple[str, str]] = {}
    for row in sorted(rows, key=lambda row: -(row.date or 0.0)):
        newest.setdefault(row.model, (row.model, row.key))
    return list(newest.values())
