"""A benchmark's tab: search, filters, columns, its table, and its charts."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, get_args

import gradio as gr
from gradio.components.plot import PlotData

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.breakdown import parts_of
from leaderboard.data.chart_data import chart_data, charts_of
from leaderboard.data.live_board import Board, View
from leaderboard.data.query import COLUMNS, DEFAULT_COLUMNS, PAGE, SIZES, SORTS, Query, select
from leaderboard.pages.tab import COPY, DRAWN, LIVE, QUIET, Panel
from leaderboard.views.figures import drawing
from leaderboard.views.render import render
from leaderboard.views.texts import Language, text
from submissions.records import Thinking

# A click on a column's head chooses its order, one at the table's end shows more of it.
CLICKS = """
element.addEventListener('click', event => {
  const button = event.target.closest('[data-sort], [data-more]');
  if (button) trigger('click', {sort: button.dataset.sort ?? null});
});
"""
ORIGIN = """
for (const code of element.querySelectorAll('code'))
  code.textContent = code.textContent.replaceAll('ORIGIN', location.origin);
"""
RESIZE = "() => { setTimeout(() => dispatchEvent(new Event('resize')), 50) }"
USUAL = {
    **{"q": "", "sort": "score", "weights": "", "size": "", "verified": ""},
    **{"columns": ",".join(DEFAULT_COLUMNS), "n": str(PAGE), "thinking": ""},
}


def benchmark_tab(board: Board, name: str, language: Language) -> Panel:
    card = BENCHMARKS[name].card
    summary = card.summary_ko if language == "ko" else card.summary_en
    gr.HTML(render("about.html", language, card=card, name=name, summary=summary), apply_default_css=False)

    def choices(prefix: str, values: tuple[str, ...]) -> list[tuple[str, str]]:
        return [(text(f"{prefix}_{value}", language), value) for value in values]

    with gr.Row(elem_classes="hn-controls"):
        words = gr.Textbox(
            label=text("search", language),
            placeholder=text("search_hint", language),
            max_length=100,
            scale=3,
            elem_id=f"search-{name}",
        )
        order = gr.Dropdown(
            choices("sort", SORTS), value="score", label=text("sort", language), scale=1, filterable=False
        )
    with gr.Accordion(text("filters", language), open=False, elem_classes="hn-filters"):
        with gr.Row(elem_classes="hn-controls"):
            weights = gr.CheckboxGroup(choices("weights", ("open", "closed")), label=text("weights", language))
            sizes = gr.CheckboxGroup([(f"{s} B", s) for s in SIZES], label=text("params", language))
            thinking = gr.CheckboxGroup(choices("thinking", get_args(Thinking)), label=text("thinking", language))
            verified = gr.Checkbox(label=text("verified_only", language), elem_id=f"verified-{name}")
        columns = gr.CheckboxGroup(
            choices("column", COLUMNS),
            value=list(DEFAULT_COLUMNS),
            label=text("columns", language),
            elem_id=f"columns-{name}",
        )
    _charts(board, name, language)
    shown = gr.Number(PAGE, visible=False)
    html = gr.HTML(elem_id=f"board-{name}", js_on_load=CLICKS + LIVE, apply_default_css=False)
    gr.HTML(render("cite.html", language, card=card, name=name), js_on_load=ORIGIN + COPY, apply_default_css=False)
    html.click(clicked, [order, shown], [order, shown], trigger_mode="multiple", **QUIET)

    def read(params: Mapping[str, str]) -> list[Any]:
        q = Query.of_address(params)
        chosen = [list(q.weights), list(q.sizes), q.verified, list(q.columns), q.shown, list(q.thinking)]
        return [q.words, q.sort, *chosen]

    def show(*values: Any) -> str:
        return drawn(Query.of(*values), board.version)

    @lru_cache(maxsize=DRAWN)
    def drawn(query: Query, version: str) -> str:
        return _table(board.view(), name, language, query, version)

    fields = [words, order, weights, sizes, verified, columns, shown, thinking]
    return Panel(name, USUAL, fields, html, read, show)


def _charts(board: Board, name: str, language: Language) -> None:
    """Drawn when they are first looked at: the drawing library is larger than all of the page."""
    kinds = charts_of(name)
    with gr.Accordion(text("charts", language), open=False, elem_classes="hn-charts") as charts:
        plots = []
        for kind in kinds:
            gr.HTML(render("chart.html", language, name=name, kind=kind), apply_default_css=False)
            plots.append(gr.Plot(show_label=False, container=False, elem_id=f"{kind}-{name}"))

    def draw() -> list[PlotData]:
        rows = board.view().boards[name]
        drawings = [drawing(kind, chart_data(kind, rows), language) for kind in kinds]
        return [PlotData(type="plotly", plot=json.dumps(drawn)) for drawn in drawings]

    # The browser keeps a drawing's width while it is not seen.
    charts.expand(draw, None, plots, **QUIET).then(None, None, None, js=RESIZE, api_visibility="private")


def _table(view: View, name: str, language: Language, query: Query, version: str) -> str:
    card = BENCHMARKS[name].card
    found = select(view.boards[name], query)
    rows = found[: query.shown]
    return render(
        "board.html",
        language,
        name=name,
        card=card,
        rows=rows,
        found=len(found),
        columns=query.columns,
        filters=query.filters(),
        parts={r.row.key: parts_of(r.row.breakdown) for r in rows} if card.columns else {},
        unreadable=len(view.unreadable),
        version=version,
    )


def clicked(order: str, shown: float, event: gr.EventData) -> tuple[str, float]:
    """Order and number of rows after one of the CLICKS."""
    return (str(event.sort), shown) if event.sort else (order, shown + PAGE)
