"""A benchmark's tab: search, sort, and its table."""

import json

import gradio as gr

from evaluator.benchmarks import BENCHMARKS
from leaderboard.board import SORTS, Board, Sort, select
from leaderboard.render import render
from leaderboard.texts import Language, text

# A click on a column's head chooses its order.
_SORT_CLICKS = """
element.addEventListener('click', event => {
  const button = event.target.closest('[data-sort]');
  if (button) trigger('click', {sort: button.dataset.sort});
});
"""


def benchmark_tab(board: Board, name: str, language: Language, page: gr.Blocks) -> None:
    card = BENCHMARKS[name].card
    summary = card.summary_ko if language == "ko" else card.summary_en
    gr.HTML(render("about.html", language, card=card, summary=summary), apply_default_css=False)
    with gr.Row(elem_classes="hn-controls"):
        query = gr.Textbox(
            label=text("search", language), placeholder=text("search_hint", language), max_length=100, scale=3
        )
        choices = [(text(f"sort_{sort}", language), sort) for sort in SORTS]
        order = gr.Dropdown(choices, value="score", label=text("sort", language), scale=1, filterable=False)

    def table(words: str, sort: Sort) -> str:
        view = board.view()
        rows = select(view.boards[name], words or "", sort if sort in SORTS else "score")
        buckets = {r.row.key: json.loads(r.row.breakdown) for r in rows} if card.columns else {}
        return render(
            "board.html", language, name=name, card=card, rows=rows, buckets=buckets, unreadable=len(view.unreadable)
        )

    # Filled by an event after the page has loaded: inlined rows would decide how many visitors the page can serve.
    html = gr.HTML(elem_id=f"board-{name}", js_on_load=_SORT_CLICKS, apply_default_css=False)
    inputs = [query, order]
    page.load(table, inputs, html, show_progress="hidden", api_visibility="private")
    query.change(table, inputs, html, show_progress="hidden", api_visibility="private")
    order.change(table, inputs, html, show_progress="hidden", api_visibility="private")
    html.click(_clicked_order, None, order, show_progress="hidden", api_visibility="private")
    gr.Timer(15).tick(table, inputs, html, show_progress="hidden", api_visibility="private")


def _clicked_order(event: gr.EventData) -> str:
    return str(event.sort)
