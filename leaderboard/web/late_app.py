"""An application that is built after the server has started, because that takes seconds. The board uses it for Gradio."""

import asyncio
import logging
from collections.abc import Callable

import anyio.to_thread
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

log = logging.getLogger(__name__)


class LateApp:
    """Builds an application in another thread and passes requests on to it. Requests that come earlier wait.

    The application's lifespan is entered and left by one task, as its task groups require. `failure` is the error with
    which building or the lifespan failed; every request then raises it, because only another process can try again.
    """

    def __init__(self, build: Callable[[], FastAPI]) -> None:
        self._build = build
        self._ready: asyncio.Future[FastAPI] | None = None
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.failure: Exception | None = None

    def start(self) -> asyncio.Future[FastAPI]:
        """Start building the application, unless that has begun. Must be called in the server's event loop."""
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run(self._ready))
        return self._ready

    async def stop(self) -> None:
        """End the application's lifespan. If it is still being built, do not wait for that: its thread ends by itself."""
        self._stopping.set()
        if self._task and self._ready:
            if not self._ready.done():
                self._task.cancel()
            await asyncio.wait([self._task])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = await asyncio.shield(self.start())  # a client that goes away must not cancel the future of all others
        await app(scope, receive, send)

    async def _run(self, ready: "asyncio.Future[FastAPI]") -> None:
        """Build the application, and hold its lifespan open until `stop` is called."""
        try:
            app = await anyio.to_thread.run_sync(self._build, abandon_on_cancel=True)
            async with app.router.lifespan_context(app):
                ready.set_result(app)
                await self._stopping.wait()
        except Exception as error:
            log.exception("the application failed")
            self.failure = error
            if not ready.done():
                ready.set_exception(error)
