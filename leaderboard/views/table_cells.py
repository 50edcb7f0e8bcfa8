"""The HTML of table rows, whose cells are kept because most pages of a board show the same rows."""

from collections.abc import Sequence
from functools import lru_cache

from markupsafe import Markup

from leaderboard.data.columns import Column
from leaderboard.data.ranking import RankedRow
from leaderboard.views.location import Location
from leaderboard.views.render import macros

MAX_KEPT = 12_000  # cells of a table, about 6 MB
KEPT_TABLES = 12  # a table of one version of the board in one language


class TableCells:
    """Renders the cells of a table, each once."""

    def __init__(self, here: Location) -> None:
        self._macros = macros("cells.html", here.language, here=here)
        self._kept: dict[tuple[str, str], Markup] = {}

    def __call__(self, columns: Sequence[Column], ranked: RankedRow) -> Markup:
        """Return the cells of a row: the rank, the columns, and the link to the result."""
        key = ranked.row.key
        cells = [self._cell((key, ""), "rank", ranked)]
        cells += (self._cell((key, column.key), column.cell, column, ranked.row) for column in columns)
        return Markup("").join([*cells, self._cell((key, "json"), "download", ranked)])

    def _cell(self, key: tuple[str, str], macro: str, *values: object) -> Markup:
        if (html := self._kept.get(key)) is None:
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            html = self._kept[key] = getattr(self._macros, macro)(*values)
        return html


@lru_cache(maxsize=KEPT_TABLES)
def table_cells(version: str, here: Location) -> TableCells:
    """Return the cells of a table of a version of the board. `here` has no parameters."""
    return TableCells(here)
