"""Every kind of store there is, by its address."""

from pathlib import Path

from submissions.git_store import GitStore
from submissions.store import Store, StoreError


def open_store(url: str) -> Store:
    """The store at a path or `file://` address (a bare git repository, created when missing).

    Raises StoreError with what to do where it cannot be opened.
    """
    if url.startswith("hf://"):
        raise StoreError(f"{url}: Hub stores are not supported yet; use a local path")
    return GitStore(Path(url.removeprefix("file://")))
