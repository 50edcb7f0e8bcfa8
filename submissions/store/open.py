"""Every kind of store there is, by its address."""

import re
from pathlib import Path

from submissions.config.settings import Settings
from submissions.store.base import Store
from submissions.store.git import GitStore
from submissions.store.private import BUCKETS, PrivateStore
from submissions.texts.errors import StoreError

DATASETS = "hf://datasets/"


def open_store(url: str, settings: Settings | None = None) -> Store:
    """The store at `hf://datasets/OWNER/NAME`, or at a path or `file://` address (a bare git repository).

    The settings hold the token for the Hub and where its mirrors are. Raises StoreError with what to do where the
    store cannot be opened.
    """
    settings = settings or Settings()
    if url.startswith("hf://"):
        from submissions.store.hub import HubStore

        return HubStore(url, settings.work_dir / "mirrors", lambda: settings.hub_token_value)
    return GitStore(local_path(url))


def open_private_store(settings: Settings) -> PrivateStore:
    """Open the store of names, answers and heartbeats. Raises StoreError if it cannot be opened or is public."""
    return open_files(settings.private_store, settings)


def open_files(url: str, settings: Settings) -> PrivateStore:
    """Open the private files at an address. Raises StoreError."""
    if url.startswith("hf://") and not re.fullmatch(f"{BUCKETS}[^/]+/[^/]+(/.*)?", url):
        raise StoreError(
            f"{url} is not a private store: name a folder, {BUCKETS}OWNER/NAME, or an address that fsspec knows"
        )
    if not is_remote(url):
        path = local_path(url)
        if (path / "HEAD").is_file():
            raise StoreError(f"{path} is a git repository, whose history would keep what is erased: name a folder")
        url = str(path)
    store = PrivateStore(url, lambda: settings.hub_token_value)
    if not store.is_private():
        raise StoreError(f"{store.url} is public: HANNUN_PRIVATE_STORE holds answers, so make it private first")
    return store


def is_remote(url: str) -> bool:
    """Whether an address names a place that is not on this machine."""
    return "://" in url.removeprefix("file://")


def absolute(url: str) -> str:
    """The same address, for a process in another folder."""
    return url if is_remote(url) else str(local_path(url).resolve())


def local_path(url: str) -> Path:
    """Of an address that names a place on this machine. Raises StoreError for any other."""
    path = url.removeprefix("file://")
    if not path:
        raise StoreError("name a store: a path or an address")
    if re.match("[A-Za-z][A-Za-z0-9+.-]*:", path):
        raise StoreError(f"{url} is no store: a path, file://PATH or {DATASETS}OWNER/NAME")
    return Path(path)


def check_there(url: str) -> None:
    """Raises StoreError for a store on this machine that nobody has made yet: its name was mistyped, most likely."""
    if not url.startswith("hf://") and not local_path(url).exists():
        raise StoreError(f"{url}: no store is there; name one with --store or HANNUN_STORE")
