"""The public items of a benchmark: picture, question, the right answer, and what each model answered.

Those of a KO-FRESH quarter that was revealed are chosen by `set`: `explore/ko-fresh?set=2026Q4`. An *opened* quarter is a
revealed one whose dataset this board has, and its answers were scored again from that.
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
FIRST_ITEMS = 10  # items shown at first, and added by each "Show more"
MAX_PAGE_TEXT = 1500  # characters of a page that are shown


def explorer(board: LiveBoard, here: Location, version: str) -> str:
    """Write the page of a benchmark's items: of the revealed quarter in the parameter `set`, or else of the sample."""
    name = here.path.removeprefix(FOLDER)
    shown = page_size(dict(here.params).get("n"), FIRST_ITEMS)
    quarter = dict(here.params).get("set", "")
    opened = _opened(board, name, quarter)
    items = opened.items if opened else explored_items(board, name)
    benchmark_title = BENCHMARKS[name].card.title
    title = text("explore_title", here.language, benchmark=benchmark_title)
    description = text("explore_hint", here.language)
    if opened:
        title = text("opened_title", here.language, quarter=f"{benchmark_title} {quarter}")
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
        shown_after_more=shown + FIRST_ITEMS,
        max_page_text=MAX_PAGE_TEXT,
        reports={explored.item.id: report_address(board, name, explored) for explored in items[:shown]},
    )


def _opened(board: LiveBoard, name: str, quarter: str) -> OpenedQuarter | None:
    """Return a quarter of KO-FRESH, such as "2026Q4", or None if it is not revealed or the benchmark is another one."""
    folder = opened_quarters(board.opened_books).get(quarter) if name == KO_FRESH.name else None
    return opened_quarter(folder) if folder else None


def report_address(board: LiveBoard, benchmark: str, explored: ExploredItem) -> str | None:
    """Return the address of a form about a wrong reference answer, if there is one."""
    item_id = explored.item.id
    body = f"Benchmark: {benchmark}\nItem: {item_id}\nAnswer on the board: {explored.gold}\n\nWhat is wrong:\n"
    return report_form(board, f"Wrong answer: {benchmark} {item_id}", body)


PAGE = Page(explorer, ("n", "set"))
