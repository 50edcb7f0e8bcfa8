"""The comparison: two to five models side by side, and whether their differences are significant."""

from leaderboard.data.comparison import MAX_MODELS, compare
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import clean_words, find
from leaderboard.data.view import View
from leaderboard.pages.page import Page, render_page
from leaderboard.views.location import Location
from leaderboard.views.texts import text

MAX_SUGGESTIONS = 12  # models that can be added with a click
MAX_LIST_LENGTH = 1000  # characters of the list of models; the rest is ignored


def _is_comparable(view: View, name: str) -> bool:
    """Return whether a name is that of a model. Humans and baselines cannot be compared."""
    return any(ranked.row.role == "model" for ranked in view.rows_by_model.get(name, ()))


def comparison(board: LiveBoard, here: Location, version: str) -> str:
    """Write the comparison of the models that the parameter `models` lists, and suggest others that match the search `q`."""
    params = dict(here.params)
    view = board.view()
    names = model_names(params.get("models"))
    comparable = [name for name in names if _is_comparable(view, name)]
    models = comparable[:MAX_MODELS]
    words = clean_words(params.get("q"))
    suggestions = [found for found in find(view.models, words) if found.model not in models]
    title = text("compare", here.language)
    if models:
        title = f"{' · '.join(models)} · {title}"
    return render_page(
        board,
        here,
        version,
        "compare.html",
        title=title,
        description=text("compare_hint", here.language, n=MAX_MODELS),
        words=words,
        models=models,
        card_picture=here.card("compare", models=",".join(models)),
        unknown=[name for name in names if name not in comparable],
        left_out=comparable[MAX_MODELS:],
        comparisons=compare(view.boards, models, board.pairs),
        suggestions=suggestions[:MAX_SUGGESTIONS] if len(models) < MAX_MODELS else [],
        max_models=MAX_MODELS,
    )


def model_names(listed: str | None) -> list[str]:
    """Return the distinct names in a list, "a/b, c/d" -> ["a/b", "c/d"]. Names of models contain no comma."""
    names = (name.strip() for name in str(listed or "")[:MAX_LIST_LENGTH].split(","))
    return list(dict.fromkeys(name for name in names if name))


PAGE = Page(comparison, ("models", "q"))
