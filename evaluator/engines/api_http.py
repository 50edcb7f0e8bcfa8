"""The HTTP client of the API engine: bounded responses, no redirects, streamed completions.

A remote server is not trusted. Compressed bodies are not accepted, because a few megabytes can expand to gigabytes.
Redirects are not followed, because they would send the question and its image to another host.
"""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import Choice

MAX_RESPONSE_BYTES = 32 * 2**20
CONNECT_SECONDS = 15.0
STALL_SECONDS = 300.0  # without a byte, before the first token or between two tokens


class BoundedTransport(httpx2.AsyncHTTPTransport):
    """A transport that accepts only uncompressed responses of at most MAX_RESPONSE_BYTES."""

    def __init__(self, *, anonymous: bool) -> None:
        """Create the transport. If `anonymous`, requests are sent without an Authorization header."""
        super().__init__()
        self._anonymous = anonymous

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self._anonymous:
            request.headers.pop("Authorization", None)
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(request)
        encoding = response.headers.get("Content-Encoding", "identity")
        if encoding.lower() not in ("", "identity"):
            await response.aclose()
            raise httpx2.ReadError(f"the response is encoded as {encoding[:20]}, which was not requested")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(response.stream)
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > MAX_RESPONSE_BYTES:
                raise httpx2.ReadError(f"the response has more than {MAX_RESPONSE_BYTES:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def time_limits(seconds: float, *, streams: bool) -> httpx2.Timeout:
    """Return the timeouts of a request that may take `seconds`.

    If it streams, the read timeout is at most STALL_SECONDS, since it applies between two chunks.
    """
    return httpx2.Timeout(min(STALL_SECONDS, seconds) if streams else seconds, connect=min(CONNECT_SECONDS, seconds))


def make_client(base_url: str, key: str | None) -> openai.AsyncOpenAI:
    """Return a client for one server. It does not retry, and without a key it sends no Authorization header."""
    client = openai.AsyncOpenAI(
        base_url=base_url,
        api_key=key or "none",  # the client requires a value
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=BoundedTransport(anonymous=not key), follow_redirects=False),
    )
    # The client takes these from OPENAI_ORG_ID and OPENAI_PROJECT_ID, and would send them to any server.
    client.organization = None
    client.project = None
    return client


def _fields(choice: Choice) -> dict[str, object]:
    """Return the fields of a chunk's message. The client does not check that the server sent one."""
    try:
        return choice.delta.to_dict()
    except AttributeError:
        return {}


async def collect(stream: openai.AsyncStream[ChatCompletionChunk]) -> ChatCompletion:
    """Assemble the chunks of a stream into one completion.

    All text fields of the message are concatenated by name, because servers put reasoning into various ones
    (`reasoning_content`, `reasoning`). A chunk without a message, as some servers send it at the end, adds no text. The
    completion has a choice if a chunk has one, even if its text is empty.
    """
    completion: dict[str, Any] = {"id": "", "created": 0, "model": "", "object": "chat.completion", "choices": []}
    parts: dict[str, list[str]] = {"content": []}  # by text field of the message
    has_choice = False
    finish = None
    async for chunk in stream:
        if not isinstance(chunk.choices, list | None):
            continue
        for name in ("model", "system_fingerprint", "usage"):
            completion[name] = getattr(chunk, name, None) or completion.get(name)
        for choice in chunk.choices or ():
            if choice.index:  # only the first choice is used
                continue
            has_choice = True
            finish = choice.finish_reason or finish
            for name, value in _fields(choice).items():
                if isinstance(value, str) and name != "role":
                    parts.setdefault(name, []).append(value)
    if has_choice:
        texts = {name: "".join(pieces) for name, pieces in parts.items()}
        completion["choices"] = [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **texts}}]
    return ChatCompletion.construct(**completion)
