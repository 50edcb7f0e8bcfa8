"""Check a transcribed page as olmOCR-bench does: sentences that must or must not be there, cells with their neighbours.

`kdoc_ocrbench` calls `checked_row` for each row of the makers' files, and `run_checks` and `is_sound` for each page
that a model has transcribed. A row `{"type": "table", "cell": "350", "left": "2018년", …}` requires a table, in Markdown
or HTML, with a cell 350 to the right of a cell 2018년.

source: https://github.com/allenai/olmocr, `olmocr/bench` of 2026-03-25. Comparisons are made with the same
floating-point numbers. Where that code fails, this one goes on: tables whose spans overlap are checked, and HTML
that cannot be parsed has no tables. What exceeds the limits below is not checked, so that no output takes longer than a
few seconds.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import repeat
from typing import Any, NamedTuple

from evaluator.benchmarks.rows import check_surrogates

MAX_TABLES = 200  # of a page
MAX_NESTED = 10  # tables that are inside each other
MAX_COLUMNS = 1000  # of a table
MAX_POSITIONS = 200_000  # rows times columns of all tables of a page
MAX_CELL = 2000  # characters of a cell that are compared
MAX_DIFFS = 10**6  # edits that a check may allow
# An output that ends in more than 30 copies of its last 1 to 5 characters is broken.
MAX_REPEATS = 30
MAX_PERIOD = 5
MIN_CELL_SIMILARITY = 0.5  # of a cell to the expected text, however many edits the check allows

# The fields of a check and their types, by its type.
SIDES = ("up", "down", "left", "right")  # the expected text of a neighbour there
HEADINGS = {"top_heading": "up", "left_heading": "left"}  # the expected text of a heading, and its side
_BASE = {"pdf": str, "page": int, "id": str, "type": str, "max_diffs": int, "checked": str, "url": str}
_TEXT = _BASE | {"text": str, "case_sensitive": bool, "first_n": int, "last_n": int}
_CELL = {"cell": str, **dict.fromkeys((*SIDES, *HEADINGS), str), "ignore_markdown_tables": bool}
FIELDS: Mapping[str, Mapping[str, type]] = {"present": _TEXT, "absent": _TEXT, "table": _BASE | _CELL}
REQUIRED = {"present": "text", "absent": "text", "table": "cell"}  # the field that a check of each type must have
# Chinese, Japanese and emoji, which a page of a Latin or Korean document is not expected to have.
_FOREIGN = re.compile(
    r"""
    [\u4e00-\u9fff\u3040-\u30ff]                    # 漢字, かな, カナ
    | [\U0001f600-\U0001f64f]                       # faces
    | [\U0001f300-\U0001f5ff\U0001f680-\U0001f6ff]  # other pictures
    | [\U0001f1e0-\U0001f1ff]                       # flags
    """,
    re.VERBOSE,
)
_LINE_BREAK = re.compile(r"<br/?>")
# Emphasis, each with what replaces it, in the order of olmOCR-bench. The fifth has a match only if a tag was between marks.
_EMPHASIS = (
    (re.compile(r"\*\*(.*?)\*\*"), r"\1"),  # **350**
    (re.compile(r"__(.*?)__"), r"\1"),  # __350__
    (re.compile(r"</?b>"), ""),  # <b>350</b>
    (re.compile(r"</?i>"), ""),  # <i>350</i>
    (re.compile(r"(\*\*|__)(.*?)\1"), r"\2"),  # *<b>*350**
    (re.compile(r"(\*|_)(.*?)\1"), r"\2"),  # *350*, _350_
)
_PLAIN_MARKS = str.maketrans("‘’‚“”„＿–—‑‒−µ", "'''\"\"\"_-----μ")

Check = Mapping[str, Any]  # a row that `checked_row` has returned
Matcher = Callable[[str], bool]  # whether the text of a cell matches an expected text


def checked_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the makers' files without empty fields.

    Raises ValueError if its type or a field is unknown, or a field is missing or invalid.
    """
    kind = str(row.get("type"))
    if kind not in FIELDS:
        raise ValueError(f"unknown type {kind!r}")
    for name, value in row.items():
        field_type = FIELDS[kind].get(name)
        if field_type is None:
            raise ValueError(f"unknown field {name!r}")
        is_left_out = value is None and name != "max_diffs"  # olmOCR-bench refuses null there
        is_bool_for_int = field_type is int and isinstance(value, bool)
        if not is_left_out and (not isinstance(value, field_type) or is_bool_for_int):
            raise ValueError(f"{name!r} must be {field_type.__name__}, not {value!r}")
        if isinstance(value, str):
            check_surrogates(name, value)
    if not 0 <= row.get("max_diffs", 0) <= MAX_DIFFS:
        raise ValueError("'max_diffs' is negative or too large")
    if row.get("page", 1) != 1:
        raise ValueError("'page' must be 1: each PDF has one page")
    for name in ("pdf", "id", REQUIRED[kind]):
        # The text of an empty cell may be wanted.
        if row.get(name) is None or (name != "cell" and not normalized(row[name]).strip()):
            raise ValueError(f"{name!r} is missing")
    check = {name: value for name, value in row.items() if name == REQUIRED[kind] or value not in (None, "")}
    if "case_sensitive" in row:
        check["case_sensitive"] = bool(row["case_sensitive"])  # null means no
    return check


def run_checks(checks: Sequence[Check], output: str) -> list[bool]:
    """Return whether a transcription passes each check."""
    page = _Page(output)
    return [_passes(check, page) for check in checks]


def is_sound(output: str) -> bool:
    """Return whether an output is text, does not end in endless repetition, and has no Chinese, Japanese or emoji.

    "표 1" → True; "| --- |", "네" * 31 and "합계 ✅ 漢字" → False
    """
    if not any(map(str.isalnum, output)):
        return False
    one_line = re.sub(r"\s+", " ", output)
    for period in range(1, MAX_PERIOD + 1):
        if one_line.endswith(one_line[-period:] * (MAX_REPEATS + 1)):
            return False
    return not _FOREIGN.search(output)


def normalized(text: str) -> str:
    """Return a text without emphasis and line breaks, with plain quotes and dashes: "**“350”** –\\n2" → '"350" - 2'."""
    text = _LINE_BREAK.sub(" ", text)
    for pattern, inside in _EMPHASIS:
        text = pattern.sub(inside, text)
    one_line = re.sub(r"\s+", " ", text)
    return unicodedata.normalize("NFC", one_line).translate(_PLAIN_MARKS)


def _passes(check: Check, page: "_Page") -> bool:
    """Return whether a page has the cell or the text of a check or, if its type is `absent`, does not have the text."""
    if check["type"] == "table":
        return _cell_found(check, page)
    return _text_found(check, page) is (check["type"] == "present")


def _text_found(check: Check, page: "_Page") -> bool:
    """Return whether a page has the text of a check with at most `max_diffs` edits.

    With `first_n` or `last_n`, only so many characters at its start and end are searched.
    """
    from rapidfuzz import fuzz

    query = normalized(check["text"])
    text = page.text
    if not check.get("case_sensitive", True):
        query = query.lower()
        text = text.lower()
    first = check.get("first_n")
    last = check.get("last_n")
    searched = text
    if first or last:
        searched = (text[:first] if first else "") + (text[-last:] if last else "")
    min_similarity = 1.0 - check.get("max_diffs", 0) / len(query)
    return bool(fuzz.partial_ratio(query, searched) / 100.0 >= min_similarity)


def _cell_found(check: Check, page: "_Page") -> bool:
    """Return whether some cell matches, and for each given side or heading some cell there."""
    max_diffs = check.get("max_diffs", 0)
    beside = ((name, normalized(check[name])) for name in (*SIDES, *HEADINGS) if check.get(name))
    matchers = {name: _matcher(text, max_diffs) for name, text in beside if text}
    is_cell = _matcher(normalized(check["cell"]), max_diffs)
    tables = page.html if check.get("ignore_markdown_tables") else [*page.markdown, *page.html]
    return any(_has_cell(table, is_cell, matchers) for table in tables)


def _has_cell(table: "_Table", is_cell: Matcher, matchers: Mapping[str, Matcher]) -> bool:
    """Return whether a table has a cell with the expected neighbours and headings. `matchers` are by SIDES and HEADINGS."""
    numbers = [number for number, cell in enumerate(table.cells) if is_cell(cell.text)]
    for name, matches in matchers.items():
        if not numbers:
            return False
        if side := HEADINGS.get(name):
            has_heading = table.has_heading(side, matches)
            numbers = [number for number in numbers if has_heading[number]]
        else:
            numbers = [number for number in numbers if table.has_neighbour(number, name, matches)]
    return bool(numbers)


def _matcher(expected: str, max_diffs: int) -> Matcher:
    """Return a function that tells whether the text of a cell is the expected one with at most so many edits.

    Its results are kept, because several checks and neighbours ask about the same cells.
    """
    from rapidfuzz import fuzz

    min_similarity = max(MIN_CELL_SIMILARITY, 1.0 - max_diffs / (len(expected) or 1))
    return cache(lambda text: fuzz.ratio(expected, text) / 100.0 >= min_similarity)


@dataclass(frozen=True)
class _Cell:
    """A cell at the rows `top` to `bottom` and the columns `left` to `right`, both included."""

    text: str  # normalised
    is_heading: bool
    top: int
    bottom: int
    left: int
    right: int


class _Page:
    """An output with what the checks read from it, computed when it is first needed."""

    def __init__(self, output: str) -> None:
        self._output = output.replace("\r\n", "\n").replace("\r", "\n")
        self._budget = _Budget(MAX_POSITIONS)

    @cached_property
    def text(self) -> str:
        return normalized(self._output)

    @cached_property
    def markdown(self) -> "list[_Table]":
        return list(_markdown_tables(self._output, self._budget))

    @cached_property
    def html(self) -> "list[_Table]":
        return list(_html_tables(self._output, self._budget))


@dataclass
class _Budget:
    """How many more positions the tables of a page may have."""

    positions: int

    def take(self, positions: int) -> bool:
        """Use up some positions. Return whether there were that many."""
        self.positions -= positions
        return self.positions >= 0


class _UnplacedCell(NamedTuple):
    """A cell as it is written, before its place in the grid of a table is known."""

    text: str
    is_heading: bool
    height: int  # rows that it covers
    width: int  # columns


class _Table:
    """The cells of a table and which of them are beside each other. Cells that span several rows have several neighbours.

    A cell is named by its number, which is its index in `cells`.
    """

    def __init__(self, rows: Sequence[Sequence[_UnplacedCell]], budget: _Budget) -> None:
        self.cells: list[_Cell] = []
        self._grid: dict[tuple[int, int], int] = {}  # number of the cell at each row and column
        self._neighbours: dict[str, list[set[int]]] = {}  # by side, what `neighbours` returns
        for row, cells in enumerate(rows):
            column = 0
            for text, is_heading, height, width in cells:
                while (row, column) in self._grid:
                    column += 1
                bottom = row + height - 1
                right = min(column + width, MAX_COLUMNS) - 1
                if right < column or not budget.take(height * (right - column + 1)):
                    break
                for covered in range(column, right + 1):
                    self._place(row, bottom, covered)
                self.cells.append(_Cell(normalized(text), is_heading, row, bottom, column, right))
                column = right + 1
        self._bottom = max((row for row, _ in self._grid), default=-1)
        self._right = max((column for _, column in self._grid), default=-1)

    def _place(self, top: int, bottom: int, column: int) -> None:
        """Give the rows `top` to `bottom` of a column to the next cell. A cell from above that covers `top` is cut off."""
        number = len(self.cells)
        from_above = self._grid.get((top, column))
        row = top
        while from_above is not None and self._grid.get((row, column)) == from_above:
            del self._grid[row, column]
            row += 1
        for row in range(top, bottom + 1):
            self._grid[row, column] = number

    def neighbours(self, side: str) -> list[set[int]]:
        """Return the numbers of the cells beside each cell. Empty positions in between are skipped."""
        if side not in self._neighbours:
            self._neighbours[side] = [self._beside(number, cell, side) for number, cell in enumerate(self.cells)]
        return self._neighbours[side]

    def _beside(self, number: int, cell: _Cell, side: str) -> set[int]:
        """Return the nearest cells on a side: the first other one on each line of positions from the cell to the edge."""
        if side in ("left", "right"):
            steps = range(cell.left - 1, -1, -1) if side == "left" else range(cell.right + 1, self._right + 1)
            lines = [zip(repeat(row), steps) for row in range(cell.top, cell.bottom + 1)]
        else:
            steps = range(cell.top - 1, -1, -1) if side == "up" else range(cell.bottom + 1, self._bottom + 1)
            lines = [zip(steps, repeat(column)) for column in range(cell.left, cell.right + 1)]
        found = (self._first_other(number, line) for line in lines)
        return {other for other in found if other is not None}

    def _first_other(self, number: int, line: Iterable[tuple[int, int]]) -> int | None:
        """Return the first cell on a line of positions (row, column) that is not the given one."""
        return next((self._grid[position] for position in line if self._grid.get(position, number) != number), None)

    def has_neighbour(self, number: int, side: str, matches: Matcher) -> bool:
        """Return whether a cell has a matching one beside it on this side."""
        return any(matches(self.cells[other].text) for other in self.neighbours(side)[number])

    def has_heading(self, side: str, matches: Matcher) -> list[bool]:
        """Return whether each cell has a matching heading on this side.

        Its headings are the heading cells among all cells on the way to the edge or, if there are none, the cells at
        the edge.
        """
        beside = self.neighbours(side)
        count = len(self.cells)
        passes_heading = [False] * count  # whether a heading cell is on the way from this cell to the edge
        passes_match = [False] * count  # whether one that matches is
        ends_in_match = [False] * count  # whether a cell at the edge matches
        # From the edge inwards, so that the cells beside each one are done before it.
        for number in sorted(range(count), key=lambda n: self.cells[n].top if side == "up" else self.cells[n].left):
            for other in beside[number]:
                cell = self.cells[other]
                fits = matches(cell.text)
                passes_heading[number] |= cell.is_heading or passes_heading[other]
                passes_match[number] |= (cell.is_heading and fits) or passes_match[other]
                ends_in_match[number] |= ends_in_match[other] if beside[other] else fits
        return [passes_match[number] if passes_heading[number] else ends_in_match[number] for number in range(count)]


def _markdown_tables(output: str, budget: _Budget) -> Iterator[_Table]:
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
            yield _Table(cells, budget)
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


def _html_tables(output: str, budget: _Budget) -> Iterator[_Table]:
    """Yield each table. Its rows are all rows inside it, also those of tables in its cells."""
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
            yield _Table(placed, budget)


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
