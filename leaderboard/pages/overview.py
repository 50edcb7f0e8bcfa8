"""The overview tab: every model with its headline scores, and recent rank changes."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import gradio as gr

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.models import BINS, ModelRow, shared_benchmarks
from leaderboard.data.query import ROWS_PER_PAGE, clean_words, find, page_size
from leaderboard.data.view import View
from leaderboard.pages.benchmark import CLICKS_JS, clicked
from leaderboard.pages.tab import CACHED_VIEWS, PRIVATE_EVENT, REFRESH_JS, TabView, search_field
from leaderboard.views.render import render
from leaderboard.views.texts import Language, text

OVERALL = "overall"
DEFAULTS = {"q": "", "sort": OVERALL, "n": str(ROWS_PER_PAGE)}
MAX_CHANGES = 12


def overview_tab(board: LiveBoard, language: Language) -> TabView:
    orders = [(text("sort_overall", language), OVERALL), *((b.card.title, name) for name, b in BENCHMARKS.items())]
    with gr.Row(elem_classes="hn-controls"):
        words = search_field("search", language, scale=3)
        order = gr.Dropdown(orders, value=OVERALL, label=text("sort", language), scale=1, filterable=False)
    shown = gr.Number(ROWS_PER_PAGE, visible=False)
    html = gr.HTML(elem_id="overview", js_on_load=CLICKS_JS + REFRESH_JS, apply_default_css=False)
    gr.HTML(render("terms.html", language, name=""), apply_default_css=False)
    html.click(clicked, [order, shown], [order, shown], trigger_mode="multiple", **PRIVATE_EVENT)

    def read(params: Mapping[str, str]) -> list[Any]:
        order = params.get("sort", "")
        return [clean_words(params.get("q")), order if order in BENCHMARKS else OVERALL, page_size(params.get("n"))]

    @lru_cache(maxsize=CACHED_VIEWS)
    def drawn(words: str, order: str, shown: int, version: str) -> str:
        view = board.view()
        found = sorted_models(view, words, order)
        return render(
            "overview.html",
            language,
            summaries=view.summaries,
            bins=BINS,
            changes=board.changes()[:MAX_CHANGES],
            models=found[:shown],
            shared=shared_benchmarks(view.models),
            found=len(found),
            version=version,
        )

    def show(words: str | None, order: str | None, shown: float | None) -> str:
        return drawn(clean_words(words), order if order in BENCHMARKS else OVERALL, page_size(shown), board.version)

    return TabView("overview", DEFAULTS, [words, order, shown], html, read, show)


def sorted_models(view: View, words: str, order: str) -> list[ModelRow]:
    """Return the models that match the search words, best first on the benchmark `order` or overall."""
    found = find(view.models, words)
    if order not in BENCHMARKS:
        return found

    def place(model: ModelRow) -> tuple[bool, float]:
        cell = model.cells.get(order)
        score = cell.row.score if cell else None
        return cell is None or cell.rank is None, -(score or 0.0)

    return sorted(found, key=place)
