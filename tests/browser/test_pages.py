"""Test every page as a visitor uses it, with published and evaluated rows."""

import json
import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, Locator, expect

from evaluator.benchmarks import BENCHMARKS
from leaderboard.views.texts import Language, text
from leaderboard.web.language import ADDRESSES
from scripts.support.evaluated import evaluated
from scripts.support.records import request_numbered
from submissions.records.request import Progress, Stage
from submissions.texts.failure_codes import FailureCode
from submissions.texts.failures import FAILURES
from tests.browser.conftest import DESKTOP, PHONE, WIDTHS, Seen, Site, drawn_charts

SUPPORTED = ("ko-vqa", "ko-vdc", "korquad-2", "infochartqa")  # benchmarks that the tiny models can be submitted to
MAX_TABS = 150  # presses of the Tab key to reach any element of a page


@DESKTOP
def test_overview_lists_each_model_once_and_recent_changes(seen: Seen) -> None:
    seen.open("tab=overview")
    overview, rows = seen.page.locator("#overview"), seen.page.locator("#overview tbody tr")
    expect(overview.locator(".hn-card")).to_have_count(len(BENCHMARKS))
    expect(overview.locator(".hn-card svg")).to_have_count(len(BENCHMARKS))
    expect(overview.locator(".hn-card li.human").first).to_contain_text(seen.t("human"))
    expect(overview.locator(".hn-card li.chance").first).to_contain_text("25.00")
    expect(overview.locator(".hn-changes")).to_contain_text("o/beta")
    assert rows.count() == len(set(rows.locator("th").all_inner_texts()))
    expect(rows.first).to_contain_text("Gemini-2.5-pro")  # first on the three benchmarks on which it is ranked
    seen.assert_fits()
    overview.get_by_role("button", name="KO-VQA").click()
    expect(rows.first).to_contain_text("Gemini-3-pro")
    seen.page.wait_for_url("**sort=ko-vqa**")
    seen.page.get_by_label(seen.t("search")).locator("visible=true").fill("ㅇ/")
    expect(overview.locator(".hn-empty")).to_contain_text(seen.t("none"))
    seen.page.get_by_label(seen.t("search")).locator("visible=true").fill("o/beta")
    expect(rows).to_have_count(1)
    rows.get_by_role("link", name="o/beta").click()
    expect(seen.page.locator("#model h2")).to_have_text("o/beta")
    assert seen.query()["model"] == "o/beta"


@PHONE
def test_score_cell_draws_bar_and_interval(seen: Seen) -> None:
    seen.open("tab=korquad-2")
    row = seen.page.locator("#board-korquad-2 tbody tr", has_text="o/alpha")
    cell = row.locator("td.f1")  # the headline of this benchmark
    share, low, high = (
        float(cell.evaluate("(e, name) => getComputedStyle(e).getPropertyValue(name)", f"--{name}").rstrip("%"))
        for name in ("share", "low", "high")
    )
    assert low < share < high
    expect(cell).to_have_text(f"{share:.2f}{low:.1f}–{high:.1f}")
    assert cell.evaluate("e => getComputedStyle(e, '::after').backgroundImage").count("gradient") == 2
    assert row.locator("td.em").evaluate("e => getComputedStyle(e, '::after').content") == "none"
    seen.assert_fits()


@PHONE
def test_model_page_shows_results_and_downloads(seen: Seen) -> None:
    seen.open("model=o/alpha")
    model = seen.page.locator("#model")
    expect(model.locator("section.hn-result")).to_have_count(len(BENCHMARKS) + 1)  # the history is one more section
    expect(model).to_contain_text(seen.t("history"))
    expect(model.locator(".hn-parts caption").first).to_have_text(
        getattr(BENCHMARKS["ko-vqa"].card.axes[0].title, seen.language)
    )
    part = model.locator(".hn-parts tr", has_text="공공행정")
    assert 'class="median"' in part.inner_html() and "n=100" in part.inner_text()
    seen.assert_fits()
    command = model.locator(".hn-command").first
    expect(command.locator("code")).to_contain_text("python -m evaluator run --model o/alpha")
    command.get_by_role("button", name=seen.t("copy")).click()
    expect(command.get_by_role("button")).to_have_text(seen.t("copied"))
    with seen.page.expect_download() as download:
        model.get_by_role("link", name="lm-eval JSON").first.click()
    assert json.loads(download.value.path().read_bytes())["model_name"] == "o/alpha"
    model.get_by_text(seen.t("details")).first.click()
    expect(model.locator(".hn-facts").first).to_contain_text("NVIDIA A100")
    model.get_by_role("link", name=seen.t("compare_it")).click()
    expect(seen.page.locator("#compare .hn-chosen")).to_contain_text("o/alpha")


@DESKTOP
def test_compare_page_adds_and_removes_models(seen: Seen) -> None:
    seen.open("tab=compare")
    compare = seen.page.locator("#compare")
    for model in ("o/alpha", "o/beta"):
        seen.page.locator("#add-model").locator("input, textarea").fill(model)
        compare.get_by_role("button", name=f"+ {model}").click()
        expect(compare.locator(".hn-chosen")).to_contain_text(model)
    expect(compare.locator("section.hn-result")).to_have_count(len(BENCHMARKS))
    expect(compare.locator(".hn-verdicts li").first).to_have_class("same")
    seen.page.wait_for_url(lambda url: "o%2Falpha,o%2Fbeta" in url or "o/alpha,o/beta" in url)
    seen.assert_fits()
    copied = seen.page.url
    seen.page.goto("about:blank")
    seen.page.goto(copied)
    expect(compare.locator(".hn-verdicts li").first).to_contain_text("o/alpha")
    seen.open("compare=o/alpha,Gemini-3-pro,no/such")
    expect(compare.locator(".hn-verdicts li.ahead").first).to_contain_text("Gemini-3-pro")
    expect(compare.locator(".hn-empty")).to_contain_text("no/such")
    compare.get_by_role("button", name=seen.t("remove", name="Gemini-3-pro")).click()
    expect(compare.locator("section.hn-result")).to_have_count(0)
    expect(compare.locator(".hn-offered")).to_be_visible()


@PHONE
def test_request_page_shows_status_progress_and_failure(seen: Seen) -> None:
    def card(name: str) -> Locator:
        seen.open(f"request={seen.site.requests[name].key}")
        expect(seen.page.locator("#queue .hn-request h3")).to_contain_text(f"o/{name}")
        seen.assert_fits()
        return seen.page.locator("#queue .hn-request")

    expect(card("next")).to_contain_text(seen.t("place", n=1))
    busy = card("busy")
    expect(busy).to_contain_text(f"{seen.t('stage_infer')} 30 / 45")
    expect(busy.get_by_role("progressbar")).to_have_attribute("value", "30")
    wrong = card("wrong")
    expect(wrong).to_contain_text(f"{seen.t('yours')} · {seen.t('stage_load')}")
    expect(wrong).to_contain_text(getattr(FAILURES[FailureCode.NO_CHAT_TEMPLATE], seen.language))
    card("done").get_by_role("link", name=seen.t("see_model")).click()
    expect(seen.page.locator("#model h2")).to_have_text("o/done")
    seen.open("request=" + "0" * 32)
    expect(seen.page.locator("#queue .hn-empty")).to_have_text(seen.t("request_unknown"))


@DESKTOP
def test_charts_are_drawn_when_opened(seen: Seen) -> None:
    for name, dark in (("ko-vqa", False), ("ko-vdc", True)):
        seen.open(f"tab={name}" + ("&__theme=dark" if dark else ""))
        expect(seen.page.locator(f"#board-{name} tbody tr").first).to_be_visible()
        assert seen.page.locator(".js-plotly-plot").count() == 0
        seen.page.get_by_text(seen.t("charts")).locator("visible=true").click()
        plots = seen.page.locator(".js-plotly-plot").locator("visible=true")
        drawn = drawn_charts(seen.site.board, name)
        expect(plots).to_have_count(len(drawn), timeout=30_000)
        seen.assert_fits()
        for kind in drawn:
            plot = seen.page.locator(f"#{kind}-{name} .js-plotly-plot")
            expect(plot.locator("svg.main-svg").first).to_be_visible()
            box = plot.bounding_box()
            assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= seen.width
        # Text is lighter than mid-grey on the dark background and darker on the light one.
        label = seen.page.locator(f"#size-{name} .js-plotly-plot text").first
        channels = label.evaluate("e => getComputedStyle(e).fill.match(/\\d+/g).slice(0, 3).map(Number)")
        assert (sum(channels) / 3 > 127) == dark
        with seen.page.expect_download() as download:
            seen.page.locator(f'a[href="/charts/{name}/size.csv"]').click()
        assert b"o/alpha" in download.value.path().read_bytes()


@PHONE
def test_table_offers_citation_and_embed_code(seen: Seen) -> None:
    seen.open("tab=korquad-2")
    cite = seen.page.locator("details.hn-cite").locator("visible=true")
    cite.locator("summary").click()
    expect(cite.locator("code").first).to_contain_text(f"{seen.site.address}/?tab=korquad-2")
    embed = cite.locator("code").nth(1).inner_text()
    seen.assert_fits()
    seen.page.goto(embed.split('src="')[1].split('"')[0])
    expect(seen.page.locator("tbody tr")).to_have_count(10)
    expect(seen.page.locator("html")).to_have_attribute("lang", seen.language)
    seen.assert_fits()


@DESKTOP
def test_submit_form_checks_then_submits(seen: Seen) -> None:
    # Each view submits to another benchmark, because a duplicate is refused.
    benchmark = SUPPORTED[list(ADDRESSES).index(seen.language) * 2 + WIDTHS.index(seen.width)]
    model = "tiny/extractive" if benchmark == "korquad-2" else "tiny/image-text"
    seen.page.set_extra_http_headers({"X-Forwarded-For": f"10.0.0.{list(BENCHMARKS).index(benchmark) + 1}"})
    seen.open("tab=submit")
    seen.page.locator("#model-id").locator("input, textarea").fill(f"https://huggingface.co/{model}")
    seen.page.locator("#benchmarks").get_by_label(BENCHMARKS[benchmark].card.title).check()
    seen.page.locator("#check").click()
    expect(seen.page.locator("#outcome li.ok")).to_contain_text(seen.t("all_checks_pass"))
    assert seen.page.locator("#outcome .hn-checks li.passed").count() >= 10
    seen.assert_fits()
    seen.page.locator("#submit").click()
    expect(seen.page.locator("#outcome li.ok")).to_contain_text(seen.t("accepted"))
    seen.page.locator("#outcome").get_by_role("link", name=seen.t("see_request")).click()
    expect(seen.page.locator("#queue .hn-request h3")).to_contain_text(model)
    expect(seen.page.locator("#queue .hn-request .hn-status")).to_have_text(seen.t("pending"))


@PHONE
def test_pages_update_without_reloading(seen: Seen) -> None:
    number = 1000 + 10 * list(ADDRESSES).index(seen.language) + WIDTHS.index(seen.width)
    model, queue = f"live/model-{number}", seen.site.queue
    seen.open("tab=queue")
    expect(seen.page.locator("#queue tbody tr").first).to_be_visible()
    request = request_numbered(number, model_id=model, benchmark="ko-vdc", submitted_at=datetime.now(UTC))
    queue.store.commit({request.path: request.to_bytes()}, queue.store.head(), "a request")
    row = seen.page.locator("#queue tbody tr", has_text=model)
    expect(row.locator(".hn-status")).to_have_text(seen.t("pending"))
    running = next(r for r in iter(lambda: queue.claim("w", datetime.now(UTC)), None) if r.key == request.key)
    expect(row.locator(".hn-status")).to_have_text(seen.t("running"), timeout=15_000)
    queue.heartbeat(running, datetime.now(UTC), Progress(stage=Stage.INFER, done=7, total=9))
    expect(row).to_contain_text("7 / 9", timeout=15_000)
    seen.open("tab=ko-vdc")
    expect(seen.page.locator("#board-ko-vdc tbody tr").first).to_be_visible()
    queue.publish(running, evaluated(running, 33.0), datetime.now(UTC))
    expect(seen.page.locator(f'#board-ko-vdc tr[data-key="{request.key}"]')).to_be_visible()


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

    seen.open("tab=infochartqa")
    table = page.locator("#board-infochartqa")
    tab_to(page.locator("#search-infochartqa").locator("input, textarea"))
    page.keyboard.type("gpt")
    expect(table.locator("tbody th").first).to_contain_text("GPT")
    tab_to(table.locator('button[data-sort="name"]'))
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", "the focus is visible"
    page.keyboard.press("Enter")
    page.wait_for_url("**sort=name**")
    expect(table.locator('th[aria-sort="ascending"]')).to_have_text(re.compile("모델|Model"))
    expect(page).to_have_title(re.compile("^InfoChartQA · "))
    tab_to(table.locator("tbody th a").first)
    page.keyboard.press("Enter")
    expect(page.locator("#model h2")).to_contain_text("GPT")
    expect(page).to_have_title(re.compile("GPT.* · (모델|Model) · "))
    seen.open("tab=constructor&sort=em")
    expect(page).to_have_title(re.compile("^(한눈에|Overview) · "))
    seen.open("tab=ko-ocrag&sort=rouge1_strict")
    strict = getattr(BENCHMARKS["ko-ocrag"].metric("rouge1_strict").title, seen.language)
    expect(page.locator("#board-ko-ocrag th[aria-sort]")).to_have_text(strict)  # although no reported row has it
    headline = getattr(BENCHMARKS["ko-ocrag"].metric("average").title, seen.language)
    page.locator("#board-ko-ocrag").get_by_role("button", name=headline, exact=True).click()
    expect(page.locator('#board-ko-ocrag th[aria-sort="descending"]')).to_have_text(headline)


@pytest.mark.parametrize(
    ("locale", "first", "other"),
    [
        ("fr-FR", "en", "ko"),
        pytest.param("en-US", "en", "ko", marks=pytest.mark.faults),
        pytest.param("ko-KR", "ko", "en", marks=pytest.mark.faults),
    ],
)
def test_first_page_uses_browser_language(
    site: Site, browser: Browser, locale: str, first: Language, other: Language
) -> None:
    page = browser.new_page(locale=locale)
    page.goto(site.address)
    expect(page.get_by_role("tab", name=text("queue", first))).to_be_visible()
    page.get_by_role("link", name=text("switch_label", first)).click()
    expect(page.get_by_role("tab", name=text("queue", other))).to_be_visible()
    page.reload()
    expect(page.get_by_role("tab", name=text("queue", other))).to_be_visible()
    page.close()
