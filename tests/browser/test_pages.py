"""Test every page as a visitor uses it, with published and evaluated rows."""

import json
import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, Locator, expect

from evaluator.benchmarks import BENCHMARKS
from leaderboard.views.location import LANGUAGE_FOLDERS
from leaderboard.views.texts import Language, text
from scripts.support.evaluated import evaluated
from scripts.support.records import request_numbered
from submissions.records.request import Progress, Stage
from submissions.texts.failure_codes import FailureCode
from submissions.texts.failures import FAILURES
from tests.browser.conftest import DESKTOP, PHONE, WIDTHS, Seen, Site, drawn_charts

SUPPORTED = ("ko-vqa", "ko-vdc", "korquad-2", "infochartqa")  # benchmarks that the tiny models can be submitted to
MAX_TABS = 150  # presses of the Tab key to reach any element of a page


@pytest.mark.slow
@DESKTOP
def test_overview_lists_each_model_once_and_recent_changes(seen: Seen) -> None:
    seen.open("")
    page = seen.page
    rows = seen.page.locator("#rows tbody tr:not(.hn-kind)")
    expect(page.locator("#lead")).to_contain_text(
        seen.t("lead_models", verified=3, reported=seen.site.board.fresh_view().counted_models["reported"])
    )
    expect(page.locator("thead .hn-histogram")).to_have_count(len(BENCHMARKS))
    expect(page.locator("thead .leader a").first).to_have_text("alpha")
    expect(page.locator(".hn-changes")).to_contain_text("o/beta")
    assert rows.count() == len(set(rows.locator("th").all_inner_texts()))
    expect(rows.first).to_contain_text("o/alpha")  # measured here
    reported = rows.filter(has_not_text="o/")
    expect(reported.first).to_contain_text("Gemini-2.5-pro")  # first on the three benchmarks on which it is ranked
    seen.assert_fits()
    page.locator("#rows thead").get_by_role("link", name="KO-VQA").click()
    expect(reported.first).to_contain_text("Gemini-3-pro")
    page.wait_for_url("**sort=ko-vqa**")
    page.get_by_label(seen.t("search")).fill("ㅇ/")
    expect(page.locator("#rows .hn-empty")).to_contain_text(seen.t("no_matches"))
    page.get_by_label(seen.t("search")).fill("o/beta")
    expect(rows).to_have_count(1)
    rows.get_by_role("link", name="o/beta").click()
    expect(page.locator("h1")).to_have_text("o/beta")
    assert page.url == seen.url("models/o/beta")


@PHONE
def test_phone_shows_rows_on_first_screen(seen: Seen) -> None:
    for path in ("", *BENCHMARKS, "models", "queue"):
        seen.open(path)
        expect(seen.page.locator("h1")).to_be_in_viewport()
        row = seen.page.locator(".hn-offered li" if path == "models" else "tbody tr:not(.hn-kind)").first
        expect(row).to_be_in_viewport()
        expect(seen.page.locator("#pages a[aria-current]")).to_be_in_viewport(ratio=0.9)  # the line of links scrolls
        seen.assert_fits()


@pytest.mark.slow
@DESKTOP
def test_first_row_is_near_the_top(seen: Seen) -> None:
    """It is at most 340 pixels down on a desktop, and 240 on a phone."""
    for path in ("", *BENCHMARKS):
        seen.open(path)
        row = seen.page.locator("#rows tbody tr:not(.hn-kind)").first
        box = row.bounding_box()
        assert box and box["y"] <= (240 if seen.width == 390 else 340), (path, box)


@PHONE
def test_name_rank_and_ranking_score_are_in_view_on_a_phone(seen: Seen) -> None:
    for path in ("", "ko-vqa", "korquad-2"):
        seen.open(path)
        cells = seen.page.locator("#rows tbody tr:not(.hn-kind)").first.locator("> *")
        for number in range(3):  # rank, name, overall or ranking score
            box = cells.nth(number).bounding_box()
            assert box and box["x"] + box["width"] <= seen.width, (path, number, box)
        scroll = seen.page.locator(".hn-scroll").first
        scroll.evaluate("e => { e.scrollLeft = 300; }")
        box = cells.nth(1).bounding_box()
        frame = scroll.bounding_box()
        assert box and frame and 0 <= box["x"] - frame["x"] < 80, "the name stays in view"
        assert scroll.evaluate("e => e.scrollHeight <= e.clientHeight + 1"), "the table has no height of its own"


@DESKTOP
def test_pages_fit_into_320_pixels(seen: Seen) -> None:
    seen.page.set_viewport_size({"width": 320, "height": 700})
    for path in ("", "ko-vqa", "models", "compare", "record", "queue", "submit", "about", "models/o/alpha"):
        seen.open(path)
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 320, path


@DESKTOP
def test_filters_open_without_moving_their_button(seen: Seen) -> None:
    for path in ("", "ko-vqa"):
        seen.open(path)
        button = seen.page.locator("#filters summary")
        before = button.bounding_box()
        button.click()
        expect(seen.page.locator("#panel")).to_be_visible()
        assert button.bounding_box() == before


@DESKTOP
def test_preset_answers_a_common_question(seen: Seen) -> None:
    seen.open("")
    page = seen.page
    if seen.width == 390:  # a phone has them behind its filters
        page.locator("#filters summary").click()
    page.get_by_role("link", name=seen.t("preset_small_tables")).click()
    page.wait_for_url("**sort=tables**")
    expect(page.locator("#presets [aria-current]")).to_have_text(seen.t("preset_small_tables"))
    expect(page.locator("#panel input[name=commercial][value=yes]")).to_be_checked()
    expect(page.locator("#announced")).not_to_be_empty()
    page.get_by_role("link", name=seen.t("preset_family")).click()
    page.wait_for_url("**family=1**")
    expect(page.locator("#panel input[name=family]")).to_be_checked()


@pytest.mark.slow
@DESKTOP
def test_every_mark_is_explained_below_the_table(seen: Seen) -> None:
    """No hint exists only as a title, which touch and keyboard do not show."""
    for path in ("", "ko-vqa", "ko-fresh", "models/o/alpha", "record"):
        seen.open(path)
        titles = seen.page.locator("main [title]").all()
        shown = seen.page.locator("#terms").text_content() or "" if seen.page.locator("#terms").count() else ""
        assert all((title.get_attribute("title") or "") in shown for title in titles), path


@PHONE
def test_score_cell_draws_bar_and_interval(seen: Seen) -> None:
    seen.open("korquad-2")
    row = seen.page.locator("#rows tbody tr:not(.hn-kind)", has_text="o/alpha")
    cell = row.locator("td.f1")  # the headline of this benchmark
    own = cell.locator(".own")
    interval = cell.locator(".interval")
    share = float(str(own.get_attribute("width")).rstrip("%"))
    low, width = (float(str(interval.get_attribute(name)).rstrip("%")) for name in ("x", "width"))
    assert low < share < low + width
    expect(cell).to_have_text(re.compile(rf"{share:.2f}\s*{low:.1f}–{low + width:.1f}"))
    box = own.bounding_box()
    assert box and box["width"] > 0 and box["height"] > 0
    expect(row.locator("td.em svg")).to_have_count(0)
    seen.assert_fits()


@PHONE
def test_model_page_shows_results_and_downloads(seen: Seen) -> None:
    seen.open("models/o/alpha")
    page = seen.page
    expect(page.locator("details.hn-result")).to_have_count(
        len(BENCHMARKS) + 2
    )  # and the history and what else is known
    page.locator(".hn-summary th a").first.click()
    expect(page.locator("details.hn-result[open]")).to_have_count(1)  # a link opens the result that it leads to
    expect(page.locator("main")).to_contain_text(seen.t("history"))
    expect(page.locator(".hn-parts caption").first).to_have_text(
        getattr(BENCHMARKS["ko-vqa"].card.axes[0].title, seen.language)
    )
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    part = page.locator(
        ".hn-parts tr", has_text=getattr(BENCHMARKS["ko-vqa"].card.bucket_title("공공행정"), seen.language)
    )
    assert 'class="median"' in part.first.inner_html() and "n=100" in part.first.inner_text()
    seen.assert_fits()
    command = page.locator(".hn-command").first
    expect(command.locator("code")).to_contain_text("python -m evaluator run --model o/alpha")
    command.get_by_role("button", name=seen.t("copy")).click()
    expect(command.get_by_role("button")).to_have_text(seen.t("copied"))
    with page.expect_download() as download:
        page.get_by_role("link", name="lm-eval JSON").first.click()
    assert json.loads(download.value.path().read_bytes())["model_name"] == "o/alpha"
    expect(page.locator("[id^=details-] .hn-facts").first).to_contain_text("NVIDIA A100")
    page.get_by_role("link", name=seen.t("compare_it")).click()
    expect(page.locator(".hn-chosen")).to_contain_text("o/alpha")


@DESKTOP
def test_click_just_after_typing_is_not_replaced_by_the_search(seen: Seen) -> None:
    page = seen.page
    page.clock.install()
    seen.open("compare")
    page.evaluate("""() => {
        const field = document.querySelector("[name=q]");
        field.value = "o/alpha";
        field.dispatchEvent(new Event("input", {bubbles: true}));
        document.querySelector('a[data-show][href*="models="]').click();
    }""")
    chosen = page.locator(".hn-chosen")
    expect(chosen).to_be_visible()
    page.clock.run_for(1000)  # the search would start
    page.wait_for_load_state("networkidle")
    expect(chosen).to_be_visible()
    assert "models" in seen.query() and "q" not in seen.query()


@pytest.mark.slow
@DESKTOP
def test_compare_page_adds_and_removes_models(seen: Seen) -> None:
    seen.open("compare")
    page = seen.page
    for model in ("o/alpha", "o/beta"):
        page.get_by_label(seen.t("add_model")).fill(model)
        page.get_by_role("link", name=f"+ {model}").click()
        expect(page.locator(".hn-chosen")).to_contain_text(model)
    expect(page.locator("section.hn-result")).to_have_count(len(BENCHMARKS))
    expect(page.locator(".hn-verdicts li").first).to_have_class("same")
    assert page.url == seen.url("compare?models=o/alpha,o/beta")
    seen.assert_fits()
    page.reload()
    expect(page.locator(".hn-verdicts li").first).to_contain_text("o/alpha")
    expect(page).to_have_title(re.compile("^o/alpha · o/beta · "))
    seen.open("compare?models=Gemini-2.5-flash,Gemini-3-pro,no/such")
    expect(page.locator(".hn-verdicts li.ahead").first).to_contain_text("Gemini-3-pro")
    expect(page.locator(".hn-empty")).to_contain_text("no/such")
    page.get_by_role("link", name=seen.t("remove", name="Gemini-3-pro")).click()
    expect(page.locator("section.hn-result")).to_have_count(0)
    expect(page.locator(".hn-offered")).to_be_visible()


@PHONE
def test_request_page_shows_status_progress_and_failure(seen: Seen) -> None:
    def card(name: str) -> Locator:
        seen.open(f"requests/{seen.site.requests[name].key}")
        expect(seen.page.locator(".hn-request h1")).to_contain_text(f"o/{name}")
        seen.assert_fits()
        return seen.page.locator(".hn-request")

    expect(card("next")).to_contain_text(seen.t("queue_position", n=1))
    busy = card("busy")
    expect(busy).to_contain_text(f"{seen.t('stage_infer')} 30 / 45")
    expect(busy.get_by_role("progressbar")).to_have_attribute("value", "30")
    wrong = card("wrong")
    expect(wrong).to_contain_text(f"{seen.t('model_error')} · {seen.t('stage_load')}")
    expect(wrong).to_contain_text(getattr(FAILURES[FailureCode.NO_CHAT_TEMPLATE], seen.language))
    card("done").get_by_role("link", name=seen.t("see_model")).click()
    expect(seen.page.locator("h1")).to_have_text("o/done")
    seen.open("requests/" + "0" * 32)
    expect(seen.page.locator(".hn-empty")).to_contain_text(seen.t("request_unknown"))


@pytest.mark.slow
@DESKTOP
def test_charts_are_drawn_when_they_come_into_view(seen: Seen) -> None:
    for name, dark in (("ko-vqa", False), ("ko-vdc", True)):
        loaded: list[str] = []
        seen.page.on("request", lambda request: loaded.append(request.url))  # noqa: B023
        seen.open(name + ("?__theme=dark" if dark else "?__theme=light"))
        expect(seen.page.locator("#rows tbody tr:not(.hn-kind)").first).to_be_visible()
        assert not [url for url in loaded if "plotly" in url], "the rows come first"
        drawn = drawn_charts(seen.site.board, name)
        for kind in drawn:
            plot = seen.page.locator(f"#chart-{name}-{kind}")
            plot.scroll_into_view_if_needed()
            expect(plot.locator("svg.main-svg").first).to_be_visible(timeout=30_000)
            box = plot.bounding_box()
            assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= seen.width
        seen.assert_fits()
        # Text is lighter than mid-grey on the dark background and darker on the light one.
        label = seen.page.locator(f"#chart-{name}-size text").first
        channels = label.evaluate("e => getComputedStyle(e).fill.match(/\\d+/g).slice(0, 3).map(Number)")
        assert (sum(channels) / 3 > 127) == dark
        with seen.page.expect_download() as download:
            seen.page.locator(f'a[href="/charts/{name}/size.csv"]').click()
        assert b"o/alpha" in download.value.path().read_bytes()


@pytest.mark.slow
@PHONE
def test_table_offers_citation_and_embed_code(seen: Seen) -> None:
    seen.open("korquad-2")
    cite = seen.page.locator("details.hn-cite")
    cite.locator("summary").click()
    expect(cite.locator("code").first).to_contain_text(f"{{{seen.url('korquad-2')}}}")
    embed = cite.locator("code", has_text="<iframe").inner_text()
    seen.assert_fits()
    seen.page.goto(embed.split('src="')[1].split('"')[0])
    expect(seen.page.locator("tbody tr:not(.hn-kind)")).to_have_count(10)
    expect(seen.page.locator("html")).to_have_attribute("lang", seen.language)
    seen.assert_fits()


@DESKTOP
def test_submit_form_checks_then_submits(seen: Seen) -> None:
    # Each view submits to another benchmark, because a duplicate is refused.
    benchmark = SUPPORTED[list(LANGUAGE_FOLDERS).index(seen.language) * 2 + WIDTHS.index(seen.width)]
    model = "tiny/extractive" if BENCHMARKS[benchmark].inputs == "page" else "tiny/image-text"
    page = seen.page
    page.set_extra_http_headers({"X-Forwarded-For": f"10.0.0.{list(BENCHMARKS).index(benchmark) + 1}"})
    seen.open("submit")
    page.locator("#model-id").fill(f"https://huggingface.co/{model}")
    page.locator("#benchmarks").get_by_label(BENCHMARKS[benchmark].card.title).check()
    page.locator("#check").click()
    expect(page.locator("#outcome li.ok")).to_contain_text(seen.t("accepted_by_all"))
    assert page.locator("#outcome .hn-checks li.passed").count() >= 10
    seen.assert_fits()
    page.locator("#submit").click()
    expect(page.locator("#outcome li.ok")).to_contain_text(seen.t("accepted"))
    page.locator("#outcome").get_by_role("link", name=seen.t("see_request")).click()
    expect(page.locator(".hn-request h1")).to_contain_text(model)
    expect(page.locator(".hn-request .hn-status")).to_have_text(seen.t("pending"))


@pytest.mark.slow
@PHONE
def test_pages_update_without_reloading(seen: Seen) -> None:
    number = 1000 + 10 * list(LANGUAGE_FOLDERS).index(seen.language) + WIDTHS.index(seen.width)
    model = f"live/model-{number}"
    queue = seen.site.queue
    seen.open("queue")
    expect(seen.page.locator("tbody tr:not(.hn-kind)").first).to_be_visible()
    request = request_numbered(number, model_id=model, benchmark="ko-vdc", submitted_at=datetime.now(UTC))
    queue.store.commit({request.path: request.to_bytes()}, queue.store.head(), "a request")
    row = seen.page.locator("tbody tr:not(.hn-kind)", has_text=model)
    expect(row.locator(".hn-status")).to_have_text(seen.t("pending"))
    running = next(r for r in iter(lambda: queue.claim("w", datetime.now(UTC)), None) if r.key == request.key)
    expect(row.locator(".hn-status")).to_have_text(seen.t("running"), timeout=15_000)
    queue.heartbeat(running, datetime.now(UTC), Progress(stage=Stage.INFER, done=7, total=9))
    expect(row).to_contain_text("7 / 9", timeout=15_000)
    seen.open("ko-vdc")
    seen.page.get_by_text(seen.t("filters"), exact=True).click()
    seen.page.get_by_label(seen.t("search")).press_sequentially("model")
    expect(seen.page.locator("#rows tbody tr:not(.hn-kind)").first).to_be_visible()
    queue.publish(running, evaluated(running, 33.0), datetime.now(UTC))
    expect(seen.page.locator(f'#rows tr[data-key="{request.key}"]')).to_be_visible()
    expect(seen.page.get_by_label(seen.t("search"))).to_have_value("model")
    expect(seen.page.locator("#filters")).to_have_attribute("open", "")


@DESKTOP
def test_board_works_with_keyboard_only(seen: Seen) -> None:
    page = seen.page

    def tab_to(target: Locator) -> None:
        expect(target).to_be_visible()
        for _ in range(MAX_TABS):
            if target.evaluate("e => e === document.activeElement"):
                return
            page.keyboard.press("Tab")
        pytest.fail(f"the Tab key does not reach {target}")

    seen.open("infochartqa")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skips the menu
    tab_to(page.get_by_label(seen.t("search")))
    page.keyboard.type("gpt")
    expect(page.locator("tbody th.model").first).to_contain_text("GPT")
    tab_to(page.locator('a[data-sort="name"]'))
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", "the focus is visible"
    page.keyboard.press("Enter")
    page.wait_for_url("**sort=name**")
    expect(page.locator('th[aria-sort="ascending"]')).to_have_text(re.compile("모델|Model"))
    expect(page).to_have_title(re.compile("^InfoChartQA · "))
    tab_to(page.locator("tbody th.model a").first)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("GPT")
    expect(page).to_have_title(re.compile("^GPT.* · "))
    seen.open("ko-ocrag?sort=rouge1_strict")
    strict = getattr(BENCHMARKS["ko-ocrag"].metric("rouge1_strict").title, seen.language)
    expect(page.locator("th[aria-sort]")).to_have_text(strict)  # although no reported row has it
    headline = getattr(BENCHMARKS["ko-ocrag"].metric("average").title, seen.language)
    page.locator("thead").get_by_role("link", name=headline, exact=True).click()
    expect(page.locator('th[aria-sort="descending"]')).to_have_text(headline)


@pytest.mark.parametrize(
    ("locale", "first", "other"),
    [
        ("fr-FR", "en", "ko"),
        pytest.param("en-US", "en", "ko", marks=pytest.mark.slow),
        pytest.param("ko-KR", "ko", "en", marks=pytest.mark.slow),
    ],
)
def test_first_page_uses_browser_language(
    site: Site, browser: Browser, locale: str, first: Language, other: Language
) -> None:
    page = browser.new_page(locale=locale)
    page.goto(site.address)
    expect(page.get_by_role("link", name=text("queue", first))).to_be_visible()
    page.get_by_role("link", name=text("read_in_other_language", first)).click()
    expect(page.get_by_role("link", name=text("queue", other))).to_be_visible()
    page.reload()
    expect(page.get_by_role("link", name=text("queue", other))).to_be_visible()
    page.close()
