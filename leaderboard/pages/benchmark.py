"""A benchmark's tab: search, filters, columns, and its table."""

import json
from typing import Any

import gradio as gr

from evaluator.benchmarks import BENCHMARKS
from leaderboard.board import Board
from leaderboard.pages.address import ready, remember
from leaderboard.query import COLUMNS, DEFAULT_COLUMNS, PAGE, SIZES, SORTS, Query, select
from leaderboard.render import render
from leaderboard.texts import Language, text

# A click on a column's head chooses its order, one at the table's end shows more of it.
_CLICKS = """
element.addEventListener('click', event => {
  const button = event.target.closest('[data-sort], [data-more]');
  if (button) trigger('click', {sort: button.dataset.sort ?? null});
});
"""
EVERY = 15  # seconds between looks while nothing is asked


def benchmark_tab(board: Board, name: str, language: Language, page: gr.Blocks, tab: gr.Tab) -> None:
    card = BENCHMARKS[name].card
    summary = card.summary_ko if language == "ko" else card.summary_en
    gr.HTML(render("about.html", language, card=card, summary=summary), apply_default_css=False)

    def choices(prefix: str, values: tuple[str, ...]) -> list[tuple[str, str]]:
        return [(text(f"{prefix}_{value}", language), value) for value in values]

    with gr.Row(elem_classes="hn-controls"):
        words = gr.Textbox(
            label=text("search", language), placeholder=text("search_hint", language), max_length=100, scale=3
        )
        order = gr.Dropdown(
            choices("sort", SORTS), value="score", label=text("sort", language), scale=1, filterable=False
        )
    with gr.Accordion(text("filters", language), open=False, elem_classes="hn-filters"):
        with gr.Row(elem_classes="hn-controls"):
            weights = gr.CheckboxGroup(choices("weights", ("open", "closed")), label=text("weights", language))
            sizes = gr.CheckboxGroup([(f"{s} B", s) for s in SIZES], label=text("params", language))
            verified = gr.Checkbox(label=text("verified_only", language))
        columns = gr.CheckboxGroup(
            choices("column", COLUMNS), value=list(DEFAULT_COLUMNS), label=text("columns", language)
        )
    shown, early = gr.Number(PAGE, visible=False), gr.Textbox("", visible=False)
    html = gr.HTML(elem_id=f"board-{name}", js_on_load=_CLICKS, apply_default_css=False)

    def query_of(request: gr.Request) -> Query:
        params = dict(request.query_params)
        return Query.of_address(params) if params.get("tab", next(iter(BENCHMARKS))) == name else Query()

    def table(
        words: str | None,
        order: str,
        weights: list[str],
        sizes: list[str],
        verified: bool,
        columns: list[str],
        shown: float,
        request: gr.Request,
    ) -> str:
        asked = Query.of(words, order, weights, sizes, verified, columns, shown)
        return _table(board, name, language, query_of(request) if words is None else asked)

    def start(request: gr.Request) -> tuple[Any, ...]:
        query = query_of(request)
        html = _table(board, name, language, query)
        if query == Query():  # what a visitor has typed by now stays
            return *([gr.skip()] * len(fields)), html
        lists = (list(query.weights), list(query.sizes))
        return query.words, query.sort, *lists, query.verified, list(query.columns), query.shown, html

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    fields = [words, order, weights, sizes, verified, columns, shown]
    # Filled by an event after the page has loaded: inlined rows would decide how many visitors the page can serve.
    loaded = page.load(start, None, [*fields, html], **quiet)
    loaded.then(None, None, early, js=ready(name), api_visibility="private")
    changes = [field.change for field in fields]  # type: ignore[attr-defined]  # every component of a form has it
    gr.on(changes, table, fields, html, js=remember(name), trigger_mode="always_last", **quiet)
    early.change(table, fields, html, js=remember(name), **quiet)
    html.click(_clicked, [order, shown], [order, shown], **quiet)
    tab.select(None, fields, None, js=remember(name, entered=True), **quiet)
    gr.Timer(EVERY).tick(table, fields, html, **quiet)


def _table(board: Board, name: str, language: Language, query: Query) -> str:
    view = board.view()
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
        buckets={r.row.key: json.loads(r.row.breakdown) for r in rows} if card.columns else {},
        unreadable=len(view.unreadable),
    )


def _clicked(order: str, shown: float, event: gr.EventData) -> tuple[str, float]:
    return (str(event.sort), shown) if event.sort else (order, shown + PAGE)
