"""Verify a store: its files are intact, and requests, results and index match."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from submissions.records.request import Status
from submissions.store.base import Changes, Snapshot, Store, unchanged
from submissions.store.folders import ENTRIES_PER_FOLDER, folder_sizes, in_key_folder
from submissions.store.index import Unreadable, reindexed
from submissions.store.private import PrivateStore
from submissions.texts.errors import DamagedError

NEARLY_FULL = 0.9


def verify(store: Store, private: PrivateStore) -> Iterator[str]:
    """Yield one line for each problem. Raises StoreError if a store cannot be reached."""
    snapshot = store.snapshot()
    store.prefetch(list(snapshot.files), snapshot)
    with store.session():
        problems = list(damaged(store, snapshot))
    yield from problems
    changes: Changes = {}
    unreadable: list[Unreadable] = []
    # `reindexed` skips damaged records. They would be reported a second time, as unreadable, and `reindex` would be
    # advised, which removes their rows.
    if not problems:
        changes, unreadable = reindexed(store, snapshot)
    for record in unreadable:
        yield f"{record.path} is unreadable: {record.reason}"
    yield from _mismatches(snapshot, unreadable, private)
    if changes:
        yield f"{len(changes)} segments of the index do not match the records: run python -m submissions reindex"
    for folder, size in sorted(folder_sizes(snapshot).items()):
        if size >= NEARLY_FULL * ENTRIES_PER_FOLDER:
            yield f"/{folder} has {size:,} entries; the Hub allows {ENTRIES_PER_FOLDER:,}"


def damaged(store: Store, snapshot: Snapshot) -> Iterator[str]:
    """Yield one line for each file that cannot be read or has other content than its hash says."""
    for path in sorted(snapshot.files):
        try:
            content = store.read(path, snapshot.head)
        except (DamagedError, KeyError) as error:
            yield f"{path} is damaged: {error}"
            continue
        if not unchanged(snapshot, path, content):
            yield f"{path} is damaged: its content differs from what was written"


def _mismatches(snapshot: Snapshot, unreadable: list[Unreadable], private: PrivateStore) -> Iterator[str]:
    """Yield one line for each request in two states, and each request or result that lacks its counterpart."""
    broken = {record.path for record in unreadable}
    records = [PurePosixPath(path) for path in snapshot.files if path.endswith(".json") and path not in broken]
    results = {path.stem for path in records if path.parts[0] == "results"}
    states: dict[str, list[str]] = {}
    for path in records:
        if path.parts[0] == "requests":
            states.setdefault(path.stem, []).append(path.parts[1])
    details = {PurePosixPath(path).stem for path in private.paths("details")}
    for key, found in sorted(states.items()):
        if len(found) > 1:
            yield f"request {key} is {' and '.join(sorted(found))} at once"
        if Status.FINISHED in found and key not in results:
            yield f"request {key} is finished and has no result"
        if key in results and Status.FINISHED not in found:
            yield f"request {key} is {found[0]} and has a result"
        if key in results and key not in details:
            yield f"result {key} has no {in_key_folder(f'details/{key}.jsonl')} in the private store"
    for key in sorted(results - states.keys()):
        yield f"result {key} has no request"
