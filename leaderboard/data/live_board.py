"""The board: published results and those of the store, ranked, and kept fresh without blocking a reader."""

import logging
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path

from pydantic import TypeAdapter

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.attempts import private_counts
from leaderboard.data.models import model_rows, summary
from leaderboard.data.rank_changes import RankChange, rank_changes, shared_before
from leaderboard.data.ranking import Boards, ranked
from leaderboard.data.record import evaluated_after_reveal
from leaderboard.data.reproductions import with_annotations
from leaderboard.data.table import Table
from leaderboard.data.unseen import is_compared, rank_changes_unseen, with_rank_changes
from leaderboard.data.view import View
from leaderboard.data.worker_status import START, WorkerStatus
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

HEAD_POLL_S = 1.0  # seconds between looks at the store's head
WAIT_S = 5.0  # seconds that one caller waits for a refresh
SLOW_S = 10.0  # seconds of a refresh after which the store counts as out of reach
HOUR = timedelta(hours=1)
RECENT = timedelta(days=7)


class LiveBoard:
    def __init__(
        self,
        store: Store,
        heartbeats: Heartbeats | None = None,
        published: Path = PUBLISHED,
        opened_books: Path | None = None,
        links: Mapping[str, str] | None = None,
    ) -> None:
        """Without `heartbeats` nothing is known of workers. `opened_books` has the datasets of revealed quarters.

        `links` are addresses that all pages lead to: "source_code" and "contact".
        """
        self.opened_books = opened_books
        self.links = links or {}
        self._store = store
        self.store_url = store.url
        self.workers = WorkerStatus(heartbeats)
        self._published_files: dict[str, Path] = {}
        self._published, self._broken = self._read_published(published)
        self._published_version = blob_id("".join(row.blob for row in self._published).encode())
        self._results = board_reader(store)
        self._requests = queue_reader(store)
        self._retirements = RecordReader(store, "retired", Retirement)
        self._commitments = RecordReader(store, "fresh", Commitment)
        self._attempts = RecordReader(store, "attempts", PrivateAttempts)
        self._errata = RecordReader(store, "errata", Erratum)
        self._refreshing = threading.Lock()
        self._idle = threading.Event()  # set while no refresh is under way
        self._idle.set()
        self._began = 0.0  # the last refresh, by the monotonic clock
        self._checked = 0.0
        self.reached: datetime | None = None  # when the store last answered
        self._commits: list[datetime] = []  # of the last hour
        self._away = False
        self._changed = False  # whether this process has written something that no refresh has read yet
        self._failed = 0  # refreshes, for another reason than the store counts
        self._version = ""
        self._changes: list[RankChange] = []
        self.shared_before: dict[Inputs, tuple[str, ...]] = {}  # benchmarks of the overall score, before RECENT
        self._view = View(Snapshot("", {}))
        self._view = self._read(self._view.snapshot)  # the published rows, whether the store answers or not
        self.fresh_view()

    def view(self) -> View:
        """Return the newest view at once. If it may be outdated, a refresh starts in the background."""
        due = self._changed or time.monotonic() - self._checked >= HEAD_POLL_S
        if due and self._refreshing.acquire(blocking=False):
            self._begin()
            threading.Thread(target=self._refresh, name="refresh", daemon=True).start()
        return self._view

    def fresh_view(self) -> View:
        """Return a view no older than HEAD_POLL_S. A store that does not answer within WAIT_S gets the view of before."""
        for _ in range(2):  # a refresh may have begun before something was written
            self.view()
            self._idle.wait(max(0.0, self._began + WAIT_S - time.monotonic()))
            self.workers.wait(WAIT_S)
            if not self._changed:
                break
        return self._view

    def expect_change(self) -> None:
        """Have the next view read the store, because this process has just written to it."""
        self._changed = True

    def refresh(self) -> View:
        """Refresh now, and return the new view."""
        self._refreshing.acquire()
        self._begin()
        self._refresh()
        return self._view

    @property
    def version(self) -> str:
        """A text that differs whenever there is something new to show in the tables; new each hour."""
        self.view()
        return self._version

    @property
    def queue_version(self) -> str:
        """A text that differs whenever there is something new to show in the queue."""
        view = self.view()
        return blob_id(f"{view.snapshot.head}{self.stale_since}{self.workers.version}".encode())

    @property
    def stale_since(self) -> datetime | None:
        """When the view was read, if the store is out of reach now; 1970 if it never answered."""
        slow = not self._idle.is_set() and (self.reached is None or time.monotonic() - self._began > SLOW_S)
        return (self.reached or START) if self._away or slow else None

    @property
    def failed_attempts(self) -> int:
        """How many operations of the store failed, including those that were retried."""
        return self._store.failed_attempts + self._failed

    def commits_of_last_hour(self) -> int:
        """Return the commits to the store within the last hour, as far as this board has seen them."""
        since = datetime.now(UTC) - HOUR
        return sum(moment >= since for moment in self._commits)

    def changes(self) -> list[RankChange]:
        """Return what the results of the last seven days changed, to the hour."""
        return self._changes

    def reading(self) -> AbstractContextManager[None]:
        """Keep the store's files open while this thread reads many records."""
        return self._store.session()

    def result_json(self, key: str) -> bytes | None:
        """Return the bytes of a result record, published or evaluated, or None if there is none."""
        if key in self._published_files:
            return self._published_files[key].read_bytes()
        view = self.view()
        return self._store.read(view.paths[key], view.snapshot.head) if key in view.paths else None

    def statement(self, key: str) -> bytes | None:
        """Return the signed statement of a result, or None if there is none."""
        view = self.view()
        path = EvalResult.statement_path_of(key)
        return self._store.read(path, view.snapshot.head) if path in view.snapshot.files else None

    def public_answers(self, key: str) -> PublicAnswers:
        """Return the answers of a result to public items, or none if there are none or they are damaged."""
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
        self._changed = False
        self._idle.clear()
        self._began = time.monotonic()

    def _refresh(self) -> None:
        """Read the store and release `_refreshing`, which the caller holds."""
        failed = self._store.failed_attempts
        try:
            head = self._store.head()
            if head != (before := self._view.snapshot.head):
                view = self._read(self._store.snapshot(head=head))
                if before:  # visitors have the last view until this one costs them nothing
                    view.prepare()
                self._view = view
                self._count_commits(head, before)
            version = f"{self._view.version}-{datetime.now(UTC):%d%H}"
            if version != self._version:
                since = datetime.now(UTC) - RECENT
                self._changes = rank_changes(self._view.boards, since)
                self.shared_before = shared_before(self._view.boards, since)
                self._version = version
            self.reached = datetime.now(UTC)
            self._away = False
        except Exception as error:  # the last view is better than none
            self._away = True
            self._failed += self._store.failed_attempts == failed  # what it met is not counted by the store
            log.warning("%s", error, exc_info=not isinstance(error, StoreError))
        finally:
            read_workers = self.workers.begin(self._view.queue)
            self._checked = time.monotonic()
            self._refreshing.release()
            self._idle.set()
        if read_workers:  # last, because a private store that does not answer must not keep the board from refreshing
            self.workers.refresh()
        self._view.prepare()

    def _count_commits(self, head: str, before: str) -> None:
        since = datetime.now(UTC) - HOUR
        new = takewhile(lambda c: c.id != before and c.time >= since, self._store.history(head))
        self._commits = [*(moment for moment in self._commits if moment >= since), *(commit.time for commit in new)]

    def _read(self, snapshot: Snapshot) -> View:
        results, unreadable = self._results.read(snapshot)
        requests, broken_requests = self._requests.read(snapshot)
        # A newer worker or command line may know more benchmarks than this board.
        results = [row for row in results if row.benchmark in BENCHMARKS]
        requests = [row for row in requests if row.benchmark in BENCHMARKS]
        rows: dict[str, list[BoardRow]] = {name: [] for name in BENCHMARKS}
        for row in (*self._published, *results):
            rows[row.benchmark].append(row)
        last = self._view
        retired = self._retirements.read(snapshot)
        commitments = self._commitments.read(snapshot)
        errata = [one for one in self._errata.read(snapshot) if one.benchmark in BENCHMARKS]
        reasons = {one.key: one.reason for one in retired if one.until is None} | evaluated_after_reveal(
            results, commitments
        )
        counts: dict[str, dict[str, int]] = {}
        for one in errata:
            splits = counts.setdefault(one.benchmark, {})
            splits[one.split] = max(one.number, splits.get(one.split, 0))
        private = private_counts(self._attempts.read(snapshot))
        known = last.retired, last.commitments, last.errata, last.private_attempts
        unchanged = known == (retired, commitments, errata, private)
        kept = {name for name, own in rows.items() if unchanged and last.rows.get(name) == own}
        changed = rows.keys() - kept
        boards: Boards = {}
        for name, own in rows.items():
            if name in kept:
                boards[name] = last.boards[name]
            else:
                boards[name] = ranked(with_annotations(own, reasons, counts.get(name, {}), private))
        models = model_rows(boards) if changed else last.models
        unseen = last.unseen
        if any(map(is_compared, changed)):
            unseen = rank_changes_unseen(models)
            boards = with_rank_changes(boards, unseen)
        tables = dict(last.tables)
        for name, board in boards.items():
            if name not in tables or tables[name].rows is not board:
                tables[name] = Table(name, board)
        unreadable = [*self._broken, *unreadable, *broken_requests]
        summaries = last.summaries | {name: summary(boards[name], name) for name in changed}
        version = last.version
        if changed or unreadable != last.unreadable:
            version = blob_id(f"{snapshot.head}{self._published_version}".encode())
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
            view.keep(last)
        return view

    def _read_published(self, folder: Path) -> tuple[list[BoardRow], list[Unreadable]]:
        rows: list[BoardRow] = []
        broken: list[Unreadable] = []
        for path in sorted(folder.glob("*/*.json")):
            content = path.read_bytes()
            try:
                result = EvalResult.from_json(content)
            except ValueError as error:
                log.warning("published record %s is left out: %s", path, error)
                broken.append(Unreadable(path.name, str(error)))
                continue
            self._published_files[result.request_key] = path
            rows.append(board_row(result, str(path.relative_to(folder)), blob_id(content)))
        return rows, broken
