"""The board's rows: published results and those of the store, ranked, and kept fresh without blocking a reader."""

import logging
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import takewhile
from pathlib import Path

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.breakdown import BucketKey, parts_of
from leaderboard.data.models import ModelRow, Summary, model_rows, summary
from leaderboard.data.rank_changes import RankChange, rank_changes
from leaderboard.data.ranking import Boards, ranked
from leaderboard.data.record import after_reveal
from leaderboard.data.reproductions import marked
from submissions.config.paths import PUBLISHED
from submissions.queue.heartbeats import Heartbeats
from submissions.records.index_rows import BoardRow, QueueRow, board_row
from submissions.records.operator import Commitment, Retirement
from submissions.records.request import Lease, Status
from submissions.records.result import EvalResult, PairedScores
from submissions.records.worker import Pause, Presence, Upkeep
from submissions.store.base import Snapshot, Store, blob_id
from submissions.store.index import Unreadable, board_reader, parse_record, queue_reader
from submissions.store.record_reader import RecordReader
from submissions.texts.errors import StoreError

log = logging.getLogger(__name__)

HEAD_POLL_S = 1.0  # seconds between looks at the store's head
WAIT_S = 5.0  # seconds that one caller waits for a refresh
SLOW_S = 10.0  # seconds of a refresh after which the store counts as out of reach
HOUR = timedelta(hours=1)
PAUSE_POLL_S = 30.0  # seconds between looks whether workers are there, and whether they pause
AWAY = timedelta(hours=2)  # since the last worker was seen; a scheduled Job comes each hour
SILENT = timedelta(minutes=5)  # ten heartbeats: the worker has died, or has lost its way to the store
LEASE_POLL_S = 10.0  # seconds between looks at how far the running evaluations are
RECENT = timedelta(days=7)
START = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, eq=False)
class View:
    """The store as of one head."""

    snapshot: Snapshot
    rows: dict[str, list[BoardRow]] = field(default_factory=dict)  # by benchmark, as they were read
    boards: Boards = field(default_factory=dict)
    version: str = ""  # of the boards; another one for each head at which they changed, and for other published rows
    summaries: dict[str, Summary] = field(default_factory=dict)  # by benchmark
    models: list[ModelRow] = field(default_factory=list)
    queue: list[QueueRow] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    paths: dict[str, str] = field(default_factory=dict)  # result key → path in the store
    retired: list[Retirement] = field(default_factory=list)
    commitments: list[Commitment] = field(default_factory=list)  # by quarter
    _parts: dict[tuple[str, str, str], dict[BucketKey, list[float]]] = field(default_factory=dict)

    def parts(self, benchmark: str, split: str, headline: str) -> dict[BucketKey, list[float]]:
        """Return the scores of all rows of a split by part of the questions, sorted; computed once."""
        key = benchmark, split, headline
        if key not in self._parts:
            found: dict[BucketKey, list[float]] = {}
            for row in (r.row for r in self.boards[benchmark]):
                if (row.split, row.headline) == (split, headline):
                    for part, own in parts_of(row).items():
                        found.setdefault(part, []).append(own.score)
            self._parts[key] = {part: sorted(own) for part, own in found.items()}
        return self._parts[key]

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many results of models were measured here and how many are reported, sample runs left out."""
        rows = (
            r.row
            for rows in self.boards.values()
            for r in rows
            if r.row.role == "model" and not r.row.is_sample and r.row.outcome == "scored"
        )
        kinds = Counter(row.kind for row in rows)
        return {"verified": kinds["verified"], "reported": kinds["reported"]}


class LiveBoard:
    def __init__(self, store: Store, heartbeats: Heartbeats | None = None, published: Path = PUBLISHED) -> None:
        """Without `heartbeats` nothing is known of how far running evaluations are."""
        self._store = store
        self._heartbeats = heartbeats
        self._published_files: dict[str, Path] = {}
        self._published, self._broken = self._read_published(published)
        self._published_version = blob_id("".join(row.blob for row in self._published).encode())
        self._results, self._requests = board_reader(store), queue_reader(store)
        self._retirements = RecordReader(store, "retired", Retirement)
        self._commitments = RecordReader(store, "fresh", Commitment)
        self._refreshing = threading.Lock()
        self._idle = threading.Event()  # set while no refresh is under way
        self._idle.set()
        self._began = 0.0  # the last refresh, by the monotonic clock
        self._checked = self._looked = self._looked_for_pauses = self._looked_for_workers = 0.0
        self._leases: dict[str, Lease] = {}
        self._silent_since: dict[str, datetime] = {}
        self._workers_as_of = START
        self._pauses: list[Pause] = []
        self._workers: list[Presence] = []
        self.reached: datetime | None = None  # when the store last answered
        self.upkeep: Upkeep | None = None  # the last one of the store
        self._commits: list[datetime] = []  # of the last hour
        self._away = False
        self._changed = False  # whether this process has written something that no refresh has read yet
        self._failed = 0  # refreshes, for another reason than the store counts
        self._version = ""
        self._changes: list[RankChange] = []
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
        """Another one whenever there is something new to see in the tables: results, or an hour without."""
        self.view()
        return self._version

    @property
    def queue_version(self) -> str:
        """The same of the queue: a commit, or a heartbeat."""
        view = self.view()
        beats = "".join(f"{key}{lease.heartbeat_at:%H%M%S}" for key, lease in sorted(self._leases.items()))
        told = f"{self.stale_since}{self.unattended_since}{self.silent_since()}{[p.until for p in self.pauses()]}"
        return blob_id(f"{view.snapshot.head}{beats}{told}".encode())

    @property
    def stale_since(self) -> datetime | None:
        """As of when the view is, where the store is out of reach now; the start of time where it never answered."""
        slow = not self._idle.is_set() and (self.reached is None or time.monotonic() - self._began > SLOW_S)
        return (self.reached or START) if self._away or slow else None

    @property
    def failed_attempts(self) -> int:
        """Operations or requests of the store that failed, those that were retried included."""
        return self._store.failed_attempts + self._failed

    def commits_of_last_hour(self) -> int:
        """Commits to the store within the last hour, as far as this board has seen them."""
        since = datetime.now(UTC) - HOUR
        return sum(moment >= since for moment in self._commits)

    def pauses(self) -> list[Pause]:
        """Workers that take no request for now, since something fails on their machines."""
        return [pause for pause in self._pauses if pause.until > datetime.now(UTC)]

    @property
    def unattended_since(self) -> datetime | None:
        """Since when nobody evaluates, though something waits for it; None where somebody does, or that is not known."""
        waiting = [row.submitted_at for row in self._view.queue if row.status in (Status.PENDING, Status.RUNNING)]
        if not waiting:
            return None
        seen = [worker.seen_at for worker in self._workers] + [lease.heartbeat_at for lease in self._leases.values()]
        last = max(seen, default=min(waiting))
        return last if self._workers_as_of - max(last, min(waiting)) > AWAY else None

    def workers(self) -> list[Presence]:
        """Workers that were seen within the last weeks."""
        return self._workers

    def leases(self) -> dict[str, Lease]:
        """How far the running evaluations are, by request key."""
        return self._leases

    def silent_since(self) -> dict[str, datetime]:
        """The last heartbeat of running evaluations whose worker sends none any more, by request key."""
        return self._silent_since

    def changes(self) -> list[RankChange]:
        """What the results of the last seven days changed, to the hour."""
        return self._changes

    def result_json(self, key: str) -> bytes | None:
        """The bytes of a result record, published or evaluated."""
        if key in self._published_files:
            return self._published_files[key].read_bytes()
        view = self.view()
        return self._store.read(view.paths[key], view.snapshot.head) if key in view.paths else None

    def statement(self, key: str) -> bytes | None:
        """The signed statement of a result; None where there is none."""
        view, path = self.view(), EvalResult.statement_path_of(key)
        return self._store.read(path, view.snapshot.head) if path in view.snapshot.files else None

    def pairs(self, key: str) -> list[PairedScores]:
        """A result beside others, question by question."""
        content = self.result_json(key)
        return EvalResult.model_validate_json(content).paired if content else []

    def _begin(self) -> None:
        self._changed = False
        self._idle.clear()
        self._began = time.monotonic()

    def _refresh(self) -> None:
        """The caller holds `_refreshing`; it is released here."""
        failed = self._store.failed_attempts
        try:
            head = self._store.head()
            if head != (before := self._view.snapshot.head):
                self._view = self._read(self._store.snapshot(head=head))
                self._count_commits(head, before)
            version = f"{self._view.version}-{datetime.now(UTC):%d%H}"
            if version != self._version:
                self._changes = rank_changes(self._view.boards, datetime.now(UTC) - RECENT)
                self._version = version
            self.reached, self._away = datetime.now(UTC), False
        except Exception as error:  # the last view is better than none
            self._away = True
            self._failed += self._store.failed_attempts == failed  # what it met is not counted by the store
            log.warning("%s", error, exc_info=not isinstance(error, StoreError))
        finally:
            self._look_at_workers()
            self._checked = time.monotonic()
            self._refreshing.release()
            self._idle.set()

    def _count_commits(self, head: str, before: str) -> None:
        since = datetime.now(UTC) - HOUR
        new = takewhile(lambda c: c.id != before and c.time >= since, self._store.history(head))
        self._commits = [*(moment for moment in self._commits if moment >= since), *(commit.time for commit in new)]

    def _look_at_workers(self) -> None:
        """What they tell in the private store. The board does without where that is out of reach."""
        if self._heartbeats is None:
            return
        running = [row.key for row in self._view.queue if row.status == Status.RUNNING]
        pending = any(row.status == Status.PENDING for row in self._view.queue)
        now = time.monotonic()
        try:
            if now - self._looked >= LEASE_POLL_S or self._leases.keys() - running:
                self._looked = now
                self._leases = self._heartbeats.of(running) if running else {}
                beats = {key: lease.heartbeat_at for key, lease in self._leases.items()}
                # As of this look: a board that nobody has opened for a while knows only old heartbeats.
                self._silent_since = {key: at for key, at in beats.items() if datetime.now(UTC) - at > SILENT}
            if now - self._looked_for_workers >= PAUSE_POLL_S:
                self._looked_for_workers = now
                self._workers = self._heartbeats.workers()
                self.upkeep = self._heartbeats.upkeep()
                self._workers_as_of = datetime.now(UTC)
            if running or not pending:
                self._pauses = []
            elif now - self._looked_for_pauses >= PAUSE_POLL_S:
                self._looked_for_pauses = now
                self._pauses = self._heartbeats.pauses(datetime.now(UTC))
        except StoreError as error:
            log.warning("%s", error)

    def _read(self, snapshot: Snapshot) -> View:
        results, unreadable = self._results.read(snapshot)
        requests, broken_requests = self._requests.read(snapshot)
        rows: dict[str, list[BoardRow]] = {name: [] for name in BENCHMARKS}
        for row in (*self._published, *results):
            if row.benchmark in rows:  # else a newer version's
                rows[row.benchmark].append(row)
        last = self._view
        retired = self._retirements.read(snapshot)
        commitments = self._commitments.read(snapshot)
        reasons = {one.key: one.reason for one in retired if one.until is None} | after_reveal(results, commitments)
        told = last.retired == retired and last.commitments == commitments
        kept = {name for name, own in rows.items() if told and last.rows.get(name) == own}
        boards = {
            name: last.boards[name] if name in kept else ranked(marked(own, reasons), name)
            for name, own in rows.items()
        }
        changed = {name for name, own in boards.items() if last.boards.get(name) is not own}
        unreadable = [*self._broken, *unreadable, *broken_requests]
        same = not changed and unreadable == last.unreadable
        return View(
            snapshot=snapshot,
            rows=rows,
            boards=boards,
            version=last.version if same else blob_id(f"{snapshot.head}{self._published_version}".encode()),
            summaries={n: summary(own, n) if n in changed else last.summaries[n] for n, own in boards.items()},
            models=model_rows(boards) if changed else last.models,
            queue=sorted(requests, key=lambda r: (r.submitted_at, r.key), reverse=True),
            unreadable=unreadable,
            paths={r.key: r.path for r in results},
            retired=retired,
            commitments=commitments,
        )

    def _read_published(self, folder: Path) -> tuple[list[BoardRow], list[Unreadable]]:
        rows: list[BoardRow] = []
        broken: list[Unreadable] = []
        for path in sorted(folder.glob("*/*.json")):
            content = path.read_bytes()
            try:
                result: EvalResult = parse_record(content, EvalResult)
            except ValueError as error:
                log.warning("published record %s is left out: %s", path, error)
                broken.append(Unreadable(path.name, str(error)))
                continue
            self._published_files[result.request_key] = path
            rows.append(board_row(result, str(path.relative_to(folder)), blob_id(content)))
        return rows, broken
