"""Several servers with the same model: each question goes to one that is free, and none to one that has just failed."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import openai

LONGEST_REST = 60.0  # seconds that a server which fails again and again is left alone
REFUSED = (401, 402, 403, 404)  # not tried again with one server; with several, another one is asked and this one rests
FIRST_LIMIT = 4  # requests under way to begin with


class InvalidCompletionError(Exception):
    """The server's reply is no chat completion."""


class ServerLoad:
    """Limits the requests under way to one server: after a round of successes one more is allowed, after a failure half as
    many. A server that is down rests for longer and longer, up to LONGEST_REST."""

    def __init__(self, most: int) -> None:
        self.under_way = 0
        self.rests_until = 0.0
        self._most = most
        self._limit = float(min(FIRST_LIMIT, most))
        self._failures = 0  # in a row

    @property
    def room(self) -> int:
        return int(self._limit) - self.under_way

    def slow_down(self, *, rest: bool) -> None:
        now = time.monotonic()
        if rest and now < self.rests_until:
            return  # of the requests that one outage ends, the first counts
        self._limit = max(1.0, self._limit / 2)
        if rest:
            self._failures += 1
            self.rests_until = now + min(LONGEST_REST, 2.0 ** min(self._failures, 10))

    def speed_up(self) -> None:
        self._limit = min(float(self._most), self._limit + 1 / self._limit)
        self._failures, self.rests_until = 0, 0.0


class ServerPool:
    """The clients of one model and their servers' load. Used by one event loop."""

    def __init__(self, clients: Sequence[openai.AsyncOpenAI], loads: Sequence[ServerLoad]) -> None:
        self._servers = list(zip(loads, clients, strict=True))
        self._changed = asyncio.Condition()
        for load in loads:
            load.under_way = 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[openai.AsyncOpenAI]:
        """The least busy server that takes another request now. A retryable error raised in the `with` block slows the
        server down, leaving it without one speeds it up, and any other error changes nothing."""
        async with self._changed:
            while (found := self._next()) is None:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), self._until_one_wakes())
            load, client = found
            load.under_way += 1
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
                load.under_way -= 1
                self._changed.notify_all()

    def is_retryable(self, error: BaseException) -> bool:
        """Whether another try may fare better: with several servers also where one refuses, for another may not."""
        refused = isinstance(error, openai.APIStatusError) and error.status_code in REFUSED
        return is_retryable(error) or (refused and len(self._servers) > 1)

    def _next(self) -> tuple[ServerLoad, openai.AsyncOpenAI] | None:
        """The least busy server with room, None where all are full. Resting ones are passed over unless all rest."""
        now = time.monotonic()
        awake = [server for server in self._servers if server[0].rests_until <= now] or self._servers
        free = (server for server in awake if server[0].room > 0)
        return max(free, key=lambda server: server[0].room, default=None)

    def _until_one_wakes(self) -> float | None:
        now = time.monotonic()
        return min((load.rests_until - now for load, _ in self._servers if load.rests_until > now), default=None)


def is_retryable(error: BaseException) -> bool:
    """Whether another try may fare better."""
    if isinstance(error, openai.APIStatusError):
        return not is_quota(error) and (error.status_code in (408, 409, 425, 429) or error.status_code >= 500)
    return isinstance(
        error,
        (openai.APIConnectionError, openai.APIResponseValidationError, InvalidCompletionError, json.JSONDecodeError),
    )


def is_quota(error: openai.APIStatusError) -> bool:
    """Whether a 429 means that the account is out of credit, so that waiting does not help."""
    return error.status_code == 429 and "insufficient_quota" in (error.code, error.type)


def _is_down(error: Exception) -> bool:
    """Whether the server itself is out of order, rather than busy."""
    return not isinstance(error, openai.APIStatusError) or error.status_code >= 500 or error.status_code in REFUSED
