"""Open a store by its address.

There are three: the public store, the private store (names, answers, heartbeats) and, for private evaluations, a store with
a queue of their own.
"""

import re
from pathlib import Path

from httpx2 import HTTPError
from huggingface_hub.errors import HfHubHTTPError

from submissions.config.addresses import BUCKETS, DATASETS, bucket_of, is_remote
from submissions.config.paths import nearest_existing
from submissions.config.settings import Settings
from submissions.records.hub_names import hub_id_at, is_hub_id
from submissions.store.base import Store
from submissions.store.git import GitStore
from submissions.store.hub_api import HubApi, no_token
from submissions.store.private import Health, PrivateStore, health_of
from submissions.texts.errors import SettingsError, StoreError


def open_store(url: str, settings: Settings | None = None) -> Store:
    """Open the store at `hf://datasets/OWNER/NAME`, or at a path or `file://` address (a bare git repository).

    The settings contain the token for the Hub and the folder for local mirrors. Raises StoreError if the store cannot be
    opened.
    """
    settings = settings or Settings()
    if url.startswith("hf://"):
        # Only here, because the import sets the HTTP client of the whole process (time_limits.py).
        from submissions.store.hub import HubStore

        return HubStore(url, settings.work_dir / "mirrors", lambda: settings.hub_token_value)
    return GitStore(local_path(url))


def open_private_store(settings: Settings) -> PrivateStore:
    """Open the store of names, answers and heartbeats. Raises StoreError if it cannot be opened or is public."""
    return open_private_store_at(settings.private_store, settings)


def has_private_queue(settings: Settings) -> bool:
    """Return whether there may be private evaluations, without opening their store.

    A local store is created for the first one. A remote store exists before, so if one is set, the answer is True.
    """
    url = settings.private_queue_address
    if url is None:
        return False
    return is_remote(url) or local_path(url).exists()


def open_private_queue_store(settings: Settings) -> Store:
    """Open the store of private evaluations.

    Raises SettingsError if this installation has none, StoreError if it cannot be opened or is public.
    """
    url = settings.private_queue_address
    if url is None:
        raise SettingsError(
            f"set HANNUN_PRIVATE_QUEUE to a folder, or to a private dataset ({DATASETS}OWNER/NAME), for private evaluations"
        )
    store = open_store(url, settings)
    if repo := hub_id_at(url, DATASETS):
        try:
            is_private = HubApi(lambda: settings.hub_token_value).dataset_info(repo).private
        except (HfHubHTTPError, HTTPError) as error:
            raise StoreError(
                f"{url}: {type(error).__name__}; name a private dataset that the token may write"
            ) from None
        if not is_private:
            raise StoreError(f"{url} is public: private evaluations need a private dataset")
    elif not is_remote(url):
        local_path(url).chmod(0o700)
    return store


def store_variables(settings: Settings) -> dict[str, str]:
    """Return the environment variables that name the stores for a process elsewhere. Local paths are absolute."""
    return {name: absolute(url) for name, url in settings.stores.items()}


def private_store_health(settings: Settings) -> Health:
    """Return what this process knows about the private store, without opening it."""
    url = settings.private_store
    # `health_of` is cached by its arguments, and `PrivateStore` passes the same two. `open_private_store_at` opens a local
    # address as a path.
    return health_of(url if is_remote(url) else str(local_path(url)), HubApi(no_token).endpoint)


def open_private_store_at(url: str, settings: Settings) -> PrivateStore:
    """Open the private store at an address. Raises StoreError if it cannot be opened or is public."""
    if url.startswith("hf://") and not _is_bucket(url):
        raise StoreError(
            f"{url} is not a private store: name a folder, {BUCKETS}OWNER/NAME, or an address that fsspec supports"
        )
    if not is_remote(url):
        path = local_path(url)
        if (path / "HEAD").is_file():
            raise StoreError(f"{path} is a git repository, whose history would keep erased files: name a folder")
        url = str(path)
    store = PrivateStore(url, lambda: settings.hub_token_value)
    if not store.is_private():
        raise StoreError(f"{store.url} is public: HANNUN_PRIVATE_STORE holds answers, so make it private first")
    return store


def _is_bucket(url: str) -> bool:
    """Return whether an address is that of a bucket, or of a folder in one: hf://buckets/OWNER/NAME/FOLDER."""
    return url.startswith(BUCKETS) and is_hub_id(bucket_of(url))


def absolute(url: str) -> str:
    """Return the address with an absolute path, for a process with another working directory."""
    return url if is_remote(url) else str(local_path(url).resolve())


def local_path(url: str) -> Path:
    """Return the path of a local address. Raises StoreError for any other address."""
    path = url.removeprefix("file://")
    if not path:
        raise StoreError("name a store: a path or an address")
    if re.match("[A-Za-z][A-Za-z0-9+.-]*:", path):
        raise StoreError(f"{url} is not a store: name a path, file://PATH or {DATASETS}OWNER/NAME")
    return Path(path)


def check_lasts(variable: str, url: str) -> None:
    """Raise SettingsError if a store is on the device of `/`, which each restart of a Space empties, unlike a volume.

    The caller checks that this is a Space. `variable` is the setting to name in the message.
    """
    if is_remote(url):
        return
    if nearest_existing(local_path(url).resolve()).stat().st_dev == Path("/").stat().st_dev:
        raise SettingsError(
            f"{variable}={url} is on the disk of the Space, which each restart empties: name a place on the Hub, or a "
            "folder on a volume. If this is a machine of your own, set HANNUN_EPHEMERAL_STORE=allow"
        )


def check_there(url: str) -> None:
    """Raise StoreError if a local store does not exist, which is most likely a typing error."""
    if not url.startswith("hf://") and not local_path(url).exists():
        raise StoreError(f"{url}: there is no store here; name one with --store or HANNUN_STORE")
