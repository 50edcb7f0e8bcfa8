"""Store files that are private or change often, without history, at an fsspec address.

The address is a local folder, a Storage Bucket of the Hub (https://huggingface.co/docs/hub/storage-buckets), or any other
file system that fsspec supports. Files are written whole. If two writers write the same file, the last one wins.
"""

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import fsspec
from fsspec.implementations.local import LocalFileSystem
from httpx2 import HTTPError
from huggingface_hub import HfFileSystem
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils.tqdm import disable_progress_bars
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from submissions.records.base import Record
from submissions.store.base import TRANSIENT_ERRNOS
from submissions.store.hub_api import HubApi, TokenReader, no_token
from submissions.texts.errors import StoreError, StoreUnavailableError

T = TypeVar("T")
R = TypeVar("R", bound=Record)
TRIES = 4
LEFTOVER_S = 86_400.0  # age in seconds at which an unfinished file counts as left over from a killed writer
BUCKETS = "hf://buckets/"


class PrivateStore:
    """The private files of an installation."""

    def __init__(self, url: str, read_token: TokenReader = no_token) -> None:
        """Open the store. `read_token` returns the Hub token. Raises StoreError if the address cannot be used."""
        self.url = url
        self._api = HubApi(read_token)
        options: dict[str, Any] = {}
        if url.startswith("hf://"):
            options = {"endpoint": self._api.endpoint, "token": False}
            disable_progress_bars()  # otherwise each heartbeat shows one
        try:
            self._files, root = fsspec.core.url_to_fs(url, skip_instance_cache=True, **options)
        except (ImportError, ValueError) as error:
            raise StoreError(f"{url} cannot be used as the private store: {error}") from error
        if isinstance(self._files, HfFileSystem):
            self._files._api = self._api
        self._root = root.rstrip("/")
        self._local = isinstance(self._files, LocalFileSystem)
        if self._local:
            try:
                Path(self._root).mkdir(parents=True, exist_ok=True)
                Path(self._root).chmod(0o700)
            except OSError as error:
                raise StoreError(f"{url} cannot be used as the private store: {error.strerror}") from error

    def read(self, path: str) -> bytes:
        """Return the content of a file. Raises KeyError if it does not exist."""
        try:
            content: bytes = self._retry(lambda: self._uncached().cat_file(self._at(path)))
            return content
        except FileNotFoundError:
            raise KeyError(path) from None

    def read_record(self, path: str, kind: type[R]) -> R | None:
        """Return a record, or None if there is none or it is unreadable.

        Unknown fields of a record from a newer version are dropped. Raises StoreError if the store cannot be read.
        """
        try:
            return kind.read_known(self.read(path))
        except (KeyError, ValueError):
            return None

    def write(self, path: str, content: bytes) -> None:
        """Write a file. Raises StoreUnavailableError if a later attempt may succeed, StoreError if not."""
        try:
            if self._local:
                self._retry(lambda: _write_locally(Path(self._at(path)), content))
            else:
                self._retry(lambda: self._files.pipe_file(self._at(path), content))
        except (FileExistsError, FileNotFoundError) as error:  # a file in the place of a folder, or a deleted bucket
            raise StoreError(f"{self.url}: {path} cannot be written: {error.strerror or error}") from error

    def create(self, path: str, content: bytes) -> bool:
        """Write a file unless it exists. Return whether it was written.

        This is not atomic in a bucket: two simultaneous writers may both get True although only one content remains. Read
        the file again to be sure.
        """
        try:
            if self._local:
                self._retry(lambda: _write_locally(Path(self._at(path)), content, replace=False))
            else:
                self._retry(lambda: self._uncached().pipe_file(self._at(path), content, mode="create"))
        except FileExistsError:
            return False
        return True

    def delete(self, path: str) -> None:
        """Delete a file. Do nothing if it does not exist."""

        def attempt() -> None:
            if self._uncached().exists(self._at(path)):
                self._files.rm(self._at(path))

        with suppress(FileNotFoundError):
            self._retry(attempt)

    def paths(self, folder: str) -> list[str]:
        """Return the sorted paths of all files below a folder."""
        try:
            found: list[str] = self._retry(lambda: self._uncached().find(self._at(folder)))
        except FileNotFoundError:
            return []
        prefix = len(self._root) + 1
        return sorted(path[prefix:] for path in found if not path.endswith(_PARTIAL))

    def remove_leftovers(self) -> None:
        """Delete unfinished files of killed writers that are a day old. Only a local folder can have such files."""
        if self._local:
            for path in Path(self._root).rglob(f"*{_PARTIAL}"):
                with suppress(FileNotFoundError):
                    if time.time() - path.stat().st_mtime > LEFTOVER_S:
                        path.unlink()

    def is_private(self) -> bool:
        """Return False if the store is known to be public."""
        if not self.url.startswith(BUCKETS):
            return True  # folders are private, and buckets of other services are private by default
        bucket = "/".join(self.url.removeprefix(BUCKETS).split("/")[:2])
        return bool(self._retry(lambda: self._api.bucket_info(bucket)).private)

    def _uncached(self) -> Any:
        """Return the file system without cached listings, because other processes write to it too."""
        self._files.invalidate_cache()
        return self._files

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}"

    def _retry(self, work: Callable[[], T]) -> T:
        """Run `work`, and repeat it after temporary errors.

        Raises FileNotFoundError and FileExistsError unchanged, StoreUnavailableError if temporary errors persist, and
        StoreError for any other error.
        """
        retrying = Retrying(
            stop=stop_after_attempt(1 if self._local else TRIES),
            wait=wait_random_exponential(multiplier=0.5, max=10),
            retry=retry_if_exception_type(_TransientError),
            reraise=True,
        )
        if isinstance(self._files, HfFileSystem):
            self._files.token = self._api.token
        try:
            return retrying(lambda: _classify_errors(work))
        except _TransientError as error:
            raise StoreUnavailableError(f"{self.url}: {error}; try again later") from error.__cause__
        except HfHubHTTPError as error:
            status = error.response.status_code
            advice = "name a bucket that exists, and a token in HANNUN_HUB_TOKEN that may read and write it"
            raise StoreError(f"{self.url}: the Hub answers {status}; {advice}") from error
        except (FileNotFoundError, FileExistsError):
            raise
        except OSError as error:
            raise StoreError(f"{self.url}: {error.strerror or error}") from error


_PARTIAL = ".partial"


class _TransientError(Exception):
    """Raised for errors that another attempt may resolve."""


def _classify_errors(work: Callable[[], T]) -> T:
    """Run `work`, and raise FileNotFoundError for missing files and _TransientError for temporary errors."""
    try:
        return work()
    except HfHubHTTPError as error:
        status = error.response.status_code
        if status == 404 and not error.response.headers.get("X-Error-Code", "").startswith("Repo"):
            raise FileNotFoundError from error
        if status in (408, 425, 429) or status >= 500:
            raise _TransientError(f"the Hub answers {status}") from error
        raise
    except (FileNotFoundError, FileExistsError):
        raise
    except OSError as error:
        if error.errno and error.errno not in TRANSIENT_ERRNOS:
            raise
        raise _TransientError(error.strerror or str(error)) from error
    except (HTTPError, RuntimeError) as error:  # hf_xet raises RuntimeError
        raise _TransientError(" ".join(f"{type(error).__name__} {error}".split())) from error


def _write_locally(path: Path, content: bytes, *, replace: bool = True) -> None:
    """Write a file atomically: after a kill or with a full disk, it has either the old or the new content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=_PARTIAL, delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if replace:
                Path(file.name).replace(path)
            else:
                os.link(file.name, path)
        finally:
            Path(file.name).unlink(missing_ok=True)
