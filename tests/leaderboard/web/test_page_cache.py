"""Test the cache of rendered pages: bounded, revalidated, and free of other visitors' headers."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.responses import HTMLResponse
from starlette.types import Receive, Scope, Send

from leaderboard.pages.application import build_app
from leaderboard.web.page_cache import MAX_PAGES, PageCacheMiddleware
from scripts.support.hub.server import serve
from tests.conftest import settings_in


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[httpx.Client]:
    """Yield a client of one board for all tests, which only read from it."""
    settings = settings_in(tmp_path_factory.mktemp("cache"), models_dir)
    with serve(build_app(settings)) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def test_page_cache_answers_304_for_unchanged_page(client: httpx.Client) -> None:
    for path in ("/", "/en/"):
        first, again = client.get(path), client.get(path)
        assert first.content == again.content and first.headers["etag"] == again.headers["etag"]
        assert first.headers["content-encoding"] == "gzip" and "sha256-" in first.headers["content-security-policy"]
        unchanged = client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (unchanged.status_code, unchanged.content) == (304, b"")
        plain = client.get(path, headers={"Accept-Encoding": "identity"})
        assert plain.text == first.text and "content-encoding" not in plain.headers
    assert client.get("/").text != client.get("/en/").text


def test_page_cache_does_not_leak_request_headers(client: httpx.Client) -> None:
    evil = {"X-Gradio-Server": "http://evil.example", "Cookie": "access-token=evil", "X-Forwarded-Prefix": "/evil"}
    assert "evil" not in client.get("/?deep_link=evil&evil", headers=evil).text
    assert "evil" not in client.get("/").text
    # The public address that a proxy reports is used, but only in that response.
    assert "https://evil.example" in client.get(
        "/", headers={"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
    ).text.replace("\\u002f", "/")
    assert "evil" not in client.get("/").text
    assert "evil" not in client.get("/", headers={"X-Forwarded-Proto": "https"}).text


def test_page_cache_is_bounded_and_skips_errors() -> None:
    written: list[bytes] = []

    async def write(scope: Scope, receive: Receive, send: Send) -> None:
        host = dict(scope["headers"])[b"host"]
        written.append(host)
        await HTMLResponse(host, 500 if host == b"broken" else 200)(scope, receive, send)

    async def ask() -> None:
        cache = PageCacheMiddleware(write)
        transport = httpx.ASGITransport(app=cache)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            for host in ["a", "a", *map(str, range(MAX_PAGES)), "a", "broken", "broken"]:
                await client.get("/", headers={"Host": host})

    asyncio.run(ask())
    assert written.count(b"a") == 2 and written.count(b"broken") == 2
    assert len(written) == MAX_PAGES + 4
