"""The page of a benchmark: its table with search, filters and a choice of columns, and charts of the same rows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.chart_data import charts_of, has_data
from leaderboard.data.columns import choices, columns_of, sortable
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import ROWS_PER_PAGE, Query
from leaderboard.data.ranking import RankedRow, without_reported_if_measured
from leaderboard.data.view import View
from leaderboard.facts.register_sets import BY_SLUG
from leaderboard.pages.page import Page, render_page, report_form
from leaderboard.pages.structured_data import table_data
from leaderboard.views.location import Location
from leaderboard.views.render import render
from leaderboard.views.table_cells import TableCells, table_cells
from leaderboard.views.texts import translate

PASTED_ROWS = 10  # of the table (Markdown, LaTeX) that the page offers to paste into a text
# Parameters that a link from one benchmark to the next keeps.
SHARED_PARAMS = (
    "q",
    "weights",
    "commercial",
    "size",
    "memory",
    "language_model",
    "vision_encoder",
    "verified",
    "thinking",
    "reproduced",
    "family",
)


def _report_of_item(board: LiveBoard, name: str) -> str | None:
    """Return the address of a form for a wrong item. It asks for the key alone, because most test sets are private."""
    body = f"Benchmark: {name}\nItem key (never its content): \nWhat is wrong: \n"
    return report_form(board, f"Wrong item: {name}", body)


def benchmark_page(board: LiveBoard, here: Location, version: str) -> str:
    """Write the page of the benchmark that the path names, for the search, filters and columns in its parameters."""
    name = here.path
    view = board.view()
    query = Query.from_params(dict(here.params))
    matching = view.select(name, query)
    rows = matching[: query.shown]
    benchmark = BENCHMARKS[name]
    card = benchmark.card
    filled = view.tables[name].filled_columns  # columns that are empty in all rows are not offered
    choosable = [column for column in choices(name) if column.key in filled or column.key in (query.columns or ())]
    sort_columns = [column for column in sortable(name) if column.key in filled or column.key == query.sort]
    defaults = [column.key for column in choosable if column.is_shown_first]
    # Whether each kind of chart can be drawn of the rows that match; the others are hidden.
    charts = {kind: kind in view.tables[name].charts and has_data(kind, matching) for kind in charts_of(name)}
    # Of the rows shown, those that the page offers to paste into a text. Reported scores of measured models are left out.
    rows_to_paste = [ranked for ranked in without_reported_if_measured(rows) if ranked.rank][:PASTED_ROWS]
    return render_page(
        board,
        here,
        version,
        "benchmark.html",
        is_registered=name in BY_SLUG,  # the page then links to the numbers that others publish on this set
        title=card.title,
        description=translate(card.summary, here.language),
        structured_data=table_data(here, name),
        card_picture=here.card(name),
        rows_to_paste=rows_to_paste,
        name=name,
        benchmark=benchmark,
        benchmarks={name: benchmark},
        report_item=_report_of_item(board, name),
        errata=view.errata_of(name),
        query=query,
        params_of_other_benchmarks={key: value for key, value in here.params if key in SHARED_PARAMS},
        rows=rows,
        kinds=_kinds(matching),
        summary=view.summaries[name],
        families=view.families,
        found=len(matching),
        total=len(view.boards[name]),
        updated=view.summaries[name].updated,
        shown_after_more=query.shown + ROWS_PER_PAGE,
        columns=columns_of(name, rows, query.columns, query.sort),
        row_cells=_cells(view, here),
        choices=choosable,
        chosen=defaults if query.columns is None else query.columns,
        default_columns=defaults,
        sortable=sort_columns,
        charts=charts,
        axes=view.tables[name].axes,
        unreadable=len(view.unreadable),
    )


def table_rows(board: LiveBoard, here: Location) -> str:
    """Return the HTML of the whole table, which a page of the static edition loads when a visitor searches or sorts."""
    name = here.path
    rows = board.view().boards[name]
    return render(
        "board_table.html",
        here.language,
        here=here,
        name=name,
        query=Query(),
        rows=rows,
        kinds=_kinds(rows),
        families=board.view().families,
        found=len(rows),
        columns=columns_of(name, rows, None),
        row_cells=_cells(board.view(), here),
    )


def _kinds(rows: Sequence[RankedRow]) -> Counter[str]:
    """Return the number of ranked rows of each kind."""
    return Counter(ranked.row.kind for ranked in rows if ranked.rank)


def _cells(view: View, here: Location) -> TableCells:
    """Return the cells of the table. They need no parameters and no origin, so all searches of the table share them."""
    return table_cells(view.version, replace(here, params=(), origin=""))


PAGE = Page(benchmark_page, (*SHARED_PARAMS, "sort", "columns", "n"))
