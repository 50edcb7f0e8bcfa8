"""The model tab: results, parts with the best and median score, provenance, how to reproduce, and history."""

from collections.abc import Mapping
from typing import Any

import gradio as gr

from leaderboard.data.live_board import LiveBoard
from leaderboard.data.model_detail import model_page
from leaderboard.data.query import clean_words, find
from leaderboard.pages.tab import COPY_JS, REFRESH_JS, TabView, search_field
from leaderboard.views.render import render
from leaderboard.views.texts import Language

DEFAULTS = {"model": "", "q": ""}
OFFERED = 24  # models to choose from


def model_tab(board: LiveBoard, language: Language) -> TabView:
    words = search_field("find_model", language, elem_id="find-model")
    chosen = gr.Textbox("", visible=False)
    html = gr.HTML(elem_id="model", js_on_load=COPY_JS + REFRESH_JS, apply_default_css=False)
    gr.HTML(render("terms.html", language, name=""), apply_default_css=False)

    def read(params: Mapping[str, str]) -> list[Any]:
        return [params.get("model", "")[:200], clean_words(params.get("q"))]

    def show(name: str | None, words: str | None) -> str:
        view, version = board.view(), board.queue_version
        page = model_page(board, str(name)[:200]) if name else None
        looking = page is None or str(words or "").strip()
        return render(
            "model.html",
            language,
            name=str(name or "")[:200],
            page=page,
            offered=find(view.models, words)[:OFFERED] if looking else [],
            version=version,
        )

    return TabView("model", DEFAULTS, [chosen, words], html, read, show)
