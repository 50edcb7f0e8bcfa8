"""Ranks on questions that nobody can have seen, minus ranks on sets that anybody can download."""

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.unseen import MIN_MODELS, UnseenChange
from leaderboard.pages.page import Page, render_page
from leaderboard.views.location import Location
from leaderboard.views.texts import text

PATH = "unseen"
MAX_ROWS = 100  # of each pair of sets; the file has all


def unseen(board: LiveBoard, here: Location, version: str) -> str:
    pairs: dict[tuple[str, str], list[UnseenChange]] = {}  # by the unseen and the public benchmark
    for change in board.view().unseen:
        pairs.setdefault((change.unseen, change.public), []).append(change)
    return render_page(
        board,
        here,
        version,
        "unseen.html",
        title=text("unseen", here.language),
        description=text("unseen_description", here.language),
        pairs=pairs,
        max_rows=MAX_ROWS,
        min_models=MIN_MODELS,
        unseen_sets=[name for name, benchmark in BENCHMARKS.items() if benchmark.drawn],
        public_sets=[name for name, benchmark in BENCHMARKS.items() if benchmark.card.is_public],
    )


PAGE = Page(unseen)
