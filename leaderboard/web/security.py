"""Checks on every request, and security headers on every response.

The middleware limits the size and the arrival time of bodies and the rate of requests, and refuses cross-site requests that do
more than read.
"""

import logging
import re
from asyncio import get_running_loop, timeout_at
from collections import Counter
from ipaddress import IPv4Address, ip_address, ip_network
from urllib.parse import urlsplit

from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
SIGN_IN = "/login/huggingface"
CALLBACK = "/login/callback"
PROVIDER_UNREACHABLE = "로그인 서버에 연결할 수 없습니다. 잠시 후 다시 시도하세요.\nThe sign-in server cannot be reached. Try again later.\n"
EMBED_PREFIX = "/embed/"  # read-only pages that any site may frame

READ_METHODS = ("GET", "HEAD")

# No page has inline scripts or styles.
_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'self'; form-action 'self'; "
    "frame-ancestors {framing}"
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


def network_of(address: str) -> str:
    """Return the network that an address is counted by: an IPv4 address, or the /64 of IPv6, which one visitor has."""
    try:
        known = ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(known, IPv4Address):
        return address
    return str(known.ipv4_mapped or ip_network((known, 64), strict=False))


class SecurityMiddleware:
    """Refuses requests to other paths, from other sites, too large or too frequent, and adds security headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
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
            await self._app(scope, body.receive, response.send)
        except _BodyTooLong:
            if not response.started:
                await PlainTextResponse("the request is too large", 413)(scope, receive, response.send)
        except TimeoutError:
            if not response.started:
                await PlainTextResponse("the request took too long", 408)(scope, receive, response.send)
        except Exception as error:
            if scope["path"] not in (SIGN_IN, CALLBACK) or response.started:
                raise
            if scope["path"] == SIGN_IN:
                log.warning("the sign-in provider failed: %s: %s", type(error).__name__, error)
                answer: Response = PlainTextResponse(PROVIDER_UNREACHABLE, 503, {"Retry-After": "60"})
            else:
                log.warning("the sign-in callback failed")  # anybody can request it, with any parameters
                answer = RedirectResponse("/submit", 303)
            await answer(scope, receive, response.send)
        finally:
            self._open[who] -= 1
            if not self._open[who]:
                del self._open[who]

    def _refusal(self, scope: Scope, who: str) -> ASGIApp | None:
        reading = scope["method"] in READ_METHODS
        headers = Headers(scope=scope)
        if scope["path"].endswith("/logout") and _is_cross_site(headers):
            return PlainTextResponse("cross-site requests are not allowed", 403)
        if not reading:
            if _is_cross_site(headers):
                return PlainTextResponse("cross-site requests are not allowed", 403)
            if _int_or_none(headers.get("content-length", "0")) not in range(MAX_BODY + 1):
                return PlainTextResponse("the request is too large", 413)
            if not self._calls.allows(who):
                return PlainTextResponse("too many requests", 429, {"Retry-After": "60"})
        if self._open[who] >= MAX_OPEN:
            return PlainTextResponse("too many concurrent requests", 429, {"Retry-After": "60"})
        return None


def _is_cross_site(headers: Headers) -> bool:
    """Return whether a page of another origin sent the request.

    Programs send neither Sec-Fetch-Site nor Origin, and browsers do not let pages forge them.
    """
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return True
    origin = headers.get("origin")
    if origin is None:
        return False
    try:
        place = urlsplit(origin).netloc
    except ValueError:
        return True
    return not place or place not in (headers.get("x-forwarded-host"), headers.get("host"))


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
        self._headers = _HEADERS | {"Content-Security-Policy": _POLICY.format(framing=framing)}
        if readable:  # by pages of other sites
            self._headers["Access-Control-Allow-Origin"] = "*"
        self.started = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            for name in [name for name in headers if name.startswith("access-control-")]:
                del headers[name]  # Gradio's headers would let pages of any site act as the visitor
            headers.update(self._headers)
        await self._send(message)


def _int_or_none(text: str) -> int | None:
    return int(text) if len(text) < 10 and text.isascii() and text.isdigit() else None
