"""Check every request, and add security headers to every response.

`SecurityMiddleware` is the first code of ours that a request reaches, before all routes and Gradio. It limits the size and
the arrival time of bodies and the rate and number of requests of a network, and refuses cross-site requests that do more
than read. Limits of connections and headers, which come before, are in `leaderboard/web/protocol.py`; limits of submissions,
which come after, in `leaderboard/web/auth.py`.
"""

import logging
import re
from asyncio import Semaphore, get_running_loop, timeout_at
from collections import Counter

from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.views.location import style_sheet_hash
from leaderboard.web.address import is_host, is_same_site
from leaderboard.web.network import network_of
from submissions.config.sign_in import SIGN_IN_PATH

log = logging.getLogger(__name__)

MAX_BODY = 65_536  # bytes of a request's body; a filled form has a few hundred
MAX_OPEN = 300  # concurrent requests per network: a client of Gradio's API has two, and an office may share one address
BODY_SECONDS = 30.0  # time for a body to arrive
CALL_RATE = "600/minute"  # requests other than GET and HEAD per network: an office may share one address
BURST_RATE = "60/5 second"  # the same for short bursts; all visitors share Gradio's queue of 200 events
# Paths that scripts in pages of any site may read: /boards/ko-vqa.csv, /requests/KEY.json, /badge/OWNER/NAME/ko-vqa.svg.
DATA_PATHS = re.compile(
    r"/(results|boards|requests|charts|register)/.+|/(badge|cards)/.+"
    r"|/version|/(queue|record|errata|lineage)\.json|/feed\.xml|/(register|unseen)\.[a-z]+"
)
# First parts of the paths of files and of short answers. All other content may take long to make.
CHEAP_FOLDERS = ("assets", "gradio_api", "healthz", "readyz", "version", "robots.txt", "favicon.ico")
MAX_COSTLY = 4  # requests for costly content that run at the same time for one network; the others wait
# Starlette's patterns of paths end in "$", which also matches before a line break at the end of a path: without a check,
# "/logout" and a line break would sign a visitor out and pass all checks for "/logout".
CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f]")
SIGN_IN_CALLBACK = "/login/callback"  # Gradio's, where the Hub sends a visitor back to
PROVIDER_UNREACHABLE = "로그인 서버에 연결할 수 없습니다. 잠시 후 다시 시도하세요.\nThe sign-in server cannot be reached. Try again later.\n"
EMBED_PREFIX = "/embed/"  # read-only pages that any site may frame

READ_METHODS = ("GET", "HEAD")

# Content security policy: no page has inline scripts, and the only inline style is that of `style_sheet`, named by its hash.
_POLICY = (
    "default-src 'self'; style-src 'self' {style}; img-src 'self' data: blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors {framing}"
)
_FRAMING = "'self' https://huggingface.co https://*.hf.space"  # the sites that show a Space in a frame
# With these, browsers do not guess content types, send no referrer to other sites, and give no page a camera or a location.
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


def security_headers(framing: str = _FRAMING) -> dict[str, str]:
    """Return the security headers of a response. `framing` lists the sites that may show it in a frame."""
    return _HEADERS | {"Content-Security-Policy": _POLICY.format(framing=framing, style=style_sheet_hash())}


class RateLimit:
    """Counts hits by name in this process, over a moving window."""

    def __init__(self, *rates: str) -> None:
        """Set the limits of each name, such as "600/minute"."""
        self._rates = [parse(rate) for rate in rates]
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def allows(self, *names: str) -> bool:
        """Count one hit for each name and return whether all of them are within the limits."""
        # A list, so that every name is counted even if an earlier one is over its limit.
        hits = [self._limiter.hit(rate, name) for name in names for rate in self._rates]
        return all(hits)


class SecurityMiddleware:
    """Refuses requests from other sites, too large or too frequent, and adds security headers to all responses."""

    def __init__(self, app: ASGIApp, address: str | None = None) -> None:
        """Wrap an application. `address` is the board's public address, if it is known."""
        self._app = app
        self._address = address
        self._calls = RateLimit(CALL_RATE, BURST_RATE)
        self._open_requests = Counter[str]()  # by network, including the streams of Gradio's clients
        # Slots by network. A costly request waits for one, and holds it until its response starts or it ends. The slots of a
        # network are deleted when it has no open request, so no request can be waiting for them.
        self._costly_slots: dict[str, Semaphore] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        is_public_data = scope["method"] in READ_METHODS and DATA_PATHS.fullmatch(scope["path"]) is not None
        framing = "*" if scope["path"].startswith(EMBED_PREFIX) else _FRAMING
        response = _Response(send, framing, any_site_may_read=is_public_data)
        network = network_of((scope.get("client") or ("",))[0])
        if refusal := self._refusal(scope, network):
            return await refusal(scope, receive, response.send)
        self._open_requests[network] += 1
        body = _Body(receive, response)
        try:
            if slots := self._slots_for(scope, network):
                await slots.acquire()
                response.slots = slots
            await self._app(scope, body.receive, response.send)
        except Exception as error:
            answer = None if response.started else _answer_to_failed_sign_in(scope["path"], error)
            if answer is None:
                raise
            await answer(scope, receive, response.send)
        finally:
            response.free_slot()
            self._open_requests[network] -= 1
            if not self._open_requests[network]:
                del self._open_requests[network]
                self._costly_slots.pop(network, None)

    def _slots_for(self, scope: Scope, network: str) -> Semaphore | None:
        """Return the slots of a network, one of which a costly request takes while it runs, or None for other requests."""
        if scope["method"] not in READ_METHODS or not is_costly(scope["path"]):
            return None
        return self._costly_slots.setdefault(network, Semaphore(MAX_COSTLY))

    def _refusal(self, scope: Scope, network: str) -> ASGIApp | None:
        """Return the response that refuses a request, or None if the request may pass."""
        headers = Headers(scope=scope)
        if "host" in headers and not is_host(headers["host"]):
            return PlainTextResponse("the Host header names no host", 400)
        if CONTROL_CHARACTERS.search(scope["path"]):
            return PlainTextResponse("the path has control characters", 400)
        is_read = scope["method"] in READ_METHODS
        # Signing out is a GET request, which a link or an image of another site could make.
        is_logout = scope["path"] == "/logout"
        if (is_logout or not is_read) and _is_cross_site(headers, self._address):
            return PlainTextResponse("cross-site requests are not allowed", 403)
        if not is_read:
            if _int_or_none(headers.get("content-length", "0")) not in range(MAX_BODY + 1):
                return PlainTextResponse("the request is too large", 413)
            if not self._calls.allows(network):
                return PlainTextResponse("too many requests", 429, {"Retry-After": "60"})
        if self._open_requests[network] >= MAX_OPEN:
            return PlainTextResponse("too many concurrent requests", 429, {"Retry-After": "60"})
        return None


def is_costly(path: str) -> bool:
    """Return whether the content of a path may take long to make.

    /ko-vqa and /en/models/OWNER/NAME are costly, /assets/x.css, /en/assets/x.css and /version are not.
    """
    first_part, _, _ = path.removeprefix("/en/").removeprefix("/").partition("/")
    return first_part not in CHEAP_FOLDERS


def _answer_to_failed_sign_in(path: str, error: Exception) -> Response | None:
    """Log an error of Gradio's sign-in and return the answer, or None if the path is another one.

    The error is that the Hub does not answer, or that somebody requests the callback with invented parameters.
    """
    if path == SIGN_IN_PATH:
        log.warning("the sign-in provider failed: %s: %s", type(error).__name__, error)
        return PlainTextResponse(PROVIDER_UNREACHABLE, 503, {"Retry-After": "60"})
    if path == SIGN_IN_CALLBACK:
        log.warning("the sign-in callback failed")  # without the error, which has the parameters
        return RedirectResponse("/submit", 303)
    return None


def _is_cross_site(headers: Headers, address: str | None) -> bool:
    """Return whether a page of another origin sent the request, even if browsers call it the same site: a.example, b.a.example.

    Programs send neither Sec-Fetch-Site nor Origin, and browsers do not let pages forge them.
    """
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return True
    return not is_same_site(headers, address)


class _Body:
    """Limits the size and the arrival time of a request's body, whose Content-Length may be wrong."""

    def __init__(self, receive: Receive, response: "_Response") -> None:
        self._receive = receive
        self._response = response
        self._received_bytes = 0
        self._is_complete = False
        self._deadline = get_running_loop().time() + BODY_SECONDS

    async def receive(self) -> Message:
        """Return the next message.

        If the body exceeds a limit, raise HTTPException, or report the connection as closed if the response has started. It is
        an HTTPException because FastAPI turns any other error while it reads a body into status 400.
        """
        try:
            # After the body, `receive` waits for the end of the connection, which has no deadline.
            async with timeout_at(None if self._is_complete else self._deadline):
                message = await self._receive()
        except TimeoutError:
            return self._refuse(408, "the request took too long")
        self._is_complete = not message.get("more_body")
        self._received_bytes += len(message.get("body", b""))
        if self._received_bytes > MAX_BODY:
            return self._refuse(413, "the request is too large")
        return message

    def _refuse(self, status: int, reason: str) -> Message:
        if self._response.started:
            return {"type": "http.disconnect"}
        raise HTTPException(status, reason)


class _Response:
    """Sends a response with security headers.

    `framing` lists the sites that may show it in a frame. `any_site_may_read` is whether their scripts may read it.
    """

    def __init__(self, send: Send, framing: str, *, any_site_may_read: bool) -> None:
        self._send = send
        self._headers = security_headers(framing)
        if any_site_may_read:
            self._headers["Access-Control-Allow-Origin"] = "*"
        self.started = False
        self.slots: Semaphore | None = None  # of the network's costly requests, if this one holds a slot

    def free_slot(self) -> None:
        """Let the next costly request of the network start."""
        if self.slots:
            self.slots.release()
            self.slots = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            self.free_slot()  # the content is made, and a slow client must not delay others of its network
            headers = MutableHeaders(scope=message)
            for name in [name for name in headers if name.startswith("access-control-")]:
                del headers[name]  # Gradio's headers would let pages of any site act as the visitor
            headers.update(self._headers)
        await self._send(message)


def _int_or_none(text: str) -> int | None:
    """Return the value of a Content-Length header, or None if it is not a number of at most nine digits."""
    return int(text) if len(text) < 10 and text.isascii() and text.isdigit() else None
