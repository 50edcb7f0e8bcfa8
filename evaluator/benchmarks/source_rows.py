"""Read the tables of test sets as their makers publish them: CSV, XLSX, JSON, JSON lines and Parquet.

`python -m evaluator import` reads the `SourceRow`s of a benchmark (`Benchmark.source_rows`, by default `table_rows`) and
converts each with `Benchmark.convert_row`. Reading is strict, since a row that is silently read wrongly becomes a wrong gold
answer.
"""

import csv
import io
import json
import math
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from evaluator.benchmarks.source_files import composed, files_below
from evaluator.benchmarks.workbook import Unreadable, workbook_tables
from evaluator.core.errors import DataError

TABLES = (".csv", ".xlsx", ".json", ".jsonl", ".parquet")
ENCODINGS = ("utf-8-sig", "cp949")  # the encodings that spreadsheet programs in Korea write


@dataclass(frozen=True)
class SourceRow:
    """One unchanged row of a source file."""

    file: Path
    number: int  # from 1; headings and empty rows are not counted
    row: dict[str, Any]  # column → value, of the types that the file's format has

    @property
    def location(self) -> str:
        """The file and the row, for messages."""
        return f"{self.file.name}, row {self.number}"

    def text(self, column: str) -> str:
        """Return a column's text, stripped as the published scripts do.

        Raises KeyError if the column is missing, ValueError if it is empty or cannot be read as its author sees it.
        """
        return self.checked_text(column, self.row[column])

    def checked_text(self, column: str, value: Any) -> str:
        """Return a value of a column as `text` does, for example one value of a column with lists."""
        text = self._text(column, value)
        if not text:
            raise ValueError(f"column '{column}' is empty")
        return text

    def optional_text(self, *columns: str) -> str:
        """Return the text of the first of these columns that has one, else "". Raises ValueError as `text` does."""
        texts = (self._text(column, self.row.get(column)) for column in columns)
        return next(filter(None, texts), "")

    def _text(self, column: str, value: Any) -> str:
        """Return a value as text: " 24명 " -> "24명", 24.0 -> "24", None -> "". Raises ValueError if it is not one."""
        if value is None or value != value:  # libraries write NaN, which is not equal to itself, for an empty cell
            return ""
        if isinstance(value, Unreadable):
            raise ValueError(f"column '{column}': {value.reason}")
        if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
            raise ValueError(
                f"column '{column}' is {type(value).__name__}, not text: write it as its readers shall see it"
            )
        if isinstance(value, float):
            if not math.isfinite(value):
                raise ValueError(f"column '{column}' is {value}, not a number")
            # Libraries store a column of whole numbers as float if one of its cells is empty.
            value = int(value) if value.is_integer() else value
        return composed(str(value)).strip()


def table_rows(source: Path, kinds: tuple[str, ...] = TABLES) -> Iterator[SourceRow]:
    """Yield the rows of a CSV, XLSX, JSON, JSON lines or Parquet file, or of all such files below a folder.

    `kinds` are the endings of the files that are read. Raises DataError, naming the file, if one cannot be read.
    """
    if not source.exists():
        raise DataError(f"{source}: no such file or folder")
    files = files_below(source, kinds) if source.is_dir() else [source]
    if not files:
        raise DataError(f"{source}: contains no table ({', '.join(kinds)})")
    for file in files:
        ending = file.suffix.lower()
        if ending not in kinds:
            raise DataError(f"{file}: must end in one of {', '.join(kinds)}")
        try:
            yield from (SourceRow(file, number, row) for number, row in enumerate(_READERS[ending](file), 1))
        except DataError:
            raise
        except Exception as error:  # each format's library raises different errors
            raise DataError(f"{file}: cannot be read: {error}") from None


def json_lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the object of each line that is not blank.

    Raises DataError, naming the file and line, if a line is not a JSON object in UTF-8.
    """
    with file.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            line = raw.removeprefix(BOM_UTF8)
            if not line.strip():
                continue
            try:
                yield number, _checked_object(json.loads(line.decode(), object_pairs_hook=_object_of_pairs))
            except UnicodeDecodeError:
                raise DataError(f"{file}, line {number}: not in UTF-8") from None
            except (ValueError, RecursionError) as error:
                raise DataError(f"{file}, line {number}: not a JSON object: {error}") from None


def _csv_rows(file: Path) -> Iterator[dict[str, Any]]:
    """Read a table strictly: a quotation mark that is not closed would hide the rows behind it."""
    rows = csv.reader(io.StringIO(_decoded(file), newline=""), strict=True)
    try:
        yield from _rows_by_heading(file, rows)
    except csv.Error as error:
        raise DataError(f"{file}, line {rows.line_num}: {error}: check the quotation marks") from None


def _decoded(file: Path) -> str:
    """Return the text of a file in UTF-8, CP949 or, with a byte order mark, UTF-16. Raises DataError."""
    content = file.read_bytes()
    is_utf16 = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    for encoding in ("utf-16",) if is_utf16 else ENCODINGS:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise DataError(f"{file}: is neither UTF-8 nor CP949 nor UTF-16: save it as UTF-8")


def _xlsx_rows(file: Path) -> Iterator[dict[str, Any]]:
    for rows in workbook_tables(file):
        yield from _rows_by_heading(file, rows)


def _rows_by_heading(file: Path, rows: Iterator[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield rows as dicts. The headings are the first row that is not empty, and other empty rows are skipped.

    Cells that a short row lacks are None. A cell without a heading makes its row unusable, because a comma without quotation
    marks has cut a text into two: all cells of the row are then Unreadable. Raises DataError if the headings cannot be used.
    """
    filled = (row for row in rows if any(row))
    headings = [composed(str(name or "")).strip() for name in next(filled, ())]
    if len(headings) == 1:
        for separator in ";\t":
            if separator in headings[0]:
                raise DataError(f"{file}: separates columns by {separator!r}: save it with commas")
    repeated = next((name for name in headings if name and headings.count(name) > 1), None)
    if repeated is not None:
        raise DataError(f"{file}: two columns are named {repeated!r}")
    named_columns = sum(map(bool, headings))
    for row in filled:
        without_heading = [cell for place, cell in enumerate(row) if place >= len(headings) or not headings[place]]
        if any(without_heading):
            reason = f"the row has {len(row)} cells for {named_columns} headings: quote texts that contain commas"
            yield dict.fromkeys(headings, Unreadable(reason))
        else:
            lacking = headings[len(row) :]
            yield dict(zip(headings, row, strict=False)) | dict.fromkeys(lacking)


def _json_rows(file: Path) -> Iterator[dict[str, Any]]:
    """Return the objects in a list, or the values of an object, `{"1": {…}, "2": {…}}`."""
    content = json.loads(file.read_bytes(), object_pairs_hook=_object_of_pairs)
    rows = content.values() if isinstance(content, dict) else content
    return map(_checked_object, rows)


def _jsonl_rows(file: Path) -> Iterator[dict[str, Any]]:
    return (row for _, row in json_lines(file))


def _object_of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object. Raises ValueError if it has a key twice: by default, Python keeps only the last value."""
    content = dict(pairs)
    if len(content) < len(pairs):
        repeated, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {repeated!r} appears twice")
    return content


def _checked_object(row: Any) -> dict[str, Any]:
    """Return a row. Raises ValueError if it is not a JSON object."""
    if not isinstance(row, dict):
        raise ValueError(f"a row is {type(row).__name__}, not an object")
    return row


def parquet_rows(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file. Raises DataError if two columns have the same name, and errors of pyarrow."""
    import pyarrow.parquet as pq

    table = pq.ParquetFile(file)
    names = table.schema_arrow.names
    if len(set(names)) < len(names):
        raise DataError(f"{file}: two columns have the same name")
    for batch in table.iter_batches(use_threads=False):
        yield from batch.to_pylist()


_READERS: dict[str, Callable[[Path], Iterator[dict[str, Any]]]] = {
    ".csv": _csv_rows,
    ".xlsx": _xlsx_rows,
    ".json": _json_rows,
    ".jsonl": _jsonl_rows,
    ".parquet": parquet_rows,
}
