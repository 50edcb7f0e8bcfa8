"""What every request passes before the pages see it, and what every response carries.

Only the addresses that the board needs are open: Gradio has many more (uploads, a proxy, files of the server). Bodies
are small and come in time, one visitor sends no flood, and no page of another site asks for anything but what is read.
"""

import logging
import re
from asyncio import get_running_loop, timeout_at
from base64 import b64encode
from collections import Counter
from hashlib import sha256
from ipaddress import IPv4Address, ip_address, ip_network
from urllib.parse import urlsplit

from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

MAX_BODY = 65_536  # bytes
MAX_OPEN = 300  # requests under way of one address: an open page has two, and an office may share one
BODY_SECONDS = 30.0  # for it to arrive
CALLS = "600/minute"  # POST requests of one address: a page renews itself, and an office may share one
BURST = "60/5 second"  # the same at once; all visitors share Gradio's queue of 200 events
READ = re.compile(
    r"/en|/(en/)?(config|theme\.css|manifest\.json|favicon\.ico|robots\.txt|pwa_icon|(static|assets|svelte)/.{1,200}"
    r"|gradio_api/(info|openapi\.json|app_id|startup-events|theme\.css|heartbeat/\w+|queue/data|call/\w+/\w+)/?)?"
    r"|/(results|boards|requests|embed)/[\w.-]+|/charts/[\w-]+/\w+\.csv|/version|/queue\.json|/record\.json|/feed\.xml|/healthz|/readyz|/metrics"
    r"|/(en/)?(login/(huggingface|callback)|logout)"
)
CALL = re.compile(r"/(en/)?gradio_api/(queue/join|call/(v2/)?\w+|reset|cancel|mcp)/?")
DATA = re.compile(
    r"/(results|boards|requests|charts)/.+|/version|/(queue|record)\.json|/feed\.xml"
)  # any site may read them
CALLBACK = "/login/callback"
EMBEDDED = "/embed/"  # pages that any site may frame: they only show

READING = ("GET", "HEAD")

_SCRIPT = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
# 'unsafe-eval': Gradio compiles its templates and handlers in the browser. Styles are set inline by every component.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-eval'{scripts}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors {framing}"
)
_FRAMING = "'self' https://huggingface.co https://*.hf.space"
# Nothing is guessed from contents, no address of ours is told to others.
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class RateLimit:
    """How often something may be done by each of many, counted in this process over a moving window."""

    def __init__(self, *rates: str) -> None:
        self._rates = [parse(rate) for rate in rates]
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def allows(self, *who: str) -> bool:
        """Count one more for each; False where one of them has done it too often."""
        # Counted for all, whoever is refused.
        hits = [self._limiter.hit(rate, name) for name in who for rate in self._rates]
        return all(hits)


def network_of(address: str) -> str:
    """An address as it is counted: of IPv6 the /64, which is what one visitor has."""
    try:
        known = ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(known, IPv4Address):
        return address
    return str(known.ipv4_mapped or ip_network((known, 64), strict=False))


class SecurityMiddleware:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._calls = RateLimit(CALLS, BURST)
        self._open = Counter[str]()  # requests under way, the streams of open pages too, by network

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        readable = scope["method"] in READING and DATA.fullmatch(scope["path"]) is not None
        if scope["path"].endswith(CALLBACK):
            send = _way_home(send, scope["path"].removesuffix(CALLBACK) + "/")
        response = _Response(send, "*" if scope["path"].startswith(EMBEDDED) else _FRAMING, readable)
        who = network_of((scope.get("client") or ("",))[0])
        if refusal := self._refusal(scope, who):
            return await refusal(scope, receive, response.send)
        self._open[who] += 1
        body = _Body(receive)
        try:
            await self._app(scope, body.receive, response.send)
        except _TooLong:
            if not response.started:
                await PlainTextResponse("the request is too long", 413)(scope, receive, response.send)
        except TimeoutError:
            if not response.started:
                await PlainTextResponse("the request takes too long", 408)(scope, receive, response.send)
        except Exception:
            if not scope["path"].endswith(CALLBACK):
                raise
            log.warning("what came back from signing in could not be read")
        finally:
            self._open[who] -= 1
            if not self._open[who]:
                del self._open[who]

    def _refusal(self, scope: Scope, who: str) -> ASGIApp | None:
        reading = scope["method"] in READING
        if not (READ if reading else CALL).fullmatch(scope["path"]):
            return PlainTextResponse("not found", 404)
        headers = Headers(scope=scope)
        if scope["path"].endswith("/logout") and _of_another_site(headers):
            return PlainTextResponse("not from another site's page", 403)
        if not reading:
            if _of_another_site(headers):
                return PlainTextResponse("not from another site's page", 403)
            if _int_or_none(headers.get("content-length", "0")) not in range(MAX_BODY + 1):
                return PlainTextResponse("the request is too long", 413)
            if not self._calls.allows(who):
                return PlainTextResponse("too many requests", 429, {"Retry-After": "60"})
        if self._open[who] >= MAX_OPEN:
            return PlainTextResponse("too many requests at once", 429, {"Retry-After": "60"})
        return None


def _of_another_site(headers: Headers) -> bool:
    """Whether a page of another origin sends this. Programs send neither header, and browsers let no page forge them."""
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


def _way_home(send: Send, home: str) -> Send:
    """Instead of a failure a redirect: what a provider of identities sends back, anybody can, and Gradio's answer to
    nonsense is a traceback."""
    failed = False

    async def redirect(message: Message) -> None:
        nonlocal failed
        if message["type"] == "http.response.start" and message["status"] >= 500:
            failed = True
            headers = [(b"location", home.encode()), (b"content-length", b"0")]
            message = {**message, "status": 303, "headers": headers}
        elif failed:
            message = {**message, "body": b""}
        await send(message)

    return redirect


class _TooLong(Exception):
    pass


class _Body:
    """A request's body, counted as it comes: its length need not be as announced."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._seen = 0
        self._whole = False
        self._ends = get_running_loop().time() + BODY_SECONDS

    async def receive(self) -> Message:
        # Once the body is there, what is waited for is the end of the connection.
        async with timeout_at(None if self._whole else self._ends):
            message = await self._receive()
        self._whole = not message.get("more_body")
        self._seen += len(message.get("body", b""))
        if self._seen > MAX_BODY:
            raise _TooLong
        return message


class _Response:
    """Sends a response with our headers. A page is held back until its own inline scripts are known, and no others run."""

    def __init__(self, send: Send, framing: str, readable: bool) -> None:
        self._send = send
        self._framing = framing
        self._readable = readable  # by pages of other sites
        self._page: Message | None = None
        self._parts: list[bytes] = []
        self.started = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            for name in [name for name in headers if name.startswith("access-control-")]:
                del headers[name]  # Gradio's own let a page of any site act as its visitor
            headers.update(_HEADERS | ({"Access-Control-Allow-Origin": "*"} if self._readable else {}))
            if headers.get("content-type", "").startswith("text/html") and "content-encoding" not in headers:
                self._page = message
                return
            headers["Content-Security-Policy"] = self._policy()
        elif self._page is not None:
            self._parts.append(message.get("body", b""))
            if message.get("more_body"):
                return
            content = b"".join(self._parts)
            MutableHeaders(scope=self._page)["Content-Security-Policy"] = self._policy(_hashes(content))
            await self._send(self._page)
            message, self._page = {"type": "http.response.body", "body": content}, None
        await self._send(message)

    def _policy(self, scripts: str = "") -> str:
        return _POLICY.format(scripts=scripts, framing=self._framing)


def _hashes(page: bytes) -> str:
    scripts = dict.fromkeys(_SCRIPT.findall(page))
    return "".join(f" 'sha256-{b64encode(sha256(script).digest()).decode()}'" for script in scripts)


def _int_or_none(text: str) -> int | None:
    return int(text) if len(text) < 10 and text.isascii() and text.isdigit() else None
