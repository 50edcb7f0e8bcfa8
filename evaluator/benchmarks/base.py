"""Define the base class of benchmarks and read the documented data schema.

A benchmark has a card, metrics, items, prompts and a scorer, all in one file of this folder.

Private test sets and samples use the same schema: a folder with `items.jsonl` or `items.parquet`, one row per
question, and the images and pages that the rows name by relative path. Columns: `id`, `question`, `answer`,
`images` (list of paths) or `page` (path), `choices` (list, the right one first), and one column for each breakdown
axis of the benchmark. A benchmark may define more columns.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from evaluator.benchmarks.card import Card
from evaluator.benchmarks.metrics import Metric
from evaluator.benchmarks.source_files import FORMATS, ImageFolder
from evaluator.benchmarks.source_rows import TABLES, SourceRow, json_lines, parquet_rows, table_rows
from evaluator.core.data_types import Answer, Item, Prompt, Score
from evaluator.core.errors import DataError
from submissions.records.options import MAX_REASONING_TOKENS, Inputs

Row = dict[str, Any]
ITEM_FILES = ("items.parquet", "items.jsonl")


class Benchmark:
    """Base class of all benchmarks. Subclasses define the card, the metrics, the prompt and the scoring rule."""

    name: str
    version: str  # changes whenever items, prompts or scoring change: scores of two versions are never compared
    inputs: Inputs  # what a model must be able to read
    min_context: int  # tokens that a question, its image and the answer need; pages are read in windows
    metrics: tuple[Metric, ...]
    card: Card
    max_new_tokens = 1024  # per answer
    # Tokens of a typical question, for `evaluator estimate`: its prompt with images or page, and its answer.
    prompt_tokens, answer_tokens = 2500, 20
    source_tables: tuple[str, ...] = TABLES  # types of files that its makers publish it in
    examples = 0  # few-shot examples in the prompt
    drawn = False  # whether its test set is generated from the operator's seed, see evaluator.fresh
    # "single": questions are asked one at a time; "total": time of the whole run / questions.
    latency_protocol: Literal["single", "total"] = "single"

    def ranks_decoding(self, decoding: str | None, answer_budget: int | None, reasoning_budget: int | None) -> bool:
        """Return whether results with this decoding and these token budgets may be ranked. None means unknown."""
        greedy = decoding != "repository"
        return (
            greedy and answer_budget in (None, self.max_new_tokens) and reasoning_budget in (None, MAX_REASONING_TOKENS)
        )

    def load(self, source: Path) -> list[Item]:
        """Load all items of a folder in the documented schema.

        Raises DataError if a row is invalid. The message names the file and the row.
        """
        file = items_file(source)
        rows = ((f"{file}, row {n}", partial(self.item, row, source)) for n, row in item_rows(file))
        return self.complete(build_items(file, rows))

    def complete(self, items: list[Item]) -> list[Item]:
        """Return the items with data computed from the whole set. Most benchmarks need none."""
        return items

    def item(self, row: Row, folder: Path) -> Item:
        """Build an item from a row of the documented schema. Raises KeyError or ValueError if the row is invalid."""
        return Item(
            id=text_in(row, "id"),
            question=text_in(row, "question"),
            answer=text_in(row, "answer"),
            images=images_in(folder, row),
            buckets={axis.name: text_in(row, axis.name) for axis in self.card.axes},
            cluster=row["images"][0],
        )

    def item_to_score(self, row: Row) -> Item:
        """Build an item for `python -m evaluator score`: its id, its gold answer and what else the scorer needs.

        Raises ValueError if a field is missing or invalid.
        """
        question = row.get("question", "")
        if not isinstance(question, str):
            raise ValueError("'question' must be text")
        answer = nonempty_text(row, "answer")
        check_surrogates("answer", answer)
        return Item(nonempty_text(row, "id"), question, answer)

    def source_rows(self, source: Path) -> Iterator[SourceRow]:
        """Return the rows of the test set as its makers publish it.

        Iterating raises DataError if a file cannot be read. The message names the file.
        """
        return table_rows(source, self.source_tables)

    def convert_row(self, source: SourceRow, images: ImageFolder) -> Row:
        """Convert a published row to the documented schema, but with source files in `images` and HTML in `page`.

        Raises KeyError or ValueError if the row cannot be used.
        """
        raise NotImplementedError

    def gold_output(self, item: Item) -> str | None:
        """Return an output that gives the gold answer, or None if no single output is right for the item."""
        return item.answer

    def prompts(self, item: Item) -> list[Prompt]:
        """Return the prompts for an item. Most benchmarks have one per item."""
        raise NotImplementedError

    def score(self, items: Sequence[Item], answers: Sequence[Sequence[Answer]]) -> list[Score]:
        """Return the score of each item. The answers of an item are in the order of its prompts."""
        return [self.score_item(item, item_answers) for item, item_answers in zip(items, answers, strict=True)]

    def score_item(self, item: Item, answers: Sequence[Answer]) -> Score:
        """Return the score of one item. A subclass must define this method unless it overrides `score`."""
        raise NotImplementedError

    def score_flat(self, items: Sequence[Item], answers: Sequence[Answer]) -> list[Score]:
        """Return the scores of items with one answer each, even if the benchmark has several prompts per item."""
        return self.score(items, [[answer] for answer in answers])

    def aggregate(self, scores: Sequence[Score]) -> dict[str, float]:
        """Return each metric over all items as a fraction of 1. Metrics that do not apply are left out."""
        values = {metric.name: metric.aggregate(scores, metric.name) for metric in self.metrics}
        return {name: value for name, value in values.items() if value is not None}

    def metric(self, name: str) -> Metric:
        """Return a metric by name. Raises KeyError if the benchmark does not have it."""
        return {metric.name: metric for metric in self.metrics}[name]

    @property
    def data_stays(self) -> bool:
        """Whether the terms of the test set forbid taking it abroad."""
        return self.card.data_stays

    @property
    def can_be_guessed(self) -> bool:
        """Whether many results of one person could reveal the answers of its private test set."""
        return self.card.coarse is not None

    @property
    def item_metric(self) -> Metric:
        """Return the metric for single items: the headline if it is a mean over items, else the first that is."""
        return next(metric for metric in (self.metric(self.card.headline), *self.metrics) if metric.is_mean)

    def histogram(self, scores: Sequence[Score]) -> dict[str, int]:
        """Return how often each kind of answer was given; empty unless the card has a histogram."""
        return {}


def build_items(source: Path, rows: Iterable[tuple[str, Callable[[], Item]]]) -> list[Item]:
    """Build the items of a source. `rows` has the location of each row (file and number) and a function that builds it.

    Raises DataError, naming the location, if a row is invalid or an id is repeated; also if there are no rows.
    """
    items: dict[str, Item] = {}
    for location, build in rows:
        try:
            item = build()
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{location}: {describe_row_error(error)}") from None
        if item.id in items:
            raise DataError(f"{location}: the id {item.id!r} appears twice")
        items[item.id] = item
    if not items:
        raise DataError(f"{source}: has no rows")
    return list(items.values())


def items_file(folder: Path) -> Path:
    """Return the items file of a folder in the documented schema. Raises DataError if there is none."""
    file = next((folder / name for name in ITEM_FILES if (folder / name).is_file()), None)
    if file is None:
        raise DataError(f"{folder}: contains neither {' nor '.join(ITEM_FILES)}")
    return file


def item_rows(file: Path) -> Iterator[tuple[int, Row]]:
    """Yield the rows of an items file with their numbers, from 1. Raises DataError if the file cannot be read."""
    parquet = file.suffix == ".parquet"
    try:
        yield from enumerate(parquet_rows(file), 1) if parquet else json_lines(file)
    except (OSError, ValueError) as error:
        raise DataError(f"{file}: not a {'Parquet' if parquet else 'text'} file: {error}") from None


def describe_row_error(error: Exception) -> str:
    """Return what is wrong with a row, given the error that building its item raised."""
    return f"column {error} is missing" if isinstance(error, KeyError) else str(error)


def text_in(row: Row, column: str) -> str:
    """Return the text of a column. Raises KeyError if the column is missing, ValueError if it is not valid text."""
    return checked_text(column, row[column])


def nonempty_text(row: Row, column: str) -> str:
    """Return the text of a column. Raises ValueError if it is missing, not text or empty."""
    value = row.get(column)
    if not isinstance(value, str) or not value:
        raise ValueError(f"'{column}' must be text that is not empty")
    return value


def checked_text(column: str, value: Any) -> str:
    """Return a value of a column. Raises ValueError if it is not text, is blank or has an unpaired surrogate."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"column '{column}' must be text that is not empty, not {value!r}")
    check_surrogates(column, value)
    return value


def check_surrogates(column: str, text: str) -> None:
    """Raise ValueError if a text has an unpaired surrogate, which JSON can contain but a UTF-8 file cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"'{column}' contains an unpaired surrogate") from None


def images_in(folder: Path, row: Row) -> tuple[Path, ...]:
    """Return the paths of a row's images. Raises KeyError or ValueError if they are missing or not readable."""
    names = row["images"]
    if not isinstance(names, list) or not names:
        raise ValueError("column 'images' must be a list of paths that is not empty")
    images = tuple(file_in(folder, name) for name in names)
    for image in images:
        _check_image(image)
    return images


def file_in(folder: Path, name: Any) -> Path:
    """Return the path of a file in a folder. Raises ValueError if it does not exist or is outside the folder."""
    if not isinstance(name, str):
        raise ValueError(f"a file is named by its path, and {type(name).__name__} is not a path")
    try:
        path = (folder / name).resolve()
        is_file = path.is_file()
    except OSError as error:  # for example a name that is too long
        raise ValueError(f"{name[:100]!r} is no path: {error.strerror}") from None
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{name!r} is outside the folder")
    if not is_file:
        raise ValueError(f"{name!r} does not exist")
    return path


def _check_image(path: Path) -> None:
    from PIL import Image

    try:
        with Image.open(path, formats=FORMATS) as image:
            image.verify()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"{path.name} is not a readable image: {error}") from None
