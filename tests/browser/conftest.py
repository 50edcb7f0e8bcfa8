"""The app in a process of its own, and a browser that tells on it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request, expect, sync_playwright

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.chart_data import Kind, chart_data, charts_of
from leaderboard.data.live_board import LiveBoard
from leaderboard.views.texts import Language, text
from leaderboard.web.language import ADDRESSES
from scripts.chromium import CHROMIUM, launch
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest
from submissions.store.open import open_store
from tests.conftest import environment_of, settings_in
from tests.support.evaluated import evaluated, of_each_kind
from tests.support.records import request_numbered
from tests.support.serving import serving

WIDTHS = (1400, 390)
VIEWS = [(language, width) for language in ADDRESSES for width in WIDTHS]


def seen_in(language: Language, width: int, widths: Sequence[int] = WIDTHS) -> pytest.MarkDecorator:
    """In this view by `make test`, in the others by `make test-faults` only."""
    params = [
        pytest.param(view, id=f"{view[0]}-{view[1]}", marks=() if view == (language, width) else pytest.mark.faults)
        for view in VIEWS
        if view[1] in widths
    ]
    return pytest.mark.parametrize("seen", params, indirect=True)


DESKTOP, PHONE = seen_in("ko", 1400), seen_in("en", 390)

expect.set_options(timeout=15_000)  # ms: two browsers, their boards and models share two cores


@contextmanager
def running_app(environment: dict[str, str], **settings: str) -> Iterator[str]:
    """The real app in its own process; gives its address once it listens."""
    with serving(["app.py"], {**environment, "HANNUN_WORKER_EVERY": "1s", **settings}) as server:
        yield server.address


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)


@dataclass(frozen=True)
class EmptyBoard:
    """A board with the published rows alone, and no worker."""

    address: str
    settings: Settings


@pytest.fixture(scope="package")
def empty_board(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[EmptyBoard]:
    """One for all tests that leave nothing in it."""
    settings = settings_in(tmp_path_factory.mktemp("board"), models_dir)
    with running_app(environment_of(settings), HANNUN_WORKER="off") as address:
        yield EmptyBoard(address, settings)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    assert CHROMIUM, "Chromium is missing: make test installs it, or apt-get install chromium"
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def context(browser: Browser) -> BrowserContext:
    """One for all tests, whose cache has Gradio's scripts."""
    return browser.new_context(locale="ko-KR")


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that fails the test on a script error, what its policy forbids, or a request to elsewhere."""
    context.clear_cookies()
    page = context.new_page()
    page.set_viewport_size({"width": 1400, "height": 1000})
    trouble: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        trouble.append(dialog.message)
        dialog.dismiss()

    def stay_home(request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            trouble.append(request.url)

    def obey(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            trouble.append(message.text)

    page.on("console", obey)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", dismiss)
    page.on("request", stay_home)
    yield page
    page.close()
    assert trouble == []


@dataclass(frozen=True)
class Site:
    address: str
    queue: Queue
    requests: dict[str, EvalRequest]
    board: LiveBoard


@dataclass(frozen=True)
class Seen:
    """A board as somebody sees it."""

    site: Site
    page: Page
    language: Language
    width: int

    def t(self, key: str, **fields: object) -> str:
        return text(key, self.language, **fields)

    def open(self, query: str) -> None:
        self.page.goto(f"{self.site.address}{ADDRESSES[self.language]}?{query}")
        self.page.wait_for_function("window.hannunReady")

    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.page.url).query).items()}

    def fits(self) -> None:
        """Nothing scrolls sideways, at either width."""
        for width in (*WIDTHS, self.width):
            self.page.set_viewport_size({"width": width, "height": 900})
            self.page.wait_for_function(
                "width => document.documentElement.scrollWidth <= width", arg=width, timeout=5000
            )


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[Site]:
    """Two models on every benchmark, a little apart, and a request of each kind; the published rows come along."""
    settings = settings_in(tmp_path_factory.mktemp("site"), models_dir)
    store, queue, number = open_store(settings.store), None, 0
    for benchmark in BENCHMARKS:
        for model, em, days in (("o/alpha", 71.0, 40), ("o/beta", 70.5, 2)):
            number += 1
            result = evaluated(request_numbered(number, model_id=model, benchmark=benchmark), em, days)
            store.commit({result.path: result.to_bytes()}, store.head(), "a result")
    heartbeats = Heartbeats(settings)
    queue = Queue(store, heartbeats=heartbeats)
    numbers = iter(range(100, 200))
    requests = of_each_kind(queue, lambda **fields: request_numbered(next(numbers), **fields))
    environment = environment_of(settings) | {"FORWARDED_ALLOW_IPS": "127.0.0.1"}
    with running_app(environment, HANNUN_WORKER="off") as address:
        yield Site(address, queue, requests, LiveBoard(store, heartbeats))


@pytest.fixture
def seen(request: pytest.FixtureRequest, site: Site, page: Page) -> Seen:
    language, width = request.param
    page.set_viewport_size({"width": width, "height": 900})
    return Seen(site, page, language, width)


def drawn_charts(board: LiveBoard, benchmark: str) -> list[Kind]:
    """The charts that have something in them; the others are left out."""
    rows = board.refresh().boards[benchmark]
    return [kind for kind in charts_of(benchmark) if chart_data(kind, rows)]
