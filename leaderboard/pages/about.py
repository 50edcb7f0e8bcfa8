"""The page about the board: what it is, how it measures, and how to use it."""

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.live_board import LiveBoard
from leaderboard.pages.page import Page, render_page
from leaderboard.views.location import Location
from leaderboard.views.texts import text


def about(board: LiveBoard, here: Location, version: str) -> str:
    return render_page(
        board,
        here,
        version,
        "about.html",
        title=text("about_title", here.language),
        description=text("about_description", here.language),
        benchmarks=BENCHMARKS,
    )


PAGE = Page(about)
