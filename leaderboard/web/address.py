"""The address under which visitors reach the board, for links that other sites and programs read.

The board runs behind proxies, which change host and port. The Host header of a request comes from the visitor, so it is
checked before it is used.
"""

import os
import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request

from submissions.config.settings import Settings

MAX_HOST = 253  # characters of a host name (RFC 1035)
_LABEL = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
# A host name or an IP address, in brackets if it is IPv6, with or without a port: board.example.org:8080, [::1].
_HOST = re.compile(rf"(?P<name>{_LABEL}(\.{_LABEL})*\.?|\[[0-9A-Fa-f:.]{{2,45}}\])(:(?P<port>\d{{1,5}}))?", re.ASCII)
DEFAULT_PORTS = {"http": 80, "https": 443}
# Stands for the address in kept pages, so that no header of a visitor decides which pages are kept.
PLACEHOLDER = "https://address-of-the-board.invalid"


def public_address(settings: Settings) -> str | None:
    """Return the address in HANNUN_LIVE_ADDRESS, or of the Space (SPACE_HOST), without a slash at its end, or None."""
    if settings.live_address:
        return settings.live_address.rstrip("/")
    host = os.environ.get("SPACE_HOST")
    return f"https://{host}" if host and is_host(host) else None


def is_host(text: str) -> bool:
    """Return whether a text may be the value of a Host header: a host name or IP address, with or without a port."""
    found = _HOST.fullmatch(text)
    return found is not None and len(found["name"]) <= MAX_HOST


def origin_of(request: Request) -> str:
    """Return scheme and host of the board for a request: the public address, else the host that was asked for.

    `SecurityMiddleware` has refused hosts that are not names (`is_host`).
    """
    public: str | None = getattr(request.app.state, "public_address", None)  # set by `build_app`
    return public or str(request.base_url).rstrip("/")


def is_same_site(headers: Headers, public: str | None) -> bool:
    """Return whether the Origin header of a request is the board. Without the header, a program sent the request.

    The board may have several hosts: those that proxies forward, that in the Host header, and that of `public`, its public
    address. Name and port of the sender must be those of one of them. Schemes are not compared, because the board may not
    know its own behind a proxy. A host without a port has the default port of the sender's scheme: `https://board.org` is the
    board if its host is `board.org` or `board.org:443`.

    A proxy may also change the port, so only names are compared if the browser itself states that the request is of the same
    origin (Sec-Fetch-Site). X-Forwarded-Host is believed from anybody, because a page of another site cannot make a browser
    send it without asking the board first (CORS).
    """
    origin = headers.get("origin")
    if origin is None:
        return True
    try:
        sender = urlsplit(origin)
        sender_port = sender.port or DEFAULT_PORTS.get(sender.scheme)
    except ValueError:
        return False
    forwarded = [name.strip() for name in headers.get("x-forwarded-host", "").split(",")]
    names = (*forwarded, headers.get("host", ""), urlsplit(public).netloc if public else "")
    own_hosts = [host for host in map(_HOST.fullmatch, names) if host]
    same_hosts = [host for host in own_hosts if _bare_name(host["name"]) == sender.hostname]
    if headers.get("sec-fetch-site") == "same-origin":
        return bool(same_hosts)
    default_port = DEFAULT_PORTS.get(sender.scheme, 0)  # 0 is no sender's port: with other schemes, both need a port
    return any(int(host["port"] or default_port) == sender_port for host in same_hosts)


def _bare_name(name: str) -> str:
    """Return a host name as `urlsplit` gives it: `[::1]` -> `::1`."""
    return name.lower().strip("[]")
