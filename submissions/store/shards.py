"""Records that become many lie in folders by the first two digits of their key: the Hub allows 10,000 files a folder.

source: https://huggingface.co/docs/hub/storage-limits
"""

import re

from submissions.store.base import Changes, Snapshot, Store, transact

_FLAT = re.compile(r"(requests/[a-z]+|details)/[0-9a-f]{32,64}\.jsonl?")  # as older versions wrote them


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
