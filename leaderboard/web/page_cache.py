"""Cache rendered pages: Gradio takes about 30 ms to render one, and the page is the same for every visitor."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.web.language import ADDRESSES
from submissions.store.base import blob_id

MAX_PAGES = 32  # a visitor who sends invented host names evicts other pages, which are then rendered again
# Headers that a page depends on. Pages are rendered with only these, so that nothing else of one visitor reaches another.
KEY_HEADERS = ("host", "x-forwarded-host", "x-forwarded-proto")
Key = tuple[str, str, bool, tuple[str, ...]]


@dataclass
class _Page:
    status: int = 0
    headers: list[tuple[bytes, bytes]] | None = None
    body: bytes = b""

    async def take(self, message: Message) -> None:
        """Store a part of the response; this is the `send` that the application is called with."""
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message["headers"])
        else:
            self.body += message.get("body", b"")


class PageCacheMiddleware:
    """Answers GET requests for the pages from a cache, with an ETag."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._pages: OrderedDict[Key, _Page] = OrderedDict()
        self._writing = asyncio.Lock()  # requests that arrive meanwhile wait for the same page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] not in ADDRESSES.values():
            return await self._app(scope, receive, send)
        given = Headers(scope=scope)
        gzip = "gzip" in given.get("accept-encoding", "")
        key = (scope["path"], scope["scheme"], gzip, tuple(given.get(name, "") for name in KEY_HEADERS))
        page = self._cached(key)
        if page is None:
            async with self._writing:
                page = self._cached(key) or await self._render(scope, receive, key)
        headers = MutableHeaders(raw=list(page.headers or []))
        if headers["etag"] in given.get("if-none-match", ""):
            return await Response(status_code=304, headers={"ETag": headers["etag"]})(scope, receive, send)
        await send({"type": "http.response.start", "status": page.status, "headers": headers.raw})
        await send({"type": "http.response.body", "body": page.body})

    def _cached(self, key: Key) -> _Page | None:
        if key in self._pages:
            self._pages.move_to_end(key)
        return self._pages.get(key)

    async def _render(self, scope: Scope, receive: Receive, key: Key) -> _Page:
        page = _Page()
        sent = {name: value for name, value in zip(KEY_HEADERS, key[3], strict=True) if value}
        sent["accept-encoding"] = "gzip" if key[2] else "identity"
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in sent.items()]
        await self._app({**scope, "headers": raw, "query_string": b""}, receive, page.take)
        headers = MutableHeaders(raw=page.headers or [])
        headers["ETag"] = f'"{blob_id(page.body)}"'
        headers["Cache-Control"] = "no-cache"
        page.headers = headers.raw
        if page.status == 200:
            self._pages[key] = page
            if len(self._pages) > MAX_PAGES:
                self._pages.popitem(last=False)
        return page
