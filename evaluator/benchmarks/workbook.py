"""Read the tables of an Excel workbook as text, as its author sees them.

`source_rows.table_rows` reads `.xlsx` files here. A gold answer is what a cell shows: 0.205 in the format `0.0%` is `20.5%`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time
from pathlib import Path
from typing import Any

from evaluator.benchmarks.number_format import GENERAL, OF_LANGUAGE, shown_text, shown_value
from evaluator.core.errors import DataError

COMPOUND_FILE = bytes.fromhex("d0cf11e0a1b11ae1")  # first bytes of an encrypted workbook, and of one from before 2007


@dataclass(frozen=True)
class Unreadable:
    """A cell that cannot be read as its author sees it. It makes a row unusable only if its column is used."""

    reason: str  # "C7 has the error #DIV/0!"


Cell = str | Unreadable | None  # None: empty


def workbook_tables(file: Path) -> Iterator[Iterator[tuple[Cell, ...]]]:
    """Yield the rows of each visible sheet. Rows may have different lengths.

    Raises DataError if the file has a password or is of Excel 2003 or older.
    """
    from openpyxl import load_workbook

    with file.open("rb") as content:
        if content.read(len(COMPOUND_FILE)) == COMPOUND_FILE:
            raise DataError(f"{file}: has a password or is in the old format .xls: save it as .xlsx without a password")
    book = load_workbook(file, read_only=True, data_only=True)
    try:
        for sheet in book.worksheets:
            if sheet.sheet_state != "visible":
                continue
            sheet.reset_dimensions()  # some programs write a wrong size, and rows beyond it would be left out
            yield (tuple(map(_cell, row)) for row in sheet.iter_rows())
    finally:
        book.close()


def _cell(cell: Any) -> Cell:
    """Return what a cell of openpyxl shows."""
    if cell.value is None:
        return None
    try:
        return _shown(cell, cell.value)
    except ValueError as error:
        return Unreadable(f"{cell.coordinate} {error}")


def _shown(cell: Any, value: Any) -> str:
    """Return the value of a cell in its format. Raises ValueError with a message that continues the cell's address."""
    from openpyxl.utils.escape import unescape

    if cell.data_type == "e":  # an error, such as #DIV/0!
        raise ValueError(f"has the error {value}")
    if isinstance(value, str):
        return shown_text(unescape(value), cell.number_format)  # a workbook writes control characters as _x000D_
    if cell.style_array.numFmtId in OF_LANGUAGE:
        raise ValueError(f"is shown as Excel's language has it: write {value} as text")
    if isinstance(value, int | float | date | time):
        return shown_value(value, cell.number_format or GENERAL)
    raise ValueError(f"is {type(value).__name__}: write it as text")
