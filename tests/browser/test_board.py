"""Test searching, filtering and linking of the board's tables; a copied link opens the same view."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from scripts.support.records import result_of
from submissions.config.settings import Settings
from submissions.records.request import EvalRequest
from submissions.store.open import open_store
from tests.browser.conftest import EmptyBoard, running_app

WORDS = {
    "/": {
        "search": "모델·기관 검색",
        "filters": "필터와 열",
        "open": "공개",
        "latency": "지연 시간",
        "license": "라이선스",
    },
    "/en/": {
        "search": "Search models and organisations",
        "filters": "Filters and columns",
        "open": "open",
        "latency": "Latency",
        "license": "Licence",
    },
}


@pytest.mark.parametrize("path", ["/", pytest.param("/en/", marks=pytest.mark.faults)])
def test_board_address_keeps_filters_and_columns(page: Page, empty_board: EmptyBoard, path: str) -> None:
    words = WORDS[path]
    page.goto(empty_board.address + path)
    page.get_by_role("tab", name="InfoChartQA").click()
    table = page.locator("#board-infochartqa")
    expect(table.locator("tbody tr")).to_have_count(21)
    page.get_by_text(words["filters"], exact=True).locator("visible=true").click()
    page.get_by_label(words["open"], exact=True).locator("visible=true").check()
    expect(table.locator("tbody tr")).to_have_count(14)
    page.get_by_label("4-8 B").locator("visible=true").check()
    expect(table.locator("tbody tr")).to_have_count(5)
    columns = page.locator("fieldset", has_text=words["license"]).locator("visible=true").last
    columns.get_by_label("F1").uncheck()
    expect(table.locator("thead")).not_to_contain_text("F1")
    columns.get_by_label(words["license"]).check()
    expect(table.locator("thead")).to_contain_text(words["license"])
    page.get_by_label(words["search"]).locator("visible=true").fill("vl3 ")
    expect(table.locator("tbody tr")).to_have_count(1)
    page.wait_for_url(lambda url: "q=vl3" in url and "weights=open" in url and "size=4-8" in url)
    copied = page.url
    page.goto("about:blank")
    page.goto(copied)
    expect(table.locator("tbody tr")).to_have_count(1)
    expect(table.locator("tbody tr")).to_contain_text("InternVL3-8B-hf")
    expect(table.locator("thead")).to_contain_text(words["license"])
    expect(page.get_by_label(words["search"]).locator("visible=true")).to_have_value("vl3 ")
    assert page.url == copied


def test_board_address_follows_open_tab(page: Page, empty_board: EmptyBoard) -> None:
    page.goto(f"{empty_board.address}/?tab=queue")
    expect(page.locator("#queue")).to_contain_text("아직 제출된 모델이 없습니다")
    page.locator("#queue").get_by_role("link", name="제출").click()
    page.wait_for_url("**/?tab=submit")
    expect(page.locator("#model-id")).to_be_visible()
    page.get_by_role("tab", name="KO-VDC").click()
    page.wait_for_url("**/?tab=ko-vdc")
    page.go_back()
    page.wait_for_url("**/?tab=submit")
    expect(page.locator("#model-id")).to_be_visible()
    page.wait_for_function("window.hannunReady")
    page.get_by_role("link", name="English").click()
    page.wait_for_url("**/en/?tab=submit")
    page.goto(f"{empty_board.address}/?tab=<script>&n=-1&columns=,,")
    expect(page.locator("#overview tbody tr")).to_have_count(66)
    page.goto(f"{empty_board.address}/?tab=ko-vqa&q=%F0%9F%98%80&n=-1&columns=,,")
    expect(page.locator("#board-ko-vqa .hn-empty")).to_be_visible()


def test_search_typed_while_tab_loads_is_kept(page: Page, empty_board: EmptyBoard) -> None:
    """The response to opening the tab arrives after the response to typing, as on a slow connection."""
    page.goto(empty_board.address)
    page.wait_for_function("window.hannunReady")
    held: list[Route] = []

    def hold_first_event(route: Route) -> None:
        if _is_benchmark_event(route.request) and not held:
            held.append(route)
        else:
            route.continue_()

    page.route("**/queue/join*", hold_first_event)
    with page.expect_request(_is_benchmark_event):
        page.get_by_role("tab", name="InfoChartQA").click()
    page.locator("#search-infochartqa textarea, #search-infochartqa input").fill("vl3")
    rows = page.locator("#board-infochartqa tbody tr")
    expect(rows).to_have_count(2)
    page.evaluate(
        """() => new MutationObserver(() => {
            window.showedAllRows ||= document.querySelectorAll('#board-infochartqa tbody tr').length === 21;
        }).observe(document.querySelector('#board-infochartqa'), {childList: true, subtree: true})"""
    )
    held[0].continue_()
    page.wait_for_function("window.showedAllRows")
    expect(rows).to_have_count(2)


def _is_benchmark_event(request: Request) -> bool:
    """Return whether an event comes from a benchmark's tab. Only those have a choice of columns."""
    return "reasoning" in (request.post_data or "")


def test_long_table_loads_in_pages_and_survives_server_stop(
    browser: Browser, environment: dict[str, str], settings: Settings, make_request: Callable[..., EvalRequest]
) -> None:
    results = [result_of(make_request(benchmark="ko-vqa", model_id=f"owner/model-{n}")) for n in range(120)]
    store = open_store(settings.store)
    store.commit({r.path: r.to_bytes() for r in results}, store.head(), "many")
    page = browser.new_page(locale="ko-KR")
    rows, more = page.locator("#board-ko-vqa tbody tr"), page.get_by_role("button", name="더 보기")
    with running_app(environment, HANNUN_WORKER="off") as address:
        for width in (1400, 390):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(f"{address}/?tab=ko-vqa")
            expect(rows).to_have_count(100)
            more.click()
            expect(rows).to_have_count(143)
            expect(more).to_have_count(0)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_label("모델·기관 검색").locator("visible=true").fill("gpt")
    expect(page.get_by_text("Connection", exact=False).first).to_be_visible(timeout=30_000)
    expect(rows).to_have_count(143)
    page.close()


def test_filters_apply_to_next_benchmark_and_charts(page: Page, empty_board: EmptyBoard) -> None:
    page.goto(f"{empty_board.address}/en/?tab=ko-vqa")
    search = page.get_by_label("Search models").locator("visible=true")
    expect(page.locator("#board-ko-vqa tbody tr").first).to_be_visible()
    search.fill("qwen")
    page.wait_for_url(lambda url: "q=qwen" in url)
    page.get_by_role("tab", name="KO-VDC").click()
    expect(page.locator("#board-ko-vdc tbody tr")).to_have_count(5)
    expect(search).to_have_value("qwen")
    page.wait_for_url(lambda url: "tab=ko-vdc&q=qwen" in url)
    page.get_by_text("Charts: score").locator("visible=true").click()
    points = page.locator("#size-ko-vdc .scatterlayer .points path")
    expect(points).to_have_count(3)  # two of the five models ran out of memory
    search.fill("qwen3")
    expect(points).to_have_count(2)


def test_header_warns_when_store_is_unreachable(page: Page, empty_board: EmptyBoard) -> None:
    page.route(
        "**/version",
        lambda route: route.fulfill(
            json={
                **{"board": "", "queue": "", "counts": {"verified": 3, "reported": 106}},
                "out_of_reach_since": "2026-11-24T01:02:03+00:00",
            }
        ),
    )
    for tab in ("overview", "ko-vqa", "submit"):
        page.goto(f"{empty_board.address}/en/?tab={tab}")
        expect(page.locator(".hn-header .hn-warning")).to_contain_text("as of 2026-11-24 10:02")
        expect(page.locator(".hn-header")).to_contain_text("3 results measured by us")
