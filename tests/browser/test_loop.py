"""Test the whole way in Chromium on the running app: board → submission → evaluation → row → JSON."""

from playwright.sync_api import Page, expect

from leaderboard.views.render import milliseconds
from submissions.config.settings import Settings
from submissions.records.result import EvalResult
from submissions.store.open import open_store
from tests.browser.conftest import EmptyBoard, running_app

EVALUATION_TIMEOUT = 180_000  # ms: loading torch, a tiny model and 45 questions on a busy machine


def test_submission_is_evaluated_end_to_end(page: Page, environment: dict[str, str], settings: Settings) -> None:
    with running_app(environment) as address:
        page.goto(f"{address}/ko-vqa")
        first = page.locator("tbody tr:not(.hn-kind)").first
        expect(first).to_contain_text("Gemini-3-pro")
        expect(first.locator("td.em")).to_contain_text("92.6")
        expect(page.locator("tbody tr:not(.hn-kind)")).to_have_count(23)

        page.get_by_role("link", name="제출", exact=True).click()
        page.locator("#model-id").fill("tiny/image-text")
        page.locator("#benchmarks").get_by_label("KO-VQA").check()
        page.locator("#submit").click()
        expect(page.locator("#outcome li.ok")).to_contain_text("접수되었습니다")

        page.get_by_role("link", name="대기열").click()
        row = page.locator("tbody tr:not(.hn-kind)", has_text="tiny/image-text")
        expect(row.locator(".hn-status")).to_have_text("실행 중", timeout=EVALUATION_TIMEOUT)
        expect(row.locator(".hn-status")).to_have_text("완료", timeout=EVALUATION_TIMEOUT)
        key = row.get_attribute("data-key")

        page.get_by_role("link", name="KO-VQA").first.click()
        shown = page.locator(f'tr[data-key="{key}"]')
        expect(shown).to_contain_text("tiny/image-text", timeout=30_000)
        expect(shown.locator(".hn-chip")).to_have_text("샘플")
        cells = {name: shown.locator(f"td.{name}").inner_text().split()[0] for name in ("em", "f1", "latency")}
        with page.expect_download() as download:
            shown.get_by_role("link", name="결과 JSON").click()
        content = download.value.path().read_bytes()

    result = EvalResult.model_validate_json(content)
    store = open_store(settings.store)
    assert content == store.read(result.path, store.head())
    scores = result.results["ko-vqa"]
    latency = result.latency
    assert latency is not None
    assert cells == {"em": f"{scores['em']:.1f}", "f1": f"{scores['f1']:.1f}", "latency": milliseconds(latency.p50_ms)}
    assert (result.request_key, result.dataset.n) == (key, 45)


def test_submit_form_shows_refusals_and_queues_nothing(page: Page, empty_board: EmptyBoard) -> None:
    page.goto(f"{empty_board.address}/en/submit")
    for model, message in (
        ("<img src=x onerror=alert(1)>/x", "not a valid model ID"),
        ("tiny/extractive", "does not support this benchmark"),
    ):
        page.locator("#model-id").fill(model)
        page.locator("#benchmarks").get_by_label("KO-VDC").check()
        page.locator("#submit").click()
        expect(page.locator("#outcome li.refused")).to_contain_text(message)
    page.get_by_role("link", name="Queue").click()
    expect(page.locator("#queue")).to_contain_text("Nothing has been submitted yet")
    assert not [p for p in open_store(empty_board.settings.store).snapshot().files if p.startswith("requests/")]


def test_phone_shows_submission_outcome(page: Page, empty_board: EmptyBoard) -> None:
    page.set_viewport_size({"width": 390, "height": 600})
    page.goto(f"{empty_board.address}/en/submit")
    page.locator("#model-id").fill("owner/none")
    page.locator("#submit").click()
    expect(page.locator("#outcome li").first).to_be_in_viewport(timeout=60_000)
