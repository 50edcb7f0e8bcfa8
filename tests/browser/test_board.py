"""The table as a visitor works with it, and its address: a copied link opens the same view."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from submissions.config.settings import Settings
from submissions.records.request import EvalRequest
from submissions.store.open import open_store
from tests.browser.conftest import EmptyBoard, running_app
from tests.support.records import result_of

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
def test_filters_columns_and_order_stand_in_the_address(page: Page, empty_board: EmptyBoard, path: str) -> None:
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


def test_a_tab_in_the_address_is_opened_and_written_there(page: Page, empty_board: EmptyBoard) -> None:
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


def test_what_is_typed_while_a_tab_is_entered_is_what_is_shown(page: Page, empty_board: EmptyBoard) -> None:
    """Where the answer to entering comes after that to typing, as it may on a slow line."""
    page.goto(empty_board.address)
    page.wait_for_function("window.hannunReady")
    entering: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if _of_a_benchmark(route.request) and not entering:
            entering.append(route)
        else:
            route.continue_()

    page.route("**/queue/join*", hold_the_first)
    with page.expect_request(_of_a_benchmark):
        page.get_by_role("tab", name="InfoChartQA").click()
    page.locator("#search-infochartqa textarea, #search-infochartqa input").fill("vl3")
    rows = page.locator("#board-infochartqa tbody tr")
    expect(rows).to_have_count(2)
    page.evaluate(
        """() => new MutationObserver(() => {
            window.whole ||= document.querySelectorAll('#board-infochartqa tbody tr').length === 21;
        }).observe(document.querySelector('#board-infochartqa'), {childList: true, subtree: true})"""
    )
    entering[0].continue_()
    page.wait_for_function("window.whole")
    expect(rows).to_have_count(2)


def _of_a_benchmark(request: Request) -> bool:
    """Whether an event has the fields of a benchmark's tab: columns are chosen nowhere else."""
    return "reasoning" in (request.post_data or "")


def test_a_long_table_is_shown_a_piece_at_a_time_and_stays_when_the_board_is_gone(
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


def test_filters_follow_to_the_next_benchmark_and_into_its_charts(page: Page, empty_board: EmptyBoard) -> None:
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
    expect(points).to_have_count(3)  # two of the five ran out of memory
    search.fill("qwen3")
    expect(points).to_have_count(2)


def test_store_out_of_reach_is_shown_on_every_page(page: Page, empty_board: EmptyBoard) -> None:
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
