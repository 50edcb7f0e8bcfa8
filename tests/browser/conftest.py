"""The app in a process of its own, and a browser that tells on it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, expect, sync_playwright

from scripts.chromium import CHROMIUM, launch
from tests.support.serving import serving

expect.set_options(timeout=20_000)  # ms: two browsers, their boards and models share two cores


@contextmanager
def running_app(environment: dict[str, str], **settings: str) -> Iterator[str]:
    """The real app in its own process; gives its address once it listens."""
    with serving(["app.py"], {**environment, "HANNUN_WORKER_EVERY": "1s", **settings}) as server:
        yield server.address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM, "Chromium is missing: make test installs it, or apt-get install chromium"
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test on a script error, what its policy forbids, or a request to elsewhere."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000}, locale="ko-KR")
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
