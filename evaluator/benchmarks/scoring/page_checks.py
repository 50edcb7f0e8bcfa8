"""Check a transcribed page as olmOCR-bench does: sentences that must or must not be there, cells with their neighbours.

`kdoc_ocrbench` calls `checked_row` for each row of the makers' files, and `run_checks` and `is_sound` for each page
that a model has transcribed. A row `{"type": "table", "cell": "350", "left": "2018년", …}` requires a table, in Markdown
or HTML, with a cell 350 to the right of a cell 2018년.

source: https://github.com/allenai/olmocr, `olmocr/bench` of 2026-03-25. Comparisons are made with the same
floating-point numbers. Where that code fails, this one goes on: tables whose spans overlap are checked, and HTML
that cannot be parsed has no tables. What exceeds the limits of `page_tables` is not checked, so that no output takes longer
than a few seconds.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from evaluator.benchmarks.rows import check_surrogates
from evaluator.benchmarks.scoring.page_tables import Budget, Matcher, Table, html_tables, markdown_tables
from evaluator.benchmarks.scoring.page_text import normalized

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

Check = Mapping[str, Any]  # a row that `checked_row` has returned


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


class _Page:
    """An output with what the checks read from it, computed when it is first needed."""

    def __init__(self, output: str) -> None:
        self._output = output.replace("\r\n", "\n").replace("\r", "\n")
        self._budget = Budget()

    @cached_property
    def text(self) -> str:
        return normalized(self._output)

    @cached_property
    def markdown(self) -> list[Table]:
        return list(markdown_tables(self._output, self._budget))

    @cached_property
    def html(self) -> list[Table]:
        return list(html_tables(self._output, self._budget))


def _passes(check: Check, page: _Page) -> bool:
    """Return whether a page has the cell or the text of a check or, if its type is `absent`, does not have the text."""
    if check["type"] == "table":
        return _cell_found(check, page)
    return _text_found(check, page) is (check["type"] == "present")


def _text_found(check: Check, page: _Page) -> bool:
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


def _cell_found(check: Check, page: _Page) -> bool:
    """Return whether some cell matches, and for each given side or heading some cell there."""
    max_diffs = check.get("max_diffs", 0)
    beside = ((name, normalized(check[name])) for name in (*SIDES, *HEADINGS) if check.get(name))
    matchers = {name: _matcher(text, max_diffs) for name, text in beside if text}
    is_cell = _matcher(normalized(check["cell"]), max_diffs)
    tables = page.html if check.get("ignore_markdown_tables") else [*page.markdown, *page.html]
    return any(_has_cell(table, is_cell, matchers) for table in tables)


def _has_cell(table: Table, is_cell: Matcher, matchers: Mapping[str, Matcher]) -> bool:
    """Return whether a table has a cell with the expected neighbours and headings. `matchers` are by SIDES and HEADINGS."""
    # The indices of the cells that still fit. Each side and each heading leaves fewer of them.
    fitting = [index for index, cell in enumerate(table.cells) if is_cell(cell.text)]
    for name, matches in matchers.items():
        if not fitting:
            return False
        if side := HEADINGS.get(name):
            with_heading = table.cells_with_heading(side, matches)
            fitting = [index for index in fitting if index in with_heading]
        else:
            fitting = [index for index in fitting if table.has_neighbour(index, name, matches)]
    return bool(fitting)


def _matcher(expected: str, max_diffs: int) -> Matcher:
    """Return a function that tells whether the text of a cell is the expected one with at most so many edits.

    Its results are kept, because several checks and neighbours ask about the same cells.
    """
    from rapidfuzz import fuzz

    min_similarity = max(MIN_CELL_SIMILARITY, 1.0 - max_diffs / (len(expected) or 1))
    return cache(lambda text: fuzz.ratio(expected, text) / 100.0 >= min_similarity)
