"""`make simulate`: simulate a year of submissions and compare the result with the Hub's limits.

The store and the queue are real, the clock is simulated. Submissions arrive at random times, with a burst in the first hour;
workers claim requests, lose leases, fail and publish; once a week a worker tidies the store. Then the store is served by the
Hub double (scripts/support/hub), and a cold start and some evaluations are measured. The seed is fixed.
"""

import argparse
import heapq
import os
import random
import shutil
import tempfile
import time
from collections import Counter, deque
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from evaluator.benchmarks import BENCHMARKS
from scripts.support.evaluated import evaluated
from scripts.support.hub.repos import TOKEN, Hub
from scripts.support.hub.server import serve
from scripts.support.records import request_numbered
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.leases import SKEW
from submissions.queue.queue import Queue
from submissions.queue.upkeep import tidy_if_due
from submissions.records.request import EvalRequest, Failure, Stage
from submissions.store.base import Changes
from submissions.store.folders import ENTRIES_PER_FOLDER, RECOMMENDED_FILES, folder_sizes
from submissions.store.git import GitStore
from submissions.store.index import reindexed
from submissions.store.open import open_private_store, open_store
from submissions.texts.failure_codes import FailureCode

START = datetime(2026, 1, 5, tzinfo=UTC)
YEAR = timedelta(days=365)
BURST = 50  # submissions in the first hour
PER_FORM = 4  # benchmarks a submission
OWNERS = 1000
WORKERS = 16
LEASE = timedelta(minutes=30)
MINUTES = (10.0, 60.0)  # of an evaluation: minimum, mean
FAILED, LOST = 0.05, 0.03  # share of attempts with a model failure, and of attempts whose host is lost
SAMPLE = 10  # evaluations measured with the Hub double
COMMITS_PER_HOUR = 128  # https://huggingface.co/docs/hub/storage-limits


class Year(GitStore):
    """A local store with a simulated clock that counts its commits."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.clock = START
        self.commits: Counter[str] = Counter()  # by the first word of the message
        self.most_per_hour = 0
        self._times: deque[datetime] = deque()  # of the last hour's commits

    def commit(self, changes: Changes, parent: str, message: str) -> str:
        self.commits[message.split()[0].lower()] += 1
        self._times.append(self.clock)
        while self.clock - self._times[0] > timedelta(hours=1):
            self._times.popleft()
        self.most_per_hour = max(self.most_per_hour, len(self._times))
        return super().commit(changes, parent, message)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make simulate", description=__doc__)
    parser.add_argument(
        "--submissions", type=int, default=10_000, help="submissions in the year, to four benchmarks each"
    )
    parser.add_argument("--folder", type=Path, help="where the stores go (default: a temporary folder)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch)
        settings = Settings(store=str(folder / "store.git"), private_store=str(folder / "private"), work_dir=folder)
        year = simulate(settings, arguments.submissions)
        report(settings, year, arguments.submissions * PER_FORM)


def simulate(settings: Settings, submissions: int) -> Year:
    """Simulate the year in the store of the settings."""
    rng = random.Random(7)
    store = Year(Path(settings.store))
    private = open_private_store(settings)
    queue = Queue(store, LEASE, 3, Heartbeats(settings))
    burst = min(BURST, submissions)
    arrivals = sorted(START + (timedelta(hours=1) if n < burst else YEAR) * rng.random() for n in range(submissions))
    # (time, submission or serial number, worker that becomes free, its request or None if the host was lost)
    events: list[tuple[datetime, int, int | None, EvalRequest | None]]
    events = [(at, form, None, None) for form, at in enumerate(arrivals)]
    free = list(range(WORKERS))
    upkeep = START
    number = submissions
    with Progress() as shown:
        bar = shown.add_task("forms", total=submissions)
        while events:
            now, form, worker, request = heapq.heappop(events)
            store.clock = now
            if now >= upkeep:
                tidy_if_due(store, private, now)
                upkeep = now + timedelta(days=1)
            if worker is None:
                shown.advance(bar)
                queue.submit_all(requests_of(form, now))
            else:
                free.append(worker)
                if request:
                    end(queue, request, rng.random(), now)
            while free and (claimed := queue.claim(f"worker-{free[-1]}", now)):
                number += 1
                if rng.random() < LOST:  # the request is claimed again after its lease has expired
                    found = now + LEASE + SKEW + timedelta(minutes=1)
                    heapq.heappush(events, (found, number, free.pop(), None))
                    continue
                took = timedelta(minutes=MINUTES[0] + rng.expovariate(1 / (MINUTES[1] - MINUTES[0])))
                queue.heartbeat(claimed, now + took)  # only the last heartbeat is simulated
                heapq.heappush(events, (now + took, number, free.pop(), claimed))
    return store


def requests_of(form: int, now: datetime) -> list[EvalRequest]:
    model = f"owner-{form % OWNERS}/Model-{form}-VL"
    names = list(BENCHMARKS)[:PER_FORM]
    return [
        request_numbered(
            form * PER_FORM + place,
            model_id=model,
            benchmark=name,
            submitted_at=now,
            submitted_by=f"{form % OWNERS:016x}",
            engine="extractive" if BENCHMARKS[name].inputs == "page" else "chat",
        )
        for place, name in enumerate(names)
    ]


def end(queue: Queue, request: EvalRequest, chance: float, now: datetime) -> None:
    if chance < FAILED:
        queue.fail(request, Failure(stage=Stage.LOAD, code=FailureCode.INVALID_WEIGHTS), now)
    else:
        days_ago = (datetime.now(UTC) - now) / timedelta(days=1)
        queue.publish(request, evaluated(request, 30 + chance * 60, days_ago), now)


def report(settings: Settings, store: Year, evaluations: int) -> None:
    snapshot = store.snapshot()
    table = Table("what", "a year", "an evaluation", "limit")
    total = store.commits.total()
    kinds = ", ".join(f"{count:,} {what}" for what, count in sorted(store.commits.items()))
    table.add_row("commits", f"{total:,} ({kinds})", f"{total / evaluations:.2f}", "≤ 3 an evaluation")
    table.add_row("commits in the busiest hour", f"{store.most_per_hour}", "", f"≤ {COMMITS_PER_HOUR}")
    table.add_row(
        "files", f"{len(snapshot.files):,}", f"{len(snapshot.files) / evaluations:.2f}", f"≤ {RECOMMENDED_FILES:,}"
    )
    table.add_row(
        "entries of the largest folder", f"{max(folder_sizes(snapshot).values()):,}", "", f"≤ {ENTRIES_PER_FOLDER:,}"
    )
    table.add_row("local store on disk", f"{store.repository.size() / 1e6:,.0f} MB", "", "≤ 1,000 MB")
    packs = len(list(Path(settings.store).glob("objects/pack/*.pack")))
    table.add_row("packs, loose objects", f"{packs}, {len(list(Path(settings.store).glob('objects/??/*'))):,}", "", "")
    growth = [local_growth(store, number) for number in range(3)]
    table.add_row("added to the local store", "", f"{max(growth) / 1000:.0f} KB", "≤ 60 KB")
    started = time.process_time()
    fresh = GitStore(Path(settings.store))
    changes, broken = reindexed(fresh, fresh.snapshot())
    table.add_row(
        "reindex", f"{time.process_time() - started:.0f} s of CPU, {len(changes)} segments differ", "", "≤ 60 s"
    )
    assert not broken
    for what, figure, one, limit in hub_rows(settings):
        table.add_row(what, figure, one, limit)
    Console().print(table)


def local_growth(store: GitStore, number: int) -> int:
    """Return the bytes that one evaluation adds to a local store before packing."""
    before = store.repository.size()
    evaluate(Queue(store), number)
    return store.repository.size() - before


def evaluate(queue: Queue, number: int) -> None:
    now = datetime.now(UTC)
    queue.submit(
        request_numbered(10**9 + number, model_id=f"newcomer-{number}/Model", benchmark="ko-vqa", submitted_at=now)
    )
    running = queue.claim("w", now)
    assert running
    queue.publish(running, evaluated(running, 50.0, 0), now)


def hub_rows(settings: Settings) -> list[tuple[str, str, str, str]]:
    """Measure a cold start of a Job and some evaluations, with the store served by the Hub double."""
    root = settings.work_dir / "hub"
    shutil.rmtree(root, ignore_errors=True)
    hub = Hub(root)
    hub.create("org/store")
    repository = root / "git/org/store.git"
    shutil.rmtree(repository / "objects")
    shutil.copytree(Path(settings.store) / "objects", repository / "objects")
    (repository / "refs/heads/main").write_text((Path(settings.store) / "refs/heads/main").read_text())
    rows = []
    with serve(hub) as address:
        os.environ |= {"HF_ENDPOINT": address, "HF_HUB_DISABLE_XET": "1", "HANNUN_HUB_TOKEN": TOKEN}
        work = settings.work_dir / "job"
        shutil.rmtree(work, ignore_errors=True)
        started = time.thread_time()
        begun = time.monotonic()
        queue = Queue(open_store("hf://datasets/org/store", Settings(work_dir=work)))
        waiting = len(queue.rows())
        figure = f"{hub.sent / 1e6:.1f} MB, {len(hub.seen)} requests, {time.thread_time() - started:.1f} s of CPU, "
        figure += f"{time.monotonic() - begun:.1f} s; {waiting:,} requests known"
        rows.append(("cold start of a Job", figure, "", "≤ 30 MB, ≤ 15 s of CPU"))
        received = hub.received
        sent = hub.sent
        seen = len(hub.seen)
        size = GitStore(repository).repository.size()
        for number in range(100, 100 + SAMPLE):
            evaluate(queue, number)
        up = (hub.received - received) / SAMPLE / 1000
        down = (hub.sent - sent) / SAMPLE / 1000
        rows.append(("sent to the Hub", "", f"{up:.0f} KB", "≤ 60 KB"))
        rows.append(("fetched from the Hub", "", f"{down:.0f} KB", "≤ 60 KB"))
        rows.append(("requests", "", f"{(len(hub.seen) - seen) / SAMPLE:.0f}", ""))
        rows.append(
            (
                "added to its repository",
                "",
                f"{(GitStore(repository).repository.size() - size) / SAMPLE / 1000:.0f} KB",
                "",
            )
        )
    return rows


if __name__ == "__main__":
    main()
