"""The board of a running server: the ranked results, read from the store again when the store has a new commit.

There is one `LiveBoard` for each process. Routes and pages call `LiveBoard.view` or `fresh_view` in their own threads and get
a `View`: everything that pages show of the store at one commit. A view never changes; a refresh replaces it by another one.
A refresh runs in a thread of its own, so that a slow or unreachable store never blocks a reader: it gets the last view.

The rows of a view are the results of the store and the published results of `assets`, which are read once at the start.
"""

import logging
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path

from pydantic import TypeAdapter

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.annotations import with_annotations
from leaderboard.data.attempts import private_counts
from leaderboard.data.models import model_rows, summary
from leaderboard.data.rank_changes import RankChange, rank_changes, shared_before
from leaderboard.data.ranking import Boards, ranked
from leaderboard.data.record import evaluated_after_reveal
from leaderboard.data.table import Table
from leaderboard.data.unseen import is_compared, unseen_changes, with_unseen_changes
from leaderboard.data.view import View
from leaderboard.data.worker_status import WorkerStatus
from submissions.config.paths import PUBLISHED
from submissions.queue.heartbeats import Heartbeats
from submissions.records.errata import Erratum
from submissions.records.index_rows import BoardRow, board_row
from submissions.records.operator import Commitment, PrivateAttempts, Retirement
from submissions.records.options import Inputs
from submissions.records.result import EvalResult, PairedScores, PublicAnswers
from submissions.store.base import Snapshot, Store, blob_id
from submissions.store.index import Unreadable, board_reader, queue_reader
from submissions.store.record_reader import RecordReader
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
        # The published results, which do not change while the process runs.
        self._published_files: dict[str, Path] = {}  # by result key
        self._published, self._unreadable_published = self._read_published(published)
        self._published_version = blob_id("".join(row.blob for row in self._published).encode())
        # Readers of the store's records. Each reads only what has changed since its last snapshot.
        self._results = board_reader(store)
        self._requests = queue_reader(store)
        self._retirements = RecordReader(store, "retired", Retirement)
        self._commitments = RecordReader(store, "fresh", Commitment)
        self._attempts = RecordReader(store, "attempts", PrivateAttempts)
        self._errata = RecordReader(store, "errata", Erratum)
        # The state of refreshing. Whoever starts a refresh takes the lock and calls `_begin`, then `_refresh`, which sets
        # `_idle` and releases the lock. The lock keeps two refreshes from running at a time. Readers wait for `_idle`.
        self._refreshing = threading.Lock()  # held during a refresh
        self._idle = threading.Event()  # set while no refresh is under way
        self._idle.set()
        self._refresh_began = 0.0  # by the monotonic clock, as the next one
        self._refresh_ended = 0.0
        self._has_unread_write = False  # whether this process has written something that no refresh has read yet
        self._last_refresh_failed = False
        self._other_failures = 0  # refreshes that failed for a reason that the store does not count
        self.reached: datetime | None = None  # when the store last answered
        self._commit_times: list[datetime] = []  # of the last hour
        # What was read.
        self._version = ""  # of the view and the rank changes, see `version`
        self._rank_changes: list[RankChange] = []
        # The benchmarks that overall scores were averaged over seven days ago, see `rank_changes.shared_before`.
        self.shared_before: dict[Inputs, tuple[str, ...]] = {}
        self._view = View(Snapshot("", {}))
        self._view = self._read(self._view.snapshot)  # the published rows, whether the store answers or not
        self.fresh_view()

    def view(self) -> View:
        """Return the last view at once. If it may be outdated, start a refresh in the background."""
        is_due = self._has_unread_write or time.monotonic() - self._refresh_ended >= HEAD_POLL_S
        if is_due and self._refreshing.acquire(blocking=False):
            self._begin()
            threading.Thread(target=self._refresh, name="refresh", daemon=True).start()
        return self._view

    def fresh_view(self) -> View:
        """Return a view that is at most HEAD_POLL_S old, or the last one if the store does not answer within WAIT_S."""
        # Twice, because the refresh that is waited for may have begun before this process wrote something.
        for _ in range(2):
            self.view()
            self._idle.wait(max(0.0, self._refresh_began + WAIT_S - time.monotonic()))
            self.workers.wait(WAIT_S)
            if not self._has_unread_write:
                break
        return self._view

    def expect_change(self) -> None:
        """Make the next call of `view` refresh, because this process has just written to the store."""
        self._has_unread_write = True

    def refresh(self) -> View:
        """Refresh now, however long that takes, and return the new view."""
        self._refreshing.acquire()
        self._begin()
        self._refresh()
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
        is_refreshing = not self._idle.is_set()
        is_slow = is_refreshing and (self.reached is None or time.monotonic() - self._refresh_began > SLOW_S)
        if self._last_refresh_failed or is_slow:
            return self.reached or datetime.fromtimestamp(0, UTC)
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
        if key in self._published_files:
            return self._published_files[key].read_bytes()
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

    def _begin(self) -> None:
        """Note that a refresh begins. The caller holds `_refreshing`."""
        self._has_unread_write = False
        self._idle.clear()
        self._refresh_began = time.monotonic()

    def _refresh(self) -> None:
        """Read the store and release `_refreshing`, which the caller holds."""
        failed_attempts_before = self._store.failed_attempts
        try:
            self._update_view()
            self._update_rank_changes()
            self.reached = datetime.now(UTC)
            self._last_refresh_failed = False
        except Exception as error:  # readers keep the last view
            self._last_refresh_failed = True
            if self._store.failed_attempts == failed_attempts_before:
                self._other_failures += 1
            log.warning("%s", error, exc_info=not isinstance(error, StoreError))
        finally:
            # The workers' heartbeats are read after each refresh. That is announced before `_idle` is set, so that
            # `fresh_view` waits for it too.
            has_to_read_workers = self.workers.try_begin(self._view.queue)
            self._refresh_ended = time.monotonic()
            self._idle.set()
            self._refreshing.release()  # last, because the next refresh clears `_idle` as soon as it has the lock
        # After `_refreshing` is released, because a private store that does not answer must not keep the board from
        # refreshing.
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
        view = self._read(self._store.snapshot(head=head))
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

    def _read(self, snapshot: Snapshot) -> View:
        """Return the view of a snapshot.

        Ranking takes long, so everything that depends only on unchanged rows is taken from the last view: the boards of
        benchmarks without new rows and, if no board has changed, the overall ranking and what `View` has computed.
        """
        results, unreadable_results = self._results.read(snapshot)
        requests, unreadable_requests = self._requests.read(snapshot)
        # A newer worker or command line may know more benchmarks than this board.
        results = [row for row in results if row.benchmark in BENCHMARKS]
        requests = [row for row in requests if row.benchmark in BENCHMARKS]
        errata = [erratum for erratum in self._errata.read(snapshot) if erratum.benchmark in BENCHMARKS]
        commitments = self._commitments.read(snapshot)
        retired = [*self._retirements.read(snapshot), *evaluated_after_reveal(results, commitments)]
        private = private_counts(self._attempts.read(snapshot))
        rows: dict[str, list[BoardRow]] = {name: [] for name in BENCHMARKS}
        for row in (*self._published, *results):
            rows[row.benchmark].append(row)

        last = self._view
        annotations = (retired, commitments, errata, private)
        has_same_annotations = annotations == (last.retired, last.commitments, last.errata, last.private_attempts)
        reasons = {retirement.key: retirement.reason for retirement in retired if retirement.until is None}
        errata_counts = _errata_counts(errata)
        boards: Boards = {}
        changed: list[str] = []  # benchmarks
        for name, own in rows.items():
            if has_same_annotations and last.rows.get(name) == own:
                boards[name] = last.boards[name]
            else:
                changed.append(name)
                boards[name] = ranked(with_annotations(own, reasons, errata_counts.get(name, {}), private))
        models = model_rows(boards) if changed else last.models
        # How a model's scores change on sets that it cannot have seen depends on several boards, so on all rows above.
        unseen = last.unseen
        if any(map(is_compared, changed)):
            unseen = unseen_changes(models)
            boards = with_unseen_changes(boards, models, unseen)
        # A board that is still the same list keeps its table, with everything that the table has computed.
        tables = dict(last.tables)
        for name, board in boards.items():
            if name not in tables or tables[name].rows is not board:
                tables[name] = Table(name, board)

        unreadable = [*self._unreadable_published, *unreadable_results, *unreadable_requests]
        version = last.version
        if changed or unreadable != last.unreadable:
            version = blob_id(f"{snapshot.head}{self._published_version}".encode())
        summaries = last.summaries | {name: summary(boards[name], name) for name in changed}
        view = View(
            snapshot=snapshot,
            rows=rows,
            tables=tables,
            version=version,
            summaries=summaries,
            models=models,
            unseen=unseen,
            queue=sorted(requests, key=lambda r: (r.submitted_at, r.key), reverse=True),
            unreadable=unreadable,
            paths={r.key: r.path for r in results},
            retired=retired,
            commitments=commitments,
            errata=errata,
            private_attempts=private,
        )
        if not changed:
            view.take_over(last)
        return view

    def _read_published(self, folder: Path) -> tuple[list[BoardRow], list[Unreadable]]:
        """Return the rows of the published results, and those records that cannot be read. Fills `_published_files`."""
        rows: list[BoardRow] = []
        unreadable: list[Unreadable] = []
        for path in sorted(folder.glob("*/*.json")):
            content = path.read_bytes()
            try:
                result = EvalResult.from_json(content)
            except ValueError as error:
                log.warning("published record %s is left out: %s", path, error)
                unreadable.append(Unreadable(path.name, str(error)))
                continue
            self._published_files[result.request_key] = path
            rows.append(board_row(result, str(path.relative_to(folder)), blob_id(content)))
        return rows, unreadable


def _errata_counts(errata: Iterable[Erratum]) -> dict[str, dict[str, int]]:
    """Return the number of errata of each test set, by benchmark and split. Errata are numbered from 1."""
    counts: dict[str, dict[str, int]] = {}
    for erratum in errata:
        splits = counts.setdefault(erratum.benchmark, {})
        splits[erratum.split] = max(erratum.number, splits.get(erratum.split, 0))
    return counts
