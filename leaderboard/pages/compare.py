"""The comparison tab: two to five models side by side, and whether their differences are significant."""

from collections.abc import Mapping
from typing import Any

import gradio as gr

from leaderboard.data.comparison import MAX_MODELS, compare
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import clean_words, find
from leaderboard.pages.tab import QUIET, REFRESH_JS, TabView, search_field
from leaderboard.views.render import render
from leaderboard.views.texts import Language

DEFAULTS = {"compare": "", "q": ""}
OFFERED = 12  # models suggested to add
CLICKS_JS = """
element.addEventListener('click', event => {
  const button = event.target.closest('[data-toggle]');
  if (button) trigger('click', {model: button.dataset.toggle});
});
"""


def compare_tab(board: LiveBoard, language: Language) -> TabView:
    words = search_field("add_model", language, elem_id="add-model")
    chosen = gr.Textbox("", visible=False)
    html = gr.HTML(elem_id="compare", js_on_load=CLICKS_JS + REFRESH_JS, apply_default_css=False)

    def toggle(chosen: str, event: gr.EventData) -> tuple[str, str]:
        models, model = _names(chosen), str(event.model)
        models = [m for m in models if m != model] if model in models else [*models, model]
        return ",".join(models[:MAX_MODELS]), ""

    html.click(toggle, chosen, [chosen, words], trigger_mode="multiple", **QUIET)

    def read(params: Mapping[str, str]) -> list[Any]:
        return [params.get("compare", "")[:1000], clean_words(params.get("q"))]

    def show(chosen: str | None, words: str | None) -> str:
        view, version = board.view(), board.version
        known = {r.row.model for rows in view.boards.values() for r in rows if r.row.role == "model"}
        asked = _names(chosen)
        models = [m for m in asked if m in known]
        found = find(view.models, words)
        return render(
            "compare.html",
            language,
            models=models,
            unknown=[m for m in asked if m not in known],
            comparisons=compare(view.boards, models, board.pairs),
            offered=[m for m in found if m.model not in models][:OFFERED] if len(models) < MAX_MODELS else [],
            most=MAX_MODELS,
            version=version,
        )

    return TabView("compare", DEFAULTS, [chosen, words], html, read, show)


def _names(chosen: str | None) -> list[str]:
    """Return the distinct names in a comma-separated list. Names of models contain no comma."""
    names = (name.strip() for name in str(chosen or "")[:1000].split(","))
    return list(dict.fromkeys(name for name in names if name))[:MAX_MODELS]
