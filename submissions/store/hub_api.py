"""Use the Hub's client with time limits, and with a token that may change while the program runs: it is read from a file."""

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
from huggingface_hub import HfApi, constants, set_client_factory
from huggingface_hub.utils._http import default_client_factory

from submissions.config.settings import is_token
from submissions.texts.errors import StoreError

TokenReader = Callable[[], str | None]
TIMEOUT = 30.0  # seconds without receiving a byte
RESPONSE_SECONDS = 60.0  # for the whole body of a response


def no_token() -> None:
    """Return no token, for requests without authentication."""


class HubApi(HfApi):
    """A Hub client that reads its token again before each request."""

    def __init__(self, read_token: TokenReader) -> None:
        self.read_token = read_token
        super().__init__(endpoint=os.environ.get("HF_ENDPOINT") or constants.ENDPOINT)

    @property
    def token(self) -> Any:
        """The current token. Raises StoreError if no header may have it: the HTTP client would quote it in its error."""
        token = self.read_token()
        if token and not is_token(token):
            raise StoreError("the Hub's token has characters that no token has")
        return token or False  # False: do not use the token that `hf auth login` saved either

    @token.setter
    def token(self, _: Any) -> None:
        """Ignore the token that the constructor of HfApi sets."""


def client() -> httpx2.Client:
    """Return the Hub library's HTTP client with time limits; by default it waits forever.

    It serves all calls of this process, also those of `huggingface_hub.HfApi`. Weights are downloaded by a process of their
    own (`evaluator/worker/model_download.py`), because they take longer than RESPONSE_SECONDS.
    """
    own = default_client_factory()
    own.timeout = httpx2.Timeout(TIMEOUT)
    hooks = own.event_hooks
    own.event_hooks = {**hooks, "response": [*hooks["response"], _bound_time]}
    return own


def _bound_time(response: httpx2.Response) -> None:
    """Limit the time for a response's body to RESPONSE_SECONDS in total."""
    assert isinstance(response.stream, httpx2.SyncByteStream)
    response.stream = _TimedStream(response.stream, time.monotonic() + RESPONSE_SECONDS)


class _TimedStream(httpx2.SyncByteStream):
    """A response body that raises ReadTimeout after a point of time, even if the server keeps sending."""

    def __init__(self, stream: httpx2.SyncByteStream, until: float) -> None:
        """Wrap a stream. `until` is a time of the monotonic clock."""
        self._stream = stream
        self._until = until

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            if time.monotonic() > self._until:
                raise httpx2.ReadTimeout(f"the response took more than {RESPONSE_SECONDS:g} s")
            yield chunk

    def close(self) -> None:
        self._stream.close()


set_client_factory(client)
