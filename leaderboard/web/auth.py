"""Identify visitors and limit how often they check and submit models."""

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
from submissions.queue.quota import Submitter

SUBMIT_RATE = "20/minute"  # checks and submissions per network and per user

CHECKS_AT_ONCE = 2  # by the form, and by programs: a check reads some megabytes from the Hub into the board's memory
OAUTH_PREFIX = "hf_oauth_"  # prefix of tokens that were issued to other sites
USER_AUTH_TYPE = "access_token"  # `auth.type` of tokens that users created themselves

ANYONE = Submitter("visitor", authenticated=False)  # without sign-in, all visitors count as one submitter


class Client(Protocol):
    """The other end of a connection."""

    @property
    def host(self) -> str: ...


class Visitors:
    """Identifies the submitter of a request and counts requests against the rate limit."""

    def __init__(self, auth: Literal["off", "oauth"]) -> None:
        self._auth = auth
        self._limit = RateLimit(SUBMIT_RATE)
        self._turns = WeakValueDictionary[str, anyio.Lock]()  # by network, while one of its checks waits or runs
        self._programs = WeakValueDictionary[str, Lock]()  # the same for calls of Gradio's API, which run in threads

    @property
    def sign_in(self) -> bool:
        """Whether visitors must sign in before they submit."""
        return self._auth == "oauth"

    def submitter(self, claims: Mapping[str, Any] | None) -> Submitter | None:
        """Return the submitter of a signed session, or None if the visitor must sign in first. Forms are not trusted.

        `claims` are the Hub's OpenID Connect userinfo in the session.
        """
        if not self.sign_in:
            return ANYONE
        if claims is None:
            return None
        # Not `name`: an organisation can choose its display name freely.
        return Submitter(str(claims["preferred_username"]), _names(claims.get("orgs"), "preferred_username"))

    def bearer(self, token: str | None) -> Submitter | None:
        """Return the Hub user of an access token, or None if there is no token or the Hub does not accept it."""
        if not token or token.startswith(OAUTH_PREFIX):
            return None
        try:
            who: Mapping[str, Any] = HfApi(token=token).whoami()
        except HTTPError:
            return None
        kind = who.get("auth", {}).get("type", USER_AUTH_TYPE)  # tokens issued to other sites are refused
        if who.get("type") != "user" or kind != USER_AUTH_TYPE:
            return None
        return Submitter(str(who["name"]), _names(who.get("orgs"), "name"))

    def turn(self, client: Client | None) -> anyio.Lock:
        """Return what a check of the form waits for, until no other check of its network runs."""
        network = network_of(client.host) if client else ""
        return self._turns.setdefault(network, anyio.Lock())

    @contextmanager
    def program_turn(self, client: Client | None) -> Iterator[bool]:
        """Yield whether a program may submit now: not while another submission of its network runs."""
        network = network_of(client.host) if client else ""
        lock = self._programs.setdefault(network, Lock())
        free = lock.acquire(blocking=False)
        try:
            yield free
        finally:
            if free:
                lock.release()

    def within_rate_limit(self, client: Client | None, submitter: Submitter | None) -> bool:
        """Count one request of this visitor and return whether the rate limit allows it."""
        who = [f"address {network_of(client.host)}"] if client else []
        who += [f"user {submitter.name}"] if submitter and submitter.authenticated else []
        return self._limit.allows(*who)


def _names(organisations: Any, field: str) -> frozenset[str]:
    """Return the usernames of organisations, which are also the owners in model IDs."""
    known = organisations if isinstance(organisations, list) else []
    names = {org.get(field) for org in known if isinstance(org, dict)}
    return frozenset(name for name in names if isinstance(name, str))
