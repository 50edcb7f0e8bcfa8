"""Imitate the Hugging Face Hub with real bare git repositories and Storage Buckets.

The double follows the Hub's documentation and the code of its clients, and imports nothing of the project under test. Each
module names its sources. Tests may set limits and delays as attributes; the defaults are those of the Hub.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from scripts.support.hub.buckets import serve_buckets
from scripts.support.hub.cas import serve_cas, serve_tokens
from scripts.support.hub.commits import serve_commits
from scripts.support.hub.faults import Fault as Fault
from scripts.support.hub.faults import cut_body, discard, rate_limited
from scripts.support.hub.git_http import serve_git
from scripts.support.hub.jobs import TOKEN as TOKEN
from scripts.support.hub.jobs import serve_jobs
from scripts.support.hub.lfs import serve_lfs, serve_storage
from scripts.support.hub.reading import serve_reading
from scripts.support.hub.refs import serve_refs
from scripts.support.hub.roles import token_of
from scripts.support.hub.server import build
from scripts.support.hub.spaces import serve_creation_and_spaces
from scripts.support.hub.state import HubState


class Hub(HubState):
    """The double as an ASGI application, with repositories under a folder and faults on demand."""

    def __init__(self, root: Path, clock: Callable[[], float] = time.time) -> None:
        super().__init__(root, clock)
        self.app = FastAPI(openapi_url=None)
        for kind in ("datasets", "spaces"):
            for serve in (serve_commits, serve_refs, serve_lfs, serve_git, serve_tokens):
                serve(self.app, self, kind)
        # The header of a README.md is always valid.
        self.app.post("/api/validate-yaml")(lambda: {"errors": [], "warnings": []})
        serve_reading(self.app, self, "datasets")
        serve_storage(self.app, self)
        serve_buckets(self.app, self)
        serve_cas(self.app, self)
        serve_creation_and_spaces(self.app, self)
        serve_jobs(self.app, self.jobs, self.pulls, self.runner)
        serve_reading(self.app, self, "spaces")
        self.app.mount("/", build(root))  # models

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request = f"{scope['method']} {scope['path']}"
        self.seen.append(request)
        fault = next((f for f in self.faults if f.takes(request)), None)
        receive, send = self._counting(receive, send, scope["method"] == "HEAD")
        if fault and fault.hang:
            await self.released.wait()
            return None
        if fault is None or fault.cut:
            return await self._serve(scope, receive, cut_body(send) if fault else send)
        if fault.landed:
            await self._serve(scope, receive, discard)
        response: Response = JSONResponse({"error": "a fault on demand"}, fault.status, fault.headers)
        return await response(scope, receive, send)

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        name = {"X-Request-Id": f"Root=1-{len(self.seen):08x}"}
        over, headers = self.rates.headers(scope["path"], token_of(Request(scope)) or "")
        if over is not None:
            return await rate_limited(over, headers)(scope, receive, send)

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                given = [(k.lower().encode(), v.encode()) for k, v in {**name, **headers}.items()]
                message = {**message, "headers": [*given, *message["headers"]]}
            await send(message)

        return await self.app(scope, receive, send_with_headers)

    def _counting(self, receive: Any, send: Any, head: bool) -> tuple[Any, Any]:
        async def received() -> Any:
            message = await receive()
            self.received += len(message.get("body", b""))
            return message

        async def sent(message: Any) -> None:
            self.sent += 0 if head else len(message.get("body", b""))
            await send(message)

        return received, sent
