"""Board rows of `make bench`: the board with 10,000 models on every benchmark against a plain gr.Dataframe."""

import asyncio
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from statistics import quantiles
from threading import Thread
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from evaluator.benchmarks import BENCHMARKS
from leaderboard.views.texts import text
from scripts.big_store import big_store
from scripts.chromium import launch
from scripts.support.evaluated import evaluated
from scripts.support.records import request_numbered
from scripts.support.serving import Server, bare_environment, serving
from scripts.visits import DURATION, VISITORS, WORDS, Events, call, from_visitor, table_fields, visit
from submissions.config.paths import ROOT
from submissions.store.base import Store
from submissions.store.index import with_result

CONNECTIONS, PAGES = 4, 500  # simultaneous connections, and pages that each requests
CALLS = 200  # events, one after the other
NEW_RESULTS = 5  # results committed while the page is open
BENCHMARK = "ko-vqa"
# Wait until the page is idle, type a text into a field or click, and return the milliseconds until the HTML has changed and
# is painted.
_MEASURE_PAINT = """
async ([out, action, typed]) => {
  const html = document.querySelector(out);
  const change = within => new Promise(done => {
    const observer = new MutationObserver(() => { observer.disconnect(); done(true); });
    observer.observe(html, {childList: true, subtree: true, characterData: true});
    if (within) setTimeout(() => { observer.disconnect(); done(false); }, within);
  });
  while (await change(250)) {}
  const control = document.querySelector(action), started = performance.now(), changed = change();
  if (typed === null) control.click();
  else {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(control), 'value').set.call(control, typed);
    control.dispatchEvent(new Event('input', {bubbles: true}));
  }
  await changed;
  await new Promise(painted => requestAnimationFrame(() => setTimeout(painted)));
  return performance.now() - started;
}
"""


IMPORT = """
import time
started = time.perf_counter()
import app
with app.no_stub_files():
    import leaderboard.pages.application
print(time.perf_counter() - started)
"""


class Measured(NamedTuple):
    what: str
    ours: str
    plain: str
    target: str


def board_rows(folder: Path) -> Iterator[Measured]:
    store = big_store(folder)
    environment = {
        **bare_environment(),
        **{"HANNUN_STORE": store.url, "HANNUN_WORKER": "off", "HANNUN_AUTH": "off"},
        "FORWARDED_ALLOW_IPS": "127.0.0.1",  # each visitor has its own address
        "MALLOC_ARENA_MAX": "2",  # as in `make serve`
    }
    start = min(_started(environment) for _ in range(3)) - min(_imported() for _ in range(3))
    yield Measured("start-up, after imports", f"{start:.1f} s", "", "≤ 3 s")
    with serving(["app.py"], environment) as server:
        with serving(["-m", "scripts.plain_board", *_tables(server, folder)], environment) as plain:
            yield from _pages(server, plain)
            yield from _screens(server, plain, store)
            memory = _peak_mb(plain)
        yield from asyncio.run(_events(server, store))
        visits = visit(server.address, list(BENCHMARKS))
        crowd = f"{VISITORS} visitors for {DURATION:.0f} s: p95 of {len(visits.times):,} events"
        yield Measured(crowd, f"{_p95(visits.times):.0f} ms", "", "≤ 500 ms")
        yield Measured("  errors", str(visits.errors), "", "0")
        yield Measured("peak memory after all of this", f"{_peak_mb(server):.0f} MB", f"{memory:.0f} MB", "≤ 500 MB")


def _started(environment: dict[str, str]) -> float:
    """Return the seconds until a new server listens."""
    started = time.perf_counter()
    with serving(["app.py"], environment):
        return time.perf_counter() - started


def _imported() -> float:
    """Return the seconds that a new process takes to import the application."""
    done = subprocess.run([sys.executable, "-c", IMPORT], cwd=ROOT, capture_output=True, text=True, check=True)
    return float(done.stdout)


def _tables(server: Server, folder: Path) -> list[str]:
    """Download the boards as Parquet files named after the benchmarks, and return their paths."""
    for name in BENCHMARKS:
        (folder / f"{name}.parquet").write_bytes(
            httpx.get(f"{server.address}/boards/{name}.parquet", timeout=60).content
        )
    return [str(folder / f"{name}.parquet") for name in BENCHMARKS]


def _pages(server: Server, plain: Server) -> Iterator[Measured]:
    sizes, rates = [], []
    for address, each in ((server.address, PAGES), (plain.address, 2)):
        with httpx.stream("GET", address, headers={"Accept-Encoding": "gzip"}, timeout=60) as answer:
            sizes.append(len(b"".join(answer.iter_raw())))
        rates.append(_rate(address, each))
    yield Measured("page, gzipped", f"{sizes[0] / 1000:.0f} KB", f"{sizes[1] / 1000:,.0f} KB", "≤ 60 KB")
    yield Measured("pages a second", f"{rates[0]:,.0f}", f"{rates[1]:,.1f}", "≥ 300")


def _rate(address: str, each: int) -> float:
    def ask() -> None:
        connection = HTTPConnection(urlsplit(address).netloc)
        for _ in range(each):
            connection.request("GET", "/", headers={"Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200

    threads = [Thread(target=ask) for _ in range(CONNECTIONS)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return CONNECTIONS * each / (time.perf_counter() - started)


def _screens(server: Server, plain: Server, store: Store) -> Iterator[Measured]:
    html, search = f"#board-{BENCHMARK}", f"#search-{BENCHMARK} :is(input, textarea)"
    with sync_playwright() as playwright:
        browser = launch(playwright)
        address = f"{server.address}/?tab={BENCHMARK}"
        ours, theirs = (min(_first_rows(browser, a, html) for _ in range(3)) for a in (address, plain.address))
        yield Measured("first rows in Chromium", f"{ours:.1f} s", f"{theirs:.1f} s", "≤ 1.5 s")
        with _page(browser, plain.address, html) as page:
            theirs = _p95([_time_to_paint(page, html, search, word) for word in WORDS])
        with _page(browser, address, html) as page:
            page.wait_for_function("window.hannunReady")
            times = [_time_to_paint(page, html, search, word) for word in (*WORDS, "")]
            yield Measured("search to the screen, p95", f"{_p95(times):.0f} ms", f"{theirs:,.0f} ms", "≤ 300 ms")
            page.get_by_text(text("filters", "ko"), exact=True).locator("visible=true").click()
            page.wait_for_selector(f"#columns-{BENCHMARK} input")
            actions = [f"{html} [data-sort={order}]" for order in ("latency", "f1", "name", "em")]
            actions += [f"#verified-{BENCHMARK} input", f"#columns-{BENCHMARK} label:nth-child(2) input"] * 4
            times = [_time_to_paint(page, html, action, None) for action in actions * 2]
            yield Measured("sort, filter, column to the screen, p95", f"{_p95(times):.0f} ms", "", "≤ 300 ms")
            times = [_until_seen(page, store, number) for number in range(NEW_RESULTS)]
            yield Measured("a new result on the open page, slowest", f"{max(times):.1f} s", "", "≤ 5 s")
        browser.close()


@contextmanager
def _page(browser: Browser, address: str, html: str) -> Iterator[Page]:
    """Open a page with an empty cache and wait for its rows."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000}, locale="ko-KR")
    _show(page, address, html)
    yield page
    page.close()


def _show(page: Page, address: str, html: str) -> None:
    page.goto(address, wait_until="commit")
    page.wait_for_selector(f"{html} :is(td, [role=gridcell]):visible", timeout=120_000)


def _first_rows(browser: Browser, address: str, html: str) -> float:
    """Return the seconds from the request until rows are visible, with an empty cache."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000}, locale="ko-KR")
    started = time.perf_counter()
    _show(page, address, html)
    took = time.perf_counter() - started
    page.close()
    return took


def _time_to_paint(page: Page, html: str, action: str, typed: str | None) -> float:
    return float(page.evaluate(_MEASURE_PAINT, [html, action, typed]))


def _until_seen(page: Page, store: Store, number: int) -> float:
    """Return the seconds from the commit of a new best result until the open page shows it without a reload."""
    key = _add(store, number)
    started = time.perf_counter()
    page.wait_for_selector(f'#board-{BENCHMARK} tr[data-key="{key}"]', timeout=60_000)
    return time.perf_counter() - started


def _add(store: Store, number: int) -> str:
    request = request_numbered(900_000 + number, model_id=f"new/model-{number}", benchmark=BENCHMARK)
    result = evaluated(request, 99.9)
    snapshot = store.snapshot()
    store.commit(with_result(store, snapshot, result), snapshot.head, "A new result")
    return result.request_key


async def _events(server: Server, store: Store) -> list[Measured]:
    """Measure events without other visitors, and while new results come in."""
    rng = random.Random(3)
    async with httpx.AsyncClient(base_url=server.address, timeout=60) as client:
        function = Events((await client.get("/config")).json()).view_function(f"board-{BENCHMARK}")

        async def one(number: int, session: str) -> float:
            client.headers.update(from_visitor(number))  # the rate limit is per address
            return await call(client, function, table_fields(rng), session)

        alone = [await one(number, "alone") for number in range(CALLS)]
        coming = asyncio.create_task(
            asyncio.to_thread(lambda: [_add(store, NEW_RESULTS + n) for n in range(NEW_RESULTS)])
        )
        meanwhile = [await one(number, "meanwhile") for number in range(CALLS)]
        await coming
    return [
        Measured("search, filter, sort, column on the server, p95", f"{_p95(alone):.0f} ms", "", "≤ 100 ms"),
        Measured(f"  slowest, while {NEW_RESULTS} results come in", f"{max(meanwhile):.0f} ms", "", "no reader waits"),
    ]


def _p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1]


def _peak_mb(server: Server) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024
