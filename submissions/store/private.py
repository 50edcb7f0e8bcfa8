"""What is private or changes often: files without history behind an fsspec address.

A local folder, a Storage Bucket of the Hub (https://huggingface.co/docs/hub/storage-buckets), or any other file system
that fsspec knows. A file is written whole; of two writers the last one wins.
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
from submissions.store.base import PASSING
from submissions.store.hub_api import HubApi, TokenReader, no_token
from submissions.texts.errors import StoreError, StoreUnavailableError

T = TypeVar("T")
R = TypeVar("R", bound=Record)
TRIES = 4
LEFTOVER_S = 86_400.0  # seconds after which what was begun is taken for left over
BUCKETS = "hf://buckets/"


class PrivateStore:
    def __init__(self, url: str, read_token: TokenReader = no_token) -> None:
        """Raises StoreError for an address that cannot be used. `read_token` gives the Hub's."""
        self.url = url
        self._api = HubApi(read_token)
        options: dict[str, Any] = {}
        if url.startswith("hf://"):
            options = {"endpoint": self._api.endpoint, "token": False}
            disable_progress_bars()  # one for each heartbeat
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
        """Raises KeyError where there is no such file."""
        try:
            content: bytes = self._tried(lambda: self._fresh().cat_file(self._at(path)))
            return content
        except FileNotFoundError:
            raise KeyError(path) from None

    def read_record(self, path: str, kind: type[R]) -> R | None:
        """Return a record, None if there is none that can be read; of a newer version's, what is known of it.

        Raises StoreError.
        """
        try:
            return kind.read_known(self.read(path))
        except (KeyError, ValueError):
            return None

    def write(self, path: str, content: bytes) -> None:
        """Raises StoreUnavailableError where it may not be written yet, StoreError where it cannot be."""
        try:
            if self._local:
                self._tried(lambda: _write_locally(Path(self._at(path)), content))
            else:
                self._tried(lambda: self._files.pipe_file(self._at(path), content))
        except (FileExistsError, FileNotFoundError) as error:  # a file where a folder should be, a bucket that has gone
            raise StoreError(f"{self.url}: {path} cannot be written: {error.strerror or error}") from error

    def create(self, path: str, content: bytes) -> bool:
        """Write a file unless it is there; whether it was written.

        A bucket has no such operation: there two writers at the very same moment may both be told so, and one content
        stands. Read it again.
        """
        try:
            if self._local:
                self._tried(lambda: _write_locally(Path(self._at(path)), content, replace=False))
            else:
                self._tried(lambda: self._fresh().pipe_file(self._at(path), content, mode="create"))
        except FileExistsError:
            return False
        return True

    def delete(self, path: str) -> None:
        """Of a file that is not there, too."""

        def attempt() -> None:
            if self._fresh().exists(self._at(path)):
                self._files.rm(self._at(path))

        with suppress(FileNotFoundError):
            self._tried(attempt)

    def paths(self, folder: str) -> list[str]:
        """Every file below a folder, in order."""
        try:
            found: list[str] = self._tried(lambda: self._fresh().find(self._at(folder)))
        except FileNotFoundError:
            return []
        prefix = len(self._root) + 1
        return sorted(path[prefix:] for path in found if not path.endswith(_PARTIAL))

    def remove_leftovers(self) -> None:
        """What killed writers have begun, once it is a day old. Other services than a folder keep no half of a file."""
        if self._local:
            for path in Path(self._root).rglob(f"*{_PARTIAL}"):
                with suppress(FileNotFoundError):
                    if time.time() - path.stat().st_mtime > LEFTOVER_S:
                        path.unlink()

    def is_private(self) -> bool:
        """Whether strangers cannot read it, as far as that can be told."""
        if not self.url.startswith(BUCKETS):
            return True  # a folder is the operator's alone, and so is another service's bucket unless opened
        bucket = "/".join(self.url.removeprefix(BUCKETS).split("/")[:2])
        return bool(self._tried(lambda: self._api.bucket_info(bucket)).private)

    def _fresh(self) -> Any:
        """Without what was listed before: others write here too."""
        self._files.invalidate_cache()
        return self._files

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}"

    def _tried(self, work: Callable[[], T]) -> T:
        """Raises FileNotFoundError and FileExistsError as they are, StoreUnavailableError after some tries for what may
        pass, StoreError for the rest."""
        tries = Retrying(
            stop=stop_after_attempt(1 if self._local else TRIES),
            wait=wait_random_exponential(multiplier=0.5, max=10),
            retry=retry_if_exception_type(_Passing),
            reraise=True,
        )
        if isinstance(self._files, HfFileSystem):
            self._files.token = self._api.token
        try:
            return tries(lambda: _told_apart(work))
        except _Passing as error:
            raise StoreUnavailableError(f"{self.url}: {error}; try again later") from error.__cause__
        except HfHubHTTPError as error:
            said = f"the Hub answers {error.response.status_code}"
            advice = "name a bucket that exists, and a token in HANNUN_HUB_TOKEN that may read and write it"
            raise StoreError(f"{self.url}: {said}; {advice}") from error
        except (FileNotFoundError, FileExistsError):
            raise
        except OSError as error:
            raise StoreError(f"{self.url}: {error.strerror or error}") from error


_PARTIAL = ".partial"


class _Passing(Exception):
    """What another try may mend."""


def _told_apart(work: Callable[[], T]) -> T:
    try:
        return work()
    except HfHubHTTPError as error:
        status = error.response.status_code
        if status == 404 and not error.response.headers.get("X-Error-Code", "").startswith("Repo"):
            raise FileNotFoundError from error
        if status in (408, 425, 429) or status >= 500:
            raise _Passing(f"the Hub answers {status}") from error
        raise
    except (FileNotFoundError, FileExistsError):
        raise
    except OSError as error:
        if error.errno and error.errno not in PASSING:
            raise
        raise _Passing(error.strerror or str(error)) from error
    except (HTTPError, RuntimeError) as error:  # hf_xet raises RuntimeError
        raise _Passing(" ".join(f"{type(error).__name__} {error}".split())) from error


def _write_locally(path: Path, content: bytes, *, replace: bool = True) -> None:
    """Beside its place first, so that a killed process or a full disk leaves the old content or the new."""
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
