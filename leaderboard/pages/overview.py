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
    """Build the overview tab, and return its fields and HTML."""
    orders = [(text("sort_overall", language), OVERALL), *((b.card.title, name) for name, b in BENCHMARKS.items())]
    with gr.Row(elem_classes="hn-controls"):
        search_box = search_field("search", language, scale=3)
        order_menu = gr.Dropdown(orders, value=OVERALL, label=text("sort", language), scale=1, filterable=False)
    row_count_field = gr.Number(ROWS_PER_PAGE, visible=False)
    html = gr.HTML(elem_id="overview", js_on_load=CLICKS_JS + REFRESH_JS, apply_default_css=False)
    gr.HTML(render("terms.html", language, name=""), apply_default_css=False)
    html.click(
        clicked, [order_menu, row_count_field], [order_menu, row_count_field], trigger_mode="multiple", **PRIVATE_EVENT
    )

    def values_from_url(params: Mapping[str, str]) -> list[Any]:
        return list(_clean_values(params.get("q"), params.get("sort"), params.get("n")))

    # The board's version is part of the key, so that a new result leads to new HTML.
    @lru_cache(maxsize=CACHED_VIEWS)
    def cached_html(words: str, order: str, row_count: int, version: str) -> str:
        view = board.view()
        models = sorted_models(view, words, order)
        return render(
            "overview.html",
            language,
            summaries=view.summaries,
            bins=BINS,
            changes=board.changes()[:MAX_CHANGES],
            models=models[:row_count],
            shared=shared_benchmarks(view.models),
            found=len(models),
            version=version,
        )

    def html_for(*values: Any) -> str:
        return cached_html(*_clean_values(*values), board.version)

    fields = [search_box, order_menu, row_count_field]
    return TabView("overview", DEFAULTS, fields, html, values_from_url, html_for)


def _clean_values(words: Any, order: Any, row_count: Any) -> tuple[str, str, int]:
    """Return untrusted values of the fields as search words, OVERALL or a benchmark, and a number of rows."""
    return clean_words(words), order if order in BENCHMARKS else OVERALL, page_size(row_count)


def sorted_models(view: View, words: str, order: str) -> list[ModelRow]:
    """Return the models that match the search words, best first on the benchmark `order` or overall."""
    models = find(view.models, words)
    if order not in BENCHMARKS:
        return models

    def sort_key(model: ModelRow) -> tuple[bool, float]:
        cell = model.cells.get(order)
        score = cell.row.score if cell else None
        return cell is None or cell.rank is None, -(score or 0.0)

    return sorted(models, key=sort_key)
