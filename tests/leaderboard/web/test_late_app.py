"""Test the application that is made after the server has started."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Event

import httpx
import pytest
from fastapi import FastAPI

from leaderboard.web.late_app import LateApp


def test_early_requests_wait_and_the_lifespan_is_left() -> None:
    may_be_made = Event()
    events = list[str]()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        events.append("entered")
        yield
        events.append("left")

    def make() -> FastAPI:
        may_be_made.wait(30)
        app = FastAPI(lifespan=lifespan)
        app.add_api_route("/x", lambda: "answer")
        return app

    async def run() -> None:
        late = LateApp(make)
        late.start()
        async with httpx.AsyncClient(transport=httpx.ASGITransport(late), base_url="http://x") as client:
            early = asyncio.create_task(client.get("/x"))
            cancelled = asyncio.create_task(client.get("/x"))
            await asyncio.sleep(0)
            cancelled.cancel()
            assert not early.done() and events == []
            may_be_made.set()
            assert (await early).json() == "answer" and (await client.get("/x")).status_code == 200
        assert events == ["entered"]
        await late.stop()
        assert events == ["entered", "left"]

    asyncio.run(run())


def test_failure_to_make_it_reaches_the_requests() -> None:
    def make() -> FastAPI:
        raise RuntimeError("no Gradio")

    async def run() -> None:
        late = LateApp(make)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(late), base_url="http://x") as client:
            for _ in range(2):
                with pytest.raises(RuntimeError, match="no Gradio"):
                    await client.get("/x")

    asyncio.run(run())
