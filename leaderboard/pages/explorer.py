"""The public items of a benchmark: picture, question, the right answer, and what each model answered.

Those of a KO-FRESH quarter that was revealed are chosen by `set`: `explore/ko-fresh?set=2026Q4`.
"""

from evaluator.benchmarks import BENCHMARKS
from evaluator.quarters.books import BENCHMARK as KO_FRESH
from leaderboard.data.explorer import ExploredItem, explored_items
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.opened import OpenedQuarter, opened_quarter, opened_quarters
from leaderboard.data.query import page_size
from leaderboard.pages.page import Page, render_page, report_form
from leaderboard.views.location import Location
from leaderboard.views.texts import text

FOLDER = "explore/"  # of the pages, one for each benchmark
FIRST_ITEMS = 10
MAX_PAGE_TEXT = 1500  # characters of a page that are shown


def explorer(board: LiveBoard, here: Location, version: str) -> str:
    """Return the page. Without a revealed quarter of that name it has the sample items."""
    name = here.path.removeprefix(FOLDER)
    shown = page_size(dict(here.params).get("n"), FIRST_ITEMS)
    quarter = dict(here.params).get("set", "")
    opened = _opened(board, name, quarter)
    items = opened.items if opened else explored_items(board, name)
    benchmark = BENCHMARKS[name].card.title
    title = text("explore_title", here.language, benchmark=benchmark)
    description = text("explore_hint", here.language)
    if opened:
        title = text("opened_title", here.language, quarter=f"{benchmark} {quarter}")
        description = text("opened_hint", here.language)
    return render_page(
        board,
        here,
        version,
        "explorer.html",
        title=title,
        description=description,
        rescored=opened.results if opened else (),
        name=name,
        items=items[:shown],
        found=len(items),
        more=shown + FIRST_ITEMS,
        max_page_text=MAX_PAGE_TEXT,
        reports={one.item.id: report_address(board, name, one) for one in items[:shown]},
    )


def _opened(board: LiveBoard, name: str, quarter: str) -> OpenedQuarter | None:
    """Return a revealed quarter of KO-FRESH, or None."""
    folder = opened_quarters(board.opened_books).get(quarter) if name == KO_FRESH.name else None
    return opened_quarter(folder) if folder else None


def report_address(board: LiveBoard, benchmark: str, one: ExploredItem) -> str | None:
    """Return the address of a form about a wrong answer, if there is one."""
    body = f"Benchmark: {benchmark}\nItem: {one.item.id}\nAnswer on the board: {one.gold}\n\nWhat is wrong:\n"
    return report_form(board, f"Wrong answer: {benchmark} {one.item.id}", body)


PAGE = Page(explorer, ("n", "set"))
