"""Records that become many lie in folders by the first two digits of their key: the Hub allows 10,000 files a folder.

source: https://huggingface.co/docs/hub/storage-limits
"""

import re
from collections import Counter
from collections.abc import Iterable

from submissions.errors import StoreError
from submissions.store.base import Changes, Snapshot, Store, transact

ENTRIES_PER_FOLDER = 10_000
FILES = 100_000  # in a repository, as the Hub recommends
_FLAT = re.compile(r"(requests/[a-z]+|details)/[0-9a-f]{32,64}\.jsonl?")  # as older versions wrote them


def folder_sizes(snapshot: Snapshot) -> Counter[str]:
    """How many files and folders are in each folder, by its path."""
    seen: set[str] = set()
    sizes: Counter[str] = Counter()
    for path in snapshot.files:
        while path and path not in seen:
            seen.add(path)
            path = path.rpartition("/")[0]
            sizes[path] += 1
    return sizes


def check_room(store: Store, paths: Iterable[str], snapshot: Snapshot) -> None:
    """Raises StoreError where a folder that one of these paths would be in takes no more."""
    for path in paths:
        folder, entries = path, 0
        while folder and not entries:  # the deepest folder that is there gets one more entry
            folder = folder.rpartition("/")[0]
            entries = store.entries(folder, snapshot.head)
        if path not in snapshot.files and entries >= ENTRIES_PER_FOLDER:
            raise StoreError(f"/{folder} of the store has {entries:,} entries, as many as the Hub allows a folder")


def sharded(path: str) -> str:
    """`folder/abcd.json` as `folder/ab/abcd.json`."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/{name[:2]}/{name}"


def sharded_if_flat(path: str) -> str:
    """Where a record belongs now that an older version may have written elsewhere."""
    return sharded(path) if _FLAT.fullmatch(path) else path


def move_flat_records(store: Store) -> int:
    """Move what an older version has written to where it belongs now, in one commit. Returns how many."""

    def decide(snapshot: Snapshot) -> tuple[Changes, str, int]:
        flat = [path for path in snapshot.files if _FLAT.fullmatch(path)]
        moved = {sharded(path): store.read(path, snapshot.head) for path in flat}
        return {**moved, **dict.fromkeys(flat)}, f"Move {len(flat)} records into folders by key", len(flat)

    return transact(store, decide)
