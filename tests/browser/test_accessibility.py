"""What axe-core finds on the pages, by WCAG 2.2 AA, in light and dark."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.chart_data import Kind
from leaderboard.pages.url_state import TABS
from tests.browser.conftest import VIEWS, Seen, drawn_charts

SERIOUS = ("serious", "critical")  # findings of axe-core
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

ONE_MODEL, REQUEST = "model=o/alpha", "#queue .hn-request"
EMPTY = ("model", "compare", "queue")  # tabs that are seen with something in them
FEW = ["tab=overview", "tab=ko-vqa", "tab=submit", ONE_MODEL]


@pytest.mark.parametrize(
    ("seen", "theme"),
    [(VIEWS[0], "light"), (VIEWS[1], "dark"), (VIEWS[2], "dark"), (VIEWS[3], "light")],
    ids=str,
    indirect=["seen"],
)
def test_axe_finds_nothing_serious(seen: Seen, theme: str) -> None:
    """On every page and kind of chart once, and on a few in each other view; a request of each status, light and dark."""
    pages, seen_charts = FEW, set[Kind]()
    if (seen.language, seen.width) == VIEWS[0]:
        pages = [f"tab={tab}" for tab in TABS if tab not in EMPTY]
        pages += [ONE_MODEL, "model=no/such", "compare=o/alpha,o/beta,Gemini-3-pro"]
    for query in pages:
        seen.open(f"{query}&__theme={theme}")
        tab = query.partition("=")[2]
        if tab in BENCHMARKS:
            expect(seen.page.locator(f"#board-{tab} tbody tr").first).to_be_visible()
            seen.page.get_by_text(seen.t("filters"), exact=True).locator("visible=true").click()
            charts = drawn_charts(seen.site.board, tab)
            if not seen_charts.issuperset(charts):
                seen.page.get_by_text(seen.t("charts")).locator("visible=true").click()
                for kind in charts:
                    expect(seen.page.locator(f"#{kind}-{tab} .js-plotly-plot")).to_be_visible(timeout=30_000)
                seen_charts.update(charts)
        else:
            expect(seen.page.locator("[role=tabpanel]").locator("visible=true")).not_to_be_empty()
        assert _worst(seen) == [], query
    if seen.width == VIEWS[0][1]:
        for number, request in enumerate(seen.site.requests.values()):
            seen.open(f"request={request.key}&__theme={theme}")
            expect(seen.page.locator(f"{REQUEST} h3")).to_contain_text(request.model_id)
            # The table below stays the same.
            assert _worst(seen, REQUEST if number else None) == [], request.model_id


def _worst(seen: Seen, part: str | None = None) -> list[tuple[str, object, str]]:
    options = {"runOnly": STANDARDS, "resultTypes": ["violations"]}
    return [
        (finding["id"], node["target"], node["failureSummary"])
        for finding in Axe().run(seen.page, part, options=options).response["violations"]
        if finding["impact"] in SERIOUS
        for node in finding["nodes"][:3]
    ]
