"""Test searching, filtering and linking of the board's tables, with and without JavaScript."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from leaderboard.data.query import ROWS_PER_PAGE
from scripts.support.records import result_of
from submissions.config.settings import Settings
from submissions.records.request import EvalRequest
from submissions.store.open import open_store
from tests.browser.conftest import EmptyBoard, running_app

ROWS = "#rows tbody tr:not(.hn-kind)"


@pytest.fixture
def plain_page(browser: Browser) -> Iterator[Page]:
    """Yield a page without JavaScript."""
    context = browser.new_context(java_script_enabled=False, locale="ko-KR")
    yield context.new_page()
    context.close()


def test_address_keeps_search_filters_and_columns(page: Page, empty_board: EmptyBoard) -> None:
    page.goto(f"{empty_board.address}/en/")
    page.get_by_role("link", name="InfoChartQA").first.click()
    rows = page.locator(ROWS)
    heads = page.locator("#rows thead")
    expect(rows).to_have_count(21)
    page.get_by_text("Filters", exact=True).click()
    page.get_by_label("open", exact=True).check()
    expect(rows).to_have_count(14)
    page.get_by_label("4–8B").check()
    expect(rows).to_have_count(5)
    page.get_by_label("Date", exact=True).uncheck()
    page.get_by_label("Licence", exact=True).check()
    expect(heads).to_contain_text("Licence")
    page.get_by_label("Search models").fill("vl3 ")
    expect(rows).to_have_count(1)
    page.wait_for_url(lambda url: "q=vl3" in url and "weights=open" in url and "size=4-8" in url)
    copied = page.url
    page.goto("about:blank")
    page.goto(copied)
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("InternVL3-8B-hf")
    expect(heads).to_contain_text("Licence")
    expect(page.get_by_label("Search models")).to_have_value("vl3 ")
    page.get_by_role("link", name="이 페이지를 한국어로 보기").click()
    expect(rows).to_have_count(1)
    expect(heads).to_contain_text("라이선스")
    # The filters apply to the next benchmark and its download too; its columns are its own.
    page.get_by_role("link", name="KO-VDC").first.click()
    page.wait_for_url(lambda url: "/ko-vdc?" in url and "q=vl3" in url and "columns" not in url)
    assert "weights=open" in str(page.get_by_role("link", name="CSV").first.get_attribute("href"))


@pytest.mark.slow
def test_board_works_without_javascript(plain_page: Page, empty_board: EmptyBoard) -> None:
    page = plain_page
    page.goto(f"{empty_board.address}/ko-vqa")
    expect(page.locator(ROWS)).to_have_count(23)
    page.get_by_text("필터", exact=True).click()
    page.get_by_label("비공개", exact=True).check()
    page.get_by_label("라이선스", exact=True).check()
    page.get_by_label("모델·기관 검색").fill("gemini")
    page.get_by_role("button", name="적용").click()
    expect(page.locator(ROWS)).to_have_count(3)
    expect(page.locator("#rows thead")).to_contain_text("라이선스")
    page.locator("#rows thead").get_by_role("link", name="모델").click()
    expect(page.locator(ROWS).first).to_contain_text("Gemini-2.5-flash")
    expect(page.locator("#rows th[aria-sort=ascending]")).to_have_text("모델")
    page.locator(ROWS).first.get_by_role("link").first.click()
    expect(page.locator("h1")).to_have_text("Gemini-2.5-flash")
    page.get_by_role("link", name="다른 모델과 비교").click()
    page.get_by_role("link", name="+ Gemini-3-pro").click()
    expect(page.locator(".hn-verdicts li").first).to_contain_text("Gemini-3-pro")
    page.get_by_role("link", name="제출", exact=True).click()
    page.get_by_label("모델 ID").fill("no id")
    page.get_by_label("KO-VDC").check()
    page.get_by_role("button", name="제출 없이 검사만").click()
    expect(page.locator("#outcome li.refused")).to_be_visible()
    expect(page.get_by_label("모델 ID")).to_have_value("no id")
    expect(page.get_by_label("KO-VDC")).to_be_checked()


@pytest.mark.slow
def test_old_addresses_lead_to_the_pages(page: Page, empty_board: EmptyBoard) -> None:
    for old, new, heading in (
        ("/?tab=queue", "/queue", "대기열"),
        ("/?tab=ko-vqa&q=gemini&__theme=dark", "/ko-vqa?q=gemini&__theme=dark", "KO-VQA"),
        ("/?model=Qwen/Qwen3-VL-8B-Instruct", "/models/Qwen/Qwen3-VL-8B-Instruct", "Qwen/Qwen3-VL-8B-Instruct"),
        ("/?compare=Gemini-3-pro,Gemini-2.5-pro", "/compare?models=Gemini-3-pro,Gemini-2.5-pro", "비교"),
        ("/en/?tab=submit", "/en/submit", "Submit"),
    ):
        page.goto(empty_board.address + old)
        assert page.url == empty_board.address + new
        expect(page.locator("h1")).to_contain_text(heading)
    page.goto(f"{empty_board.address}/?tab=<script>&n=-1&columns=,,")
    expect(page.locator(ROWS)).to_have_count(25)
    page.goto(f"{empty_board.address}/ko-vqa?q=%F0%9F%98%80&n=-1&columns=,,&language=x&sort=constructor")
    expect(page.locator("#rows .hn-empty")).to_be_visible()


@pytest.mark.parametrize("path", ["/nope", "/en/models/no/such", "/en/requests/0", "/models/..%2F..%2Fetc"])
def test_missing_page_offers_a_way_on(page: Page, empty_board: EmptyBoard, path: str) -> None:
    answer = page.goto(empty_board.address + path)
    assert answer and answer.status == 404
    english = path.startswith("/en/")
    expect(page.locator("h1")).to_have_text("Page not found" if english else "페이지를 찾을 수 없습니다")
    page.locator("main [name=q]").fill("gemini")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{'/en' if english else ''}/models?q=gemini")
    expect(page.get_by_role("link", name="Gemini-3-pro")).to_be_visible()


@pytest.mark.slow
def test_answer_to_older_search_is_dropped(page: Page, empty_board: EmptyBoard) -> None:
    """The answer to the first search arrives after the answer to the second, as on a slow connection."""
    page.goto(f"{empty_board.address}/en/infochartqa")
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if re.search("q=gpt$", route.request.url):
            held.append(route)
        else:
            route.continue_()

    page.route("**/infochartqa?*", hold_first)
    search = page.get_by_label("Search models")
    with page.expect_request("**/infochartqa?q=gpt"):
        search.fill("gpt")
    search.fill("vl3")
    expect(page.locator(ROWS)).to_have_count(2)
    with page.expect_response("**/infochartqa?q=gpt"):
        held[0].continue_()
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    expect(page.locator(ROWS)).to_have_count(2)
    expect(search).to_have_value("vl3")


def test_back_button_restores_table_and_form(page: Page, empty_board: EmptyBoard) -> None:
    page.goto(f"{empty_board.address}/en/korquad-2")
    first = page.locator(f"{ROWS} th").first
    leader = first.get_by_role("link").inner_text()
    page.locator("#rows thead").get_by_role("link", name="Model", exact=True).click()
    expect(first).to_contain_text("anonymous-baseline")
    expect(page.get_by_label("Sort by")).to_have_value("name")
    page.go_back()
    expect(first).to_contain_text(leader)
    expect(page.get_by_label("Sort by")).to_have_value("score")


@pytest.mark.slow
def test_long_table_loads_in_pages_and_survives_server_stop(
    browser: Browser, environment: dict[str, str], settings: Settings, make_request: Callable[..., EvalRequest]
) -> None:
    results = [result_of(make_request(benchmark="ko-vqa", model_id=f"owner/model-{n}")) for n in range(120)]
    store = open_store(settings.store)
    store.commit({r.path: r.to_bytes() for r in results}, store.head(), "many")
    page = browser.new_page(locale="ko-KR")
    rows = page.locator(ROWS)
    more = page.get_by_role("link", name="더 보기")
    with running_app(environment, HANNUN_WORKER="off") as address:
        for width in (1400, 390):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(f"{address}/ko-vqa")
            expect(rows).to_have_count(ROWS_PER_PAGE)
            more.click()
            expect(rows).to_have_count(2 * ROWS_PER_PAGE)
            more.click()
            expect(rows).to_have_count(143)
            expect(more).to_have_count(0)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_label("모델·기관 검색").fill("gpt")
    expect(page.get_by_text("서버에 연결할 수 없습니다", exact=False)).to_be_visible(timeout=30_000)
    expect(rows).to_have_count(143)
    page.close()


def test_charts_follow_filters(page: Page, empty_board: EmptyBoard) -> None:
    page.goto(f"{empty_board.address}/en/ko-vdc?q=qwen")
    expect(page.locator(ROWS)).to_have_count(5)
    page.locator("#chart-ko-vdc-size").scroll_into_view_if_needed()
    points = page.locator("#chart-ko-vdc-size .scatterlayer .points path")
    expect(points).to_have_count(3)  # two of the five models ran out of memory
    page.get_by_label("Search models").fill("qwen3")
    expect(points).to_have_count(2)


@pytest.mark.slow
def test_charts_disappear_and_return_with_the_rows(page: Page, empty_board: EmptyBoard) -> None:
    page.goto(f"{empty_board.address}/en/ko-vdc?q=zzzz")
    figure = page.locator("figure", has=page.locator("#chart-ko-vdc-size"))
    expect(figure).to_be_hidden()
    page.get_by_label("Search models").fill("qwen")
    expect(figure).to_be_visible()
    figure.scroll_into_view_if_needed()
    expect(page.locator("#chart-ko-vdc-size .scatterlayer .points path")).to_have_count(3)
    page.get_by_label("Search models").fill("zzzz")
    expect(figure).to_be_hidden()


def test_keyboard_focus_stays_on_the_sorted_column(page: Page, empty_board: EmptyBoard) -> None:
    page.goto(f"{empty_board.address}/en/korquad-2")
    page.locator('a[data-sort="name"]').focus()
    page.keyboard.press("Enter")
    expect(page.locator("th[aria-sort=ascending]")).to_have_text("Model")
    assert page.evaluate("document.activeElement.dataset.sort") == "name"


@pytest.mark.slow
def test_warning_comes_and_goes_with_the_server(page: Page, empty_board: EmptyBoard) -> None:
    page.goto(f"{empty_board.address}/en/queue")
    page.route("**/version", lambda route: route.abort())
    expect(page.locator("#lost")).to_contain_text("cannot be reached")
    page.unroute("**/version")
    expect(page.locator("#lost")).to_have_count(0)
