"""What `ko-fresh verify` and `ko-fresh statistics` compute from a stranger's folder, in a process with limits.

`ko_fresh.py` runs these functions with `run_limited`. They have a file of their own because the process imports it, and
importing `ko_fresh.py` would take longer: it imports what draws sets, such as matplotlib.
"""

from pathlib import Path
from typing import NamedTuple

from evaluator.commands.verify import read_place
from evaluator.core.errors import DataError
from evaluator.quarters.books import open_books
from evaluator.quarters.item_statistics import BucketStatistics, item_statistics
from evaluator.quarters.on_board import board_differences
from evaluator.quarters.recompute import book_differences, file_differences
from submissions.records.operator import Commitment


class FolderCheck(NamedTuple):
    """What a folder of books has, and what is wrong with it."""

    commitment: Commitment
    results: int
    faults: list[str]  # a line for each


def check_published_folder(folder: Path, board: str | None) -> FolderCheck:
    """Check the books in a folder. `board` is the address of a board whose records must be the same, or None."""
    books = open_books(folder)
    faults = book_differences(books)
    if not books.results:
        faults.append("there are no results")
    # The files that follow from the answers are made again and compared. If the books are wrong, that would only repeat it.
    if not faults:
        faults += file_differences(books, folder)
    if board:
        faults += board_differences(books, lambda path: read_place(f"{board.rstrip('/')}/{path}"))
    return FolderCheck(books.commitment, len(books.results), faults)


def table_of_items(folder: Path) -> tuple[str, list[BucketStatistics]]:
    """Return the title and the rows of the table of items. Raises DataError if there are no results."""
    books = open_books(folder)
    if not books.results:
        raise DataError(f"{folder}: there are no results")
    title = f"{books.commitment.quarter}: {len(books.items):,} items, {len(books.results)} results"
    return title, item_statistics(books)
