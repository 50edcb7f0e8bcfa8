"""Read rows of the documented schema: a folder with `items.jsonl` or `items.parquet`, one row per question.

`Benchmark.load` reads test sets and samples here; the schema is in the docstring of `base.py`. The rows name images and
pages by their path in the folder. A set may be made by hand, so mistakes are reported with file and row.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from evaluator.benchmarks.source_files import FORMATS
from evaluator.benchmarks.source_rows import json_lines, parquet_rows
from evaluator.core.data_types import Item
from evaluator.core.errors import DataError

Row = dict[str, Any]  # column → value
ITEM_FILES = ("items.parquet", "items.jsonl")  # names of items files; the first that exists is read
MAX_SHOWN_NAME = 100  # characters of an invalid file name in a message


def build_items(source: Path, rows: Iterable[tuple[str, Callable[[], Item]]]) -> list[Item]:
    """Build the items of a source. `rows` has the location of each row (file and number) and a function that builds an item.

    Raises DataError, naming the location, if a row is invalid or an id is repeated; also if there are no rows.
    """
    items: dict[str, Item] = {}
    for location, build in rows:
        try:
            item = build()
        except ROW_ERRORS as error:
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
    """Yield each row of an items file, after its number from 1 (the line number in `items.jsonl`).

    Raises DataError if the file cannot be read.
    """
    is_parquet = file.suffix == ".parquet"
    try:
        numbered_rows = enumerate(parquet_rows(file), 1) if is_parquet else json_lines(file)
        yield from numbered_rows
    except (OSError, ValueError) as error:
        raise DataError(f"{file}: not a {'Parquet' if is_parquet else 'text'} file: {error}") from None


# What building an item may raise if a value of its row is missing or of another type than it should be.
ROW_ERRORS = (KeyError, IndexError, AttributeError, OverflowError, TypeError, ValueError)


def describe_row_error(error: Exception) -> str:
    """Return what is wrong with a row, given the error that building its item raised. A KeyError names a column."""
    return f"column {error} is missing" if isinstance(error, KeyError) else str(error)


def text_in(row: Row, column: str) -> str:
    """Return the text of a column. Raises KeyError if the column is missing, ValueError if it is not valid text."""
    return checked_text(column, row[column])


def nonempty_text(row: Row, column: str) -> str:
    """Return the text of a column for `python -m evaluator score`. Raises ValueError if it is missing, not text or blank.

    Unlike `text_in`, accept an unpaired surrogate: that command only reads and writes JSON, which can contain one.
    """
    value = row.get(column)
    if not isinstance(value, str) or not value.strip():
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
    """Return the paths of a row's images in a folder. Raises KeyError or ValueError if they are missing or not readable."""
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
        raise ValueError(f"{name[:MAX_SHOWN_NAME]!r} is no path: {error.strerror}") from None
    except RuntimeError:  # raised by `resolve` before Python 3.13; later ones find no file
        raise ValueError(f"{name[:MAX_SHOWN_NAME]!r} is no path: a link leads back to itself") from None
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{name!r} is outside the folder")
    if not is_file:
        raise ValueError(f"{name!r} does not exist")
    return path


def _check_image(path: Path) -> None:
    """Raise ValueError if a file is not a readable image."""
    from PIL import Image

    try:
        with Image.open(path, formats=FORMATS) as image:
            image.verify()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"{path.name} is not a readable image: {error}") from None
