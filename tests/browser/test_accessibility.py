"""Test that axe-core finds no serious WCAG 2.2 AA violations on any page, in light and dark mode."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from evaluator.benchmarks import BENCHMARKS
from leaderboard.pages.site_map import pages
from tests.browser.conftest import VIEWS, Seen, drawn_charts

SERIOUS = ("serious", "critical")  # impact levels of axe-core
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
WITH_CONTENT = ["models/o/alpha", "models/no/such", "compare?models=o/alpha,o/beta,Gemini-3-pro", "submit"]
ONE_OF_EACH_KIND = ["", "ko-vqa", "submit", "models/o/alpha"]
# axe needs time for every element in the document. So of rows that differ only in words and numbers one is kept.
KEEP_ONE_ROW_OF_EACH_KIND = """() => {
  const kinds = new Set();
  for (const row of document.querySelectorAll('tbody tr')) {
    const kind = row.className + row.innerHTML.replace(/>[^<]*/g, '>').replace(/(href|download|aria-label|title|x|width)="[^"]*"/g, '$1');
    kinds.has(kind) ? row.remove() : kinds.add(kind);
  }
}"""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seen", VIEWS, indirect=True)
def test_pages_have_no_serious_axe_findings(seen: Seen) -> None:
    """Check every page and every kind of chart."""
    _check(seen, [*pages(), *WITH_CONTENT], "light")


@pytest.mark.parametrize("seen", [("en", 390)], indirect=True)  # the test below has this page in every view
def test_table_in_the_dark_has_no_serious_axe_findings(seen: Seen) -> None:
    _check(seen, ["ko-vqa"], "dark")


@pytest.mark.slow
@pytest.mark.parametrize("seen", VIEWS, indirect=True)
def test_dark_pages_have_no_serious_axe_findings(seen: Seen) -> None:
    _check(seen, ONE_OF_EACH_KIND, "dark")


@pytest.mark.slow
@pytest.mark.parametrize("seen", VIEWS, indirect=True)
def test_request_page_has_no_serious_axe_findings_in_any_status(seen: Seen) -> None:
    for request in seen.site.requests.values():
        for theme in ("light", "dark"):
            seen.open(f"requests/{request.key}?__theme={theme}")
            expect(seen.page.locator(".hn-request h1")).to_contain_text(request.model_id)
            assert _serious_findings(seen) == [], request.model_id


def _check(seen: Seen, paths: list[str], theme: str) -> None:
    drawn = set[str]()
    for path in paths:
        seen.open(f"{path}{'&' if '?' in path else '?'}__theme={theme}")
        _unfold(seen, path, drawn)
        seen.page.evaluate(KEEP_ONE_ROW_OF_EACH_KIND)
        assert _serious_findings(seen) == [], path


def _unfold(seen: Seen, path: str, drawn: set[str]) -> None:
    """Open everything that is folded, and draw the charts of a benchmark that are of a kind not in `drawn` yet."""
    seen.page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    if path in BENCHMARKS:
        new = set(drawn_charts(seen.site.board, path)) - drawn
        for kind in new:
            seen.page.locator(f"#chart-{path}-{kind}").scroll_into_view_if_needed()
            expect(seen.page.locator(f"#chart-{path}-{kind} svg.main-svg").first).to_be_visible(timeout=30_000)
        drawn |= new


def _serious_findings(seen: Seen) -> list[tuple[str, object, str]]:
    """Return rule, element and explanation of the serious findings on the page."""
    options = {"runOnly": STANDARDS, "resultTypes": ["violations"]}
    return [
        (finding["id"], node["target"], node["failureSummary"])
        for finding in Axe().run(seen.page, options=options).response["violations"]
        if finding["impact"] in SERIOUS
        for node in finding["nodes"][:3]
    ]
