"""What a benchmark is: a card, metrics, items, prompts and a scorer. One file in this folder each.

The documented data schema, for private test sets and samples alike: a folder with `items.jsonl` or
`items.parquet`, one row a question, and the images and pages its rows name by relative path. Columns:
`id`, `question`, `answer`, `images` (list of paths) or `page` (path), `choices` (list, the right one first),
and one column for each breakdown axis of the benchmark. A benchmark may have columns of its own.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from evaluator.benchmarks.card import Card
from evaluator.benchmarks.metrics import Metric
from evaluator.benchmarks.source_rows import TABLES, ImageFolder, SourceRow, json_lines, parquet_rows, table_rows
from evaluator.core.data_types import Answer, Item, Prompt, Score
from evaluator.core.errors import DataError
from submissions.records.options import MAX_REASONING_TOKENS, Inputs

Row = dict[str, Any]
ITEM_FILES = ("items.parquet", "items.jsonl")


class Benchmark:
    """A benchmark; subclasses give the card, the metrics, the prompt and the scoring rule."""

    name: str
    version: str  # raised whenever items, prompts or scoring change: scores of two versions are never compared
    inputs: Inputs  # what a model must be able to read
    min_context: int  # tokens for a question, its image and the answer; pages are read in windows
    metrics: tuple[Metric, ...]
    card: Card
    max_new_tokens = 1024  # of an answer
    # A typical question's, for `evaluator estimate`: of its prompt with images or page, and of its answer.
    prompt_tokens, answer_tokens = 2500, 20
    source_tables: tuple[str, ...] = TABLES  # kinds of files its makers publish it in
    examples = 0  # worked ones in the prompt
    drawn = False  # whether its set is drawn from a seed of the operator's, see evaluator.fresh
    # "single": questions asked one at a time; "total": all of the run's time / questions.
    latency_protocol: Literal["single", "total"] = "single"

    def ranks_decoding(self, decoding: str | None, answer_budget: int | None, reasoning_budget: int | None) -> bool:
        """Return whether answers decoded in this way, to these budgets in tokens, may have a rank. None: not known."""
        greedy = decoding != "repository"
        return (
            greedy and answer_budget in (None, self.max_new_tokens) and reasoning_budget in (None, MAX_REASONING_TOKENS)
        )

    def load(self, source: Path) -> list[Item]:
        """All items of a folder in the documented schema. Raises DataError naming file and row."""
        file = items_file(source)
        rows = ((f"{file}, row {n}", partial(self.item, row, source)) for n, row in item_rows(file))
        return self.complete(build_items(file, rows))

    def complete(self, items: list[Item]) -> list[Item]:
        """The items with what each needs of the whole set; most benchmarks need nothing."""
        return items

    def item(self, row: Row, folder: Path) -> Item:
        """An item from a row of the documented schema. Raises KeyError or ValueError for a broken one."""
        return Item(
            id=text_in(row, "id"),
            question=text_in(row, "question"),
            answer=text_in(row, "answer"),
            images=images_in(folder, row),
            buckets={axis.name: text_in(row, axis.name) for axis in self.card.axes},
            cluster=row["images"][0],
        )

    def item_to_score(self, row: Row) -> Item:
        """An item of `python -m evaluator score`: its id, gold answer and what else the scorer needs.

        Raises ValueError.
        """
        question = row.get("question", "")
        if not isinstance(question, str):
            raise ValueError("'question' must be text")
        answer = nonempty_text(row, "answer")
        check_surrogates("answer", answer)
        return Item(nonempty_text(row, "id"), question, answer)

    def source_rows(self, source: Path) -> Iterator[SourceRow]:
        """The rows of the test set as its makers publish it. Raises DataError naming the file."""
        return table_rows(source, self.source_tables)

    def convert_row(self, source: SourceRow, images: ImageFolder) -> Row:
        """Such a row in the documented schema, but for `images`, the files meant, and `page`, its HTML.

        Raises KeyError or ValueError for a row that cannot be used.
        """
        raise NotImplementedError

    def gold_output(self, item: Item) -> str | None:
        """What a model would say that gives the gold answer. None where no text is right for an item as it is."""
        return item.answer

    def prompts(self, item: Item) -> list[Prompt]:
        """What the model is asked for an item; most benchmarks ask once."""
        raise NotImplementedError

    def score(self, items: Sequence[Item], answers: Sequence[Sequence[Answer]]) -> list[Score]:
        """Each item's score from its answers, which are in the order of its prompts."""
        return [self.score_item(item, own) for item, own in zip(items, answers, strict=True)]

    def score_item(self, item: Item, answers: Sequence[Answer]) -> Score:
        raise NotImplementedError

    def score_flat(self, items: Sequence[Item], answers: Sequence[Answer]) -> list[Score]:
        """Scores of items that were asked once each, whatever the benchmark's own number of prompts."""
        return self.score(items, [[answer] for answer in answers])

    def aggregate(self, scores: Sequence[Score]) -> dict[str, float]:
        """Return every metric over all items, from its lowest to 1, without those that do not apply."""
        values = {metric.name: metric.aggregate(scores, metric.name) for metric in self.metrics}
        return {name: value for name, value in values.items() if value is not None}

    def metric(self, name: str) -> Metric:
        """Return a metric by name. Raises KeyError."""
        return {metric.name: metric for metric in self.metrics}[name]

    @property
    def item_metric(self) -> Metric:
        """The metric that says how right an answer to one item is: the headline, or else the first that is a mean."""
        return next(metric for metric in (self.metric(self.card.headline), *self.metrics) if metric.is_mean)

    def histogram(self, scores: Sequence[Score]) -> dict[str, int]:
        """How often each kind of answer was given; empty unless the card has a histogram."""
        return {}


def build_items(source: Path, rows: Iterable[tuple[str, Callable[[], Item]]]) -> list[Item]:
    """The item of each row, given with where it stands. Raises DataError naming file and row."""
    items: dict[str, Item] = {}
    for where, build in rows:
        try:
            item = build()
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{where}: {fault_of(error)}") from None
        if item.id in items:
            raise DataError(f"{where}: the id {item.id!r} stands twice")
        items[item.id] = item
    if not items:
        raise DataError(f"{source}: has no rows")
    return list(items.values())


def items_file(folder: Path) -> Path:
    """The one that a folder in the documented schema has. Raises DataError where it has none."""
    file = next((folder / name for name in ITEM_FILES if (folder / name).is_file()), None)
    if file is None:
        raise DataError(f"{folder}: holds neither {' nor '.join(ITEM_FILES)}")
    return file


def item_rows(file: Path) -> Iterator[tuple[int, Row]]:
    """Its rows, numbered from 1. Raises DataError."""
    parquet = file.suffix == ".parquet"
    try:
        yield from enumerate(parquet_rows(file), 1) if parquet else json_lines(file)
    except (OSError, ValueError) as error:
        raise DataError(f"{file}: no {'Parquet' if parquet else 'text'} file: {error}") from None


def fault_of(error: Exception) -> str:
    """What is wrong with a row, from the error that building its item raised."""
    return f"column {error} is missing" if isinstance(error, KeyError) else str(error)


def text_in(row: Row, column: str) -> str:
    return checked_text(column, row[column])


def nonempty_text(row: Row, column: str) -> str:
    """A column that must be text. Raises ValueError."""
    value = row.get(column)
    if not isinstance(value, str) or not value:
        raise ValueError(f"'{column}' must be text that is not empty")
    return value


def checked_text(column: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"column '{column}' must be text that is not empty, not {value!r}")
    check_surrogates(column, value)
    return value


def check_surrogates(column: str, text: str) -> None:
    """Raises ValueError for half a surrogate pair, which JSON can hold and no file in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"'{column}' holds half a surrogate pair") from None


def images_in(folder: Path, row: Row) -> tuple[Path, ...]:
    images = tuple(file_in(folder, name) for name in row["images"])
    if not images:
        raise ValueError("names no image")
    for image in images:
        _check_image(image)
    return images


def file_in(folder: Path, name: Any) -> Path:
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
