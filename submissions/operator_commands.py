"""What an operator asks of the stores as a whole: `status`, `verify`, `migrate`, `backup`, `restore`, `tidy`."""

import argparse
from collections import Counter
from datetime import datetime

from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.queue.upkeep import tidy_now
from submissions.records import Status
from submissions.settings import Settings
from submissions.store.backup import backup, restore
from submissions.store.migrate import migrate
from submissions.store.open import open_private_store, open_store
from submissions.store.shards import ENTRIES_PER_FOLDER, FILES, folder_sizes
from submissions.store.verify import verify

COMMANDS = ("status", "verify", "migrate", "backup", "restore", "tidy")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Exit code 1 where `verify` finds something wrong. Raises StoreError."""
    if args.command == "status":
        _status(settings)
    elif args.command == "verify":
        wrong = list(verify(open_store(settings.store, settings), open_private_store(settings)))
        print("\n".join([*wrong, f"{len(wrong)} things are wrong" if wrong else "all is as it should be"]))
        return 1 if wrong else 0
    elif args.command == "migrate":
        print(
            f"{migrate(args.source, args.target, settings)} files of {args.source} are in {args.target}, and compared"
        )
    elif args.command == "tidy":
        tidied = open_store(settings.store, settings)
        tidy_now(tidied, open_private_store(settings), tidied.now())
        print(f"{tidied.url} is tidied: its history is squashed, its files are as they were")
    elif args.command == "backup":
        for store, files in backup(args.folder, settings).items():
            print(f"{files} files of {store} are in {args.folder}, and compared")
    else:
        for store, files in restore(args.folder, settings).items():
            print(f"{files} files of {args.folder} are in {store}, and compared")
    return 0


def _status(settings: Settings) -> None:
    queue, heartbeats = Queue(open_store(settings.store, settings)), Heartbeats(settings)
    store, now = queue.store, queue.store.now()
    snapshot = store.snapshot()
    rows = queue.rows(snapshot)
    counts = Counter(row.status for row in rows)
    leases = heartbeats.of(row.key for row in rows if row.status == Status.RUNNING)
    files = len(snapshot.files)
    fullest = max(folder_sizes(snapshot).values(), default=0)
    print(f"store     {store.url} at {snapshot.head[:12]}")
    print(f"          {files:,} files ({files / FILES:.0%} of what the Hub recommends), {fullest:,} entries in the")
    print(f"          fullest folder ({fullest / ENTRIES_PER_FOLDER:.0%} of what it allows)")
    print(f"private   {settings.private_store}")
    print("queue     " + ", ".join(f"{counts[status]} {status}" for status in Status))
    if pending := [row.submitted_at for row in rows if row.status == Status.PENDING]:
        print(f"          oldest pending since {_ago(min(pending), now)}")
    for key, lease in leases.items():
        progress = lease.progress
        told = f", {progress.stage} {progress.done}/{progress.total}" if progress else ""
        print(f"running   {key} by {lease.worker}, heartbeat {_ago(lease.heartbeat_at, now)} ago{told}")
    for pause in heartbeats.pauses(now):
        print(f"paused    {pause.worker} after {pause.code}, since {_ago(pause.since, now)}")
    workers = sorted(heartbeats.workers(), key=lambda worker: worker.seen_at)
    for worker in workers[-5:]:
        print(f"worker    {worker.worker}, seen {_ago(worker.seen_at, now)} ago")
    if not workers:
        print("worker    none was ever seen")


def _ago(then: datetime, now: datetime) -> str:
    seconds = max(0, int((now - then).total_seconds()))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
