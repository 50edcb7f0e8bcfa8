"""The page of a model, with its results, provenance, how to reproduce them, and history; and the list of models."""

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.model_detail import model_page
from leaderboard.data.query import ROWS_PER_PAGE, clean_words, find, page_size
from leaderboard.pages.lineage import correction_address
from leaderboard.pages.page import Page, render_page
from leaderboard.views.location import Location
from leaderboard.views.texts import text
from leaderboard.views.verdict import verdict

FOLDER = "models/"  # of the pages of models
MAX_NAME_LENGTH = 200  # characters of a name that are looked up


def model(board: LiveBoard, here: Location, version: str) -> str | None:
    """Write the page of the model that the path names, models/OWNER/NAME, or return None if there is none."""
    name = here.path.removeprefix(FOLDER)[:MAX_NAME_LENGTH]
    page = model_page(board, name)
    if page is None:
        return None
    # Counts change with every result, and the static edition would have to write the pages of all models again.
    with_counts = not here.is_static
    return render_page(
        board,
        here,
        version,
        "model.html",
        title=name,
        description=verdict(page.profile, here.language, with_counts=with_counts),
        page=page,
        benchmarks={benchmark: BENCHMARKS[benchmark] for benchmark in page.profile.model.cells},
        correction=correction_address(board, name),
        card_picture=here.card(here.path),
    )


def models(board: LiveBoard, here: Location, version: str) -> str:
    """Write the list of models. In the static edition it has all of them, and the script searches in it."""
    params = dict(here.params)
    view = board.view()
    words = clean_words(params.get("q"))
    shown = page_size(params.get("n"))
    found = find(view.models, words)
    return render_page(
        board,
        here,
        version,
        "models.html",
        title=text("models", here.language),
        description=text("models_shown", here.language, n=len(view.models)),
        words=words,
        models=found if here.is_static else found[:shown],
        found=len(found),
        shown_after_more=shown + ROWS_PER_PAGE,
    )


MODEL = Page(model, refreshed_by="queue")  # the page lists the model's requests without a result
MODELS = Page(models, ("q", "n"))
