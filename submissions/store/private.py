"""Store files that are private or change often, without history, at an fsspec address.

The address is a local folder, a Storage Bucket of the Hub (https://huggingface.co/docs/hub/storage-buckets), or any other
file system that fsspec supports. Files are written whole. If two writers write the same file, the last one wins.

Each operation passes three layers, from the outside in: `_run` records in `health` whether it succeeded, `_with_retries`
repeats it within a deadline and raises StoreErrors, and `_classify_errors` decides which errors may be temporary.
"""

import logging
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import fsspec
from fsspec.implementations.local import LocalFileSystem
from httpx2 import HTTPError
from huggingface_hub import HfFileSystem
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils.tqdm import disable_progress_bars
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from submissions.config.addresses import BUCKETS, bucket_of
from submissions.records.base import Record
from submissions.store.base import TRANSIENT_ERRNOS
from submissions.store.deadline import UPLOAD_BYTES_PER_S, Deadline
from submissions.store.hub_api import HubApi, TokenReader, no_token
from submissions.texts.errors import StoreError, StoreUnavailableError

log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R", bound=Record)
Access = Literal["read", "written"]  # the kind of an operation, as log messages name it
TRIES = 4  # of an operation of a remote store; a local one is tried once
# Deadlines of a remote store in seconds, for all tries together. hf_xet has none of its own.
SMALL_FILE_S = 45.0  # for a record, a listing or a deletion
READ_S = 300.0  # for a file of any size
PROBE = "probe"  # file that is written to find out whether the store can be written again
_PARTIAL = ".partial"  # suffix of unfinished files in a local folder
LEFTOVER_S = 86_400.0  # age in seconds at which an unfinished file counts as left over from a killed writer


@dataclass
class Health:
    """Since when a private store cannot be read or written. All stores of a process with one address share it."""

    since: dict[Access, datetime] = field(default_factory=dict)  # the first failure of each access that fails now

    @property
    def failing_since(self) -> datetime | None:
        """Return since when reads or writes have failed, or None if both work."""
        return min(self.since.values(), default=None)

    def record(self, access: Access, error: Exception | None, url: str) -> None:
        """Record the outcome of an operation. A change is logged."""
        if error is None:
            if self.since.pop(access, None):
                log.warning("%s can be %s again", url, access)
        elif access not in self.since:
            self.since[access] = datetime.now(UTC)
            log.warning("%s cannot be %s: %s", url, access, error)


@cache
def health_of(url: str, endpoint: str) -> Health:
    """Return the health of the store at an address. It is cached, so that all stores of a process share it."""
    return Health()


class PrivateStore:
    """The private files of an installation."""

    def __init__(self, url: str, read_token: TokenReader = no_token) -> None:
        """Open the store. `read_token` returns the Hub token. Raises StoreError if the address cannot be used."""
        self.url = url
        self._api = HubApi(read_token)
        self._options: dict[str, Any] = {}
        if url.startswith("hf://"):
            self._options = {"endpoint": self._api.endpoint, "token": False}  # `_uncached` adds the current token
            disable_progress_bars()  # otherwise each heartbeat shows one
        try:
            self._files, root = fsspec.core.url_to_fs(url, skip_instance_cache=True, **self._options)
        except (ImportError, ValueError, OSError) as error:  # some file systems connect at once
            raise StoreError(f"{url} cannot be used as the private store: {error}") from error
        self._root = root.rstrip("/")
        self._local = isinstance(self._files, LocalFileSystem)
        self._deadline = Deadline()
        self.health = health_of(url, self._api.endpoint)
        if self._local:
            try:
                Path(self._root).mkdir(parents=True, exist_ok=True)
                Path(self._root).chmod(0o700)
            except OSError as error:
                raise StoreError(f"{url} cannot be used as the private store: {error.strerror}") from error

    def read(self, path: str) -> bytes:
        """Return the content of a file. Raises KeyError if it does not exist."""
        try:
            return self._read(path, READ_S)
        except FileNotFoundError:
            raise KeyError(path) from None

    def read_record(self, path: str, kind: type[R]) -> R | None:
        """Return a record, or None if there is none or it is unreadable.

        Unknown fields of a record from a newer version are dropped. Raises StoreError if the store cannot be read.
        """
        try:
            return kind.read_known(self._read(path, SMALL_FILE_S))
        except (FileNotFoundError, ValueError):
            return None

    def write(self, path: str, content: bytes) -> None:
        """Write a file. Raises StoreUnavailableError if a later attempt may succeed, StoreError if not."""
        try:
            if self._local:
                self._run(lambda: _write_locally(Path(self._absolute(path)), content), "written")
            else:
                self._run(
                    lambda: self._uncached().pipe_file(self._absolute(path), content),
                    "written",
                    _seconds_to_write(content),
                )
        except (FileExistsError, FileNotFoundError) as error:
            raise self._cannot_write(path, error) from error

    def create(self, path: str, content: bytes) -> bool:
        """Write a file unless it exists. Return whether it was written.

        This is not atomic in a bucket: two simultaneous writers may both get True although only one content remains. Read
        the file again to be sure.
        """
        try:
            if self._local:
                self._run(lambda: _write_locally(Path(self._absolute(path)), content, replace=False), "written")
            else:
                self._run(
                    lambda: self._uncached().pipe_file(self._absolute(path), content, mode="create"),
                    "written",
                    _seconds_to_write(content),
                )
        except FileNotFoundError as error:
            raise self._cannot_write(path, error) from error
        except FileExistsError as error:
            if self._local and not Path(self._absolute(path)).exists():  # instead, one of its folders is a file
                raise self._cannot_write(path, error) from error
            return False
        return True

    def _cannot_write(self, path: str, error: OSError) -> StoreError:
        """Return the error if a file is in the place of a folder, or the bucket was deleted."""
        return StoreError(f"{self.url}: {path} cannot be written: {error.strerror or error}")

    def delete(self, path: str) -> None:
        """Delete a file. Do nothing if it does not exist."""

        def attempt() -> None:
            files = self._uncached()
            # A bucket refuses to delete a file that it does not have, with an error that is not a FileNotFoundError.
            if files.exists(self._absolute(path)):
                files.rm(self._absolute(path))

        with suppress(FileNotFoundError):
            self._run(attempt, "written")

    def paths(self, folder: str) -> list[str]:
        """Return the sorted paths of all files below a folder, relative to the store."""
        try:
            found: list[str] = self._run(lambda: self._uncached().find(self._absolute(folder)))
        except FileNotFoundError:
            return []
        prefix_length = len(self._root) + 1  # with the slash
        return sorted(path[prefix_length:] for path in found if not path.endswith(_PARTIAL))

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
        return bool(self._run(lambda: self._api.bucket_info(bucket_of(self.url))).private)

    def _read(self, path: str, seconds: float) -> bytes:
        """Return the content of a file. Raises FileNotFoundError if it does not exist."""
        return self._run(lambda: bytes(self._uncached().cat_file(self._absolute(path))), seconds=seconds)

    def _uncached(self) -> Any:
        """Return the file system without cached listings, because other processes write to it too.

        That of the Hub is made for each call: its listings must not be read and changed by several threads at once, and the
        token may have changed.
        """
        if not isinstance(self._files, HfFileSystem):
            self._files.invalidate_cache()
            return self._files
        files = HfFileSystem(skip_instance_cache=True, **self._options | {"token": self._api.token})
        # Its own HfApi would keep one token. Ours reads the token before each request and checks it.
        files._api = self._api
        return files

    def _absolute(self, path: str) -> str:
        """Return a path of this store as its file system names it."""
        return f"{self._root}/{path}"

    def _run(self, work: Callable[[], T], access: Access = "read", seconds: float | None = None) -> T:
        """Return `work()`, repeated after temporary errors, and record in `health` whether it succeeded.

        For a remote store all tries together take `seconds` at most, by default SMALL_FILE_S. That a file is missing or
        exists already is an answer of a healthy store.

        Raises FileNotFoundError and FileExistsError unchanged, StoreUnavailableError if temporary errors persist or the
        time is over, and StoreError for any other error.
        """
        try:
            result = self._with_retries(work, SMALL_FILE_S if seconds is None else seconds)
        except (FileNotFoundError, FileExistsError):
            self.health.record(access, None, self.url)
            raise
        except StoreError as error:
            self.health.record(access, error, self.url)
            raise
        self.health.record(access, None, self.url)
        return result

    def _with_retries(self, work: Callable[[], T], seconds: float) -> T:
        """Return `work()`, repeated after temporary errors, and raise its errors as `_run` says."""
        retrying = Retrying(
            stop=stop_after_attempt(1 if self._local else TRIES),
            wait=wait_random_exponential(multiplier=0.5, max=10),
            retry=retry_if_exception_type(_TransientError),
            reraise=True,
        )

        def attempts() -> T:
            return retrying(lambda: _classify_errors(work))

        try:
            return attempts() if self._local else self._deadline.run(attempts, seconds)
        except _TransientError as error:
            raise StoreUnavailableError(f"{self.url}: {error}; try again later") from error.__cause__
        except HfHubHTTPError as error:
            status = error.response.status_code
            advice = "name a bucket that exists, and a token in HANNUN_HUB_TOKEN that may read and write it"
            raise StoreError(f"{self.url}: the Hub answers {status}; {advice}") from error
        except (FileNotFoundError, FileExistsError):
            raise
        except TimeoutError as error:
            raise StoreUnavailableError(f"{self.url}: {error}; try again later") from error
        except OSError as error:
            raise StoreError(f"{self.url}: {error.strerror or error}") from error


def _seconds_to_write(content: bytes) -> float:
    """Return the seconds that writing a file to a remote store may take."""
    return SMALL_FILE_S + len(content) / UPLOAD_BYTES_PER_S


class _TransientError(Exception):
    """Raised for errors that another attempt may resolve."""


def _classify_errors(work: Callable[[], T]) -> T:
    """Run `work`, and raise FileNotFoundError for missing files and _TransientError for temporary errors.

    Other errors are raised unchanged.
    """
    try:
        return work()
    except HfHubHTTPError as error:
        status = error.response.status_code
        is_bucket_missing = error.response.headers.get("X-Error-Code", "").startswith("Repo")  # RepoNotFound
        if status == 404 and not is_bucket_missing:
            raise FileNotFoundError from error
        if status in (408, 425, 429) or status >= 500:
            raise _TransientError(f"the Hub answers {status}") from error
        raise
    except (FileNotFoundError, FileExistsError):
        raise
    except OSError as error:
        if error.errno and error.errno not in TRANSIENT_ERRNOS:
            raise
        # Without an errno it comes from a client library, most likely after a lost connection.
        raise _TransientError(error.strerror or str(error)) from error
    except KeyError as error:  # HfFileSystem, if a folder vanishes while it is listed
        raise _TransientError(f"{error} changed while it was read") from error
    except (HTTPError, RuntimeError) as error:  # hf_xet raises RuntimeError
        raise _TransientError(" ".join(f"{type(error).__name__} {error}".split())) from error


def _write_locally(path: Path, content: bytes, *, replace: bool = True) -> None:
    """Write a file atomically: after a kill or with a full disk, it has either the old or the new content.

    Raises FileExistsError if the file exists and `replace` is False.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=_PARTIAL, delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if replace:
                Path(file.name).replace(path)
            else:
                os.link(file.name, path)  # unlike a rename it fails if the path exists
        finally:
            Path(file.name).unlink(missing_ok=True)
