"""Simulate the visitors of the board on a busy day, each from a different address, for `bench_board.py`."""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

import httpx

from leaderboard.data.columns import choice_keys, sort_keys

VISITORS = 200
DURATION = 60.0  # seconds
PAUSE = 2.0, 8.0  # seconds between two actions of a visitor, from and to
POLL_SECONDS = 3.0  # an open page looks for a new version at this interval
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
    """What all visitors together met."""

    times: list[float] = field(default_factory=list)  # milliseconds of each page
    errors: int = 0  # failed requests of pages, and of the versions that open pages ask for


def changed_table(rng: random.Random, benchmarks: Sequence[str]) -> str:
    """Return the address of a benchmark's table after one change: a search term, a sort order, a filter, or columns."""
    match rng.randrange(4):
        case 0:
            params = {"q": rng.choice(WORDS)}
        case 1:
            params = {"sort": rng.choice(sort_keys())}
        case 2:
            params = {"weights": rng.choice(["open", ""]), "size": rng.choice(["4-8", "0-2,2-4", ""])}
        case _:
            params = {"columns": ",".join(rng.sample(choice_keys(), 6))}
    return f"/{rng.choice(benchmarks)}?{urlencode(params)}"


async def timed_get(client: httpx.AsyncClient, address: str) -> float:
    """Request an address and return the milliseconds until its answer is complete. Raises httpx.HTTPError."""
    started = time.perf_counter()
    (await client.get(address)).raise_for_status()
    return 1000 * (time.perf_counter() - started)


def visit(address: str, benchmarks: Sequence[str]) -> Visits:
    """Simulate `VISITORS` simultaneous visitors for `DURATION` seconds."""
    return asyncio.run(_visit(address, benchmarks))


async def _visit(address: str, benchmarks: Sequence[str]) -> Visits:
    visits = Visits()
    # Created before the clock starts, because this takes as long as a page.
    browsers = [httpx.AsyncClient(base_url=address, headers=from_visitor(n), timeout=30) for n in range(VISITORS)]
    until = time.monotonic() + DURATION

    async def browse(number: int, browser: httpx.AsyncClient) -> None:
        rng = random.Random(number)
        async with browser as client:
            await asyncio.sleep(rng.uniform(0, PAUSE[1]))  # visitors do not all arrive at the same moment
            polling = asyncio.create_task(poll(client))
            page = "/en/"
            while time.monotonic() < until:
                try:
                    visits.times.append(await timed_get(client, page))
                except httpx.HTTPError:
                    visits.errors += 1
                page = changed_table(rng, benchmarks)
                await asyncio.sleep(rng.uniform(*PAUSE))
            polling.cancel()

    async def poll(client: httpx.AsyncClient) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                (await client.get("/version")).raise_for_status()
            except httpx.HTTPError:
                visits.errors += 1

    await asyncio.gather(*(browse(number, browser) for number, browser in enumerate(browsers)))
    return visits


def from_visitor(number: int) -> dict[str, str]:
    """Return request headers that give a visitor an address."""
    return {"X-Forwarded-For": f"10.0.{number // 250}.{number % 250 + 1}", "Accept-Encoding": "gzip"}
