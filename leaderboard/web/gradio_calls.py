"""Answer calls of Gradio's endpoints that Gradio cannot answer: with one sentence and a status between 400 and 499.

Gradio expects that a call comes from a client that has read the endpoints' description. An endpoint or a parameter that does
not exist raises an exception in Gradio, which a program sees as status 500, and an unknown event breaks its stream off.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CALL = re.compile(r"/gradio_api/call/(?P<v2>v2/)?(?P<name>\w+)/?")  # a call over plain HTTP
JOIN = re.compile(r"/gradio_api/queue/join/?")  # the call of gradio_client, which names the endpoint by its number
EVENTS = re.compile(r"/gradio_api/(call/\w+/\w+|queue/data)/?")  # the stream of events with the answer to a call


class Parameter(NamedTuple):
    """A parameter of an endpoint."""

    name: str
    required: bool


class Endpoint(NamedTuple):
    """An endpoint: the number that Gradio gave it, and its parameters in their order."""

    name: str
    number: int
    parameters: Sequence[Parameter]

    @property
    def usage(self) -> str:
        """Return which values the endpoint takes: `"result takes one value: key"`."""
        names = ", ".join(parameter.name for parameter in self.parameters)
        if not names:
            return f"{self.name} takes no values"
        count = "one value" if len(self.parameters) == 1 else f"{len(self.parameters)} values"
        return f"{self.name} takes {count}: {names}"


class CallChecks:
    """Refuses calls of Gradio's endpoints that name something unknown, and passes all others on to Gradio."""

    def __init__(self, app: ASGIApp, endpoints: Iterable[Endpoint]) -> None:
        self._app = app
        endpoints = list(endpoints)
        self._endpoints = {endpoint.name: endpoint for endpoint in endpoints}
        self._numbers = [endpoint.number for endpoint in endpoints]  # a list: what a caller sends may not be hashable

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        try:
            if scope["method"] == "POST":
                receive = await self._checked_body(scope, receive)
        except ClientDisconnect:  # nobody is left to answer
            return None
        except HTTPException as error:  # also that of `SecurityMiddleware` for a body that is too large or too slow
            refusal = JSONResponse({"detail": error.detail}, error.status_code)
            return await refusal(scope, receive, send)
        if EVENTS.fullmatch(scope["path"]):
            await self._pass_events_on(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _checked_body(self, scope: Scope, receive: Receive) -> Receive:
        """Check a call, and return a `receive` with its body. Raises HTTPException if Gradio cannot answer the call."""
        call = CALL.fullmatch(scope["path"])
        if not call and not JOIN.fullmatch(scope["path"]):
            return receive
        content = await Request(scope, receive).body()
        fields = _json_object(content)
        if call:
            endpoint = self._endpoints.get(call["name"])
            if endpoint is None:
                raise HTTPException(404, f"no such endpoint; available: {', '.join(self._endpoints)}")
            # Only /v2 names the values. `gradio_api.py` checks the list of values in all other calls.
            if call["v2"] and fields is not None:
                _check_parameters(endpoint, fields)
        elif fields is not None and fields.get("fn_index") not in self._numbers:
            raise HTTPException(404, "no such endpoint: /config has the numbers for fn_index")
        return _again(content, receive)

    async def _pass_events_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a stream of events, and end it if there is no such event.

        Gradio then sends an error as the only event, and raises an exception instead of ending the stream.
        """
        try:
            await self._app(scope, receive, send)
        except RuntimeError as error:
            # Starlette raises it for an HTTPException that it cannot send, because the response has started.
            if not isinstance(error.__cause__, HTTPException):
                raise
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _json_object(content: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a body, or None if it is something else, which Gradio answers with status 400 or 422."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _check_parameters(endpoint: Endpoint, given: Mapping[str, Any]) -> None:
    """Raise HTTPException unless the given values have the names of parameters, and no required one is missing."""
    names = [parameter.name for parameter in endpoint.parameters]
    # Gradio reads oauth_token itself.
    if unknown := [name for name in given if name not in (*names, "oauth_token")]:
        raise HTTPException(422, f"unknown parameter {unknown[0][:50]!r}; {endpoint.usage}")
    required = [parameter.name for parameter in endpoint.parameters if parameter.required]
    if missing := [name for name in required if name not in given]:
        raise HTTPException(422, f"{missing[0]} is missing; {endpoint.usage}")


def _again(content: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that was read already, and then what follows it."""
    messages: list[Message] = [{"type": "http.request", "body": content, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again
