"""Test the board as files, served by a plain file server, with and without JavaScript."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.finder import PRESETS, Finder, find_models
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import ROWS_PER_PAGE, Query
from leaderboard.edition.build import Edition, build
from leaderboard.views.location import LANGUAGE_FOLDERS
from leaderboard.views.texts import Language, text
from scripts.support.records import result_of
from submissions.config.paths import PUBLISHED
from submissions.records.request import EvalRequest
from submissions.store.base import Store
from tests.browser.conftest import Site, views

pytestmark = pytest.mark.slow

ROWS = "#rows tbody tr:not([hidden], .hn-kind)"


@pytest.mark.parametrize("view", views("ko", 390))
def test_all_pages_fit_and_show_rows(edition: str, page: Page, view: tuple[Language, int]) -> None:
    language, width = view
    page.set_viewport_size({"width": width, "height": 900})
    folder = LANGUAGE_FOLDERS[language]
    for name in ("index", *BENCHMARKS, "models", "record", "queue", "submit", "models/o/alpha"):
        page.goto(f"{edition}/{folder}{name}.html")
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        if name in ("index", *BENCHMARKS):
            expect(page.locator(ROWS).first).to_be_in_viewport()


def test_search_filters_and_sort_in_the_browser(edition: str, page: Page) -> None:
    page.goto(f"{edition}/en/index.html")
    page.get_by_role("link", name="InfoChartQA").first.click()
    rows = page.locator(ROWS)
    expect(page).to_have_url(f"{edition}/en/infochartqa.html")
    expect(rows.first).to_be_visible()
    all_rows = rows.count()
    page.get_by_text("Filters", exact=True).click()
    page.get_by_label("open", exact=True).check()
    expect(rows).not_to_have_count(all_rows)
    page.get_by_label("4–8B").check()
    assert rows.evaluate_all("rows => rows.every(row => row.dataset.size === '4-8' && row.dataset.weights === 'open')")
    page.get_by_label("Search models").fill("VL3 8b")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("InternVL3-8B-hf")
    page.get_by_label("Search models").fill("")
    page.get_by_label("4–8B").uncheck()
    page.get_by_label("open", exact=True).uncheck()
    expect(rows).to_have_count(all_rows)
    page.locator("#rows thead").get_by_role("link", name="Parameters").click()
    expect(page.locator("th[aria-sort=ascending]")).to_have_text("Parameters")
    heads = page.locator("#rows thead th").all_inner_texts()
    column = 1 + next(number for number, head in enumerate(heads) if head.startswith("Parameters"))
    sizes = [text for text in page.locator(f"{ROWS} > :nth-child({column})").all_inner_texts() if text != "–"]
    assert [float(size.rstrip("B")) for size in sizes] == sorted(float(size.rstrip("B")) for size in sizes)
    page.get_by_label("Sort by").select_option("score")
    expect(rows.first).to_contain_text("1")
    page.get_by_role("link", name="이 페이지를 한국어로 보기").click()
    expect(page.locator("h1")).to_contain_text("InfoChartQA")
    assert page.url == f"{edition}/infochartqa.html"


@pytest.mark.parametrize(
    "words",
    [
        "ㄱㅂ",
        "국ㅂ",
        "젬ㅁ",
        "콩",
        "org:lg",
        "org:알리바바",
        "license:apache",
        "hardware:a100",
        "qwen 7b",
        "QWEN",
        "o/alpha",
        "nothing at all",
    ],
)
def test_search_finds_what_the_live_board_finds(edition: str, page: Page, site: Site, words: str) -> None:
    page.goto(f"{edition}/en/ko-vqa.html")
    page.get_by_label("Search models").fill(words)
    found = len(site.board.view().select("ko-vqa", Query(words=words)))
    expect(page.locator(ROWS)).to_have_count(found)
    expect(page.locator("#rows [data-found]")).to_have_text(f"Results: {found}")
    expect(page.locator("#announced")).to_have_text(f"Results: {found}")


def test_presets_and_order_are_those_of_the_live_board(edition: str, page: Page, site: Site) -> None:
    page.goto(f"{edition}/en/index.html")
    rows = page.locator(ROWS)
    for name in ("small", "commercial", "family"):
        page.get_by_role("link", name=text(f"preset_{name}", "en")).click()
        expect(rows).to_have_count(len(find_models(site.board.view(), PRESETS[name])))
    page.goto(f"{edition}/en/index.html")
    page.get_by_label("Sort by").select_option("infochartqa")
    expect(rows.first).to_contain_text("o/alpha")
    live = find_models(site.board.view(), Finder(order="infochartqa"))
    ranked = [model for model in live if (cell := model.cells.get("infochartqa")) and cell.rank]
    shown = rows.locator("th.model a").all_inner_texts()
    assert shown[: len(ranked)] == [model.model for model in ranked]
    assert rows.nth(0).locator("td.rank").inner_text() == "1"
    assert rows.nth(len(ranked) - 1).locator("td.rank").inner_text().startswith("(")


def test_missing_page_leads_back(edition: str, page: Page) -> None:
    page.goto(f"{edition}/en/404.html")
    expect(page.locator("h1")).to_have_text("Page not found")
    page.get_by_role("link", name="KO-VQA").first.click()
    expect(page.locator(ROWS).first).to_be_visible()


def test_charts_downloads_and_copying(edition: str, page: Page) -> None:
    page.goto(f"{edition}/ko-vqa.html")
    page.locator("#chart-ko-vqa-size").scroll_into_view_if_needed()
    expect(page.locator("#chart-ko-vqa-size svg.main-svg").first).to_be_visible(timeout=30_000)
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON", exact=True).first.click()
    assert json.loads(download.value.path().read_bytes())
    page.goto(f"{edition}/models/o/alpha.html")
    page.locator(".hn-summary th a").first.click()  # it opens the result that it leads to
    page.locator(".hn-command button").first.click()
    expect(page.locator(".hn-command button").first).to_have_text("복사했습니다")


def test_space_passes_its_parameters_to_the_first_page(edition: str, page: Page) -> None:
    page.goto(f"{edition}/index.html?tab=ko-vdc&__theme=dark")
    page.wait_for_url("**/ko-vdc.html")
    page.goto(f"{edition}/index.html?__theme=dark")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    page.goto(f"{edition}/index.html?model=Gemini-3-pro")
    page.wait_for_url("**/models/Gemini-3-pro.html")


def test_pages_work_without_javascript(edition: str, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{edition}/index.html")
    page.get_by_role("link", name="KO-VQA").first.click()
    expect(page.locator(ROWS).first).to_contain_text("o/alpha")
    page.locator(ROWS).first.get_by_role("link").first.click()
    expect(page.locator("h1")).to_contain_text("o/alpha")
    page.get_by_role("link", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    context.close()


def test_long_table_is_completed_for_search(
    browser: Browser, store: Store, make_request: Callable[..., EvalRequest], tmp_path: Path, edition: str
) -> None:
    results = [result_of(make_request(benchmark="ko-vqa", model_id=f"owner/model-{n:03}")) for n in range(120)]
    store.commit({r.path: r.to_bytes() for r in results}, store.head(), "many")
    published = tmp_path / "published"
    shutil.copytree(PUBLISHED / "ko-vqa", published / "ko-vqa")
    build(LiveBoard(store, published=published), tmp_path / "out", Edition())
    page = browser.new_page(locale="en-US")
    page.route(
        "http://edition.test/**",
        lambda route: route.fulfill(path=tmp_path / "out" / route.request.url.split("test/")[1].split("?")[0]),
    )
    page.goto("http://edition.test/en/ko-vqa.html")
    expect(page.locator(ROWS)).to_have_count(ROWS_PER_PAGE)
    page.get_by_label("Search models").fill("model-119")
    expect(page.locator(ROWS)).to_have_count(1)
    page.get_by_label("Search models").fill("")
    expect(page.locator(ROWS)).to_have_count(143)
    page.close()
