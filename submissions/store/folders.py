"""Keep the folders of a store within the limits of the Hub.

The Hub allows 10,000 files per folder (https://huggingface.co/docs/hub/storage-limits). Records that may become numerous are
therefore in subfolders named by the first two digits of their key.
"""

from collections import Counter
from collections.abc import Iterable

from submissions.store.base import Snapshot, Store
from submissions.texts.errors import StoreError

ENTRIES_PER_FOLDER = 10_000
RECOMMENDED_FILES = 100_000  # recommended maximum per repository on the Hub


def folder_sizes(snapshot: Snapshot) -> Counter[str]:
    """Return the number of direct entries (files and folders) of each folder, by its path."""
    seen: set[str] = set()
    sizes: Counter[str] = Counter()
    for path in snapshot.files:
        entry = path
        while entry and entry not in seen:  # each file and each folder counts once, as an entry of its folder
            seen.add(entry)
            folder = entry.rpartition("/")[0]
            sizes[folder] += 1
            entry = folder
    return sizes


def check_room(store: Store, paths: Iterable[str], snapshot: Snapshot) -> None:
    """Raise StoreError if writing one of these paths would add an entry to a full folder.

    The queue calls this before an evaluation starts, so that its result has room. Each path is judged alone.
    """
    for path in paths:
        if path in snapshot.files:  # the file is replaced, which adds no entry
            continue
        # A store has no empty folders. Go up to the first folder that has entries. It gets one more: the file itself, or the
        # topmost of the folders that are missing.
        folder = path
        entries = 0
        while folder and not entries:
            folder = folder.rpartition("/")[0]
            entries = store.count_entries(folder, snapshot.head)
        if entries >= ENTRIES_PER_FOLDER:
            raise StoreError(f"/{folder} of the store has {entries:,} entries, the most that the Hub allows per folder")


def in_key_folder(path: str) -> str:
    """Return a path with a subfolder for the first two digits of its key: `folder/abcd.json` -> `folder/ab/abcd.json`."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/{name[:2]}/{name}"
