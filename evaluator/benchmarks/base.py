"""What a benchmark is: a card, items, prompts and a scorer.

The documented data schema, for private test sets and samples alike: a folder with `items.jsonl` or
`items.parquet`, one row a question, and the images and pages its rows name by relative path. Columns:
`id`, `question`, `answer`, `images` (list of paths) or `page` (path), `choices` (list, the right one first),
and one column for each breakdown axis of the benchmark.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.types import Answer, DataError, Item, Prompt, Score
from submissions.catalog import BENCHMARKS, Inputs

ITEM_FILES = ("items.parquet", "items.jsonl")


@dataclass(frozen=True)
class Card:
    """What is told about a benchmark; shown on the board."""

    title: str
    split: str  # the split its published numbers were measured on: only rows of it are ranked
    n: int  # questions in that split
    axes: tuple[str, ...]  # breakdown axes, each a column of the data
    summary_ko: str
    summary_en: str
    source_url: str
    headline: str = "em"
    columns: tuple[tuple[str, str], ...] = ()  # extra board columns: (axis, bucket) of the breakdown
    chance: float | None = None  # EM of guessing, in percent


class Benchmark:
    """One benchmark; subclasses give the card, the prompt and the scoring rule."""

    name: str
    card: Card
    max_new_tokens = 1024

    @property
    def scored(self) -> bool:
        """Whether models can be evaluated on it; else it shows published results only."""
        return BENCHMARKS[self.name].open

    @property
    def version(self) -> str:
        return BENCHMARKS[self.name].version

    @property
    def inputs(self) -> Inputs:
        return BENCHMARKS[self.name].inputs

    def load(self, source: Path) -> list[Item]:
        """All items of a folder in the documented schema. Raises DataError naming file and row."""
        return list(load_folder(source, self.inputs, self.card.axes, needs_choices=False))

    def prompts(self, item: Item) -> list[Prompt]:
        """What the model is asked for an item; most benchmarks ask once."""
        raise NotImplementedError

    def score(self, items: Sequence[Item], answers: Sequence[Sequence[Answer]]) -> list[Score]:
        """Each item's score from its answers, which stand in the order of its prompts."""
        return [self.score_item(item, own) for item, own in zip(items, answers, strict=True)]

    def score_item(self, item: Item, answers: Sequence[Answer]) -> Score:
        raise NotImplementedError

    def f1(self, scores: Sequence[Score]) -> float:
        """F1 over all items, from 0 to 1: the mean of the items' unless a benchmark defines another."""
        return sum(s.f1 for s in scores) / len(scores)


def load_folder(source: Path, inputs: Inputs, axes: Iterable[str], needs_choices: bool) -> Iterator[Item]:
    file = next((source / name for name in ITEM_FILES if (source / name).is_file()), None)
    if file is None:
        raise DataError(f"{source}: holds neither {' nor '.join(ITEM_FILES)}")
    seen: set[str] = set()
    for number, row in _rows(file):
        where = f"{file}, row {number}"
        try:
            item = _item(row, source, inputs, axes, needs_choices)
        except (KeyError, TypeError, ValueError) as error:
            reason = f"column {error} is missing" if isinstance(error, KeyError) else str(error)
            raise DataError(f"{where}: {reason}") from None
        if item.id in seen:
            raise DataError(f"{where}: the id {item.id!r} stands twice")
        seen.add(item.id)
        yield item
    if not seen:
        raise DataError(f"{file}: has no rows")


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if file.suffix == ".parquet":
        import pyarrow.parquet as pq

        try:
            table = pq.ParquetFile(file)
        except (OSError, ValueError) as error:
            raise DataError(f"{file}: no Parquet file: {error}") from None
        number = 0
        for batch in table.iter_batches():
            for row in batch.to_pylist():
                number += 1
                yield number, row
        return
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except ValueError as error:
                raise DataError(f"{file}, row {number}: no JSON: {error}") from None
            if not isinstance(row, dict):
                raise DataError(f"{file}, row {number}: no JSON object")
            yield number, row


def _item(row: dict[str, Any], folder: Path, inputs: Inputs, axes: Iterable[str], needs_choices: bool) -> Item:
    images = tuple(_file_in(folder, name) for name in row["images"]) if inputs == "image" else ()
    if inputs == "image" and not images:
        raise ValueError("names no image")
    for image in images:
        _check_image(image)
    page = _file_in(folder, row["page"]).read_text(encoding="utf-8") if inputs == "page" else None
    choices = tuple(_text(row, "choices", choice) for choice in row["choices"]) if needs_choices else ()
    return Item(
        id=_text(row, "id"),
        question="" if needs_choices else _text(row, "question"),
        answer=choices[0] if needs_choices else _text(row, "answer"),
        images=images,
        page=page,
        choices=choices,
        buckets={axis: _text(row, axis) for axis in axes},
        cluster=row["page"] if page is not None else row["images"][0],
    )


def _text(row: dict[str, Any], column: str, value: Any = None) -> str:
    value = row[column] if value is None else value
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"column '{column}' must be text that is not empty, not {value!r}")
    return value


def _file_in(folder: Path, name: Any) -> Path:
    if not isinstance(name, str):
        raise ValueError(f"{name!r} is no path")
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{name!r} lies outside the folder")
    if not path.is_file():
        raise ValueError(f"{name!r} does not exist")
    return path


def _check_image(path: Path) -> None:
    from PIL import Image

    try:
        with Image.open(path) as image:
            image.verify()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"{path.name} is no readable image: {error}") from None
