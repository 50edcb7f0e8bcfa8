"""Every kind of store there is, by its address."""

from pathlib import Path

from submissions.git_store import GitStore
from submissions.settings import Settings
from submissions.store import Store


def open_store(url: str, settings: Settings | None = None) -> Store:
    """The store at `hf://datasets/OWNER/NAME`, or at a path or `file://` address (a bare git repository).

    The settings hold the token for the Hub and where its mirrors are. Raises StoreError with what to do where the
    store cannot be opened.
    """
    if url.startswith("hf://"):
        from submissions.hub_store import HubStore

        settings = settings or Settings()
        token = settings.hub_token.get_secret_value() if settings.hub_token else None
        return HubStore(url, settings.work_dir / "mirrors", token)
    return GitStore(Path(url.removeprefix("file://")))
