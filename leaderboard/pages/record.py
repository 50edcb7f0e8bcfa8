"""The record: reported and measured scores, attempts by organisation, retired results, and KO-FRESH's commitments and sets.

A commitment is the hash of a quarter's secret, published before any evaluation. `opened` are the quarters whose sets were
revealed and can be explored.
"""

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.attempts import all_attempts
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.opened import opened_quarters
from leaderboard.data.record import retired_rows
from leaderboard.data.reproductions import all_reproductions, not_measured
from leaderboard.pages.page import Page, render_page
from leaderboard.views.location import Location
from leaderboard.views.texts import text

MAX_ROWS = 100  # of the tables that may grow long, those of reproductions and of attempts; record.json has all


def record(board: LiveBoard, here: Location, version: str) -> str:
    view = board.view()
    return render_page(
        board,
        here,
        version,
        "record.html",
        title=text("record", here.language),
        description=text("record_description", here.language),
        benchmarks=BENCHMARKS,
        reproductions=all_reproductions(view.boards)[:MAX_ROWS],
        not_measured=not_measured(view.boards),
        attempts=all_attempts(view.boards, view.private_attempts)[:MAX_ROWS],
        retired=retired_rows(view.boards, view.retired),
        commitments=view.commitments,
        opened=opened_quarters(board.opened_books),
    )


PAGE = Page(record)
