"""Checks on every request, and security headers on every response.

The middleware limits the size and the arrival time of bodies and the rate of requests, and refuses cross-site requests that do
more than read.
"""

import logging
import re
from asyncio import Semaphore, get_running_loop, timeout_at
from collections import Counter
from collections.abc import Callable

from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.views.location import style_source
from leaderboard.web.address import is_host, is_same_site
from leaderboard.web.network import network_of
from submissions.config.sign_in import SIGN_IN_PATH

log = logging.getLogger(__name__)

MAX_BODY = 65_536  # bytes
MAX_OPEN = 300  # concurrent requests per network: an open page has two, and an office may share one address
BODY_SECONDS = 30.0  # time for a body to arrive
CALL_RATE = "600/minute"  # POST requests per network: pages refresh themselves, and an office may share one address
BURST_RATE = "60/5 second"  # the same for short bursts; all visitors share Gradio's queue of 200 events
# Paths that pages of any site may read.
DATA_PATHS = re.compile(
    r"/(results|boards|requests|charts)/.+|/version|/(queue|record)\.json|/feed\.xml|/(badge|cards)/.+"
)
# Paths whose content takes long to make, if it is not kept already.
COSTLY_PATHS = re.compile(r"/(en/)?(?!(assets|gradio_api|healthz|readyz|version|robots\.txt|favicon\.ico)\b).*")
MAX_COSTLY = 4  # of these requests that run at the same time for one network; the others wait
CALLBACK = "/login/callback"
PROVIDER_UNREACHABLE = "로그인 서버에 연결할 수 없습니다. 잠시 후 다시 시도하세요.\nThe sign-in server cannot be reached. Try again later.\n"
EMBED_PREFIX = "/embed/"  # read-only pages that any site may frame

READ_METHODS = ("GET", "HEAD")

# No page has inline scripts or styles.
_POLICY = (
    "default-src 'self'; style-src 'self' {style}; img-src 'self' data: blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors {framing}"
)
_FRAMING = "'self' https://huggingface.co https://*.hf.space"
# Browsers do not guess content types, and send no referrer to other sites.
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class RateLimit:
    """Rate limits per name, counted in this process over a moving window."""

    def __init__(self, *rates: str) -> None:
        self._rates = [parse(rate) for rate in rates]
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def allows(self, *who: str) -> bool:
        """Count one hit for each name and return whether all of them are within the limits."""
        # A list, so that every name is counted even if an earlier one is over its limit.
        hits = [self._limiter.hit(rate, name) for name in who for rate in self._rates]
        return all(hits)


class SecurityMiddleware:
    """Refuses requests to other paths, from other sites, too large or too frequent, and adds security headers."""

    def __init__(self, app: ASGIApp, address: str | None = None) -> None:
        """Wrap an application. `address` is the board's public address, if it is known."""
        self._app = app
        self._address = address
        self._costly: dict[str, Semaphore] = {}  # by network, while one of its costly requests waits or runs
        self._calls = RateLimit(CALL_RATE, BURST_RATE)
        self._open = Counter[str]()  # concurrent requests by network, including the streams of open pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        readable = scope["method"] in READ_METHODS and DATA_PATHS.fullmatch(scope["path"]) is not None
        response = _Response(send, "*" if scope["path"].startswith(EMBED_PREFIX) else _FRAMING, readable)
        who = network_of((scope.get("client") or ("",))[0])
        if refusal := self._refusal(scope, who):
            return await refusal(scope, receive, response.send)
        self._open[who] += 1
        body = _Body(receive)
        try:
            if turn := self._turn(scope, who):
                await turn.acquire()
                response.release = turn.release
            await self._app(scope, body.receive, response.send)
        except _BodyTooLong:
            if not response.started:
                await PlainTextResponse("the request is too large", 413)(scope, receive, response.send)
        except TimeoutError:
            if not response.started:
                await PlainTextResponse("the request took too long", 408)(scope, receive, response.send)
        except Exception as error:
            if scope["path"] not in (SIGN_IN_PATH, CALLBACK) or response.started:
                raise
            if scope["path"] == SIGN_IN_PATH:
                log.warning("the sign-in provider failed: %s: %s", type(error).__name__, error)
                answer: Response = PlainTextResponse(PROVIDER_UNREACHABLE, 503, {"Retry-After": "60"})
            else:
                log.warning("the sign-in callback failed")  # anybody can request it, with any parameters
                answer = RedirectResponse("/submit", 303)
            await answer(scope, receive, response.send)
        finally:
            response.end_turn()
            self._open[who] -= 1
            if not self._open[who]:
                del self._open[who]
                self._costly.pop(who, None)

    def _turn(self, scope: Scope, who: str) -> Semaphore | None:
        """Return what a costly request waits for, until fewer than MAX_COSTLY of its network run, or None."""
        if scope["method"] not in READ_METHODS or not COSTLY_PATHS.fullmatch(scope["path"]):
            return None
        return self._costly.setdefault(who, Semaphore(MAX_COSTLY))

    def _refusal(self, scope: Scope, who: str) -> ASGIApp | None:
        reading = scope["method"] in READ_METHODS
        headers = Headers(scope=scope)
        if "host" in headers and not is_host(headers["host"]):
            return PlainTextResponse("the Host header names no host", 400)
        if scope["path"].endswith("/logout") and _is_cross_site(headers, self._address):
            return PlainTextResponse("cross-site requests are not allowed", 403)
        if not reading:
            if _is_cross_site(headers, self._address):
                return PlainTextResponse("cross-site requests are not allowed", 403)
            if _int_or_none(headers.get("content-length", "0")) not in range(MAX_BODY + 1):
                return PlainTextResponse("the request is too large", 413)
            if not self._calls.allows(who):
                return PlainTextResponse("too many requests", 429, {"Retry-After": "60"})
        if self._open[who] >= MAX_OPEN:
            return PlainTextResponse("too many concurrent requests", 429, {"Retry-After": "60"})
        return None


def _is_cross_site(headers: Headers, address: str | None) -> bool:
    """Return whether a page of another origin sent the request.

    Programs send neither Sec-Fetch-Site nor Origin, and browsers do not let pages forge them.
    """
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return True
    return not is_same_site(headers, address)


class _BodyTooLong(Exception):
    """The body of a request is longer than MAX_BODY."""


class _Body:
    """Limits the size and the arrival time of a request's body, whose Content-Length may be wrong."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._seen = 0
        self._whole = False
        self._deadline = get_running_loop().time() + BODY_SECONDS

    async def receive(self) -> Message:
        # After the body, `receive` waits for the end of the connection, which has no deadline.
        async with timeout_at(None if self._whole else self._deadline):
            message = await self._receive()
        self._whole = not message.get("more_body")
        self._seen += len(message.get("body", b""))
        if self._seen > MAX_BODY:
            raise _BodyTooLong
        return message


class _Response:
    """Sends a response with security headers."""

    def __init__(self, send: Send, framing: str, readable: bool) -> None:
        self._send = send
        self._headers = _HEADERS | {"Content-Security-Policy": _POLICY.format(framing=framing, style=style_source())}
        if readable:  # by pages of other sites
            self._headers["Access-Control-Allow-Origin"] = "*"
        self.started = False
        self.release: Callable[[], None] | None = None  # lets the next costly request of the network start

    def end_turn(self) -> None:
        if self.release:
            self.release()
            self.release = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            self.end_turn()  # the content is made, and a slow client must not delay others of its network
            headers = MutableHeaders(scope=message)
            for name in [name for name in headers if name.startswith("access-control-")]:
                del headers[name]  # Gradio's headers would let pages of any site act as the visitor
            headers.update(self._headers)
        await self._send(message)


def _int_or_none(text: str) -> int | None:
    return int(text) if len(text) < 10 and text.isascii() and text.isdigit() else None
