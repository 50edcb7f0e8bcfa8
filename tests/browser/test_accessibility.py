"""Test that axe-core finds no serious WCAG 2.2 AA violations on any page, in light and dark mode."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, expect

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.chart_data import Kind
from leaderboard.pages.url_state import TABS
from tests.browser.conftest import Seen, drawn_charts, seen_in

REQUEST = "#queue .hn-request"
SERIOUS = ("serious", "critical")  # impact levels of axe-core
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

ONE_MODEL = "model=o/alpha"
NEED_CONTENT = ("model", "compare", "queue")  # these tabs are only tested with content: see FILLED
FILLED = [ONE_MODEL, "model=no/such", "compare=o/alpha,o/beta,Gemini-3-pro"]
DARK_MODE_QUERIES = ["tab=overview", "tab=ko-vqa", "tab=submit", ONE_MODEL]
# axe needs time for every element in the document, visible or not. So of rows that differ only in words and numbers one is
# kept, and a tab is emptied after it was tested.
KEEP_ONE_ROW_OF_EACH_KIND = """() => {
  const kinds = new Set();
  for (const row of document.querySelectorAll('[data-tab=open] tbody tr')) {
    const kind = row.className + row.innerHTML.replace(/>[^<]*/g, '>').replace(/(href|download|aria-label|title|style)="[^"]*"/g, '$1');
    kinds.has(kind) ? row.remove() : kinds.add(kind);
  }
}"""
CLEAR_OPEN_TAB = """() => {
  const tab = document.querySelector('[data-tab=open]');
  delete tab.dataset.tab;
  tab.querySelectorAll('tbody, .js-plotly-plot').forEach(part => part.replaceChildren());
}"""


@pytest.mark.timeout(300)
@seen_in("ko", 1400, widths=(1400,))  # wide enough to show all tabs
def test_pages_have_no_serious_axe_findings(seen: Seen) -> None:
    """Check every page and every kind of chart."""
    seen.open("tab=overview")
    drawn = set[Kind]()
    for tab in (tab for tab in TABS if tab not in NEED_CONTENT):
        name = BENCHMARKS[tab].card.title if tab in BENCHMARKS else seen.t(tab)
        seen.page.get_by_role("tab", name=name, exact=True).click()
        _unfold(seen, tab, drawn)
        _open_tab(seen).evaluate("e => e.dataset.tab = 'open'")
        seen.page.evaluate(KEEP_ONE_ROW_OF_EACH_KIND)
        assert _serious_findings(seen, "[data-tab=open]" if tab in BENCHMARKS else None) == [], tab
        seen.page.evaluate(CLEAR_OPEN_TAB)
    for query in FILLED:
        seen.open(query)
        expect(_open_tab(seen)).not_to_be_empty()
        assert _serious_findings(seen) == [], query


@seen_in("en", 390)
def test_dark_pages_have_no_serious_axe_findings(seen: Seen) -> None:
    drawn = set[Kind]()
    for query in DARK_MODE_QUERIES:
        seen.open(f"{query}&__theme=dark")
        _unfold(seen, query.partition("=")[2], drawn)
        assert _serious_findings(seen) == [], query


@seen_in("ko", 390)
def test_request_page_has_no_serious_axe_findings_in_any_status(seen: Seen) -> None:
    for number, request in enumerate(seen.site.requests.values()):
        seen.open(f"request={request.key}&__theme=light")
        expect(seen.page.locator(f"{REQUEST} h3")).to_contain_text(request.model_id)
        # The table below the request is the same each time, so only the first run tests the whole page.
        assert _serious_findings(seen, REQUEST if number else None) == [], request.model_id
        seen.page.evaluate("document.body.classList.add('dark')")
        assert _serious_findings(seen, REQUEST) == [], request.model_id


def _unfold(seen: Seen, tab: str, drawn: set[Kind]) -> None:
    """Open the filters of a benchmark's tab, and its charts if they have a kind that is not in `drawn` yet."""
    if tab not in BENCHMARKS:
        expect(_open_tab(seen)).not_to_be_empty()
        return
    expect(seen.page.locator(f"#board-{tab} tbody tr").first).to_be_visible()
    seen.page.get_by_text(seen.t("filters"), exact=True).locator("visible=true").click()
    if new := set(drawn_charts(seen.site.board, tab)) - drawn:
        seen.page.get_by_text(seen.t("charts")).locator("visible=true").click()
        for kind in new:
            expect(seen.page.locator(f"#{kind}-{tab} .js-plotly-plot")).to_be_visible(timeout=30_000)
        drawn |= new


def _open_tab(seen: Seen) -> Locator:
    return seen.page.locator("[role=tabpanel]").locator("visible=true")


def _serious_findings(seen: Seen, part: str | None = None) -> list[tuple[str, object, str]]:
    """Return rule, element and explanation of the serious findings on the page, or in one `part` of it."""
    options = {"runOnly": STANDARDS, "resultTypes": ["violations"]}
    return [
        (finding["id"], node["target"], node["failureSummary"])
        for finding in Axe().run(seen.page, part, options=options).response["violations"]
        if finding["impact"] in SERIOUS
        for node in finding["nodes"][:3]
    ]
