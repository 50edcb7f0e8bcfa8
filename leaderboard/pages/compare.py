"""The comparison tab: two to five models side by side, and whether their differences are significant."""

from collections.abc import Mapping
from typing import Any

import gradio as gr

from leaderboard.data.comparison import MAX_MODELS, compare
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import clean_words, find
from leaderboard.pages.tab import PRIVATE_EVENT, REFRESH_JS, TabView, search_field
from leaderboard.views.render import render
from leaderboard.views.texts import Language

DEFAULTS = {"compare": "", "q": ""}
MAX_SUGGESTIONS = 12  # models that can be added with a click
MAX_LIST_LENGTH = 1000  # characters of the list of models; the rest is ignored
CLICKS_JS = """
element.addEventListener('click', event => {
  const button = event.target.closest('[data-toggle]');
  if (button) trigger('click', {model: button.dataset.toggle});
});
"""


def compare_tab(board: LiveBoard, language: Language) -> TabView:
    """Build the comparison tab, and return its fields and HTML.

    Its fields are the search for models to add, and a hidden list of the chosen models, separated by commas.
    """
    search = search_field("add_model", language, elem_id="add-model")
    chosen_field = gr.Textbox("", visible=False)
    html = gr.HTML(elem_id="compare", js_on_load=CLICKS_JS + REFRESH_JS, apply_default_css=False)

    def toggle(chosen: str, event: gr.EventData) -> tuple[str, str]:
        """Add the clicked model to the chosen ones or remove it, and clear the search."""
        models, model = _names(chosen), str(event.model)
        models = [m for m in models if m != model] if model in models else [*models, model]
        return ",".join(models[:MAX_MODELS]), ""

    html.click(toggle, chosen_field, [chosen_field, search], trigger_mode="multiple", **PRIVATE_EVENT)

    def read(params: Mapping[str, str]) -> list[Any]:
        """Return the values of the fields for the parameters of a URL."""
        return [params.get("compare", "")[:MAX_LIST_LENGTH], clean_words(params.get("q"))]

    def show(chosen: str | None, words: str | None) -> str:
        """Return the comparison of the chosen models, and suggestions that match the search words."""
        view, version = board.view(), board.version
        # Humans and baselines cannot be compared.
        comparable = {r.row.model for rows in view.boards.values() for r in rows if r.row.role == "model"}
        names = _names(chosen)
        models = [name for name in names if name in comparable]
        suggestions = [found for found in find(view.models, words) if found.model not in models]
        return render(
            "compare.html",
            language,
            models=models,
            unknown=[name for name in names if name not in comparable],
            comparisons=compare(view.boards, models, board.pairs),
            suggestions=suggestions[:MAX_SUGGESTIONS] if len(models) < MAX_MODELS else [],
            max_models=MAX_MODELS,
            version=version,
        )

    return TabView("compare", DEFAULTS, [chosen_field, search], html, read, show)


def _names(chosen: str | None) -> list[str]:
    """Return the distinct names in a comma-separated list. Names of models contain no comma."""
    names = (name.strip() for name in str(chosen or "")[:MAX_LIST_LENGTH].split(","))
    return list(dict.fromkeys(name for name in names if name))[:MAX_MODELS]
