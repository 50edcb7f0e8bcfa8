"""Simulate the visitors of the board on a busy day, each from a different address."""

import asyncio
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from leaderboard.data.columns import choice_keys, default_keys, sort_keys
from leaderboard.data.query import ROWS_PER_PAGE

VISITORS = 200
DURATION = 60.0  # seconds
PAUSE = 2.0, 8.0  # seconds between two actions of a visitor, from and to
POLL_SECONDS = 2.0  # the page checks for a new version at this interval
API = "/gradio_api"
# Search terms, repeated often, as real visitors do.
WORDS = (
    "naver",
    "kakao",
    "ㄴㅇㅂ",
    "exaone",
    "vl",
    "model-77",
    "org:lg",
    "license:apache",
    "skt vl",
    "7b",
    "zzz",
    "owner-1",
)


@dataclass
class Visits:
    times: list[float] = field(default_factory=list)  # milliseconds of each event
    errors: int = 0


class Events:
    """Look up the events of a page in its Gradio config."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._ids = {c["props"].get("elem_id"): c["id"] for c in config["components"]}
        self._functions = config["dependencies"]

    def view_function(self, html: str) -> int:
        """Return the id of the function that redraws an HTML element when a field changes."""
        wanted = [self._ids[html]]
        drawing = (f for f in self._functions if f["outputs"] == wanted)
        return next(int(f["id"]) for f in drawing if any(on == "change" for _, on in f["targets"]))


def table_fields(rng: random.Random) -> list[Any]:
    """Return a benchmark's fields after one random change: a search term, a sort order, a filter, or columns."""
    fields: list[Any] = [None, "", "score", [], [], False, default_keys("ko-vqa"), ROWS_PER_PAGE, [], False]
    match rng.randrange(4):
        case 0:
            fields[1] = rng.choice(WORDS)
        case 1:
            fields[2] = rng.choice(sort_keys())
        case 2:
            fields[3], fields[4] = rng.choice([["open"], []]), rng.choice([["4-10"], ["0-4"], []])
        case 3:
            fields[6] = rng.sample(choice_keys(), 6)
    return fields


async def call(client: httpx.AsyncClient, function: int, data: Sequence[Any], session: str) -> float:
    """Call an event and return the milliseconds until its answer.

    Raises httpx.HTTPError if the request fails, and ValueError if the event fails or has no answer.
    """
    started = time.perf_counter()
    body = {"data": data, "fn_index": function, "session_hash": session}
    (await client.post(f"{API}/queue/join", json=body)).raise_for_status()
    async with client.stream("GET", f"{API}/queue/data", params={"session_hash": session}) as events:
        async for line in events.aiter_lines():
            if '"process_completed"' in line:
                took = 1000 * (time.perf_counter() - started)
                if not json.loads(line.removeprefix("data:"))["success"]:
                    raise ValueError(line)
                return took
    raise ValueError("the answer did not come")


def visit(address: str, benchmarks: Sequence[str]) -> Visits:
    """Simulate `VISITORS` simultaneous visitors for `DURATION` seconds."""
    return asyncio.run(_visit(address, benchmarks))


async def _visit(address: str, benchmarks: Sequence[str]) -> Visits:
    events = Events(httpx.get(f"{address}/config").json())
    functions = [events.view_function(f"board-{name}") for name in benchmarks]
    visits = Visits()
    # Created before the clock starts, because this takes as long as an event.
    browsers = [httpx.AsyncClient(base_url=address, headers=from_visitor(n), timeout=30) for n in range(VISITORS)]
    until = time.monotonic() + DURATION

    async def one(number: int, browser: httpx.AsyncClient) -> None:
        rng = random.Random(number)
        async with browser as client:
            await asyncio.sleep(rng.uniform(0, PAUSE[1]))  # visitors do not all arrive at the same moment
            await client.get("/")
            looking = asyncio.create_task(look(client))
            while time.monotonic() < until:
                try:
                    visits.times.append(await call(client, rng.choice(functions), table_fields(rng), f"v{number}"))
                except (httpx.HTTPError, ValueError):
                    visits.errors += 1
                await asyncio.sleep(rng.uniform(*PAUSE))
            looking.cancel()

    async def look(client: httpx.AsyncClient) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                (await client.get("/version")).raise_for_status()
            except httpx.HTTPError:
                visits.errors += 1

    await asyncio.gather(*(one(number, browser) for number, browser in enumerate(browsers)))
    return visits


def from_visitor(number: int) -> dict[str, str]:
    """Return request headers that give a visitor an address."""
    return {"X-Forwarded-For": f"10.0.{number // 250}.{number % 250 + 1}", "Accept-Encoding": "gzip"}
