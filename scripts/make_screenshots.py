"""`make screenshots`: take the README's screenshots of the board in Chromium, into assets/screenshots.

Results shown as evaluated here are invented, for models named `example/invented-*`. All others are the published ones.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from evaluator.benchmarks import BENCHMARKS
from scripts.chromium import launch
from scripts.support.evaluated import evaluated
from scripts.support.records import request_numbered
from scripts.support.serving import bare_environment, serving
from scripts.support.tiny_models import make_image_text
from submissions.config.paths import ASSETS
from submissions.store.open import open_store

OUT = ASSETS / "screenshots"
WIDTH, HEIGHT = 1280, 800
INVENTED = (("example/invented-a", 58.0, 20.0), ("example/invented-b", 56.5, 9.0), ("example/invented-c", 44.0, 2.0))


def main() -> None:
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, _board(Path(folder)) as address, _page() as page:
        page.goto(f"{address}/?lang=ko")
        _shoot(page, "overview")
        page.goto(f"{address}/en/ko-vqa")
        _shoot(page, "ko-vqa")
        for chart in page.locator("[data-chart]").locator("visible=true").all():
            chart.scroll_into_view_if_needed()
            chart.locator("svg.main-svg").first.wait_for()
        page.locator(".hn-charts").evaluate("e => e.scrollIntoView({behavior: 'instant'})")
        _shoot(page, "charts")
        page.goto(f"{address}/compare?models=" + ",".join(model for model, _, _ in INVENTED))
        _shoot(page, "compare")
        page.goto(f"{address}/en/submit")
        page.locator("#model-id").fill("example/tiny-image-text")
        page.locator("#benchmarks").get_by_label("KO-VQA").check()
        page.locator("#check").click()
        page.wait_for_selector("#outcome .hn-checks li")
        page.set_viewport_size({"width": WIDTH, "height": 1150})
        _shoot(page, "submit")


@contextmanager
def _board(folder: Path) -> Iterator[str]:
    store = open_store(str(folder / "store.git"))
    for number, (model, em, days) in enumerate(INVENTED):
        for benchmark in BENCHMARKS:
            result = evaluated(request_numbered(number, model_id=model, benchmark=benchmark), em, days)
            store.commit({result.path: result.to_bytes()}, store.head(), "A result")
    make_image_text(folder / "models/example/tiny-image-text")
    own = {"HANNUN_STORE": store.url, "HANNUN_MODELS_DIR": str(folder / "models"), "HANNUN_WORKER": "off"}
    with serving(["app.py"], bare_environment() | own) as server:
        yield server.address


@contextmanager
def _page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, locale="ko-KR")
        browser.close()


def _shoot(page: Page, name: str) -> None:
    page.screenshot(path=OUT / f"{name}.png", animations="disabled")
    print(OUT / f"{name}.png")


if __name__ == "__main__":
    main()
