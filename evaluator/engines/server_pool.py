"""Several servers with the same model: each question goes to one that is free, and none to one that has just failed."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import openai

LONGEST_REST = 60.0  # seconds that a server which fails again and again is left alone
FIRST_LIMIT = 4  # requests under way to begin with


class InvalidCompletionError(Exception):
    """The server's reply is no chat completion."""


class ServerPool:
    """The clients of one model. Used by one event loop."""

    def __init__(self, clients: Sequence[openai.AsyncOpenAI], most: int) -> None:
        """`most` requests are under way at each."""
        self._servers = [_Server(client, most) for client in clients]
        self._free = asyncio.Condition()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[openai.AsyncOpenAI]:
        """A server that takes another request now, the least busy. What is raised within tells how it does."""
        async with self._free:
            await self._free.wait_for(lambda: self._next() is not None)
            server = self._next()
            assert server
            server.under_way += 1
        try:
            yield server.client
        except Exception as error:
            if is_retryable(error):
                server.slow_down(rest=len(self._servers) > 1 and _is_down(error))
            raise
        else:
            server.speed_up()
        finally:
            async with self._free:
                server.under_way -= 1
                self._free.notify_all()

    def _next(self) -> "_Server | None":
        """None where every server has as many requests as it keeps up with. Where all rest, none does."""
        now = time.monotonic()
        awake = [server for server in self._servers if server.rests_until <= now] or self._servers
        return max((server for server in awake if server.room > 0), key=lambda server: server.room, default=None)


class _Server:
    """How many requests are under way: one more each round that goes well, half as many after one that does not."""

    def __init__(self, client: openai.AsyncOpenAI, most: int) -> None:
        self.client = client
        self.under_way = 0
        self.rests_until = 0.0
        self._most = most
        self._limit = float(min(FIRST_LIMIT, most))
        self._failures = 0  # in a row

    @property
    def room(self) -> int:
        return int(self._limit) - self.under_way

    def slow_down(self, *, rest: bool) -> None:
        self._limit = max(1.0, self._limit / 2)
        if rest:
            self._failures += 1
            self.rests_until = time.monotonic() + min(LONGEST_REST, 2.0**self._failures)

    def speed_up(self) -> None:
        self._limit = min(float(self._most), self._limit + 1 / self._limit)
        self._failures, self.rests_until = 0, 0.0


def is_retryable(error: BaseException) -> bool:
    """Whether another try may fare better."""
    if isinstance(error, openai.APIStatusError):
        return not is_quota(error) and (error.status_code in (408, 409, 425, 429) or error.status_code >= 500)
    return isinstance(
        error,
        (openai.APIConnectionError, openai.APIResponseValidationError, InvalidCompletionError, json.JSONDecodeError),
    )


def is_quota(error: openai.APIStatusError) -> bool:
    """Whether a refusal of one request too many means that none will be taken before money comes."""
    return error.status_code == 429 and "insufficient_quota" in (error.code, error.type)


def _is_down(error: Exception) -> bool:
    """Whether the server itself is out of order, rather than busy."""
    return not isinstance(error, openai.APIStatusError) or error.status_code >= 500
