"""Summarise the state of stores, queue and workers on one screen."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records.request import Lease, Status
from submissions.store.folders import ENTRIES_PER_FOLDER, RECOMMENDED_FILES, folder_sizes

SHOWN_RUNNING = 8  # requests
SHOWN_WORKERS = 5


def status_lines(queue: Queue, settings: Settings) -> Iterator[str]:
    """Yield the lines of `python -m submissions status`. Raises StoreError if a store fails."""
    store = queue.store
    heartbeats = Heartbeats(settings)
    now = store.now()
    snapshot = store.snapshot()
    rows = queue.rows(snapshot)
    counts = Counter(row.status for row in rows)
    files = len(snapshot.files)
    fullest = max(folder_sizes(snapshot).values(), default=0)
    yield f"store     {store.url} at {snapshot.head[:12]}"
    yield f"          {files:,} files ({files / RECOMMENDED_FILES:.0%} of what the Hub recommends), {fullest:,} entries in the"
    yield f"          fullest folder ({fullest / ENTRIES_PER_FOLDER:.0%} of what it allows)"
    yield f"private   {settings.private_store}"
    yield "queue     " + ", ".join(f"{counts[status]} {status}" for status in Status)
    if pending := [row.submitted_at for row in rows if row.status == Status.PENDING]:
        yield f"          oldest pending for {_ago(min(pending), now)}"
    running = [row.key for row in rows if row.status == Status.RUNNING]
    leases = heartbeats.last_by_key(running)
    for key in running[:SHOWN_RUNNING]:
        yield f"running   {key} {_running(leases.get(key), now)}"
    if len(running) > SHOWN_RUNNING:
        yield f"          and {len(running) - SHOWN_RUNNING} more"
    for pause in heartbeats.pauses(now):
        yield f"paused    {pause.worker} after {pause.code}, for {_ago(pause.since, now)}"
    workers = sorted(heartbeats.workers(), key=lambda worker: worker.seen_at, reverse=True)
    for worker in workers[:SHOWN_WORKERS]:
        yield f"worker    {worker.worker}, seen {_ago(worker.seen_at, now)} ago"
    if not workers:
        yield "worker    none seen yet"
    if len(workers) > SHOWN_WORKERS:
        yield f"          and {len(workers) - SHOWN_WORKERS} seen earlier"
    if diagnosis := heartbeats.diagnosis():
        faults = len(diagnosis.faults)
        yield f"doctor    {faults} fault{'' if faults == 1 else 's'} on {diagnosis.host}, {_ago(diagnosis.at, now)} ago"
        for line in diagnosis.faults:
            yield f"          {line}"


def _running(lease: Lease | None, now: datetime) -> str:
    """Return what is known of a running request, by the last heartbeat of its worker."""
    if lease is None:
        return "without a heartbeat so far"
    at = lease.progress
    progress = f", {at.stage} {at.done}/{at.total}" if at else ""
    return f"by {lease.worker}, heartbeat {_ago(lease.heartbeat_at, now)} ago{progress}"


def _ago(then: datetime, now: datetime) -> str:
    seconds = max(0, int((now - then).total_seconds()))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
