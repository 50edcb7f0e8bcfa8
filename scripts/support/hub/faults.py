"""Inject faults into the Hub double and apply its rate limits.

Source of the rate limits: https://huggingface.co/docs/hub/rate-limits, and `parse_ratelimit_headers` of huggingface_hub
"""

import math
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from fastapi.responses import JSONResponse

WINDOW = 300  # seconds, length of the fixed windows
Send = Callable[[Any], Awaitable[None]]


@dataclass
class Fault:
    """A fault of the next `times` requests whose method and path match."""

    match: str  # regular expression over "METHOD /path"
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    landed: bool = False  # the request is served, but the fault replaces its response
    cut: bool = False  # the response has only half of its body
    hang: bool = False  # there is no response
    times: int = 1

    def takes(self, request: str) -> bool:
        if self.times <= 0 or not re.search(self.match, request):
            return False
        self.times -= 1
        return True


async def discard(message: Any) -> None:
    """Drop an ASGI message."""


def cut_body(send: Send) -> Send:
    """Return a `send` that halves the body and drops Content-Length, as a proxy does that lost its upstream."""
    start: dict[str, Any] = {}

    async def cut(message: Any) -> None:
        if message["type"] == "http.response.start":
            start.update(message, headers=[(k, v) for k, v in message["headers"] if k.lower() != b"content-length"])
            await send(start)
        else:
            await send({**message, "body": message.get("body", b"")[: len(message.get("body", b"")) // 2]})

    return cut


class RateLimits:
    """Count the requests of each class in windows of five minutes. Without a quota there are no headers."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.quotas: dict[str, int] = {}  # "api", "resolvers" and "pages"; a free user has 1,000, 5,000 and 200
        self.counted: dict[tuple[str, str, int], int] = {}

    def headers(self, path: str, caller: str) -> tuple[int | None, dict[str, str]]:
        """Count a request. Return the quota if it is exceeded, else None, and the rate limit headers."""
        if "/resolve/" in path:
            kind = "resolvers"
        elif path.startswith("/api/") or "/info/lfs/" in path:
            kind = "api"
        else:
            kind = "pages"
        quota = self.quotas.get(kind)
        if quota is None:
            return None, {}
        now = self.clock()
        window = int(now // WINDOW)
        count = self.counted[kind, caller, window] = self.counted.get((kind, caller, window), 0) + 1
        over = quota if count > quota else None
        return over, rate_limit_headers(kind, max(0, quota - count), (window + 1) * WINDOW - now, quota, WINDOW)


def rate_limit_headers(kind: str, remaining: int, seconds: float, quota: int, window: int) -> dict[str, str]:
    """Return the RateLimit headers of a quota that resets in `seconds`."""
    policy = f'"fixed window";"{kind}";q={quota};w={window}'
    return {"RateLimit": f'"{kind}";r={remaining};t={math.ceil(seconds)}', "RateLimit-Policy": policy}


def rate_limited(quota: int, headers: dict[str, str]) -> JSONResponse:
    """Return status 429 with the message that https://github.com/OpenHUTB/hutb/issues/3329 quotes."""
    error = (
        f"We had to rate limit you, you hit the quota of {quota} api requests per 5 minutes period. Upgrade to a PRO user "
        "or Team/Enterprise organization account (https://hf.co/pricing) to get higher limits. "
        "See https://huggingface.co/docs/hub/rate-limits"
    )
    return JSONResponse({"error": error}, 429, headers)
