"""Every kind of store there is, by its address."""

import re
from pathlib import Path

from submissions.errors import StoreError
from submissions.settings import Settings
from submissions.store.base import Store
from submissions.store.git import GitStore


def open_store(url: str, settings: Settings | None = None) -> Store:
    """The store at `hf://datasets/OWNER/NAME`, or at a path or `file://` address (a bare git repository).

    The settings hold the token for the Hub and where its mirrors are. Raises StoreError with what to do where the
    store cannot be opened.
    """
    if url.startswith("hf://"):
        from submissions.store.hub import HubStore

        settings = settings or Settings()
        token = settings.hub_token.get_secret_value() if settings.hub_token else None
        return HubStore(url, settings.work_dir / "mirrors", token)
    path = url.removeprefix("file://")
    if re.match("[A-Za-z][A-Za-z0-9+.-]*:", path):
        raise StoreError(f"{url} is no store: a path, file://PATH or hf://datasets/OWNER/NAME")
    return GitStore(Path(path))


def open_private_store(settings: Settings) -> Store:
    """The store of names and answers. Raises StoreError where anybody could read it."""
    store = open_store(settings.private_store, settings)
    if not store.is_private():
        raise StoreError(f"{store.url} is public: HANNUN_PRIVATE_STORE holds answers, so make it private first")
    return store
