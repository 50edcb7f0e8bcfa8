"""What axe-core finds on the pages, by WCAG 2.2 AA, in light and dark."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from evaluator.benchmarks import BENCHMARKS
from leaderboard.pages.url_state import TABS
from tests.browser.conftest import VIEWS, Seen, drawn_charts

SERIOUS = ("serious", "critical")  # findings of axe-core
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

MODELS = ["model=o/alpha", "compare=o/alpha,o/beta,Gemini-3-pro"]
FEW = ["tab=overview", "tab=ko-vqa", "tab=submit", MODELS[0]]


@pytest.mark.parametrize(
    ("seen", "theme"),
    [*((view, "light") for view in VIEWS), (VIEWS[1], "dark"), (VIEWS[2], "dark")],
    ids=str,
    indirect=["seen"],
)
def test_axe_finds_nothing_serious(seen: Seen, theme: str) -> None:
    """On every page once, and on a few in each other view."""
    pages = FEW
    if (seen.language, seen.width, theme) == (*VIEWS[0], "light"):
        pages = [f"tab={tab}" for tab in TABS] + MODELS + ["model=no/such"]
        pages += [f"request={request.key}" for request in seen.site.requests.values()]
    for query in pages:
        seen.open(f"{query}&__theme={theme}")
        tab = query.partition("=")[2]
        if tab in BENCHMARKS:
            expect(seen.page.locator(f"#board-{tab} tbody tr").first).to_be_visible()
            seen.page.get_by_text(seen.t("filters"), exact=True).locator("visible=true").click()
            seen.page.get_by_text(seen.t("charts")).locator("visible=true").click()
            for kind in drawn_charts(seen.site.board, tab):
                expect(seen.page.locator(f"#{kind}-{tab} .js-plotly-plot")).to_be_visible(timeout=30_000)
        else:
            expect(seen.page.locator("[role=tabpanel]").locator("visible=true")).not_to_be_empty()
        found = (
            Axe().run(seen.page, options={"runOnly": STANDARDS, "resultTypes": ["violations"]}).response["violations"]
        )
        worst = [
            (finding["id"], node["target"], node["failureSummary"])
            for finding in found
            if finding["impact"] in SERIOUS
            for node in finding["nodes"][:3]
        ]
        assert worst == [], query
