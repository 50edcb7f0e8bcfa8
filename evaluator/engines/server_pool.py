"""Distribute requests over several servers with the same model, avoiding servers that have just failed."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

import openai

MAX_REST_SECONDS = 60.0  # longest time for which a failing server gets no requests
# HTTP statuses of refusals. A single server is not asked again; with several, the one that refused rests and another is asked.
REFUSAL_STATUSES = (401, 402, 403, 404)
INITIAL_LIMIT = 4  # concurrent requests to a server at the start
RETRYABLE_STATUSES = (408, 409, 425, 429)  # timeout, conflict, too early, too many requests; also all of 500 and above


class InvalidCompletionError(Exception):
    """Raised if the server's response is not a chat completion."""


class ServerLoad:
    """Limits the concurrent requests to one server.

    The limit grows by one after a round of successes and is halved after a failure. A server that is down gets no
    requests for a time that doubles with each failure in a row, up to MAX_REST_SECONDS.
    """

    def __init__(self, max_requests: int) -> None:
        self.in_flight = 0
        self.rests_until = 0.0  # on the clock of time.monotonic
        self._max_requests = max_requests
        self._limit = float(min(INITIAL_LIMIT, max_requests))
        self._failures = 0  # in a row

    @property
    def room(self) -> int:
        """How many further requests may start now."""
        return int(self._limit) - self.in_flight

    def slow_down(self, *, rest: bool) -> None:
        """Halve the limit after a failure. If `rest`, send no requests for a while."""
        now = time.monotonic()
        if rest and now < self.rests_until:
            return  # an outage fails many requests at once; count only the first
        self._limit = max(1.0, self._limit / 2)
        if rest:
            self._failures += 1
            seconds = 2.0 ** min(self._failures, 10)  # the exponent is bounded, so that it never overflows
            self.rests_until = now + min(MAX_REST_SECONDS, seconds)

    def speed_up(self) -> None:
        """Raise the limit after a success, by so much that n successes raise a limit of n by about one. End a rest."""
        self._limit = min(float(self._max_requests), self._limit + 1 / self._limit)
        self._failures = 0
        self.rests_until = 0.0


class _PooledServer(NamedTuple):
    load: ServerLoad
    client: openai.AsyncOpenAI


class ServerPool:
    """The clients of all servers of one model, with their load. It is used by one event loop."""

    def __init__(self, clients: Sequence[openai.AsyncOpenAI], loads: Sequence[ServerLoad]) -> None:
        self._servers = [_PooledServer(load, client) for load, client in zip(loads, clients, strict=True)]
        self._changed = asyncio.Condition()
        # The engine keeps the loads between calls of `answer`, and each call makes a new pool, without requests so far.
        for load in loads:
            load.in_flight = 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[openai.AsyncOpenAI]:
        """Wait for a server that can take another request, and yield its client.

        A retryable error in the `with` block lowers the server's limit, success raises it, and any other error leaves
        it unchanged.
        """
        async with self._changed:
            while (server := self._next_server()) is None:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), self._seconds_to_next_wake_up())
            load, client = server
            load.in_flight += 1
        try:
            yield client
        except Exception as error:
            if self.is_retryable(error):
                load.slow_down(rest=len(self._servers) > 1 and _is_down(error))
            raise
        else:
            load.speed_up()
        finally:
            async with self._changed:
                load.in_flight -= 1
                self._changed.notify_all()

    def is_retryable(self, error: BaseException) -> bool:
        """Return whether another attempt may succeed.

        With several servers this includes refusals, because another server may accept the request.
        """
        refused = isinstance(error, openai.APIStatusError) and error.status_code in REFUSAL_STATUSES
        return is_retryable(error) or (refused and len(self._servers) > 1)

    def _next_server(self) -> _PooledServer | None:
        """Return the server with the most room, or None if all are full.

        Resting servers are skipped unless all of them rest.
        """
        now = time.monotonic()
        awake = [server for server in self._servers if server.load.rests_until <= now] or self._servers
        free = (server for server in awake if server.load.room > 0)
        return max(free, key=lambda server: server.load.room, default=None)

    def _seconds_to_next_wake_up(self) -> float | None:
        """Return the time until the first resting server may be asked again, or None if none rests."""
        now = time.monotonic()
        return min((s.load.rests_until - now for s in self._servers if s.load.rests_until > now), default=None)


def is_retryable(error: BaseException) -> bool:
    """Return whether another attempt at the same server may succeed. `ServerPool.is_retryable` also counts other servers."""
    if isinstance(error, openai.APIStatusError):
        return not is_quota(error) and (error.status_code in RETRYABLE_STATUSES or error.status_code >= 500)
    return isinstance(
        error,
        (openai.APIConnectionError, openai.APIResponseValidationError, InvalidCompletionError, json.JSONDecodeError),
    )


def is_quota(error: openai.APIStatusError) -> bool:
    """Return whether a 429 means that the account is out of credit, so that waiting does not help."""
    return error.status_code == 429 and "insufficient_quota" in (error.code, error.type)


def _is_down(error: Exception) -> bool:
    """Return whether an error means that the server is down or refuses requests, rather than being busy."""
    return (
        not isinstance(error, openai.APIStatusError)
        or error.status_code >= 500
        or error.status_code in REFUSAL_STATUSES
    )
