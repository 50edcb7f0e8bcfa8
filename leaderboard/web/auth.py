"""Identify visitors and limit how often they check and submit models.

The form (`submit_routes.py`) and Gradio's API (`gradio_api.py`) share one `Visitors`. A visitor is identified by the signed
session of "Sign in with Hugging Face", a program by the access token that it sends. The quota of a submitter is checked
later, by `submissions/queue/quota.py`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any, Literal, Protocol
from weakref import WeakValueDictionary

import anyio
from httpx2 import HTTPError
from huggingface_hub import HfApi

from leaderboard.web.network import network_of
from leaderboard.web.security import RateLimit
from submissions.config.settings import is_token
from submissions.queue.quota import Submitter

SUBMIT_RATE = "20/minute"  # checks and submissions per network and per user

# So many checks of the form run at the same time (`submit_routes.py`), and so many of programs (`gradio_api.py`), because each
# reads some megabytes from the Hub into memory.
CHECKS_AT_ONCE = 2
OAUTH_PREFIX = "hf_oauth_"  # prefix of tokens that were issued to other sites
USER_AUTH_TYPE = "access_token"  # `auth.type` in the answer of whoami, of tokens that users created themselves

ANYONE = Submitter("visitor", authenticated=False)  # without sign-in, all visitors count as one submitter


class Client(Protocol):
    """The other end of a connection, as Starlette and Gradio describe it. `host` is its IP address."""

    @property
    def host(self) -> str: ...


class Visitors:
    """Identifies the submitter of a request, and limits the rate of requests and how many checks a network runs at a time.

    A network runs one check of the form and one submission of a program. The form waits for its turn. A program is refused,
    because a call that waits would occupy one of the CHECKS_AT_ONCE slots of all networks.
    """

    def __init__(self, auth: Literal["off", "oauth"]) -> None:
        self._auth = auth
        self._limit = RateLimit(SUBMIT_RATE)
        # Locks by network, each kept while it is in use. The form runs in the event loop, calls of programs run in threads.
        self._form_locks = WeakValueDictionary[str, anyio.Lock]()
        self._program_locks = WeakValueDictionary[str, Lock]()
        self._adding_program_lock = Lock()  # else two threads could each add one for the same network

    @property
    def sign_in(self) -> bool:
        """Whether visitors must sign in before they submit."""
        return self._auth == "oauth"

    def submitter(self, claims: Mapping[str, Any] | None) -> Submitter | None:
        """Return the submitter of a signed session, or None if the visitor must sign in first.

        `claims` are the Hub's OpenID Connect userinfo in the session; None if nobody is signed in.
        """
        if not self.sign_in:
            return ANYONE
        if claims is None:
            return None
        # Not `name`: an organisation can choose its display name freely.
        return Submitter(str(claims["preferred_username"]), _names(claims.get("orgs"), "preferred_username"))

    def submitter_of_token(self, token: str | None) -> Submitter | None:
        """Return the Hub user of an access token, or None if there is no token or the Hub does not accept it.

        Tokens that were issued to other sites are refused: with one, such a site could submit as its visitor.
        """
        if not token or not is_token(token) or token.startswith(OAUTH_PREFIX):
            return None
        try:
            who: Mapping[str, Any] = HfApi(token=token).whoami()
        except HTTPError:
            return None
        token_type = who.get("auth", {}).get("type", USER_AUTH_TYPE)
        if who.get("type") != "user" or token_type != USER_AUTH_TYPE:
            return None
        return Submitter(str(who["name"]), _names(who.get("orgs"), "name"))

    def form_lock(self, client: Client | None) -> anyio.Lock:
        """Return the lock that a check of the form holds, so that the checks of one network run one after the other."""
        network = network_of(client.host) if client else ""
        return self._form_locks.setdefault(network, anyio.Lock())

    @contextmanager
    def program_slot(self, client: Client | None) -> Iterator[bool]:
        """Yield whether a program may submit now: False while another submission of its network runs."""
        network = network_of(client.host) if client else ""
        with self._adding_program_lock:
            lock = self._program_locks.setdefault(network, Lock())
        is_free = lock.acquire(blocking=False)
        try:
            yield is_free
        finally:
            if is_free:
                lock.release()

    def within_rate_limit(self, client: Client | None, submitter: Submitter | None) -> bool:
        """Count one request of this visitor, by network and by user, and return whether the rate limit allows it."""
        counted: list[str] = []
        if client:
            counted.append(f"address {network_of(client.host)}")
        if submitter and submitter.authenticated:
            counted.append(f"user {submitter.name}")
        return self._limit.allows(*counted)


def _names(organisations: Any, field: str) -> frozenset[str]:
    """Return the usernames of organisations, which are also the owners in model IDs: [{"name": "org"}] -> {"org"}.

    `field` is the field of a username: "preferred_username" in a session, "name" in the answer of whoami.
    """
    listed = organisations if isinstance(organisations, list) else []
    names = {org.get(field) for org in listed if isinstance(org, dict)}
    return frozenset(name for name in names if isinstance(name, str))
