"""The address under which visitors reach the board, for links that other sites and programs read."""

import os
import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request

from submissions.config.settings import Settings

MAX_HOST = 253  # characters of a host name (RFC 1035)
_LABEL = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST = re.compile(rf"(?P<name>{_LABEL}(\.{_LABEL})*\.?|\[[0-9A-Fa-f:.]{{2,45}}\])(:(?P<port>\d{{1,5}}))?", re.ASCII)
DEFAULT_PORTS = {"http": 80, "https": 443}
# Stands for the address in kept pages, so that no header of a visitor decides which pages are kept.
PLACEHOLDER = "https://address-of-the-board.invalid"


def public_address(settings: Settings) -> str | None:
    """Return the address that the operator or the Space names, without a slash at its end, or None."""
    if settings.live_address:
        return settings.live_address.rstrip("/")
    host = os.environ.get("SPACE_HOST")
    return f"https://{host}" if host and is_host(host) else None


def is_host(text: str) -> bool:
    """Return whether a text may be the value of a Host header: a host name or IP address, with or without a port."""
    found = _HOST.fullmatch(text)
    return found is not None and len(found["name"]) <= MAX_HOST


def origin_of(request: Request) -> str:
    """Return scheme and host of the board for a request: the public address, else the host that was asked for."""
    known: str | None = getattr(request.app.state, "public_address", None)
    return known or str(request.base_url).rstrip("/")


def is_same_site(headers: Headers, known: str | None) -> bool:
    """Return whether the origin that a browser names is the board, whatever the proxies in between call it.

    Behind a proxy the port of the board may differ from the one that visitors use. If the browser itself says that the
    request is of the same origin, only host names are compared.
    """
    origin = headers.get("origin")
    if origin is None:
        return True
    try:
        place = urlsplit(origin)
        port = place.port or DEFAULT_PORTS.get(place.scheme)
    except ValueError:
        return False
    forwarded = [name.strip() for name in headers.get("x-forwarded-host", "").split(",")]
    names = (*forwarded, headers.get("host", ""), urlsplit(known).netloc if known else "")
    ours = [found for found in map(_HOST.fullmatch, names) if found]
    same_host = [one for one in ours if place.hostname and one["name"].lower().strip("[]") == place.hostname.lower()]
    if headers.get("sec-fetch-site") == "same-origin":
        return bool(same_host)
    return any(int(one["port"] or DEFAULT_PORTS.get(place.scheme, 0)) == port for one in same_host)
