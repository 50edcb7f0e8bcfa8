"""Read the tables of a transcribed page, in Markdown and HTML, and find the neighbours and headings of their cells.

`page_checks` calls `markdown_tables` and `html_tables`, and asks the tables where cells are. What exceeds the limits below is
left out, because outputs may repeat themselves without end.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

from evaluator.benchmarks.scoring.page_text import normalized

MAX_TABLES = 200  # of a page
MAX_NESTED = 10  # tables that are inside each other
MAX_COLUMNS = 1000  # of a table
MAX_POSITIONS = 200_000  # rows times columns of all tables of a page
MAX_CELL = 2000  # characters of a cell that are compared

Matcher = Callable[[str], bool]  # whether the text of a cell matches an expected text


@dataclass
class Budget:
    """How many more positions the tables of a page may have."""

    positions: int = MAX_POSITIONS

    def take(self, positions: int) -> bool:
        """Use up some positions. Return whether there were that many."""
        self.positions -= positions
        return self.positions >= 0


@dataclass(frozen=True)
class _Cell:
    """A cell at the rows `top` to `bottom` and the columns `left` to `right`, both included."""

    text: str  # normalised
    is_heading: bool
    top: int
    bottom: int
    left: int
    right: int


class _UnplacedCell(NamedTuple):
    """A cell as it is written, before its place in the grid of a table is known."""

    text: str
    is_heading: bool
    height: int  # rows that it covers
    width: int  # columns


@dataclass
class _WaysToEdge:
    """What is on the ways from a cell to one edge of its table. There are several if the cell has several neighbours."""

    have_heading: bool = False  # whether a heading cell is on one of them
    have_matching_heading: bool = False  # whether one that matches is
    end_in_match: bool = False  # whether a cell at the edge matches

    @property
    def has_match(self) -> bool:
        """Whether a heading of the cell matches. If there is no heading cell, the cells at the edge are its headings."""
        return self.have_matching_heading if self.have_heading else self.end_in_match


class Table:
    """The cells of a table and which of them are beside each other. Cells that span several rows have several neighbours.

    A cell is named by its index in `cells`.
    """

    def __init__(self, rows: Sequence[Sequence[_UnplacedCell]], budget: Budget) -> None:
        self.cells: list[_Cell] = []
        # The cell at each row and column. Empty positions are left out.
        self._grid: dict[tuple[int, int], int] = {}
        self._neighbours: dict[str, list[set[int]]] = {}  # by side, what `neighbours` returns
        for row, cells in enumerate(rows):
            column = 0
            for text, is_heading, height, width in cells:
                while (row, column) in self._grid:
                    column += 1
                bottom = row + height - 1
                right = min(column + width, MAX_COLUMNS) - 1
                if right < column or not budget.take(height * (right - column + 1)):
                    break  # the rest of the row is left out
                for covered in range(column, right + 1):
                    self._place(row, bottom, covered)
                self.cells.append(_Cell(normalized(text), is_heading, row, bottom, column, right))
                column = right + 1
        self._bottom = max((row for row, _ in self._grid), default=-1)
        self._right = max((column for _, column in self._grid), default=-1)

    def _place(self, top: int, bottom: int, column: int) -> None:
        """Give the rows `top` to `bottom` of a column to the next cell. A cell from above that covers `top` is cut off."""
        index = len(self.cells)
        from_above = self._grid.get((top, column))
        row = top
        while from_above is not None and self._grid.get((row, column)) == from_above:
            del self._grid[row, column]
            row += 1
        for row in range(top, bottom + 1):
            self._grid[row, column] = index

    def neighbours(self, side: str) -> list[set[int]]:
        """Return for each cell the cells beside it on this side. Empty positions in between are skipped."""
        if side not in self._neighbours:
            self._neighbours[side] = [self._beside(cell, side) for cell in self.cells]
        return self._neighbours[side]

    def _beside(self, cell: _Cell, side: str) -> set[int]:
        """Return the nearest cell on each line of positions from a cell to the edge on this side."""
        if side in ("left", "right"):
            steps = range(cell.left - 1, -1, -1) if side == "left" else range(cell.right + 1, self._right + 1)
            lines = [zip(repeat(row), steps) for row in range(cell.top, cell.bottom + 1)]
        else:
            steps = range(cell.top - 1, -1, -1) if side == "up" else range(cell.bottom + 1, self._bottom + 1)
            lines = [zip(steps, repeat(column)) for column in range(cell.left, cell.right + 1)]
        found = map(self._first_cell, lines)
        return {other for other in found if other is not None}

    def _first_cell(self, line: Iterable[tuple[int, int]]) -> int | None:
        """Return the first cell on a line of positions (row, column), or None if all of them are empty."""
        return next((self._grid[position] for position in line if position in self._grid), None)

    def has_neighbour(self, index: int, side: str, matches: Matcher) -> bool:
        """Return whether a cell has a matching one beside it on this side."""
        return any(matches(self.cells[other].text) for other in self.neighbours(side)[index])

    def cells_with_heading(self, side: str, matches: Matcher) -> set[int]:
        """Return the cells that have a matching heading on this side, which is "up" or "left".

        The headings of a cell are the heading cells among all cells on the ways from it to the edge or, if there are none,
        the cells at the edge.
        """

        def distance_from_edge(index: int) -> int:
            cell = self.cells[index]
            return cell.top if side == "up" else cell.left

        beside = self.neighbours(side)
        ways = [_WaysToEdge() for _ in self.cells]
        # From the edge inwards, so that the ways of a neighbour are complete before they are continued to this cell.
        for index in sorted(range(len(ways)), key=distance_from_edge):
            here = ways[index]
            for other in beside[index]:
                neighbour = self.cells[other]
                fits = matches(neighbour.text)
                beyond = ways[other]
                is_at_edge = not beside[other]
                here.have_heading |= neighbour.is_heading or beyond.have_heading
                here.have_matching_heading |= (neighbour.is_heading and fits) or beyond.have_matching_heading
                here.end_in_match |= fits if is_at_edge else beyond.end_in_match
        return {index for index, here in enumerate(ways) if here.has_match}


def markdown_tables(output: str, budget: Budget) -> Iterator[Table]:
    """Yield each run of at least two lines with a `|`. Headings are the first row and the first column."""
    run: list[str] = []
    for line in [*output.strip().split("\n"), ""]:
        if "|" in line:
            run.append(line)
            continue
        if len(run) > 1 and (rows := list(_markdown_rows(run))):
            cells = [
                [_UnplacedCell(text, row == 0 or column == 0, 1, 1) for column, text in enumerate(texts)]
                for row, texts in enumerate(rows)
            ]
            yield Table(cells, budget)
        run = []


def _markdown_rows(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts of the cells of each line, without lines such as `|---|:-:|`.

    `| 2018년 | 350 |` → `["2018년", "350"]`
    """
    bare_lines = (line.replace("|", "").strip() for line in lines)
    separator = next((number for number, bare in enumerate(bare_lines) if bare and not bare.strip("- :")), None)
    for number, line in enumerate(lines):
        # The first condition leaves out a separator that ends in a tab, the second later separators and lines of `|`.
        if number == separator or (line.strip() and not line.strip("- :|")):
            continue
        cells = [cell.strip() for cell in line.split("|")]
        cells = cells[1:] if not cells[0] else cells
        cells = cells[:-1] if cells and not cells[-1] else cells
        if cells:
            yield cells


def html_tables(output: str, budget: Budget) -> Iterator[Table]:
    """Yield each table. Its rows are all rows inside it, also those of tables in its cells, as in olmOCR-bench."""
    if "<table" not in output.lower():
        return
    from bs4 import BeautifulSoup
    from bs4.exceptions import ParserRejectedMarkup

    try:
        reader = _HtmlReader(BeautifulSoup(output, "html.parser"))
    except ParserRejectedMarkup:
        return
    for rows in reader.tables:
        placed = [
            [
                _UnplacedCell(
                    cell.text(reader.text),
                    cell.is_heading,
                    _span(cell.rows, if_zero=len(rows) - number),  # to the end of the table
                    _span(cell.columns, if_zero=1),
                )
                for cell in row
            ]
            for number, row in enumerate(rows)
        ]
        if any(placed):
            yield Table(placed, budget)


@dataclass
class _HtmlCell:
    """A cell of a table in HTML, whose text is `page[start:end]` of the page's text."""

    is_heading: bool
    rows: Any  # the attribute rowspan, which may be anything
    columns: Any  # the attribute colspan
    start: int
    end: int = 0  # set when the cell is closed

    def text(self, page: str) -> str:
        """Return the text of the cell, given that of the page."""
        return page[self.start : min(self.end, self.start + MAX_CELL)].strip()


class _OpenElement(NamedTuple):
    """An element whose children are being read."""

    element: Any  # a Tag of BeautifulSoup
    children: Iterator[Any]
    close: Callable[[], None] | None  # to be called after the last child
    row: "list[_HtmlCell]"  # the table row around the children


class _HtmlReader:
    """Read all tables of a page in one pass, because outputs that repeat themselves nest thousands of cells.

    `tables` has the cells of each table by rows, and `text` is the text of the page.
    """

    def __init__(self, soup: Any) -> None:
        self.tables: list[list[list[_HtmlCell]]] = []
        self._open: list[list[list[_HtmlCell]]] = []  # the tables around the current element
        self._parts: list[str] = []
        self._length = 0
        self._read(soup)
        self.text = "".join(self._parts)

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _read(self, soup: Any) -> None:
        """Visit all elements without recursion, which deeply nested outputs would exhaust."""
        from bs4 import Tag
        from bs4.element import CData, NavigableString

        heads = 0  # how many thead are around the current element
        path = [_OpenElement(soup, iter(soup.contents), None, [])]
        while path:
            current = path[-1]
            child = next(current.children, None)
            if child is None:
                if current.close:
                    current.close()
                heads -= current.element.name == "thead"
                path.pop()
            elif isinstance(child, Tag):
                row = current.row
                close: Callable[[], None] | None = None
                if child.name == "table" and len(self.tables) < MAX_TABLES and len(self._open) < MAX_NESTED:
                    table: list[list[_HtmlCell]] = []
                    self.tables.append(table)
                    self._open.append(table)
                    close = self._close_table
                elif child.name == "tr":
                    row = []
                    for table in self._open:
                        table.append(row)
                elif child.name in ("th", "td") and current.element.name == "tr":
                    is_heading = child.name == "th" or heads > 0
                    cell = _HtmlCell(is_heading, child.get("rowspan"), child.get("colspan"), self._length)
                    row.append(cell)
                    close = partial(self._close_cell, cell)
                elif child.name == "br":
                    self._add("\n")
                heads += child.name == "thead"
                path.append(_OpenElement(child, iter(child.contents), close, row))
            elif type(child) in (NavigableString, CData):  # not comments, which are of subclasses
                self._add(str(child))

    def _close_table(self) -> None:
        self._open.pop()

    def _close_cell(self, cell: _HtmlCell) -> None:
        cell.end = self._length


def _span(value: Any, if_zero: int) -> int:
    """Return how many rows or columns a cell covers, given its attribute. `if_zero` is the meaning of 0."""
    if str(value).strip() == "0":
        return if_zero
    try:
        return min(max(1, int(value)), MAX_POSITIONS)
    except (TypeError, ValueError):
        return 1
