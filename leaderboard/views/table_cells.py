"""Render the cells of table rows, and keep their HTML.

Most pages of a benchmark show the same rows in another order or with other columns, and rendering a cell is most of their
cost. A cell is a macro of `templates/cells.html`, which the column names.
"""

from collections.abc import Sequence
from functools import lru_cache

from markupsafe import Markup

from leaderboard.data.columns import Column
from leaderboard.data.ranking import RankedRow
from leaderboard.views.location import Location
from leaderboard.views.render import macros

MAX_KEPT_CELLS = 12_000  # of one table, about 6 MB
KEPT_TABLES = 12  # each of one benchmark, version of the board and language


class TableCells:
    """Renders the cells of one table, each once. A row's rank is that in the whole table, whatever is searched for."""

    def __init__(self, here: Location) -> None:
        self._macros = macros("cells.html", here.language, here=here)
        self._kept: dict[tuple[str, str], Markup] = {}  # by keys of row and column

    def __call__(self, columns: Sequence[Column], ranked: RankedRow) -> Markup:
        """Return the cells of a row: the rank, the columns, and the link to the result."""
        row_key = ranked.row.key
        cells = [self._cell((row_key, ""), "rank", ranked)]
        for column in columns:
            cells.append(self._cell((row_key, column.key), column.cell, column, ranked.row))
        cells.append(self._cell((row_key, "json"), "download", ranked))
        return Markup("").join(cells)

    def _cell(self, key: tuple[str, str], macro: str, *values: object) -> Markup:
        """Return the HTML that is kept for a cell, or render it with a macro and its arguments."""
        if (html := self._kept.get(key)) is None:
            if len(self._kept) >= MAX_KEPT_CELLS:
                self._kept.clear()
            html = self._kept[key] = getattr(self._macros, macro)(*values)
        return html


@lru_cache(maxsize=KEPT_TABLES)
def table_cells(version: str, here: Location) -> TableCells:
    """Return the cells of the table at a location, for a version of the board.

    `here` has no parameters and no origin, so that all searches of a table share its cells.
    """
    return TableCells(here)
