"""The page that is shown if there is nothing at an address."""

from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import find
from leaderboard.pages import model, queue
from leaderboard.pages.page import render_page
from leaderboard.views.location import Location
from leaderboard.views.texts import text

MAX_SUGGESTIONS = 12  # models with a similar name


def missing(board: LiveBoard, here: Location) -> str:
    """Write the page. For an unknown model, it suggests those that a search for the first word of its name finds.

    For org/Qwen3-VL-8B that is "Qwen3", which also finds x/MyQwen3.
    """
    hint = text("page_missing_hint", here.language)
    similar = []
    if here.path.startswith(queue.FOLDER):
        hint = text("request_unknown", here.language)
    elif here.path.startswith(model.FOLDER):
        name = here.path.removeprefix(model.FOLDER)[: model.MAX_NAME_LENGTH]
        hint = text("model_unknown", here.language, name=name)
        first_word = name.rpartition("/")[2].partition("-")[0].strip()
        if first_word:  # a search without words finds all models
            similar = find(board.view().models, first_word)
    return render_page(
        board,
        here,
        "",
        "missing.html",
        title=text("page_missing", here.language),
        description=hint,
        similar=similar[:MAX_SUGGESTIONS],
    )
