"""Errata: which items were corrected or withdrawn, why, and the models whose score or rank changed by that."""

from leaderboard.data.live_board import LiveBoard
from leaderboard.pages.page import Page, render_page
from leaderboard.views.location import Location
from leaderboard.views.texts import text
from submissions.records.errata import Erratum

PATH = "errata"
MAX_MOVES = 50  # of each erratum; the file has all


def errata(board: LiveBoard, here: Location, version: str) -> str:
    newest_first = sorted(board.view().errata, key=lambda erratum: erratum.since, reverse=True)
    sets: dict[tuple[str, str], list[Erratum]] = {}  # by benchmark and split, that with the newest erratum first
    for erratum in newest_first:
        sets.setdefault((erratum.benchmark, erratum.split), []).append(erratum)
    return render_page(
        board,
        here,
        version,
        "errata.html",
        title=text("errata", here.language),
        description=text("errata_note", here.language),
        sets=sets,
        max_moves=MAX_MOVES,
    )


PAGE = Page(errata)
