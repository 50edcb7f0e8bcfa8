"""Serve a board in the process of the tests."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from leaderboard.web.application import build_app
from scripts.support.hub.server import serve
from submissions.config.settings import Settings


@contextmanager
def served_board(settings: Settings) -> Iterator[str]:
    """Serve a board while the context lasts, and yield its address once it has imported Gradio.

    Before each step of a test, pytest iterates over all loggers, which fails if an import in another thread adds some.
    """
    with serve(build_app(settings)) as address:
        httpx.get(f"{address}/config", timeout=60).raise_for_status()
        yield address
