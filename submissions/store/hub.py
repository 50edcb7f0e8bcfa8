"""A store in a dataset repository of the Hugging Face Hub.

Commits go through the Hub's API, where their parent is checked. What is there is read through git, into a mirror on this
machine: the folders that have changed come in one pack, so a refresh costs the same however many records there are. Files
come when they are read, from the API: the Hub's git server gives folders without files, and no single file
(https://github.com/harbor-framework/harbor/pull/2328).
"""

import logging
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import httpx2
import urllib3
from dulwich.client import HttpGitClient
from dulwich.errors import GitProtocolError
from httpx2 import HTTPError
from huggingface_hub import (
    CommitOperationAdd,
    CommitOperationDelete,
    get_session,
    set_client_factory,
)
from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError
from huggingface_hub.utils._http import default_client_factory, hf_raise_for_status, parse_ratelimit_headers
from tenacity import RetryCallState, Retrying, retry_if_exception

from submissions.store.base import MAIN, Changes, Commit, Snapshot, blob_id, pointer, unchanged
from submissions.store.hub_api import HubApi, TokenReader, no_token
from submissions.store.mirror import Mirror
from submissions.store.retry_after import wait_retry_after
from submissions.texts.errors import ConflictError, DamagedError, StoreError, StoreUnavailableError

log = logging.getLogger(__name__)

T = TypeVar("T")
TRIES = 6
LONGEST_WAIT = 30.0  # seconds between two tries
PATIENCE = 60.0  # seconds in which one operation of the store may begin another try
CLOCK_LASTS = 600.0  # seconds until the Hub is asked for the time again
TIMEOUT = 30.0  # seconds without a byte
RESPONSE_SECONDS = 60.0  # for the whole body of a response
CONFLICTS = (409, 412)
FRESH_S = 3600.0  # seconds; the commits since an older fetch are not fetched, their folders would be much
LOOKED_BACK = 50  # commits fetched to find one of ours, where its parent is not here
MANY = 300  # files; more are fetched in one request, with all others
MIRROR_BYTES = 500_000_000
CONNECTIONS = 8  # to fetch files one by one


def client() -> httpx2.Client:
    """Return the Hub library's client with an end to its patience; its own waits for ever."""
    own = default_client_factory()
    own.timeout = httpx2.Timeout(TIMEOUT)
    hooks = own.event_hooks
    own.event_hooks = {**hooks, "response": [*hooks["response"], _bound_time]}
    return own


def _bound_time(response: httpx2.Response) -> None:
    """Give a response's body RESPONSE_SECONDS in all, however often a byte of it comes."""
    assert isinstance(response.stream, httpx2.SyncByteStream)
    response.stream = _TimedStream(response.stream, time.monotonic() + RESPONSE_SECONDS)


class _TimedStream(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, until: float) -> None:
        self._stream, self._until = stream, until

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            if time.monotonic() > self._until:
                raise httpx2.ReadTimeout(f"the response took more than {RESPONSE_SECONDS:g} s")
            yield part

    def close(self) -> None:
        self._stream.close()


set_client_factory(client)


class _Interrupted(Exception):
    """A transfer did not come to its end."""


class HubStore:
    def __init__(self, url: str, mirrors: Path, read_token: TokenReader = no_token) -> None:
        """Raises StoreError for an address that names no dataset."""
        match = re.fullmatch(r"hf://datasets/([A-Za-z0-9._-]+/[A-Za-z0-9._-]+)/?", url)
        if not match:
            raise StoreError(f"{url} names no dataset; write hf://datasets/OWNER/NAME")
        self.url = url
        self.failed_attempts = 0
        self._limits = threading.local()  # when this thread's operation stops trying
        self._repo = match[1]
        self._api = HubApi(read_token)
        self._endpoint = self._api.endpoint
        mirror = mirrors / f"{self._repo.replace('/', '--')}.git"
        try:
            self._mirror = Mirror(mirror)
        except DamagedError as error:
            log.warning("%s; the mirror is fetched anew", error)
            shutil.rmtree(mirror)
            self._mirror = Mirror(mirror)
        self._fetched = -FRESH_S  # when, by the monotonic clock
        self.write_lock = self._mirror.write_lock
        self._clock: tuple[datetime, float] | None = None  # the Hub's time, and ours by a clock that is never set

    def head(self) -> str:
        """From the branch itself: the Hub's `sha` of a dataset may lag behind."""
        refs = self._with_retries(lambda: self._api.list_repo_refs(self._repo, repo_type="dataset"))
        for ref in refs.branches:
            if ref.name == MAIN:
                return ref.target_commit
        raise StoreError(f"{self.url} has no branch {MAIN}: name a dataset that was made on the Hub")

    def snapshot(self, head: str | None = None) -> Snapshot:
        head = head or self.head()
        return self._mirrored(head, lambda: self._mirror.snapshot(head))

    def read(self, path: str, head: str) -> bytes:
        def content() -> bytes:
            blob = self._mirror.blob(path, head)
            return self._mirror.content(blob) if self._mirror.has(blob) else self._download(path, head, blob)

        return self._mirrored(head, content)

    def entries(self, folder: str, head: str) -> int:
        return self._mirrored(head, lambda: self._mirror.entries(folder, head))

    def session(self) -> AbstractContextManager[None]:
        """None: other processes write packs into this mirror, under names that may be there already."""
        return nullcontext()

    def prefetch(self, paths: Collection[str], snapshot: Snapshot) -> None:
        missing = {path: blob for path in paths if not self._mirror.has(blob := snapshot.files[path])}
        if len(missing) > MANY:
            self._fetch_all(snapshot.head)
        elif missing:
            with ThreadPoolExecutor(CONNECTIONS) as pool:
                list(pool.map(lambda path: self._download(path, snapshot.head, missing[path]), missing))

    def history(self, head: str) -> Iterator[Commit]:
        self._fetch(head)
        return self._mirror.history(head)

    def tidy(self) -> None:
        """A mirror that has become large is thrown away: what is needed of it is fetched soon."""
        self._with_retries(lambda: self._api.super_squash_history(self._repo, branch=MAIN, repo_type="dataset"))
        if self._mirror.repository.size() > MIRROR_BYTES:
            self._throw_mirror_away()

    def now(self) -> datetime:
        """By the Hub's clock, which all workers share."""
        if self._clock is None or time.monotonic() - self._clock[1] > CLOCK_LASTS:
            self._clock = self._with_retries(self._ask_the_time), time.monotonic()
        return self._clock[0] + timedelta(seconds=time.monotonic() - self._clock[1])

    def commit(self, changes: Changes, parent: str, message: str) -> str:
        """As the Store says. After an answer that leaves open whether the commit landed, its nonce is looked for.

        The Hub returns success without looking at the parent where nothing would change; such a commit lacks the
        nonce, and is a conflict here. Raises StoreUnavailableError where the Hub cannot be reached.
        """
        nonce = secrets.token_hex(16)
        there = self._mirror.snapshot(parent).files if self._mirror.has(parent) else {}
        gone = [path for path, content in changes.items() if content is None and path in there]
        new = {path: content for path, content in changes.items() if content is not None}

        def attempt() -> str:
            try:
                done = self._api.create_commit(
                    self._repo,
                    [
                        *(CommitOperationDelete(path, is_folder=False) for path in gone),
                        *(CommitOperationAdd(path, content) for path, content in new.items()),
                    ],
                    commit_message=message,
                    commit_description=f"nonce {nonce}",
                    repo_type="dataset",
                    revision=MAIN,
                    parent_commit=parent,
                )
                head = self._shown(done.oid, parent)
                landed = self._landed(head, parent, nonce)
            except RuntimeError as error:  # of an upload to the storage beside git, before the commit
                raise _Interrupted(f"{error} {error.__cause__}") from error
            except (HTTPError, ValueError, KeyError) as error:  # HfHubHTTPError is an HTTPError; a cut-off body is none
                status = error.response.status_code if isinstance(error, HfHubHTTPError) else None
                if status in (401, 403):
                    raise
                head = self.head()
                landed = self._landed(head, parent, nonce)
                if landed is None and status not in CONFLICTS and head == parent:
                    raise
            if landed is None and not self._in_place(changes, head, parent):
                raise ConflictError(MAIN)
            return landed or head

        return self._with_retries(attempt)

    def _shown(self, head: str, parent: str) -> str:
        """The commit, or the head where it has been squashed away meanwhile."""
        try:
            self._fetch(head, since=parent)
            return head
        except StoreUnavailableError:
            if (now := self.head()) == head:
                raise
            return now

    def _in_place(self, changes: Changes, head: str, parent: str) -> bool:
        """Whether the history since the parent was squashed away, and all is as this commit makes it."""
        if any(commit.id == parent for commit in self._mirror.history(head)):
            return False
        snapshot = self.snapshot(head)
        return all(unchanged(snapshot, path, content) for path, content in changes.items())

    def _landed(self, head: str, parent: str, nonce: str) -> str | None:
        """The commit with this nonce between the head and its parent, if there is one."""
        self._fetch(head, since=parent)
        for commit in self._mirror.history(head):
            if nonce in commit.message:
                return commit.id
            if commit.id == parent:
                break
        return None

    def _mirrored(self, head: str, read: Callable[[], T]) -> T:
        """Fetch a commit and read it from the mirror; once more if objects are damaged or another process removed them."""
        self._fetch(head)
        try:
            return read()
        except (DamagedError, KeyError) as error:
            if self._mirror.has(head):
                if isinstance(error, KeyError):
                    raise
                self._reset_mirror(error)
            self._fetch(head)
            return read()

    def _reset_mirror(self, error: Exception) -> None:
        log.warning("%s: %s; the mirror is fetched anew", self.url, " ".join(f"{type(error).__name__} {error}".split()))
        self._throw_mirror_away()

    def _throw_mirror_away(self) -> None:
        self._mirror.reset()
        self._fetched = -FRESH_S

    def _fetch(self, head: str, *, since: str | None = None) -> None:
        """Bring the mirror up to date, unless it has this commit. `since`: with the commits after that one.

        Git may show a commit later than the API: raises StoreUnavailableError where it does not come.
        """

        def attempt() -> None:
            if not self._mirror.has(head):
                fresh = time.monotonic() - self._fetched < FRESH_S
                known = fresh or (since and self._mirror.has(since))
                self._fetch_once(head, None if known else LOOKED_BACK if since else 1)

        self._with_retries(lambda: self._on_mirror(attempt))

    def _fetch_all(self, head: str) -> None:
        """Every file of a commit, in one request."""
        self._with_retries(lambda: self._on_mirror(lambda: self._fetch_once(head, 1, blobs=True)))

    def _on_mirror(self, work: Callable[[], None]) -> None:
        """Raises _Interrupted for all that another try may mend; before it, a mirror that may be damaged goes."""
        try:
            work()
        except _Interrupted:
            raise
        except (OSError, GitProtocolError, urllib3.exceptions.HTTPError, StoreUnavailableError) as error:
            raise _Interrupted(f"git fetch: {type(error).__name__}: {error}") from error
        except Exception as error:  # of dulwich, for a mirror that is damaged or a pack that was cut off
            self._reset_mirror(error)
            raise _Interrupted(f"git fetch: {type(error).__name__}: {error}") from error

    def _fetch_once(self, head: str, depth: int | None, *, blobs: bool = False) -> None:
        client = HttpGitClient(
            f"{self._endpoint}/datasets/",
            username="hannun" if (token := self._api.read_token()) else None,
            password=token,
            timeout=TIMEOUT,
            quiet=True,
        )
        self._mirror.fetch(client, self._repo, head, depth, blobs=blobs)
        if not self._mirror.has(head):
            raise _Interrupted(f"git does not show {head} yet")
        self._fetched = time.monotonic()

    def _download(self, path: str, head: str, blob: str) -> bytes:
        """A file's content, checked and kept. Raises KeyError where the Hub does not have it."""
        address = f"{self._endpoint}/datasets/{self._repo}/resolve/{head}/{quote(path)}"

        def attempt() -> bytes:
            response = get_session().get(address, headers=self._api._build_hf_headers(), follow_redirects=True)
            hf_raise_for_status(response)
            content = response.content
            if blob_id(content) == blob:
                self._mirror.add_blob(content)
            elif blob_id(pointer(content)) != blob:  # what the Hub keeps beside git
                raise _Interrupted(f"{path} came damaged")
            return content

        try:
            return self._with_retries(attempt)
        except StoreError as error:
            if isinstance(error.__cause__, EntryNotFoundError):
                raise KeyError(path) from None
            raise

    def _ask_the_time(self) -> datetime:
        response = get_session().head(
            f"{self._endpoint}/api/datasets/{self._repo}", headers=self._api._build_hf_headers()
        )
        if (date := response.headers.get("Date")) is None:
            raise _Interrupted("the Hub does not say what time it is")
        return parsedate_to_datetime(date).astimezone(UTC)

    def _with_retries(self, work: Callable[[], T]) -> T:
        """Retry `work` after errors that may pass, for PATIENCE seconds over all nested calls.

        Raises StoreUnavailableError if it keeps failing, StoreError if a retry cannot help.
        """
        outer: float | None = getattr(self._limits, "until", None)
        until = self._limits.until = outer or time.monotonic() + PATIENCE

        def attempt() -> T:
            try:
                return work()
            except Exception as error:
                self.failed_attempts += _is_retryable(error) or isinstance(error, HfHubHTTPError)
                raise

        tries = Retrying(
            stop=lambda state: _give_up(state) or time.monotonic() >= until,
            wait=_wait,
            retry=retry_if_exception(_is_retryable),
            reraise=True,
        )
        try:
            return tries(attempt)
        except HfHubHTTPError as error:
            status = error.response.status_code
            said = f" ({' '.join(error.server_message.split())[:300]})" if error.server_message else ""
            if _is_retryable(error):
                raise StoreUnavailableError(f"{self.url}: the Hub answers {status}{said}; try again later") from error
            advice = "; name a dataset that exists, and a token in HANNUN_HUB_TOKEN that may read and write it"
            raise StoreError(
                f"{self.url}: the Hub answers {status}{said}{advice if status in (401, 403, 404) else ''}"
            ) from error
        except (HTTPError, OSError, ValueError, _Interrupted) as error:
            raise StoreUnavailableError(f"{self.url}: the Hub is out of reach; try again later ({error})") from error
        finally:
            self._limits.until = outer


def _is_retryable(error: BaseException) -> bool:
    """Whether another try may fare better."""
    if isinstance(error, HfHubHTTPError):
        return error.response.status_code in (408, 425, 429) or error.response.status_code >= 500
    return isinstance(error, (HTTPError, ValueError, _Interrupted))


def _give_up(state: RetryCallState) -> bool:
    """After some tries, or where the Hub wants to be left alone for longer than others should wait for the store's lock."""
    return state.attempt_number >= TRIES or _wait(state) > LONGEST_WAIT


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    limit = parse_ratelimit_headers(error.response.headers) if isinstance(error, HfHubHTTPError) else None
    return float(limit.reset_in_seconds) if limit and not limit.remaining else wait_retry_after(state)
