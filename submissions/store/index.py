"""Index the records in small segments, so that all of them can be read quickly.

A segment is a file of JSON lines with one row per record: a `BoardRow` for a result, a `QueueRow` for a request. A row
contains the blob id of its record. A record whose blob id is in no row is read directly, so readers are correct even if a
segment is broken or missing and, for all records but closed requests, also if it is stale. A closed request that its segment
has no row of is skipped, because the segments of the queue leave out old ones on purpose.

Each commit rewrites and uploads one or two whole segments, so they are kept small: the queue is split by the first two
digits of the key, the board by benchmark and day. `compacted` merges the segments of past months of the board.

Readers (the board, the queue) use `board_reader` and `queue_reader`. Writers add the changes of `with_result` and
`with_requests` to their commits. The weekly upkeep commits the changes of `compacted`. `rebuild_index` commits those of
`reindexed`, for the command `reindex`.
"""

import logging
import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError

from submissions.records.base import first_error
from submissions.records.index_rows import BoardRow, QueueRow, board_row, queue_row
from submissions.records.request import EvalRequest, Status
from submissions.records.result import EvalResult
from submissions.store.base import Changes, Snapshot, Store, blob_id, transact, unchanged

log = logging.getLogger(__name__)

BOARD, QUEUE = "index/board/", "index/queue/"
CLOSED = (Status.FINISHED, Status.FAILED, Status.QUARANTINED)
# Of the closed requests, a segment of the queue keeps the newest CLOSED_PER_SEGMENT (`_read_segments` relies on one at
# least), and those of KEEP_CLOSED_FOR, which a quota may need. That is twice the longest window of a quota, 31 days: the
# reasoning modes of a model count as one submission at the time of the first, so a request of 31 days ago may belong to a
# submission that began up to 31 days before it.
CLOSED_PER_SEGMENT = 2
KEEP_CLOSED_FOR = timedelta(days=62)
# A reader that runs for long keeps the rows of closed requests that `_recent` has dropped from the index meanwhile. To drop
# them, it reads everything again when it has more rows than twice the number after it last did so, plus this number.
FORGET_AFTER_ROWS = 1000
SEGMENTS_PER_COMMIT = 500
READ_DIRECTLY_UP_TO = 32  # new records; if there are more, the index is read first

Row = TypeVar("Row", BoardRow, QueueRow)


@dataclass(frozen=True)
class Unreadable:
    """A record that cannot be read, and the reason. The board shows their number, the log their paths."""

    path: str
    reason: str


class _Entry(NamedTuple, Generic[Row]):
    """What a reader has of one record: the row, and the blob id of the content that it was made from."""

    blob: str
    row: Row | Unreadable


@dataclass(frozen=True)
class _ReaderState(Generic[Row]):
    """What a reader has of the records at a head."""

    head: str = ""
    entries: dict[str, _Entry[Row]] = field(default_factory=dict)  # by path
    omitted: dict[str, str] = field(default_factory=dict)  # blob by path, of closed requests that the index leaves out
    initial_rows: int = 0  # number of entries when all records were last read


_ROW: dict[Any, TypeAdapter[Any]] = {kind: TypeAdapter(kind) for kind in (BoardRow, QueueRow)}
_ROWS: dict[Any, TypeAdapter[Any]] = {BoardRow: TypeAdapter(list[BoardRow]), QueueRow: TypeAdapter(list[QueueRow])}


def to_lines(rows: Iterable[Row], kind: type[Row]) -> bytes:
    """Serialise rows as a segment, sorted by key."""
    adapter = _ROW[kind]
    return b"".join(
        adapter.dump_json(row, exclude_defaults=True) + b"\n" for row in sorted(rows, key=lambda row: row.key)
    )


def from_lines(content: bytes, kind: type[Row]) -> list[Row]:
    """Parse a segment. Raises ValueError if the content is not a segment of this kind."""
    json_array = b"[%s]" % b",".join(content.splitlines())  # one call of the parser for all lines is faster
    try:
        rows: list[Row] = _ROWS[kind].validate_json(json_array)
        return rows
    except ValidationError as error:  # most likely written by another version
        raise ValueError(first_error(error)) from None


def _result_row(content: bytes, path: str, blob: str) -> BoardRow:
    """Return the row of a result's record. Raises ValueError if it is not a result, or that of another path."""
    result = EvalResult.from_json(content)
    if result.path != path:
        raise ValueError(f"belongs at {result.path}")
    return board_row(result, path, blob)


def _request_row(content: bytes, path: str, blob: str) -> QueueRow:
    """Return the row of a request's record. Raises ValueError if it is not a request, or that of another path."""
    request = EvalRequest.from_json(content)
    if request.path != path:
        raise ValueError(f"belongs at {request.path}")
    return queue_row(request, blob)


class RowReader(Generic[Row]):
    """Read the rows of one kind of record.

    Rows are kept from one snapshot to the next, so that only records that were added or changed are read. Threads may share
    a reader.
    """

    def __init__(
        self,
        store: Store,
        kind: type[Row],
        segments: str,
        records: str,
        parse: Callable[[bytes, str, str], Row],
        omitting_segment: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        """Create a reader.

        Args:
            segments: The prefix of the paths of segments.
            records: The prefix of the paths of records.
            parse: Makes a row from the content, path and blob id of a record.
            omitting_segment: Takes the path of a record. Returns the path of the segment in which its row may be missing on
                purpose, or None if a row is never missing on purpose. The segments of the queue leave out old closed
                requests. A reader cannot tell such a request from one that a writer forgot: it skips both.
        """
        self._store = store
        self._kind: type[Row] = kind
        self._segments = segments
        self._records = records
        self._omitting_segment = omitting_segment
        self._parse: Callable[[bytes, str, str], Row] = parse
        # The blob ids of segments that were read, which need not be read again for new records. Only the rows that were looked
        # for were kept, so a record that comes back after it was deleted may still have a row in one of them.
        self._segments_read: set[str] = set()
        self._last: _ReaderState[Row] = _ReaderState()
        self._reading = threading.Lock()  # a segment must not count as read before its rows are stored

    def read(self, snapshot: Snapshot) -> tuple[list[Row], list[Unreadable]]:
        """Return all rows, and the records that cannot be read."""
        with self._reading:
            last = self._last
            if snapshot.head != last.head:
                with self._store.session():
                    self._last = last = self._updated(last, snapshot)
        rows = [entry.row for entry in last.entries.values()]
        unreadable = [row for row in rows if isinstance(row, Unreadable)]
        return [row for row in rows if not isinstance(row, Unreadable)], unreadable

    def _updated(self, last: "_ReaderState[Row]", snapshot: Snapshot) -> "_ReaderState[Row]":
        """Return the state at this snapshot. The entries of unchanged records are kept, and all other records are read."""
        if len(last.entries) > 2 * last.initial_rows + FORGET_AFTER_ROWS:  # many of them have left the index by now
            self._segments_read = set()
            last = _ReaderState()
        paths: Iterable[str]
        entries: dict[str, _Entry[Row]]
        if last.head and snapshot.since == last.head:  # the store says which paths have changed
            paths = snapshot.changed
            entries = dict(last.entries)
            omitted = last.omitted  # not copied, because it may be large; the loop adds only what is in it already
        else:  # every path is compared
            paths = snapshot.files
            entries = {}
            omitted = {}
            self._segments_read = set()  # an older snapshot, as of a backup, may need rows that were replaced meanwhile
        to_read: list[str] = []
        for path in paths:
            if not (path.startswith(self._records) and path.endswith(".json")):
                continue
            blob = snapshot.files.get(path)
            if blob is None:  # the record was deleted
                entries.pop(path, None)
            elif path in last.entries and last.entries[path].blob == blob:
                entries[path] = last.entries[path]
            elif last.omitted.get(path) == blob:
                omitted[path] = blob
            else:
                entries.pop(path, None)
                to_read.append(path)
        read, newly_omitted = self._read_new(sorted(to_read), snapshot)
        entries |= read
        if newly_omitted:
            omitted = {**omitted, **newly_omitted}
        return _ReaderState(snapshot.head, entries, omitted, last.initial_rows or len(entries))

    def _read_new(self, paths: list[str], snapshot: Snapshot) -> tuple[dict[str, _Entry[Row]], dict[str, str]]:
        """Read records that the reader does not have yet: a few directly, many from the index as far as it has them.

        Return the entries by path, and the blobs of records that the index leaves out on purpose by path.
        """
        indexed: dict[str, _Entry[Row]] = {}
        omitted: dict[str, str] = {}
        blobs = {path: snapshot.files[path] for path in paths}
        if len(paths) > READ_DIRECTLY_UP_TO:
            indexed, omitted = self._look_up(blobs, snapshot)
        self._store.prefetch([path for path in paths if path not in indexed and path not in omitted], snapshot)
        entries: dict[str, _Entry[Row]] = {}  # in the order of the paths
        for path, blob in blobs.items():
            if path in indexed:
                entries[path] = indexed[path]
            elif path not in omitted:
                entries[path] = _Entry(blob, self._read_record(path, blob, snapshot.head))
        return entries, omitted

    def _look_up(self, blobs: Mapping[str, str], snapshot: Snapshot) -> tuple[dict[str, _Entry[Row]], dict[str, str]]:
        """Look for records in the index. `blobs` are the blob ids of the records by path.

        Return the entries of those that have a row, and the blobs of those that are left out on purpose. A record whose row
        has another blob id is in neither: the row is stale.
        """
        omitting_segments = {path: self._omitting_segment(path) for path in blobs}
        rows, segments_with_rows = self._read_segments(snapshot, set(omitting_segments.values()))
        paths_with_row = {row.path for row in rows}
        indexed = {row.path: _Entry(row.blob, row) for row in rows if blobs.get(row.path) == row.blob}
        omitted: dict[str, str] = {}
        for path, blob in blobs.items():
            if path not in paths_with_row and omitting_segments[path] in segments_with_rows:
                omitted[path] = blob
        return indexed, omitted

    def _read_segments(self, snapshot: Snapshot, needed: Collection[str | None]) -> tuple[list[Row], set[str]]:
        """Read the segments that were not read in this form yet, and those that are needed in any case.

        Return their rows, and the paths of those that have any.
        """
        rows: list[Row] = []
        with_rows: set[str] = set()
        segments = {path: blob for path, blob in snapshot.files.items() if path.startswith(self._segments)}
        to_read = [path for path, blob in segments.items() if path in needed or blob not in self._segments_read]
        self._store.prefetch(to_read, snapshot)
        for path in sorted(to_read):
            try:
                rows_of_segment = from_lines(self._store.read(path, snapshot.head), self._kind)
            except ValueError as error:
                log.warning("index segment %s is unreadable, reading its records instead: %s", path, error)
                continue
            # A segment always keeps its newest closed requests, so if it is empty, all were cancelled or it is damaged. Then
            # records without a row are read and not taken for omitted ones.
            if rows_of_segment:
                rows += rows_of_segment
                self._segments_read.add(segments[path])
                with_rows.add(path)
        return rows, with_rows

    def _read_record(self, path: str, blob: str, head: str) -> Row | Unreadable:
        """Return the row of a record that is not in the index."""
        try:
            return self._parse(self._store.read(path, head), path, blob)
        except ValueError as error:
            log.warning("skipping unreadable record %s: %s", path, error)
            return Unreadable(path, str(error))


def board_reader(store: Store) -> RowReader[BoardRow]:
    """Return a reader of all results."""
    return RowReader(store, BoardRow, BOARD, "results/", _result_row)


def queue_reader(store: Store) -> RowReader[QueueRow]:
    """Return a reader of open and recent requests. Old closed requests are left out of the index on purpose."""
    return RowReader(store, QueueRow, QUEUE, "requests/", _request_row, _omitting_segment)


def _omitting_segment(path: str) -> str | None:
    """Return the segment that leaves out this request when it is old, or None for an open request, which is always indexed.

    `requests/finished/ab/abcd….json` -> `index/queue/a/b.jsonl`. The path is shorter if somebody has put a file elsewhere.
    """
    folders_and_name = path.split("/")
    status = folders_and_name[1]
    if status not in CLOSED:
        return None
    name = folders_and_name[3] if len(folders_and_name) > 3 else ""
    return queue_segment(name)


def board_segment(row: BoardRow) -> str:
    """Return the path of the segment that a row of the board belongs to: `index/board/ko-vqa/2026-01/31/0.jsonl`.

    Each day has four segments, by the first digit of the key, so that a day with many results has small ones too.
    """
    if row.date is None:
        return f"{BOARD}{row.benchmark}/undated.jsonl"
    day = datetime.fromtimestamp(row.date, UTC)
    quarter = int(row.key[0], 16) // 4  # of the keys: 0 to 3
    return f"{BOARD}{row.benchmark}/{day:%Y-%m/%d}/{quarter}.jsonl"


def queue_segment(key: str) -> str:
    """Return the path of the segment that a request belongs to: `abcd…` -> `index/queue/a/b.jsonl`.

    `key` may also be the name of its file, or begin with the two digits only.
    """
    shard = key[:2] if re.match("[0-9a-f]{2}", key) else "00"  # the file may have any name
    return f"{QUEUE}{shard[0]}/{shard[1]}.jsonl"


def with_result(store: Store, snapshot: Snapshot, result: EvalResult) -> Changes:
    """Return the changes that add a result, or replace it: its record and its rewritten segment."""
    content = result.to_bytes()
    row = board_row(result, result.path, blob_id(content))
    segment = board_segment(row)
    rows: list[BoardRow] = []
    if segment in snapshot.files:
        try:
            indexed = from_lines(store.read(segment, snapshot.head), BoardRow)
            rows = [other for other in indexed if other.path != row.path]
        except ValueError as error:
            log.warning("index segment %s is unreadable, writing a new one: %s", segment, error)
    return {result.path: content, segment: to_lines([*rows, row], BoardRow)}


def with_requests(rows: Iterable[QueueRow], before: Iterable[EvalRequest], after: Iterable[EvalRequest]) -> Changes:
    """Return the changes that move requests from one state to the next: their records and their rewritten segments.

    `rows` are those of the whole queue. A request that is only in `before` is deleted, one that is only in `after` is new.
    """
    changes: dict[str, bytes | None] = {request.path: None for request in before}
    moved_keys = {request.key for request in before}
    new_rows: list[QueueRow] = []
    for request in after:
        content = request.to_bytes()
        changes[request.path] = content  # also replaces the deletion above if the path stays the same
        moved_keys.add(request.key)
        new_rows.append(queue_row(request, blob_id(content)))
    shards = {key[:2] for key in moved_keys}
    segments: dict[str, list[QueueRow]] = {queue_segment(shard): [] for shard in shards}
    other_rows = [row for row in rows if row.key[:2] in shards and row.key not in moved_keys]
    for row in (*other_rows, *new_rows):
        segments[queue_segment(row.key)].append(row)
    return changes | {path: to_lines(_recent(in_segment), QueueRow) for path, in_segment in segments.items()}


def _recent(rows: Iterable[QueueRow]) -> list[QueueRow]:
    """Return the rows that a segment keeps: open requests, and recent closed ones."""
    ordered = sorted(rows, key=lambda row: (row.submitted_at, row.key))
    closed = [row for row in ordered if row.status in CLOSED]
    may_be_dropped = closed[:-CLOSED_PER_SEGMENT]
    if not may_be_dropped:
        return ordered
    since = ordered[-1].submitted_at - KEEP_CLOSED_FOR  # counted from the newest request, so that no clock is needed
    dropped = {row.key for row in may_be_dropped if row.submitted_at <= since}
    return [row for row in ordered if row.key not in dropped]


def compacted(store: Store, snapshot: Snapshot) -> Changes:
    """Return the changes that merge the segments of each past month of the board into one."""
    months: dict[str, list[str]] = {}
    for path in snapshot.files:
        if path.startswith(BOARD) and (month := _month(path)):
            months.setdefault(month, []).append(path)
    newest: dict[str, str] = {}  # the newest month of each benchmark, which is not merged because it still gets rows
    for month in sorted(months):
        benchmark = month.rpartition("/")[0]
        newest[benchmark] = month
    changes: dict[str, bytes | None] = {}
    for month, paths in months.items():
        if month in newest.values() or len(paths) == 1:
            continue
        store.prefetch(paths, snapshot)
        try:
            rows = [row for path in paths for row in from_lines(store.read(path, snapshot.head), BoardRow)]
        except ValueError as error:
            log.warning("not merging the index segments of %s, one is unreadable: %s", month, error)
            continue
        # A result that was rewritten after its month was merged has two rows, of which the current one must be kept.
        stale_first = sorted(rows, key=lambda row: row.blob == snapshot.files.get(row.path))
        changes |= dict.fromkeys(paths)  # None: they are deleted
        changes[f"{month}.jsonl"] = to_lines({row.path: row for row in stale_first}.values(), BoardRow)
    return changes


def _month(path: str) -> str | None:
    """Return the prefix of a segment's month, or None if it has no month.

    `index/board/ko-vqa/2026-01/31/0.jsonl` and the merged `index/board/ko-vqa/2026-01.jsonl` -> `index/board/ko-vqa/2026-01`
    """
    month = re.match(r"[^/]+/[^/]+/[^/]+/\d{4}-\d\d", path)
    return month[0] if month else None


def reindexed(store: Store, snapshot: Snapshot) -> tuple[Changes, list[Unreadable]]:
    """Return the changes that rebuild every segment from the records, and the unreadable records."""
    # Without the index, the readers read every record.
    records = {path: blob for path, blob in snapshot.files.items() if not path.startswith("index/")}
    without_index = Snapshot(snapshot.head, records)
    results, unreadable_results = board_reader(store).read(without_index)
    requests, unreadable_requests = queue_reader(store).read(without_index)
    on_board: dict[str, list[BoardRow]] = {}
    in_queue: dict[str, list[QueueRow]] = {}
    for result in results:
        on_board.setdefault(board_segment(result), []).append(result)
    for request in requests:
        in_queue.setdefault(queue_segment(request.key), []).append(request)
    # Months that `compacted` has merged stay merged.
    merged = {_month(path) for path in snapshot.files if path == f"{_month(path)}.jsonl"}
    for path in [path for path in on_board if _month(path) in merged]:
        on_board.setdefault(f"{_month(path)}.jsonl", []).extend(on_board.pop(path))
    segments = {path: to_lines(rows, BoardRow) for path, rows in on_board.items()}
    segments |= {path: to_lines(_recent(rows), QueueRow) for path, rows in in_queue.items()}
    changes: dict[str, bytes | None] = {}
    for path in snapshot.files:
        if path.startswith(QUEUE) and path.endswith(".jsonl"):
            segments.setdefault(path, b"")  # as `with_requests` leaves it after its last request was deleted
        elif path.startswith("index/") and path not in segments:
            changes[path] = None
    changes |= {path: content for path, content in segments.items() if not unchanged(snapshot, path, content)}
    return changes, unreadable_results + unreadable_requests


def rebuild_index(store: Store) -> tuple[int, list[Unreadable]]:
    """Rewrite every segment that does not match the records. Return their number, and the unreadable records.

    Segments are committed in groups of some hundred, so that an interrupted run keeps its progress. A segment that another
    writer changes meanwhile is left alone.
    """
    snapshot = store.snapshot()
    changes, unreadable = reindexed(store, snapshot)
    paths = sorted(changes)
    for start in range(0, len(paths), SEGMENTS_PER_COMMIT):
        group = {path: changes[path] for path in paths[start : start + SEGMENTS_PER_COMMIT]}
        transact(store, partial(_of_untouched_segments, group, snapshot))
    return len(changes), unreadable


def _of_untouched_segments(changes: Changes, before: Snapshot, now: Snapshot) -> tuple[Changes, str, None]:
    """Return the changes of segments that nobody else has written since the snapshot `before`, for `transact`."""
    untouched = {path: content for path, content in changes.items() if now.files.get(path) == before.files.get(path)}
    return untouched, "Rebuild the index", None
