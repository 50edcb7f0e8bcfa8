"""Limit how long the Hub library's HTTP client waits. By default it waits forever.

Importing this module sets the client of the whole process, also for calls of `huggingface_hub.HfApi`. Only `hub.py` imports
it, so a process without a store on the Hub keeps the library's own client. Weights take longer than RESPONSE_SECONDS, so a
separate process downloads them (`evaluator/worker/model_download.py`), which does not import this module.
"""

import time
from collections.abc import Iterator

import httpx2
from huggingface_hub import set_client_factory
from huggingface_hub.utils._http import default_client_factory

TIMEOUT = 30.0  # seconds to connect, or without sending or receiving a byte
RESPONSE_SECONDS = 60.0  # for the whole body of a response, because TIMEOUT starts again with every byte


def client() -> httpx2.Client:
    """Return the Hub library's HTTP client with time limits."""
    limited = default_client_factory()
    limited.timeout = httpx2.Timeout(TIMEOUT)
    limited.event_hooks["response"].append(_bound_time)
    return limited


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
