"""Run the app in a separate process and open it in Chromium, failing on script errors and foreign requests."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request, expect, sync_playwright

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.chart_data import axes_in, chart_data, charts_of
from leaderboard.data.live_board import LiveBoard
from leaderboard.edition.build import Edition, build
from leaderboard.views.location import LANGUAGE_FOLDERS
from leaderboard.views.texts import Language, text
from scripts.chromium import CHROMIUM, launch
from scripts.support.evaluated import evaluated, submit_in_every_status
from scripts.support.records import request_numbered
from scripts.support.serving import serving
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest
from submissions.store.open import open_store
from tests.conftest import environment_of, settings_in

WIDTHS = (1400, 390)
VIEWS = [(language, width) for language in LANGUAGE_FOLDERS for width in WIDTHS]


def views(language: Language, width: int) -> list[pytest.ParameterSet]:
    """Return all views as parameters. All but the given one are slow."""
    params = []
    for view in VIEWS:
        marks = () if view == (language, width) else pytest.mark.slow
        params.append(pytest.param(view, id=f"{view[0]}-{view[1]}", marks=marks))
    return params


def seen_in(language: Language, width: int) -> pytest.MarkDecorator:
    """Run a test in the given view. All other views are slow."""
    return pytest.mark.parametrize("seen", views(language, width), indirect=True)


DESKTOP = seen_in("ko", 1400)
PHONE = seen_in("en", 390)

expect.set_options(timeout=15_000)  # ms; several browsers, boards and models share two cores


@contextmanager
def running_app(environment: dict[str, str], **settings: str) -> Iterator[str]:
    """Run the real app in a separate process and yield its address once it listens."""
    with serving(["app.py"], {**environment, "HANNUN_WORKER_EVERY": "1s", **settings}) as server:
        yield server.address


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)


@dataclass(frozen=True)
class EmptyBoard:
    """A running board that has only the published rows and no worker."""

    address: str
    settings: Settings


@pytest.fixture(scope="package")
def empty_board(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[EmptyBoard]:
    """Yield one board that is shared by all tests that do not write to it."""
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
    """Return one context for all tests, so that plotly.js is cached."""
    return browser.new_context(locale="ko-KR")


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """Yield a page that fails the test on a script error, a dialog, a policy violation or a request to another host."""
    context.clear_cookies()
    page = context.new_page()
    page.set_viewport_size({"width": 1400, "height": 1000})
    problems: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        problems.append(dialog.message)
        dialog.dismiss()

    def reject_foreign_request(request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            problems.append(request.url)

    def reject_policy_violation(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            problems.append(message.text)

    page.on("console", reject_policy_violation)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", dismiss)
    page.on("request", reject_foreign_request)
    yield page
    page.close()
    assert problems == []


@dataclass(frozen=True)
class Site:
    """A running board together with its queue and the requests in it, by name."""

    address: str
    queue: Queue
    requests: dict[str, EvalRequest]
    board: LiveBoard


@dataclass(frozen=True)
class Seen:
    """A board in one language at one window width."""

    site: Site
    page: Page
    language: Language
    width: int

    def t(self, key: str, **fields: object) -> str:
        return text(key, self.language, **fields)

    def open(self, path: str) -> None:
        self.page.goto(self.url(path))

    def url(self, path: str) -> str:
        return f"{self.site.address}/{LANGUAGE_FOLDERS[self.language]}{path}"

    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.page.url).query).items()}

    def assert_fits(self) -> None:
        """Assert that the page does not scroll sideways at any width."""
        for width in (*WIDTHS, self.width):
            self.page.set_viewport_size({"width": width, "height": 900})
            self.page.wait_for_function(
                "width => document.documentElement.scrollWidth <= width", arg=width, timeout=15_000
            )


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[Site]:
    """Yield a board with two similar models on every benchmark, a request in every status and the published rows."""
    settings = settings_in(tmp_path_factory.mktemp("site"), models_dir)
    store = open_store(settings.store)
    queue = None
    number = 0
    for benchmark in BENCHMARKS:
        for model, em, days in (("o/alpha", 71.0, 40), ("o/beta", 70.5, 2)):
            number += 1
            result = evaluated(request_numbered(number, model_id=model, benchmark=benchmark), em, days)
            store.commit({result.path: result.to_bytes()}, store.head(), "a result")
    heartbeats = Heartbeats(settings)
    queue = Queue(store, heartbeats=heartbeats)
    numbers = iter(range(100, 200))
    requests = submit_in_every_status(queue, lambda **fields: request_numbered(next(numbers), **fields))
    environment = environment_of(settings) | {"FORWARDED_ALLOW_IPS": "127.0.0.1"}
    with running_app(environment, HANNUN_WORKER="off") as address:
        yield Site(address, queue, requests, LiveBoard(store, heartbeats))


@pytest.fixture
def seen(request: pytest.FixtureRequest, site: Site, page: Page) -> Seen:
    language, width = request.param
    page.set_viewport_size({"width": width, "height": 900})
    return Seen(site, page, language, width)


@pytest.fixture(scope="package")
def edition(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of the same board as files, below a folder of a plain file server."""
    folder = tmp_path_factory.mktemp("edition")
    site.board.refresh()
    build(site.board, folder / "hannun", Edition())
    handler = partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/hannun"
        server.shutdown()
        thread.join()


class QuietHandler(SimpleHTTPRequestHandler):
    """A file server that logs nothing."""

    def log_message(self, *_: object) -> None:
        pass


def drawn_charts(board: LiveBoard, benchmark: str) -> list[str]:
    """Return the charts that have data, those of parts with the name of their axis. The page leaves out the others."""
    rows = board.refresh().boards[benchmark]
    kinds: list[str] = [kind for kind in charts_of(benchmark) if kind != "parts" and chart_data(kind, rows)]
    return [*kinds, *(f"parts-{axis}" for axis in axes_in(rows))]
