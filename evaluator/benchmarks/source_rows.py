"""Read test sets as their makers publish them: tables in files, images in folders."""

import csv
import io
import json
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from evaluator.core.errors import DataError

TABLES = (".csv", ".xlsx", ".json", ".jsonl", ".parquet")
IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")
ENCODINGS = ("utf-8-sig", "cp949")  # the encodings that spreadsheet programs in Korea write


@dataclass(frozen=True)
class SourceRow:
    """One unchanged row of a source file."""

    file: Path
    number: int  # from 1, headings not counted
    row: dict[str, Any]

    @property
    def location(self) -> str:
        return f"{self.file.name}, row {self.number}"

    def text(self, column: str) -> str:
        """Return a column's text, stripped as the published scripts do.

        Raises KeyError if the column is missing, ValueError if it is empty.
        """
        value = self.row[column]
        text = "" if value is None else str(value).strip()
        if not text:
            raise ValueError(f"column '{column}' is empty")
        return text


class ImageFolder:
    """Find images by name anywhere below a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find(self, name: str, hint: str = "") -> Path:
        """Return the image with this name; the file extension is optional.

        If several images have the name, return the one whose folder path contains `hint`.
        Raises ValueError if there is no such image or more than one.
        """
        found = self._by_name.get(name) or self._by_name.get(Path(name).stem, [])
        if not found:
            raise ValueError(f"image {name!r} is not below {self.root}")
        if len(found) > 1:
            found = [path for path in found if hint and hint in path.relative_to(self.root).parent.as_posix()]
        if len(found) != 1:
            raise ValueError(f"image {name!r} is in several folders, and not exactly one of them matches {hint!r}")
        return found[0]

    @cached_property
    def _by_name(self) -> dict[str, list[Path]]:
        names: dict[str, list[Path]] = {}
        for path in sorted(self.root.rglob("*")):
            if path.suffix.lower() in IMAGES:
                names.setdefault(path.name, []).append(path)
                names.setdefault(path.stem, []).append(path)
        return names


def table_rows(source: Path, kinds: tuple[str, ...] = TABLES) -> Iterator[SourceRow]:
    """Yield the rows of a CSV, XLSX, JSON, JSON lines or Parquet file, or of all such files below a folder.

    `kinds` limits which files of a folder are read. Raises DataError, naming the file, if one cannot be read.
    """
    if not source.exists():
        raise DataError(f"{source}: no such file or folder")
    files = sorted(p for p in source.rglob("*") if p.suffix.lower() in kinds) if source.is_dir() else [source]
    if not files:
        raise DataError(f"{source}: contains no table ({', '.join(kinds)})")
    for file in files:
        if (read := _READERS.get(file.suffix.lower())) is None:
            raise DataError(f"{file}: must end in one of {', '.join(TABLES)}")
        try:
            yield from (SourceRow(file, number, row) for number, row in enumerate(read(file), 1))
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
            if line.strip():
                try:
                    yield number, _object(json.loads(line.decode()))
                except UnicodeDecodeError:
                    raise DataError(f"{file}, row {number}: not in UTF-8") from None
                except (ValueError, RecursionError) as error:
                    raise DataError(f"{file}, row {number}: not a JSON object: {error}") from None


def _csv(file: Path) -> Iterator[dict[str, Any]]:
    content = file.read_bytes()
    for encoding in ENCODINGS:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return iter(csv.DictReader(io.StringIO(text, newline="")))
    raise DataError(f"{file}: is neither UTF-8 nor CP949")


def _xlsx(file: Path) -> Iterator[dict[str, Any]]:
    from openpyxl import load_workbook

    book = load_workbook(file, read_only=True, data_only=True)
    try:
        for sheet in book:
            rows = sheet.iter_rows(values_only=True)
            heading = [str(name) for name in next(rows, ())]
            yield from (dict(zip(heading, row, strict=True)) for row in rows if any(v is not None for v in row))
    finally:
        book.close()


def _json(file: Path) -> Iterator[dict[str, Any]]:
    content = json.loads(file.read_bytes())
    rows = content.values() if isinstance(content, dict) else content
    return (_object(row) for row in rows)


def _jsonl(file: Path) -> Iterator[dict[str, Any]]:
    return (row for _, row in json_lines(file))


def _object(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise ValueError(f"a row is {type(row).__name__}, not an object")
    return row


def parquet_rows(file: Path) -> Iterator[dict[str, Any]]:
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(file).iter_batches(use_threads=False):
        yield from batch.to_pylist()


_READERS = {".csv": _csv, ".xlsx": _xlsx, ".json": _json, ".jsonl": _jsonl, ".parquet": parquet_rows}
