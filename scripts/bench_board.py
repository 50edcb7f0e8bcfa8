"""Board rows of `make bench`: the board with 10,000 models on every benchmark against a plain gr.Dataframe."""

import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from evaluator.benchmarks import BENCHMARKS
from leaderboard.views.texts import text
from scripts.big_store import MODELS, big_store
from scripts.chromium import launch
from scripts.support.evaluated import evaluated
from scripts.support.measured import Measured
from scripts.support.records import request_numbered
from scripts.support.serving import Server, bare_environment, serving
from scripts.visits import DURATION, VISITORS, WORDS, changed_table, from_visitor, timed_get, visit
from submissions.config.paths import ROOT
from submissions.store.base import Store
from submissions.store.index import with_result

CONNECTIONS, PAGES = 4, 500  # simultaneous connections, and pages that each requests
CALLS = 200  # changes of a table, one after the other
NEW_RESULTS = 5  # results committed while the page is open
BENCHMARK = "ko-vqa"
EDITION_MODELS = 1000
BEST_SCORE = 99.9  # better than all in the store, so that a new result with it moves every rank
LOW_SCORE = 30.0  # in the lower half, so that a new result with it moves few ranks
ROWS = "#rows tbody"
PHONE_BITS_PER_S, PHONE_LATENCY_MS, PHONE_CPU = 1.6e6, 150, 4  # Lighthouse's phone
IDLE_MS = 250  # a page is idle if its HTML has not changed for so long
DEADLINE_MS = 30_000  # for a page to become idle, and for an action to change it
# Wait until the page is idle, type a text into a field or click, and return the milliseconds until the HTML has changed and
# is painted.
_MEASURE_PAINT = """
async ([out, action, typed, idleMs, deadlineMs]) => {
  const html = document.querySelector(out);
  // Whether the HTML changes within some milliseconds, as soon as it is known.
  const nextChange = within => new Promise(resolve => {
    const observer = new MutationObserver(() => end(true));
    const timer = setTimeout(() => end(false), within);
    const end = hasChanged => { observer.disconnect(); clearTimeout(timer); resolve(hasChanged); };
    observer.observe(html, {childList: true, subtree: true, characterData: true});
  });
  const idle = async () => {
    const until = performance.now() + deadlineMs;
    while (await nextChange(idleMs)) {
      if (performance.now() > until) throw new Error(`${out} does not stop changing`);
    }
  };
  await idle();
  const control = document.querySelector(action);
  const started = performance.now();
  const changed = nextChange(deadlineMs);
  if (typed === null) control.click();
  else {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(control), 'value').set.call(control, typed);
    control.dispatchEvent(new Event('input', {bubbles: true}));
  }
  if (!await changed) throw new Error(`${action} (${typed}) changed nothing in ${out}`);
  await new Promise(painted => requestAnimationFrame(() => setTimeout(painted)));
  return performance.now() - started;
}
"""


def board_rows(folder: Path) -> Iterator[Measured]:
    """Yield the rows of the report, in the order in which they are measured. The store is made in a folder."""
    store = big_store(folder, MODELS)
    environment = {
        **bare_environment(),
        "HANNUN_STORE": store.url,
        "HANNUN_WORKER": "off",
        "HANNUN_AUTH": "off",
        "FORWARDED_ALLOW_IPS": "127.0.0.1",  # each visitor has its own address
        "MALLOC_ARENA_MAX": "2",  # as in `make serve`
    }
    yield from _edition(environment, folder)
    start = min(_started(environment) for _ in range(3))
    yield Measured("start-up", f"{start:.1f} s", "≤ 3 s")
    with serving(["app.py"], environment) as server:
        with serving(["-m", "scripts.plain_board", *_tables(server, folder)], environment) as plain:
            yield from _pages(server, plain)
            yield from _screens(server, plain, store)
            our_peak = f"{_peak_mb(server):.0f} MB"
            plain_peak = f"{_peak_mb(plain):.0f} MB"
            yield Measured("peak memory until here", our_peak, plain=plain_peak)
        yield from asyncio.run(_tables_changed(server, store))
        visits = visit(server.address, list(BENCHMARKS))
        crowd = f"{VISITORS} visitors for {DURATION:.0f} s: p95 of {len(visits.times):,} pages"
        yield Measured(crowd, f"{_p95(visits.times):.0f} ms", "≤ 100 ms")
        yield Measured("  errors", str(visits.errors), "0")
        yield Measured("peak memory after all of this", f"{_peak_mb(server):.0f} MB", "≤ 400 MB")


def _edition(environment: dict[str, str], folder: Path) -> Iterator[Measured]:
    """Yield how long the static edition of a smaller board takes: all of it, and after one more result."""
    (folder / "edition").mkdir()
    store = big_store(folder / "edition", EDITION_MODELS)

    def build() -> float:
        started = time.perf_counter()
        command = [sys.executable, "-m", "leaderboard", "build", str(folder / "edition/out")]
        own = environment | {"HANNUN_STORE": store.url}
        subprocess.run(command, env=own, cwd=ROOT, check=True, capture_output=True)
        return time.perf_counter() - started

    whole = build()
    yield Measured(f"static edition of {EDITION_MODELS:,} models × {len(BENCHMARKS)}", f"{whole:.0f} s", "≤ 60 s")
    _add(store, 0, LOW_SCORE)
    yield Measured("  after one more result, in the lower half", f"{build():.1f} s", "≤ 5 s")
    _add(store, 1, BEST_SCORE)
    yield Measured("  after one more result, a new best that moves all ranks", f"{build():.1f} s", "≤ 5 s")


def _started(environment: dict[str, str]) -> float:
    """Return the seconds until a new server listens."""
    started = time.perf_counter()
    with serving(["app.py"], environment):
        return time.perf_counter() - started


def _tables(server: Server, folder: Path) -> list[str]:
    """Download the boards as Parquet files named after the benchmarks, and return their paths."""
    paths: list[str] = []
    for name in BENCHMARKS:
        answer = httpx.get(f"{server.address}/boards/{name}.parquet", timeout=60).raise_for_status()
        path = folder / f"{name}.parquet"
        path.write_bytes(answer.content)
        paths.append(str(path))
    return paths


def _pages(server: Server, plain: Server) -> Iterator[Measured]:
    sizes, rates = [], []
    for address, each in ((server.address, PAGES), (plain.address, 2)):
        with httpx.stream("GET", address, headers={"Accept-Encoding": "gzip"}, timeout=60) as answer:
            answer.raise_for_status()
            sizes.append(len(b"".join(answer.iter_raw())))
        rates.append(_rate(address, each))
    yield Measured("page, gzipped", f"{sizes[0] / 1000:.0f} KB", "≤ 60 KB", plain=f"{sizes[1] / 1000:,.0f} KB")
    yield Measured("pages a second", f"{rates[0]:,.0f}", "≥ 300", plain=f"{rates[1]:,.1f}")


def _rate(address: str, each: int) -> float:
    """Return the pages a second that a server answers over CONNECTIONS connections, with `each` requests on each of them.

    Raises RuntimeError if an answer is not a page, because errors are answered faster than pages.
    """

    def ask() -> None:
        connection = HTTPConnection(urlsplit(address).netloc)
        for _ in range(each):
            connection.request("GET", "/?lang=ko", headers={"Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{address} answered {answer.status}")

    started = time.perf_counter()
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        asked = [pool.submit(ask) for _ in range(CONNECTIONS)]
    seconds = time.perf_counter() - started
    for one in asked:
        one.result()  # raises what its thread has raised
    return CONNECTIONS * each / seconds


def _screens(server: Server, plain: Server, store: Store) -> Iterator[Measured]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        address = f"{server.address}/{BENCHMARK}"
        plain_html = f"#board-{BENCHMARK}"
        theirs = min(_first_rows(browser, plain.address, plain_html) for _ in range(3))
        ours = min(_first_rows(browser, address, ROWS) for _ in range(3))
        yield Measured("first rows in Chromium, empty cache", f"{ours:.2f} s", "≤ 0.1 s", plain=f"{theirs:.1f} s")
        slow = min(_first_rows(browser, address, ROWS, phone=True) for _ in range(3))
        yield Measured("  on a phone: 1.6 Mbit/s, 150 ms, CPU ÷ 4", f"{slow:.2f} s", "≤ 0.4 s")
        yield from _visit_costs(browser, server, address)
        with _page(browser, plain.address, plain_html) as page:
            search = f"#search-{BENCHMARK} :is(input, textarea)"
            theirs = _p95([_time_to_paint(page, plain_html, search, word) for word in WORDS])
        with _page(browser, address, ROWS) as page:
            times = [_time_to_paint(page, "#content", "[name=q]", word) for word in (*WORDS, "")]
            yield Measured("search to the screen, p95", f"{_p95(times):.0f} ms", "≤ 200 ms", plain=f"{theirs:,.0f} ms")
            page.get_by_text(text("filters", "ko"), exact=True).click()
            actions = [f"a[data-sort={order}]" for order in ("latency", "f1", "name", "em")]
            actions += ["[name=verified]", "[name=columns][value=params]"] * 4
            times = [_time_to_paint(page, "#content", action, None) for action in actions * 2]
            yield Measured("sort, filter, column to the screen, p95", f"{_p95(times):.0f} ms", "≤ 300 ms")
            times = [_until_seen(page, store, number) for number in range(NEW_RESULTS)]
            yield Measured("a new result on the open page, slowest", f"{max(times):.1f} s", "≤ 5 s")
        browser.close()


def _visit_costs(browser: Browser, server: Server, address: str) -> Iterator[Measured]:
    """Yield what the first page of a visit costs until the network is idle: bytes, requests, CPU of browser and server."""
    with _page(browser, "about:blank") as page:
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Performance.enable")
        sizes: list[float] = []
        session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
        before = _cpu_seconds(server)
        _show(page, address, ROWS)
        page.wait_for_load_state("networkidle")
        cpu = _cpu_seconds(server) - before
        metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
        yield Measured("bytes of the first page", f"{sum(sizes) / 1000:.0f} KB", "≤ 60 KB")
        yield Measured("  requests", str(len(sizes)), "≤ 5")
        yield Measured("  CPU in the browser", f"{metrics['TaskDuration']:.2f} s", "≤ 0.2 s")
        yield Measured("  CPU on the server", f"{cpu:.2f} s", "≤ 0.07 s")


def _cpu_seconds(server: Server) -> float:
    fields = Path(f"/proc/{server.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _page(browser: Browser, address: str, rows: str = "", *, phone: bool = False) -> Iterator[Page]:
    """Open a page with an empty cache, and wait for its rows if `rows` is given. `phone` slows network and CPU down."""
    size = {"width": 390, "height": 844} if phone else {"width": 1400, "height": 1000}
    page = browser.new_page(viewport=size, locale="ko-KR")  # type: ignore[arg-type]
    if phone:
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        rate = PHONE_BITS_PER_S / 8
        session.send(
            "Network.emulateNetworkConditions",
            {"offline": False, "latency": PHONE_LATENCY_MS, "downloadThroughput": rate, "uploadThroughput": rate},
        )
        session.send("Emulation.setCPUThrottlingRate", {"rate": PHONE_CPU})
    if rows:
        _show(page, address, rows)
    yield page
    page.close()


def _show(page: Page, address: str, rows: str) -> None:
    page.goto(address, wait_until="commit")
    page.wait_for_selector(f"{rows} :is(td, [role=gridcell]):visible", timeout=120_000)


def _first_rows(browser: Browser, address: str, rows: str, *, phone: bool = False) -> float:
    """Return the seconds from the request until rows are visible, with an empty cache."""
    with _page(browser, "about:blank", phone=phone) as page:
        started = time.perf_counter()
        _show(page, address, rows)
        return time.perf_counter() - started


def _time_to_paint(page: Page, html: str, action: str, typed: str | None) -> float:
    """Return the milliseconds from a click on `action`, or from typing a text into it, until changed HTML is painted."""
    return float(page.evaluate(_MEASURE_PAINT, [html, action, typed, IDLE_MS, DEADLINE_MS]))


def _until_seen(page: Page, store: Store, number: int) -> float:
    """Return the seconds from the commit of a new best result until the open page shows it without a reload."""
    key = _add(store, number, BEST_SCORE)
    started = time.perf_counter()
    page.wait_for_selector(f'#rows tr[data-key="{key}"]', timeout=60_000)
    return time.perf_counter() - started


def _add(store: Store, number: int, score: float) -> str:
    """Commit a result of a new model, which the number names, and return its key."""
    request = request_numbered(900_000 + number, model_id=f"new/model-{number}", benchmark=BENCHMARK)
    result = evaluated(request, score)
    snapshot = store.snapshot()
    store.commit(with_result(store, snapshot, result), snapshot.head, "A new result")
    return result.request_key


async def _tables_changed(server: Server, store: Store) -> list[Measured]:
    """Measure changes of a table without other visitors, and while new results come in."""
    rng = random.Random(3)
    numbers = range(NEW_RESULTS, 2 * NEW_RESULTS)  # `_screens` has added those before

    def add_results() -> None:
        for number in numbers:
            _add(store, number, BEST_SCORE)

    async with httpx.AsyncClient(base_url=server.address, headers=from_visitor(0), timeout=60) as client:
        alone = [await timed_get(client, changed_table(rng, [BENCHMARK])) for _ in range(CALLS)]
        adding = asyncio.create_task(asyncio.to_thread(add_results))
        meanwhile = [await timed_get(client, changed_table(rng, [BENCHMARK])) for _ in range(CALLS)]
        await adding
    return [
        Measured("search, filter, sort, column on the server, p95", f"{_p95(alone):.0f} ms", "≤ 100 ms"),
        Measured(f"  slowest, while {NEW_RESULTS} results come in", f"{max(meanwhile):.0f} ms", "no reader waits"),
    ]


def _p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1]


def _peak_mb(server: Server) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024
