"""What the importers of `assets/` have in common: their arguments, the rows of CSV files, and a guard against lost entries."""

import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import NoReturn

MAX_LOST_SHARE = 0.1  # of the entries that a file may leave out without --replace
STAYS = "so {} stays as it is; if that is meant, add --replace"
FIRST_ROW = 2  # as spreadsheets count: the first line has the names of the columns


def run(name: str, importer: Callable[..., int]) -> NoReturn:
    """Run an importer with the arguments of the command line: FILE and, if entries may be lost, --replace."""
    given = [argument for argument in sys.argv[1:] if argument != "--replace"]
    if len(given) != 1:
        sys.exit(f"usage: python -m scripts.{name} FILE [--replace]")
    try:
        sys.exit(importer(given[0], may_lose="--replace" in sys.argv))
    except OSError as error:
        sys.exit(f"{name}: nothing written: {error}")


def numbered_rows(lines: Iterable[str], columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row of a CSV file, with its number as spreadsheets count, blank rows included.

    Raises ValueError, naming the line, if it has other columns or is no CSV file.
    """
    reader = csv.reader(lines, strict=True)
    try:
        if next(reader, []) != list(columns):
            raise ValueError(f"line 1: the columns must be {', '.join(columns)}")
        for number, cells in enumerate(reader, FIRST_ROW):
            if cells:
                yield number, cells
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None


def row_of(cells: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """Return the cells of a row by column, without spaces around them. Raises ValueError if there are more or fewer of them."""
    if len(cells) != len(columns):
        difference = "more" if len(cells) > len(columns) else "fewer"
        raise ValueError(f"it has {difference} cells than the table has columns")
    return {column: cell.strip() for column, cell in zip(columns, cells, strict=True)}


def loss_of(before: Set[object], after: Set[object]) -> str | None:
    """Return how many entries a file leaves out, as "19 of 20", or None if they are so few that this is most likely meant."""
    lost = len(before - after)
    if after and lost <= MAX_LOST_SHARE * len(before):
        return None
    return f"{lost} of {len(before)}"
