"""What the Hub double counts and spoils on the way: requests, bytes, faults on demand and rate limits.

source of the rate limits: https://huggingface.co/docs/hub/rate-limits, and `parse_ratelimit_headers` of huggingface_hub
"""

import math
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from fastapi.responses import JSONResponse

WINDOW = 300  # seconds of the fixed windows
Send = Callable[[Any], Awaitable[None]]


@dataclass
class Fault:
    """What goes wrong with requests whose method and path fit, the next `times` of them."""

    match: str  # regular expression over "METHOD /path"
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    landed: bool = False  # the request is served all the same, only its answer is lost
    cut: bool = False  # the answer comes with half of its body
    hang: bool = False  # no answer comes
    times: int = 1

    def takes(self, request: str) -> bool:
        if self.times <= 0 or not re.search(self.match, request):
            return False
        self.times -= 1
        return True


async def nowhere(message: Any) -> None:
    pass


def cutting(send: Send) -> Send:
    """Half of each piece of the body, under a length that fits, as a proxy does that lost its upstream."""
    start: dict[str, Any] = {}

    async def cut(message: Any) -> None:
        if message["type"] == "http.response.start":
            start.update(message, headers=[(k, v) for k, v in message["headers"] if k.lower() != b"content-length"])
            await send(start)
        else:
            await send({**message, "body": message.get("body", b"")[: len(message.get("body", b"")) // 2]})

    return cut


class RateLimits:
    """Requests of each class in windows of five minutes, told in headers; no quota, no headers."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.quotas: dict[str, int] = {}  # "api", "resolvers" and "pages"; a free user has 1,000, 5,000 and 200
        self.counted: dict[tuple[str, str, int], int] = {}

    def headers(self, path: str, caller: str) -> tuple[int | None, dict[str, str]]:
        """The quota where one more request is one too many, and what is told."""
        kind = (
            "resolvers"
            if "/resolve/" in path
            else "api"
            if path.startswith("/api/") or "/info/lfs/" in path
            else "pages"
        )
        quota = self.quotas.get(kind)
        if quota is None:
            return None, {}
        now = self.clock()
        window = int(now // WINDOW)
        count = self.counted[kind, caller, window] = self.counted.get((kind, caller, window), 0) + 1
        over = quota if count > quota else None
        return over, told(kind, max(0, quota - count), (window + 1) * WINDOW - now, quota, WINDOW)


def told(kind: str, remaining: int, seconds: float, quota: int, window: int) -> dict[str, str]:
    policy = f'"fixed window";"{kind}";q={quota};w={window}'
    return {"RateLimit": f'"{kind}";r={remaining};t={math.ceil(seconds)}', "RateLimit-Policy": policy}


def limited(quota: int, headers: dict[str, str]) -> JSONResponse:
    """In the words that https://github.com/OpenHUTB/hutb/issues/3329 quotes."""
    error = (
        f"We had to rate limit you, you hit the quota of {quota} api requests per 5 minutes period. Upgrade to a PRO user "
        "or Team/Enterprise organization account (https://hf.co/pricing) to get higher limits. "
        "See https://huggingface.co/docs/hub/rate-limits"
    )
    return JSONResponse({"error": error}, 429, headers)
