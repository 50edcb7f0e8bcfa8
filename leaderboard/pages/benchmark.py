"""A benchmark's tab: search, filters, column choice, table and charts."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, get_args

import gradio as gr

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.chart_data import chart_data, charts_of
from leaderboard.data.columns import RANK, RANK_LABEL, choices, columns_of, default_keys, sortable
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import ROWS_PER_PAGE, SIZES, Query, select
from leaderboard.data.view import View
from leaderboard.pages.tab import CACHED_VIEWS, COPY_JS, PRIVATE_EVENT, REFRESH_JS, TabView, search_field
from leaderboard.views.figures import figure
from leaderboard.views.render import render
from leaderboard.views.texts import Language, text, translate
from submissions.records.options import Thinking

# A click on a column's head sorts by it, a click on the button below the table shows more rows.
CLICKS_JS = """
element.addEventListener('click', event => {
  const button = event.target.closest('[data-sort], [data-more]');
  if (button) trigger('click', {sort: button.dataset.sort ?? null});
});
"""
ORIGIN_JS = """
for (const code of element.querySelectorAll('code'))
  code.textContent = code.textContent.replaceAll('ORIGIN', location.origin);
"""
RESIZE_JS = "() => { setTimeout(() => dispatchEvent(new Event('resize')), 50) }"
SHARED_PARAMETERS = ("q", "weights", "size", "verified", "thinking", "reproduced")  # kept when switching benchmarks
# URL parameter of each field, in the order of the fields → the value for which it is left out of the URL.
DEFAULTS = {
    "q": "",
    "sort": RANK,
    "weights": "",
    "size": "",
    "verified": "",
    "columns": "",  # replaced by the benchmark's default columns
    "n": str(ROWS_PER_PAGE),
    "thinking": "",
    "reproduced": "",
}


def benchmark_tab(board: LiveBoard, name: str, language: Language) -> TabView:
    """Build the tab of a benchmark, and return its fields and HTML."""
    gr.HTML(render("about.html", language, name=name), apply_default_css=False)

    available = {column.key: column for column in choices(name)}
    default = default_keys(name)

    def labelled(prefix: str, values: tuple[str, ...]) -> list[tuple[str, str]]:
        return [(text(f"{prefix}_{value}", language), value) for value in values]

    with gr.Row(elem_classes="hn-controls"):
        words = search_field("search", language, "search_hint", scale=3, elem_id=f"search-{name}")
        order = gr.Dropdown(
            [
                (translate(RANK_LABEL, language), RANK),
                *((translate(c.order_label or c.label, language), c.key) for c in sortable(name)),
            ],
            value=RANK,
            label=text("sort", language),
            scale=1,
            filterable=False,
        )
    with gr.Accordion(text("filters", language), open=False, elem_classes="hn-filters"):
        with gr.Row(elem_classes="hn-controls"):
            weights = gr.CheckboxGroup(labelled("weights", ("open", "closed")), label=text("weights", language))
            sizes = gr.CheckboxGroup(
                [(f"{s} B", s) for s in SIZES], label=translate(available["params"].label, language)
            )
            thinking = gr.CheckboxGroup(labelled("thinking", get_args(Thinking)), label=text("thinking", language))
            verified = gr.Checkbox(label=text("verified_only", language), elem_id=f"verified-{name}")
            reproduced = gr.Checkbox(label=text("reproduced_only", language), elem_id=f"reproduced-{name}")
        columns = gr.CheckboxGroup(
            [(translate(column.label, language), key) for key, column in available.items()],
            value=default,
            label=text("columns", language),
            elem_id=f"columns-{name}",
        )
    row_count = gr.Number(ROWS_PER_PAGE, visible=False)
    fields = [words, order, weights, sizes, verified, columns, row_count, thinking, reproduced]
    _charts(board, name, language, fields, columns)
    html = gr.HTML(elem_id=f"board-{name}", js_on_load=CLICKS_JS + REFRESH_JS, apply_default_css=False)
    gr.HTML(render("terms.html", language, name=name), apply_default_css=False)
    gr.HTML(render("cite.html", language, name=name), js_on_load=ORIGIN_JS + COPY_JS, apply_default_css=False)
    html.click(clicked, [order, row_count], [order, row_count], trigger_mode="multiple", **PRIVATE_EVENT)

    def read(params: Mapping[str, str]) -> list[Any]:
        """Return the values of the fields, in their order, for the parameters of a URL."""
        q = Query.of_address(params)
        columns = default if q.columns is None else [key for key in q.columns if key in available]
        chosen = [list(q.weights), list(q.sizes), q.verified, columns, q.shown, list(q.thinking), q.reproduced]
        return [q.words, q.sort, *chosen]

    def show(*values: Any) -> str:
        """Return the table for untrusted values of the fields."""
        return cached_table(Query.of(*values), board.version)

    # The board's version is part of the key, so that a new result leads to a new table.
    @lru_cache(maxsize=CACHED_VIEWS)
    def cached_table(query: Query, version: str) -> str:
        return render_table(board.view(), name, language, query, version)

    defaults = {**DEFAULTS, "columns": ",".join(default)}
    return TabView(name, defaults, fields, html, read, show, SHARED_PARAMETERS)


def _charts(board: LiveBoard, name: str, language: Language, fields: list[Any], columns: gr.CheckboxGroup) -> None:
    """Add charts of the rows that the fields select.

    They are drawn only while the accordion is open, since importing the plotting library is slow.
    """
    kinds = charts_of(name)
    with gr.Accordion(text("charts", language), open=False, elem_classes="hn-charts") as charts:
        outputs: list[Any] = []
        for kind in kinds:
            head = gr.HTML(render("chart.html", language, name=name, kind=kind, filters=""), apply_default_css=False)
            outputs += [head, gr.Plot(show_label=False, container=False, elem_id=f"{kind}-{name}")]
        nothing = gr.Markdown(text("chart_empty", language), visible=False)

    is_open = gr.Checkbox(False, visible=False)

    def draw_charts(opened: bool, *values: Any) -> list[Any]:
        """Return updates of `outputs` and `nothing` with all charts. Charts without data are hidden."""
        if not opened:
            return [gr.skip()] * (len(outputs) + 1)
        query = Query.of(*values)
        rows = select(board.view().boards[name], query)
        data = [chart_data(kind, rows) for kind in kinds]
        updates: list[Any] = []
        for kind, points in zip(kinds, data, strict=True):
            plot = gr.Plot(figure(kind, points, BENCHMARKS[name], language)) if points else gr.Plot(visible=False)
            head = render("chart.html", language, name=name, kind=kind, filters=query.filters())
            updates += [gr.HTML(head, visible=bool(points)), plot]
        return [*updates, gr.Markdown(visible=not any(data))]

    charts.collapse(None, None, is_open, js="() => false", api_visibility="private")
    opening = charts.expand(None, None, is_open, js="() => true", api_visibility="private")
    charts_drawn = opening.then(draw_charts, [is_open, *fields], [*outputs, nothing], **PRIVATE_EVENT)
    filters = [field.change for field in fields if field is not columns]  # charts show no columns
    gr.on(filters, draw_charts, [is_open, *fields], [*outputs, nothing], trigger_mode="always_last", **PRIVATE_EVENT)
    # A hidden figure keeps its old width, so RESIZE_JS makes the browser measure it again.
    charts_drawn.then(None, None, None, js=RESIZE_JS, api_visibility="private")


def render_table(view: View, name: str, language: Language, query: Query, version: str) -> str:
    """Return the HTML of a benchmark's table. `version` is written into it: see REFRESH_JS."""
    found = select(view.boards[name], query)
    rows = found[: query.shown]
    return render(
        "board.html",
        language,
        name=name,
        rows=rows,
        found=len(found),
        total=len(view.boards[name]),
        columns=columns_of(name, rows, query.columns, query.sort),
        filters=query.filters(),
        sort=query.sort,
        unreadable=len(view.unreadable),
        version=version,
    )


def clicked(order: str, row_count: float, event: gr.EventData) -> tuple[str, float]:
    """Return the sort order and the number of rows after a click event of CLICKS_JS."""
    return (str(event.sort), row_count) if event.sort else (order, row_count + ROWS_PER_PAGE)
