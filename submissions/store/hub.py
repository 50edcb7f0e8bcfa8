"""A store in a dataset repository of the Hugging Face Hub.

Commits go through the Hub's API, which checks their parent. Reads go through git into a local mirror: the changed folders
come in one pack, so the cost of a refresh does not depend on the number of records. Files are downloaded from the API when
they are read, because the Hub's git server can leave out files but cannot send single ones
(https://github.com/harbor-framework/harbor/pull/2328).
"""

import itertools
import logging
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import quote

import urllib3
from dulwich.client import HttpGitClient
from dulwich.errors import GitProtocolError
from httpx2 import HTTPError
from huggingface_hub import CommitInfo, CommitOperationAdd, CommitOperationDelete, get_session
from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError
from huggingface_hub.utils._http import hf_raise_for_status, parse_ratelimit_headers
from tenacity import RetryCallState, Retrying, retry_if_exception

from submissions.config.addresses import DATASETS
from submissions.records.hub_names import hub_id_at
from submissions.store import time_limits
from submissions.store.base import (
    MAIN,
    READERS_GRACE_S,
    Changes,
    Commit,
    Snapshot,
    blob_id,
    is_pointer,
    pointer,
    unchanged,
)
from submissions.store.deadline import UPLOAD_BYTES_PER_S, Deadline
from submissions.store.hub_api import HubApi, TokenReader, no_token
from submissions.store.mirror import Mirror
from submissions.store.retry_after import wait_retry_after
from submissions.texts.errors import ConflictError, DamagedError, StoreError, StoreUnavailableError

log = logging.getLogger(__name__)

T = TypeVar("T")
TRIES = 6
LONGEST_WAIT = 30.0  # seconds; if the Hub asks for a longer wait, there is no further attempt
RETRY_SECONDS = 60.0  # after this, an operation of the store makes no further attempt
CLOCK_MAX_AGE = 600.0  # seconds until the Hub's time is fetched again
CONFLICTS = (409, 412)  # HTTP status codes with which the Hub refuses a commit whose parent is no longer the newest
UNDO_TRIES = 5
MAX_REFUSALS = 7  # refusals in a row, while nobody else commits; then the token or the branch must be at fault
FRESH_S = 3600.0  # if the last fetch is longer ago, not all commits since are fetched (`_depth`)
COMMIT_SEARCH_DEPTH = 50  # commits fetched to find a new commit whose parent is not in the mirror
MAX_SINGLE_FILES = 300  # to prefetch more files, all files are fetched in one request
MIRROR_BYTES = 500_000_000  # `tidy` clears a larger mirror
CONNECTIONS = 8  # for downloading single files


class _Interrupted(Exception):
    """Raised if a transfer fails in a way that a retry may fix."""


class _Outcome(NamedTuple):
    """Where the branch is after a commit was sent, and whether the commit is on it."""

    head: str  # the newest commit of the branch
    ours: str | None  # the commit that was sent, or None if it is not between its parent and the head


class _ClockReading(NamedTuple):
    """The time by the Hub's clock, and the time by this machine's monotonic clock at that moment."""

    hub_time: datetime
    monotonic: float


class HubStore:
    """A store in a dataset on the Hub. Methods without a docstring are described in `Store` (base.py)."""

    def __init__(self, url: str, mirrors: Path, read_token: TokenReader = no_token) -> None:
        """Open the mirror; nothing is fetched yet. Raises StoreError if the address is not that of a dataset."""
        name = hub_id_at(url, DATASETS)
        if name is None:
            raise StoreError(f"{url} is not a dataset; write hf://datasets/OWNER/NAME")
        self.url = url
        self.failed_attempts = 0
        self._refusals = 0  # commits in a row that were refused as conflicts, although the branch had not moved
        self._retries = threading.local()  # `.deadline` is when the current operation of this thread stops retrying
        self._repo = name
        self._api = HubApi(read_token)
        self._deadline = Deadline()
        self._endpoint = self._api.endpoint
        mirror = mirrors / f"{self._repo.replace('/', '--')}.git"
        try:
            self._mirror = Mirror(mirror)
        except DamagedError as error:
            log.warning("%s; the mirror is fetched again", error)
            shutil.rmtree(mirror)
            self._mirror = Mirror(mirror)
        self._fetched = -FRESH_S  # time of the last fetch, by the monotonic clock; at first as if it was long ago
        self.write_lock = self._mirror.write_lock
        self._clock: _ClockReading | None = None

    def head(self) -> str:
        """Return the newest commit of the branch itself, because the `sha` in the Hub's dataset info may lag behind."""
        refs = self._with_retries(lambda: self._api.list_repo_refs(self._repo, repo_type="dataset"))
        for ref in refs.branches:
            if ref.name == MAIN:
                return ref.target_commit
        raise StoreError(f"{self.url} has no branch {MAIN}: use a dataset that was created on the Hub")

    def snapshot(self, head: str | None = None) -> Snapshot:
        head = head or self.head()
        return self._mirrored(head, lambda: self._mirror.snapshot(head))

    def read(self, path: str, head: str) -> bytes:
        def read_or_download() -> bytes:
            blob = self._mirror.blob(path, head)
            if self._mirror.has(blob):
                content = self._mirror.content(blob)
                if not is_pointer(content):  # of a file that the Hub stores outside git, git sends only the pointer
                    return content
            return self._download(path, head, blob)

        return self._mirrored(head, read_or_download)

    def count_entries(self, folder: str, head: str) -> int:
        return self._mirrored(head, lambda: self._mirror.count_entries(folder, head))

    def session(self) -> AbstractContextManager[None]:
        """Return an empty context. Packs are not kept open, because other processes may write packs with the same names."""
        return nullcontext()

    def prefetch(self, paths: Collection[str], snapshot: Snapshot) -> None:
        blobs = {path: snapshot.files[path] for path in paths}
        missing = {path: blob for path, blob in blobs.items() if not self._mirror.has(blob)}
        if len(missing) > MAX_SINGLE_FILES:
            self._fetch_all(snapshot.head)
        elif missing:
            with ThreadPoolExecutor(CONNECTIONS) as pool:
                list(pool.map(lambda path: self._download(path, snapshot.head, missing[path]), missing))

    def history(self, head: str) -> Iterator[Commit]:
        self._fetch(head)
        return self._mirror.history(head)

    def tidy(self, grace_s: float = READERS_GRACE_S) -> None:
        """Squash the history on the Hub, and clear a mirror that has become large. What is needed is fetched again.

        Without grace the mirror is cleared in any case.
        """
        self._with_retries(lambda: self._api.super_squash_history(self._repo, branch=MAIN, repo_type="dataset"))
        if not grace_s or self._mirror.repository.size() > MIRROR_BYTES:
            self._clear_mirror()

    def now(self) -> datetime:
        """Return the time by the Hub's clock, which all workers share."""
        if self._clock is None or time.monotonic() - self._clock.monotonic > CLOCK_MAX_AGE:
            hub_time = self._with_retries(self._fetch_time)
            self._clock = _ClockReading(hub_time, time.monotonic())
        return self._clock.hub_time + timedelta(seconds=time.monotonic() - self._clock.monotonic)

    def commit(self, changes: Changes, parent: str, message: str) -> str:
        """Commit changes on top of `parent` and return the new commit (see `Store.commit`).

        The Hub's answer alone does not show what happened, so the message contains a nonce, and the history since the parent
        is searched for it. `_settle` describes what follows from where it is found.

        Raises ConflictError after a conflict, StoreError if the branch refuses every commit without moving, and
        StoreUnavailableError if the Hub cannot be reached.
        """
        nonce = secrets.token_hex(16)
        deleted = self._existing([path for path, content in changes.items() if content is None], parent)
        written = {path: content for path, content in changes.items() if content is not None}
        upload_s = RETRY_SECONDS + sum(map(len, written.values())) / UPLOAD_BYTES_PER_S

        def create() -> CommitInfo:
            return self._create_commit(written, deleted, parent, message, nonce)

        def attempt() -> str:
            outcome = self._send(create, upload_s, parent, nonce)
            self._refusals = 0  # the Hub took this commit or another one, so the branch accepts commits
            return self._settle(outcome, changes, parent)

        return self._with_retries(attempt)

    def _send(self, create: Callable[[], CommitInfo], seconds: float, parent: str, nonce: str) -> _Outcome:
        """Send a commit once, and look whether it is on the branch, also if the answer is an error or was lost.

        Raises _Interrupted if large files were not uploaded, for which the Hub's client raises RuntimeError, or if the time
        is over. If the commit is made later all the same, the next attempt is refused, because its parent is not the newest
        commit any more, and finds it by the nonce. For other errors see `_search_after_error`.
        """
        try:
            created = self._deadline.run(create, seconds)
            head = self._fetch_commit(created.oid, parent)
            return _Outcome(head, self._find_nonce(head, parent, nonce))
        except (RuntimeError, TimeoutError) as error:
            cause = f" {error.__cause__}" if error.__cause__ else ""
            raise _Interrupted(f"{error}{cause}") from error
        except (HTTPError, ValueError, KeyError) as error:
            return self._search_after_error(error, parent, nonce)

    def _settle(self, outcome: _Outcome, changes: Changes, parent: str) -> str:
        """Return the commit with the changes, or raise ConflictError.

        - Our commit is not on the branch, but the history was squashed and the files are as the changes make them: it was
          made before the squash. The head has the changes.
        - It is not on the branch otherwise: a conflict. The branch has moved, or the changes change nothing, for which the
          Hub reports success without checking the parent.
        - It is on top of another commit than the parent: a conflict, which the Hub did not notice. The commit is undone.
        - It is on top of the parent, or the mirror does not have its parent, so nothing shows that it was another: success.
        """
        if outcome.ours is None:
            if self._committed_before_squash(changes, outcome.head, parent):
                return outcome.head
            raise ConflictError(MAIN)
        if self._parent_of(outcome.ours) not in (parent, None):
            self._undo(changes, outcome.ours)
            raise ConflictError(MAIN)
        return outcome.ours

    def _existing(self, paths: Collection[str], parent: str) -> list[str]:
        """Return those of the files to delete that exist in the parent, because the Hub refuses to delete any other.

        Raises ConflictError if the parent has to be fetched and is not the newest commit any more.
        """
        if not paths:
            return []
        if not self._mirror.has(parent) and self.head() != parent:  # a squash may have removed it
            raise ConflictError(MAIN)
        files = self.snapshot(parent).files
        return [path for path in paths if path in files]

    def _search_after_error(self, error: Exception, parent: str, nonce: str) -> _Outcome:
        """Look whether a commit was made although the Hub's client raised an error, such as KeyError for a truncated answer.

        If the branch has not moved, nothing was committed: then ConflictError is raised if the Hub refused the commit as a
        conflict, and the error itself otherwise, so that the commit is tried again if that may help.
        """
        status = error.response.status_code if isinstance(error, HfHubHTTPError) else None
        if status in (401, 403):
            raise error
        head = self.head()
        ours = self._find_nonce(head, parent, nonce)
        if ours or head != parent:
            return _Outcome(head, ours)
        if status in CONFLICTS:
            self._count_refusal(error)
            raise ConflictError(MAIN) from error
        if isinstance(error, KeyError):  # as a ValueError, which is retried
            raise ValueError(f"the Hub's answer has no {error}") from error
        raise error

    def _create_commit(
        self, written: Mapping[str, bytes], deleted: Collection[str], parent: str, message: str, nonce: str
    ) -> CommitInfo:
        """Send a commit to the Hub, with the nonce in its message, where `_find_nonce` looks for it."""
        return self._api.create_commit(
            self._repo,
            [
                *(CommitOperationDelete(path, is_folder=False) for path in deleted),
                *(CommitOperationAdd(path, content) for path, content in written.items()),
            ],
            commit_message=message,
            commit_description=f"nonce {nonce}",
            repo_type="dataset",
            revision=MAIN,
            parent_commit=parent,
        )

    def _count_refusal(self, error: Exception) -> None:
        """Count a commit that was refused as a conflict although the branch has not moved.

        A few of them are races. Raises StoreError after MAX_REFUSALS in a row: the token or the branch must be at fault.
        """
        self._refusals += 1
        if self._refusals >= MAX_REFUSALS:
            self._refusals = 0
            raise StoreError(
                f"{self.url}: the Hub refuses every commit as late, although nobody else commits; give the token in "
                f"HANNUN_HUB_TOKEN the right to write, and check that the branch {MAIN} accepts commits"
            ) from error

    def _parent_of(self, commit: str) -> str | None:
        """Return the parent of a commit in the mirror, or None if the mirror does not have it."""
        commit_and_parent = list(itertools.islice(self._mirror.history(commit), 2))
        return commit_and_parent[1].id if len(commit_and_parent) == 2 else None

    def _undo(self, changes: Changes, commit: str) -> None:
        """Restore the contents that the files of a commit had before it.

        The Hub stored the commit on a newer parent than it named, so it may have overwritten what others had just written.
        Files that somebody has changed since are left alone.
        """
        before = self.snapshot(self._parent_of(commit))
        for _ in range(UNDO_TRIES):
            now = self.snapshot()
            still_ours = [path for path, content in changes.items() if unchanged(now, path, content)]
            contents_before: dict[str, bytes | None] = {}
            for path in still_ours:
                contents_before[path] = self.read(path, before.head) if path in before.files else None
            if all(unchanged(now, path, content) for path, content in contents_before.items()):
                return
            try:
                self.commit(contents_before, now.head, f"Undo {commit}, which names an older parent")
                return
            except ConflictError:
                continue
        log.error("%s: commit %s may have overwritten others' files, and could not be undone", self.url, commit)

    def _fetch_commit(self, head: str, parent: str) -> str:
        """Fetch a new commit and return it, or return the current head if the commit was squashed in the meantime."""
        try:
            self._fetch(head, since=parent)
            return head
        except StoreUnavailableError:
            if (current_head := self.head()) == head:
                raise
            return current_head

    def _committed_before_squash(self, changes: Changes, head: str, parent: str) -> bool:
        """Return whether the history since `parent` was squashed and the files are as these changes make them.

        Then the commit was made before the squash, which removed its message with the nonce.
        """
        if any(commit.id == parent for commit in self._mirror.history(head)):
            return False
        snapshot = self.snapshot(head)
        return all(unchanged(snapshot, path, content) for path, content in changes.items())

    def _find_nonce(self, head: str, parent: str, nonce: str) -> str | None:
        """Return the commit with this nonce between `head` and `parent`, or None."""
        self._fetch(head, since=parent)
        for commit in self._mirror.history(head):
            if nonce in commit.message:
                return commit.id
            if commit.id == parent:
                break
        return None

    def _mirrored(self, head: str, read: Callable[[], T]) -> T:
        """Fetch a commit and read it from the mirror. Repeat once if objects are damaged or another process removed them.

        Raises KeyError if the commit has no such file.
        """
        self._fetch(head)
        try:
            return read()
        except KeyError:
            if self._mirror.has(head):  # so the commit has no such file
                raise
        except DamagedError as error:
            if self._mirror.has(head):  # otherwise another process has just cleared the mirror
                self._reset_mirror(error)
        self._fetch(head)
        return read()

    def _reset_mirror(self, error: Exception) -> None:
        log.warning(
            "%s: %s; the mirror is fetched again", self.url, " ".join(f"{type(error).__name__} {error}".split())
        )
        self._clear_mirror()

    def _clear_mirror(self) -> None:
        self._mirror.reset()
        self._fetched = -FRESH_S

    def _fetch(self, head: str, *, since: str | None = None) -> None:
        """Fetch a commit into the mirror unless it is there, and with `since` also the commits after that one.

        Git may show a commit later than the API does. Raises StoreUnavailableError if it does not appear in time.
        """

        def attempt() -> None:
            if not self._mirror.has(head):
                self._fetch_once(head, self._depth(since))

        self._with_retries(lambda: self._on_mirror(attempt))

    def _depth(self, since: str | None) -> int | None:
        """Return how many commits to fetch, or None for all since the last one that the mirror has.

        Long after the last fetch, the folders of all commits since would be too large. Then the newest commit is enough,
        unless the commits after `since` are searched for one, which is among the newest COMMIT_SEARCH_DEPTH.
        """
        fetched_lately = time.monotonic() - self._fetched < FRESH_S
        if fetched_lately or (since and self._mirror.has(since)):
            return None
        return COMMIT_SEARCH_DEPTH if since else 1

    def _fetch_all(self, head: str) -> None:
        """Fetch every file of a commit in one request."""
        self._with_retries(lambda: self._on_mirror(lambda: self._fetch_once(head, 1, blobs=True)))

    def _on_mirror(self, work: Callable[[], None]) -> None:
        """Run `work`. Raises _Interrupted for errors that a retry may fix, after clearing a mirror that may be damaged.

        One of them is StoreUnavailableError: another process holds the mirror's lock or packs its objects.
        """
        try:
            work()
        except _Interrupted:
            raise
        except (OSError, GitProtocolError, urllib3.exceptions.HTTPError, StoreUnavailableError) as error:
            raise _Interrupted(f"git fetch: {type(error).__name__}: {error}") from error
        except Exception as error:  # dulwich raises various types for a damaged mirror or a truncated pack
            self._reset_mirror(error)
            raise _Interrupted(f"git fetch: {type(error).__name__}: {error}") from error

    def _fetch_once(self, head: str, depth: int | None, *, blobs: bool = False) -> None:
        """Fetch a commit, see `Mirror.fetch`. Raises _Interrupted if git does not show it yet."""
        token = self._api.read_token()
        client = HttpGitClient(
            f"{self._endpoint}/datasets/",
            username="hannun" if token else None,
            password=token,
            timeout=time_limits.TIMEOUT,
            quiet=True,
        )
        self._mirror.fetch(client, self._repo, head, depth, blobs=blobs)
        if not self._mirror.has(head):
            raise _Interrupted(f"git does not show {head} yet")
        self._fetched = time.monotonic()

    def _download(self, path: str, head: str, blob: str) -> bytes:
        """Return a file's content, checked and added to the mirror. Raises KeyError if the Hub does not have it."""
        address = f"{self._endpoint}/datasets/{self._repo}/resolve/{head}/{quote(path)}"

        def attempt() -> bytes:
            response = get_session().get(address, headers=self._api._build_hf_headers(), follow_redirects=True)
            hf_raise_for_status(response)
            content = response.content
            if blob_id(content) == blob:
                self._mirror.add_blob(content)
            elif blob_id(pointer(content)) != blob:  # large files, which the Hub stores outside git
                raise _Interrupted(f"{path} arrived damaged")
            return content

        try:
            return self._with_retries(attempt)
        except StoreError as error:
            if isinstance(error.__cause__, EntryNotFoundError):
                raise KeyError(path) from None
            raise

    def _fetch_time(self) -> datetime:
        """Return the time that the Hub sends with every response, to the second."""
        response = get_session().head(
            f"{self._endpoint}/api/datasets/{self._repo}", headers=self._api._build_hf_headers()
        )
        if (date := response.headers.get("Date")) is None:
            raise _Interrupted("the Hub sent no Date header")
        return parsedate_to_datetime(date).astimezone(UTC)

    def _with_retries(self, work: Callable[[], T]) -> T:
        """Retry `work` after errors that may be temporary, for RETRY_SECONDS.

        `work` may call this method again, as `commit` does when it fetches. The inner calls share the time of the outermost
        one. Raises StoreUnavailableError if `work` keeps failing, StoreError if a retry cannot help.
        """
        outer_deadline: float | None = getattr(self._retries, "deadline", None)
        deadline = outer_deadline or time.monotonic() + RETRY_SECONDS
        self._retries.deadline = deadline

        def attempt() -> T:
            try:
                return work()
            except Exception as error:
                if _is_retryable(error) or isinstance(error, HfHubHTTPError):
                    self.failed_attempts += 1
                raise

        retrying = Retrying(
            stop=lambda state: _give_up(state) or time.monotonic() >= deadline,
            wait=_wait,
            retry=retry_if_exception(_is_retryable),
            reraise=True,
        )
        try:
            return retrying(attempt)
        except HfHubHTTPError as error:
            raise self._as_store_error(error) from error
        except (HTTPError, OSError, ValueError, _Interrupted) as error:  # OSError: as with HF_HUB_OFFLINE
            raise StoreUnavailableError(f"{self.url}: the Hub is out of reach; try again later ({error})") from error
        finally:
            self._retries.deadline = outer_deadline

    def _as_store_error(self, error: HfHubHTTPError) -> StoreError:
        """Return the error of an answer as a StoreError, with advice if it is about the token or the dataset's name."""
        status = error.response.status_code
        server_message = " ".join(error.server_message.split())[:300] if error.server_message else ""
        message = f"{self.url}: the Hub answers {status}{f' ({server_message})' if server_message else ''}"
        if _is_retryable(error):
            return StoreUnavailableError(f"{message}; try again later")
        if status in (401, 403, 404):
            advice = "name a dataset that exists, and a token in HANNUN_HUB_TOKEN that may read and write it"
            return StoreError(f"{message}; {advice}")
        return StoreError(message)


def _is_retryable(error: BaseException) -> bool:
    """Return whether a retry may succeed: after time-outs, rate limits, server errors, and answers that arrived damaged."""
    if isinstance(error, HfHubHTTPError):
        return error.response.status_code in (408, 425, 429) or error.response.status_code >= 500
    return isinstance(error, (HTTPError, ValueError, _Interrupted))


def _give_up(state: RetryCallState) -> bool:
    """Return whether to stop: after TRIES attempts, or if the wait is too long for others who need the store's lock.

    Only a wait that the Hub asks for can be too long. Random waits are at most 8 s before the last attempt.
    """
    return state.attempt_number >= TRIES or _wait(state) > LONGEST_WAIT


def _wait(state: RetryCallState) -> float:
    """Return the seconds to wait: until the Hub's rate limit is reset, if it is used up, or as `wait_retry_after`."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, HfHubHTTPError):
        limit = parse_ratelimit_headers(error.response.headers)
        if limit and not limit.remaining:
            return float(limit.reset_in_seconds)
    return wait_retry_after(state)
