"""An application that is made after the server has started, because that takes seconds."""

import asyncio
import logging
from collections.abc import Callable

import anyio.to_thread
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

log = logging.getLogger(__name__)


class LateApp:
    """Makes an application in another thread and passes requests on to it. Requests that come earlier wait.

    The application's lifespan is entered and left by one task, as its task groups require. `failure` is the error with
    which it failed; only another process can try again.
    """

    def __init__(self, make: Callable[[], FastAPI]) -> None:
        self._make = make
        self._ready: asyncio.Future[FastAPI] | None = None
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.failure: Exception | None = None

    def start(self) -> asyncio.Future[FastAPI]:
        """Start making the application, unless that has begun. Must be called in the server's event loop."""
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run(self._ready))
        return self._ready

    async def stop(self) -> None:
        """End the application's lifespan."""
        self._stopping.set()
        if self._task:
            await asyncio.wait([self._task])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = await asyncio.shield(self.start())
        await app(scope, receive, send)

    async def _run(self, ready: "asyncio.Future[FastAPI]") -> None:
        try:
            app = await anyio.to_thread.run_sync(self._make)
            async with app.router.lifespan_context(app):
                ready.set_result(app)
                await self._stopping.wait()
        except Exception as error:
            log.exception("the application failed")
            self.failure = error
            if not ready.done():
                ready.set_exception(error)
