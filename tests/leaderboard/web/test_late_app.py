"""Test the application that is made after the server has started."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from threading import Event
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI

from leaderboard.web.application import _gradio_app
from leaderboard.web.auth import Visitors
from leaderboard.web.late_app import LateApp
from scripts.support.serving import python


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


def test_stop_does_not_wait_until_it_is_made() -> None:
    """Importing Gradio takes long on a busy machine, and the worker is stopped only afterwards."""
    begun = Event()
    may_be_made = Event()

    def make() -> FastAPI:
        begun.set()
        may_be_made.wait(30)
        return FastAPI()

    async def run() -> None:
        late = LateApp(make)
        late.start()
        await asyncio.to_thread(begun.wait)
        async with asyncio.timeout(10):
            await late.stop()

    try:
        asyncio.run(run())
    finally:
        may_be_made.set()


@asynccontextmanager
async def failing_lifespan(_: FastAPI) -> AsyncIterator[None]:
    raise RuntimeError("no Gradio")
    yield


def fail() -> FastAPI:
    raise RuntimeError("no Gradio")


@pytest.mark.parametrize("make", [fail, lambda: FastAPI(lifespan=failing_lifespan)])
def test_failure_to_make_it_reaches_the_requests(make: Callable[[], FastAPI]) -> None:

    async def run() -> None:
        late = LateApp(make)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(late), base_url="http://x") as client:
            for _ in range(2):
                with pytest.raises(RuntimeError, match="no Gradio"):
                    await client.get("/x")
        assert str(late.failure) == "no Gradio"

    asyncio.run(run())


# A finalizer lets this thread parse while Gradio, in the other one, parses its own source code.
PARSE_DURING_IMPORT = """
import ast, threading, time
from leaderboard.web import application

class Garbage:
    def __init__(self): self.me = self
    def __del__(self): time.sleep(0.0001)

def parse():
    while not made.is_set():
        garbage = [Garbage() for _ in range(5)]
        try: ast.parse("x = [1, 2, (3, 4)]; " * 50)
        except SystemError: pass
        time.sleep(0.001)

made = threading.Event()
threading.Thread(target=parse, daemon=True).start()
try: print(type(application._gradio_app(None, None, None)).__name__)
finally: made.set()
"""


@pytest.mark.slow
@pytest.mark.integration
def test_gradio_is_imported_while_another_thread_parses() -> None:
    done = python("-c", PARSE_DURING_IMPORT)
    assert done.stdout == "FastAPI\n", done.stderr


@pytest.mark.integration
def test_gradio_applications_are_made_one_after_the_other() -> None:
    """Gradio nests blocks into those that another thread is making."""
    with ThreadPoolExecutor() as pool:
        made = [pool.submit(_gradio_app, cast(Any, None), cast(Any, None), Visitors("off")) for _ in range(4)]
    assert [type(application.result()) for application in made] == [FastAPI] * 4
