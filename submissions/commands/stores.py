"""Commands for whole stores."""

import json

from submissions.commands.context import Context
from submissions.operator.status import status_lines
from submissions.queue.upkeep import tidy_now
from submissions.store.backup import backup, restore
from submissions.store.consistency import verify
from submissions.store.copy import copy_store
from submissions.store.index import rebuild_index


def status(context: Context) -> int:
    for line in status_lines(context.queue, context.settings):
        print(line)
    return 0


def verify_stores(context: Context) -> int:
    """Print the problems of both stores. Return 1 if there are any."""
    problems = list(verify(context.queue.store, context.private))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems" if problems else "no problems")
    return 1 if problems else 0


def migrate_store(context: Context) -> int:
    source = context.args.source
    target = context.args.target
    copied = copy_store(source, target, context.settings)
    print(f"copied {copied} files of {source} to {target}, and compared them")
    return 0


def make_backup(context: Context) -> int:
    folder = context.args.folder
    for store, files in backup(folder, context.settings).items():
        print(f"copied {files} files of {store} to {folder}, and compared them")
    return 0


def restore_backup(context: Context) -> int:
    folder = context.args.folder
    for store, files in restore(folder, context.settings).items():
        print(f"copied {files} files of {folder} to {store}, and compared them")
    return 0


def tidy_store(context: Context) -> int:
    store = context.queue.store
    tidy_now(store, context.private, store.now())
    print(f"{store.url} is tidied: its history is squashed, its files are unchanged")
    return 0


def reindex(context: Context) -> int:
    changed, broken = rebuild_index(context.queue.store)
    unreadable = {record.path: record.reason for record in broken}
    print(json.dumps({"segments_changed": changed, "unreadable": unreadable}))
    return 0
