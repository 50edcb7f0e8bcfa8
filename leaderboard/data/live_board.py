"""The board of a running server: the ranked results, read from the store again when the store has a new commit.

There is one `LiveBoard` for each process. Routes and pages call `LiveBoard.view` or `fresh_view` in their own threads and get
a `View`: everything that pages show of the store at one commit. A view never changes; a refresh replaces it by another one.
A refresh runs in a thread of its own, so that a slow or unreachable store never blocks a reader: it gets the last view.
How a view is made of the store's records is in `view_reader`.
"""

import logging
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path

from pydantic import TypeAdapter

from leaderboard.data.rank_changes import RankChange, rank_changes, shared_before
from leaderboard.data.single_run import SingleRun
from leaderboard.data.view import View
from leaderboard.data.view_reader import ViewReader
from leaderboard.data.worker_status import WorkerStatus
from submissions.config.paths import PUBLISHED
from submissions.queue.heartbeats import Heartbeats
from submissions.records.options import Inputs
from submissions.records.result import EvalResult, PairedScores, PublicAnswers
from submissions.store.base import Snapshot, Store, blob_id
from submissions.texts.errors import StoreError

_ANSWERS = TypeAdapter(PublicAnswers)
log = logging.getLogger(__name__)

HEAD_POLL_S = 1.0  # the store is asked for its head at most once in so many seconds
WAIT_S = 5.0  # seconds that `fresh_view` waits for a refresh
SLOW_S = 10.0  # seconds of a refresh after which the store counts as out of reach
HOUR = timedelta(hours=1)
RECENT = timedelta(days=7)  # the age of results whose effects on ranks the overview shows


class LiveBoard:
    """Holds the newest view of a store, and refreshes it. All methods may be called from any thread."""

    def __init__(
        self,
        store: Store,
        heartbeats: Heartbeats | None = None,
        published: Path = PUBLISHED,
        opened_books: Path | None = None,
        links: Mapping[str, str] | None = None,
    ) -> None:
        """Read the published results and, if the store answers in time, those of the store.

        Without `heartbeats` nothing is known of workers. `published` has a folder of result records for each benchmark.
        `opened_books` has the datasets of revealed quarters. `links` are addresses that all pages link to, by name:
        "source_code" and "contact".
        """
        self.opened_books = opened_books
        self.links = links or {}
        self._store = store
        self.store_url = store.url
        self.workers = WorkerStatus(heartbeats)
        self._reader = ViewReader(store, published)
        self._refresh_run = SingleRun()
        self._has_unread_write = False  # whether this process has written something that no refresh has read yet
        self._last_refresh_failed = False
        self._other_failures = 0  # refreshes that failed for a reason that the store does not count
        self.last_reached: datetime | None = None  # when the store last answered
        self._commit_times: list[datetime] = []  # of the last hour
        # What was read.
        self._version = ""  # of the view and the rank changes, see `version`
        self._rank_changes: list[RankChange] = []
        # The benchmarks that overall scores were averaged over seven days ago, see `rank_changes.shared_before`.
        self.shared_before: dict[Inputs, tuple[str, ...]] = {}
        # The published rows, whether the store answers or not.
        nothing = Snapshot("", {})
        self._view = self._reader.read(nothing, View(nothing))
        self.fresh_view()

    def view(self) -> View:
        """Return the last view at once. If it may be outdated, start a refresh in the background."""
        is_due = self._has_unread_write or self._refresh_run.ended_for >= HEAD_POLL_S
        if is_due and self._refresh_run.try_begin():
            threading.Thread(target=self._refresh_and_end_run, name="refresh", daemon=True).start()
        return self._view

    def fresh_view(self) -> View:
        """Return a view that is at most HEAD_POLL_S old, or the last one if the store does not answer within WAIT_S."""
        # The first round waits for a refresh that is under way. It may have begun before this process wrote to the store, and
        # has then not read what was written. In that case the second round starts another refresh.
        for _ in range(2):
            self.view()
            self._refresh_run.wait(WAIT_S)
            self.workers.wait(WAIT_S)
            if not self._has_unread_write:
                break
        return self._view

    def expect_change(self) -> None:
        """Make the next call of `view` refresh, because this process has just written to the store."""
        self._has_unread_write = True

    def refresh(self) -> View:
        """Refresh now, however long that takes, and return the new view."""
        self._refresh_run.begin()
        self._refresh_and_end_run()
        return self._view

    @property
    def version(self) -> str:
        """A text that changes whenever the tables have something new to show, and every hour."""
        self.view()
        return self._version

    @property
    def queue_version(self) -> str:
        """A text that changes whenever the queue has something new to show."""
        view = self.view()
        return blob_id(f"{view.snapshot.head}{self.stale_since}{self.workers.version}".encode())

    @property
    def stale_since(self) -> datetime | None:
        """When the store last answered, if it is out of reach now (1970 if it never did); None if it is within reach.

        It is out of reach if the last refresh failed, or if one has been under way for more than SLOW_S. The first refresh counts
        as slow at once, because there is no older view of the store to show.
        """
        running_for = self._refresh_run.running_for
        is_slow = running_for is not None and (self.last_reached is None or running_for > SLOW_S)
        if self._last_refresh_failed or is_slow:
            return self.last_reached or datetime.fromtimestamp(0, UTC)
        return None

    @property
    def failed_attempts(self) -> int:
        """How many operations of the store failed, including retried ones, plus refreshes that failed otherwise."""
        return self._store.failed_attempts + self._other_failures

    def commits_of_last_hour(self) -> int:
        """Return the number of commits to the store within the last hour that this board has seen."""
        since = datetime.now(UTC) - HOUR
        return sum(time_of_commit >= since for time_of_commit in self._commit_times)

    def changes(self) -> list[RankChange]:
        """Return how the results of the last seven days changed ranks. The period is moved forward every hour."""
        return self._rank_changes

    def reading(self) -> AbstractContextManager[None]:
        """Keep the store's files open while this thread reads many records."""
        return self._store.session()

    def result_json(self, key: str) -> bytes | None:
        """Return the JSON of a result record, published or of the store, or None if there is none with this key."""
        if key in self._reader.published_files:
            return self._reader.published_files[key].read_bytes()
        view = self.view()
        if key not in view.paths:  # added to the store since the last request, which may be long ago
            view = self.fresh_view()
        return self._store.read(view.paths[key], view.snapshot.head) if key in view.paths else None

    def statement(self, key: str) -> bytes | None:
        """Return the signed statement of a result, or None if there is none."""
        path = EvalResult.statement_path_of(key)
        view = self.view()
        if path not in view.snapshot.files:
            view = self.fresh_view()
        return self._store.read(path, view.snapshot.head) if path in view.snapshot.files else None

    def public_answers(self, key: str) -> PublicAnswers:
        """Return the answers of a result to public items, or none if there are none or they are damaged.

        `key` must be from a view. Unlike `statement`, this does not refresh the board, because many results have no answers.
        """
        view = self.view()
        path = EvalResult.answers_path_of(key)
        if path not in view.snapshot.files:
            return {}
        try:
            return _ANSWERS.validate_json(self._store.read(path, view.snapshot.head))
        except ValueError as error:
            log.warning("%s is left out: %s", path, error)
            return {}

    def pairs(self, key: str) -> list[PairedScores]:
        """Return the paired comparisons of a result with others."""
        content = self.result_json(key)
        return EvalResult.from_json(content).paired if content else []

    def _refresh_and_end_run(self) -> None:
        """Read the store, then end the run, which the caller has begun. The workers are read after that."""
        self._has_unread_write = False  # before the store is read, because this process may write something meanwhile
        failed_attempts_before = self._store.failed_attempts
        try:
            self._update_view()
            self._update_rank_changes()
            self.last_reached = datetime.now(UTC)
            self._last_refresh_failed = False
        except Exception as error:  # readers keep the last view
            self._last_refresh_failed = True
            if self._store.failed_attempts == failed_attempts_before:
                self._other_failures += 1
            log.warning("%s", error, exc_info=not isinstance(error, StoreError))
        finally:
            # `fresh_view` waits for this run, and then for that of the workers. So their run must begin before this one ends.
            has_to_read_workers = self.workers.try_begin(self._view.queue)
            self._refresh_run.end()
        # After the end of the run, because a private store that does not answer must not keep the board from refreshing.
        if has_to_read_workers:
            self.workers.refresh()
        # `prepare` computes what pages need of a view. Here it matters at the start only: `_update_view` prepares later views.
        self._view.prepare()

    def _update_view(self) -> None:
        """Replace the view if the store has a new head."""
        head = self._store.head()
        previous_head = self._view.snapshot.head
        if head == previous_head:
            return
        view = self._reader.read(self._store.snapshot(head=head), self._view)
        # Visitors keep the last view until the new one is prepared. At the start they get the new one at once, because the
        # last one has only the published rows.
        if previous_head:
            view.prepare()
        self._count_commits(head, previous_head)  # first, because the next refresh counts from the head of the view
        self._view = view

    def _update_rank_changes(self) -> None:
        """Compute the rank changes of the last days again if the rows changed, and every hour."""
        version = f"{self._view.version}-{datetime.now(UTC):%d%H}"
        if version != self._version:
            since = datetime.now(UTC) - RECENT
            self._rank_changes = rank_changes(self._view.boards, since)
            self.shared_before = shared_before(self._view.boards, since)
            self._version = version

    def _count_commits(self, head: str, previous_head: str) -> None:
        """Add the times of the commits after `previous_head` to those of the last hour."""
        since = datetime.now(UTC) - HOUR
        new = takewhile(lambda c: c.id != previous_head and c.time >= since, self._store.history(head))
        still_recent = [time_of_commit for time_of_commit in self._commit_times if time_of_commit >= since]
        self._commit_times = [*still_recent, *(commit.time for commit in new)]
