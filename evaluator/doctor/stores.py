"""Check settings, stores and the rights of tokens."""

import os
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.util import find_spec

import httpx2
from httpx2 import HTTPError
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError

from evaluator.doctor.findings import MOUNTED, Finding, Options, fault, ok, skipped
from submissions.config.addresses import BUCKETS, DATASETS, SPACES, bucket_of, is_remote
from submissions.config.paths import nearest_existing
from submissions.config.settings import Settings
from submissions.records.hub_names import is_hub_id
from submissions.store.base import Changes, Snapshot, Store, transact
from submissions.store.hub_api import HubApi
from submissions.store.open import check_lasts, local_path, open_private_store, open_store
from submissions.texts.errors import SettingsError, StoreError

PROBE = "doctor/probe.json"  # file of both stores that is written and deleted again
MAX_CLOCK_SECONDS = 60.0  # difference from the Hub's clock
REQUEST_SECONDS = 15.0


def check_settings(settings: Settings, _: Options) -> Iterator[Finding]:
    """Check for misspelt HANNUN_* variables and a folder of models that does not exist."""
    for name, similar in settings.unknown_variables.items():
        guess = f"did you mean {similar}?" if similar else "docs/configuration.md lists all settings"
        yield fault("settings", f"{name} is not a setting", guess)
    is_folder_missing = settings.models_dir is not None and not settings.models_dir.is_dir()
    if is_folder_missing:
        yield fault("settings", f"HANNUN_MODELS_DIR={settings.models_dir} is no folder", MOUNTED)
    if not settings.unknown_variables and not is_folder_missing:
        yield ok("settings", "all HANNUN_* variables are known and valid")


def check_ephemeral(settings: Settings, _: Options) -> Iterator[Finding]:
    """Check that the stores of a Space are not on its disk, which each restart empties."""
    if "SPACE_ID" not in os.environ or settings.ephemeral_store == "allow":
        return
    for variable, url in settings.stores.items():
        try:
            check_lasts(variable, url)
        except (SettingsError, StoreError) as error:
            yield fault("ephemeral", str(error), "see the message")
        else:
            yield ok("ephemeral", f"{variable} outlasts a restart")


def check_store(settings: Settings, _: Options) -> Iterator[Finding]:
    """Read the public store, and commit a file that is taken back."""
    url = settings.store
    try:
        if not is_remote(url) and not local_path(url).exists():
            yield from _check_can_create("store", url, "the board creates the store at its first start")
            return
        store = open_store(url, settings)
        files = len(store.snapshot().files)
        yield ok("store", f"{url} can be read: {files:,} files")
        _write_and_take_back(store)
    except (StoreError, OSError) as error:
        remedy = "check HANNUN_STORE and HANNUN_HUB_TOKEN" if is_remote(url) else "check HANNUN_STORE"
        yield fault("store", f"{url}: {error}", f"{remedy}; a folder must belong to the user of board and worker")
        return
    yield ok("store", f"{url} can be written")


def check_private_store(settings: Settings, _: Options) -> Iterator[Finding]:
    """Write a file to the private store, read it and delete it."""
    url = settings.private_store
    try:
        if not is_remote(url) and not local_path(url).exists():
            yield from _check_can_create("private store", url, "it is created at the first start")
            return
        private = open_private_store(settings)
        written = secrets.token_bytes(16)
        private.write(PROBE, written)
        read = private.read(PROBE)
        private.delete(PROBE)
    except (StoreError, OSError, KeyError) as error:
        yield fault("private store", f"{url}: {error}", "check HANNUN_PRIVATE_STORE; it must be private and writable")
        return
    if read != written:
        yield fault("private store", f"{url} returns other bytes than were written", "check the storage behind it")
        return
    yield ok("private store", f"{url} is private and can be read and written")


def check_hub(settings: Settings, _: Options) -> Iterator[Finding]:
    """Check the clock against the Hub's, and the token's rights on each repository: dataset, bucket and static Space."""
    dataset = _name_on_hub(settings.store, DATASETS)
    bucket = bucket_of(settings.private_store) if settings.private_store.startswith(BUCKETS) else None
    space = _name_on_hub(settings.static or "", SPACES)
    if not (dataset or bucket or space):
        yield skipped("hub", "nothing is on the Hub")
        return
    for name in filter(None, (dataset, bucket, space)):
        if not is_hub_id(name):
            yield fault("hub", f"{name} is not a name on the Hub", "write OWNER/NAME in the settings of the stores")
            return
    api = HubApi(lambda: settings.hub_token_value)
    yield from _check_clock(api.endpoint)
    if not settings.hub_token_value:
        yield fault("token", "HANNUN_HUB_TOKEN is not set", "docs/deploy.md says which rights it needs")
        return
    try:
        account = api.whoami()
    except (HTTPError, OSError, StoreError) as error:
        yield _refusal("token", "HANNUN_HUB_TOKEN", error)
        return
    yield ok("token", f"HANNUN_HUB_TOKEN is of {account.get('name')}")
    if dataset:
        yield from _check_rights(api, dataset, "dataset")
        yield from _check_visible(api, dataset)
    if bucket:
        yield from _check_bucket(api, bucket)
    if space:
        yield from _check_rights(api, space, "space")
        yield from _check_static_space(api, space)


def _name_on_hub(url: str, prefix: str) -> str | None:
    """Return what follows the prefix of an address, or None: hf://datasets/owner/name -> owner/name."""
    return url.removeprefix(prefix).removesuffix("/") if url.startswith(prefix) else None


def check_download_token(settings: Settings, _: Options) -> Iterator[Finding]:
    """Check HF_TOKEN, with which gated models are downloaded. If it is invalid, no model can be downloaded at all."""
    token = os.environ.get("HF_TOKEN")
    if not token:
        return
    try:
        account = HubApi(lambda: token).whoami()
    except (HTTPError, OSError, StoreError) as error:
        yield _refusal("token", "HF_TOKEN", error)
        return
    yield ok("token", f"HF_TOKEN is of {account.get('name')}")


def check_data_token(settings: Settings, _: Options) -> Iterator[Finding]:
    """Check that HANNUN_DATA_TOKEN reads the private test sets and can do no more."""
    # Sets on the Hub: hf://datasets/OWNER/NAME[@REVISION][#SPLIT].
    on_hub = [data for data in settings.data.values() if data.startswith(DATASETS)]
    if not on_hub:
        return
    token = settings.data_token.get_secret_value() if settings.data_token else None
    api = HubApi(lambda: token)
    for data in on_hub:
        name = data.removeprefix(DATASETS).partition("#")[0].partition("@")[0]
        if not is_hub_id(name):
            yield fault("data token", f"{data} is not a dataset", f"write {DATASETS}OWNER/NAME in HANNUN_DATA")
            continue
        try:
            api.auth_check(name, repo_type="dataset")
        except (HTTPError, OSError, StoreError) as error:
            yield _refusal("data token", f"dataset {name}", error)
            continue
        yield ok("data token", f"may read dataset {name}")
        if token and _may_write(api, name):
            remedy = "make a fine-grained token with the right to read only"
            yield fault("data token", f"HANNUN_DATA_TOKEN may write dataset {name}", remedy)


def _check_rights(api: HfApi, name: str, kind: str) -> Iterator[Finding]:
    """Check that the token may read and write a repository. `kind` is the Hub's repository type."""
    try:
        api.auth_check(name, repo_type=kind)
    except (HTTPError, OSError, StoreError) as error:
        yield _refusal("token", f"{kind} {name}", error)
        return
    yield ok("token", f"may read {kind} {name}")
    try:
        api.auth_check(name, repo_type=kind, write=True)
    except (HTTPError, OSError, StoreError) as error:
        yield _refusal("token", f"writing {kind} {name}", error)
    else:
        yield ok("token", f"may write {kind} {name}")


def _check_bucket(api: HfApi, name: str) -> Iterator[Finding]:
    """Check that the token may read a bucket. `check_private_store` writes to it."""
    try:
        api.bucket_info(name)
    except (HTTPError, OSError, StoreError) as error:
        yield _refusal("token", f"bucket {name}", error)
    else:
        yield ok("token", f"may read bucket {name}")
    if find_spec("hf_xet") is None:
        yield fault("token", "hf_xet is missing, without which a bucket has no files", "pip install hf-xet")


def _check_visible(api: HfApi, dataset: str) -> Iterator[Finding]:
    """Check that the public store is not a private dataset."""
    try:
        is_private = api.dataset_info(dataset).private
    except (HTTPError, OSError, StoreError):
        return  # `_check_rights` has reported it
    if is_private:
        remedy = "make it public in its settings, unless this board is internal"
        yield fault("store", f"dataset {dataset} is private, so nobody can download results from it", remedy)


def _may_write(api: HfApi, name: str) -> bool:
    try:
        api.auth_check(name, repo_type="dataset", write=True)
    except (HTTPError, OSError, StoreError):
        return False
    return True


def _check_static_space(api: HfApi, space: str) -> Iterator[Finding]:
    """Check that a static Space has no secrets and variables, because it shows them to every visitor, in the page."""
    try:
        names = {*api.get_space_secrets(space), *api.get_space_variables(space)}
    except (HTTPError, OSError, StoreError):
        return  # `_check_rights` has reported it
    for name in sorted(names):
        remedy = f"delete it, and replace the token: every visitor of {space} can read it"
        yield fault("static space", f"the static Space {space} has {name}", remedy)


def _check_clock(endpoint: str) -> Iterator[Finding]:
    """Compare this machine's clock with the Date header of the Hub."""
    try:
        answer = httpx2.head(endpoint, timeout=REQUEST_SECONDS)
        hub_time = parsedate_to_datetime(answer.headers["Date"])
    except (HTTPError, KeyError, ValueError) as error:
        yield fault("hub", f"{endpoint} does not answer ({type(error).__name__})", "check network, proxy and DNS")
        return
    difference = (datetime.now(UTC) - hub_time).total_seconds()
    if abs(difference) > MAX_CLOCK_SECONDS:
        remedy = "synchronise it (timedatectl set-ntp true): leases and sign-in depend on it"
        yield fault("clock", f"this machine's clock differs from the Hub's by {difference:+.0f} s", remedy)
    else:
        yield ok("clock", f"differs from the Hub's by {difference:+.0f} s")


def _write_and_take_back(store: Store) -> None:
    """Commit a new file, and then its deletion. Raises StoreError if the store cannot be written."""
    content = secrets.token_hex(16).encode()

    def write(_: Snapshot) -> tuple[Changes, str, None]:
        return {PROBE: content}, "Check that the store can be written", None

    def take_back(_: Snapshot) -> tuple[Changes, str, None]:
        return {PROBE: None}, "Take the check back", None

    transact(store, write)
    transact(store, take_back)


def _check_can_create(check: str, url: str, creation: str) -> Iterator[Finding]:
    """Check that the folder of a store that does not exist yet can be created. `creation` states when that happens."""
    existing = nearest_existing(local_path(url).resolve())
    if os.access(existing, os.W_OK | os.X_OK) and existing.is_dir():
        yield ok(check, f"{url} does not exist yet; {creation}")
    else:
        yield fault(check, f"{url} cannot be created: {existing} is not writable", "chown it to this user")


def _refusal(check: str, name: str, error: Exception) -> Finding:
    """Return the fault of a call to the Hub that raised an error. `name` is the token or the repository."""
    if isinstance(error, HfHubHTTPError):
        status = error.response.status_code
        remedy = "replace the token" if status == 401 else "give the token this right, or correct the name"
        return fault(check, f"{name}: the Hub answers {status}", remedy)
    if isinstance(error, StoreError):  # HubApi raises it for a token with characters that no token has
        return fault(check, f"{name}: {error}", "copy the token again")
    return fault(check, f"{name}: the Hub does not answer ({type(error).__name__})", "run this again later")
