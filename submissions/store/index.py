"""Index the records in small segments, so that all of them can be read quickly.

A segment is a file of JSON lines with one row per record. A row contains the blob id of its record. A record whose blob id
is in no row is read directly, so readers are correct even if a segment is stale, broken or missing. Each commit rewrites and
uploads one or two whole segments, so they are kept small: the queue is split by the first two digits of the key, the board
by benchmark and day. `compacted` merges the segments of past months of the board.
"""

import logging
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from submissions.records.base import first_error
from submissions.records.index_rows import BoardRow, QueueRow, board_row, queue_row
from submissions.records.request import EvalRequest, Status
from submissions.records.result import EvalResult
from submissions.store.base import Changes, Snapshot, Store, blob_id, transact, unchanged

log = logging.getLogger(__name__)

BOARD, QUEUE = "index/board/", "index/queue/"
# A segment of the queue keeps the newest closed requests, and all closed requests young enough to count for a quota.
CLOSED_PER_SEGMENT = 2
KEEP_CLOSED_FOR = timedelta(days=31)
FORGET_AFTER_ROWS = 1000  # growth of a reader's rows after which it reads all again, to drop rows that left the index
SEGMENTS_PER_COMMIT = 500
READ_DIRECTLY_UP_TO = 32  # new records; if there are more, the index is read first

Row = TypeVar("Row", BoardRow, QueueRow)


@dataclass(frozen=True)
class Unreadable:
    """A record that cannot be read, and the reason. The board shows their number, the log their paths."""

    path: str
    reason: str


@dataclass(frozen=True)
class _ReaderState(Generic[Row]):
    """The rows that a reader has of the records at a head."""

    head: str = ""
    rows: dict[str, tuple[str, Row | Unreadable]] = field(default_factory=dict)  # blob and row by path
    left_out: dict[str, str] = field(default_factory=dict)  # blob by path, of closed requests that left the index
    initial_rows: int = 0  # number of rows when all records were last read


_ROW: dict[Any, TypeAdapter[Any]] = {kind: TypeAdapter(kind) for kind in (BoardRow, QueueRow)}
_ROWS: dict[Any, TypeAdapter[Any]] = {kind: TypeAdapter(list[kind]) for kind in (BoardRow, QueueRow)}  # type: ignore[valid-type]


def to_lines(rows: Iterable[Row], kind: type[Row]) -> bytes:
    """Serialise rows as a segment, sorted by key."""
    adapter = _ROW[kind]
    return b"".join(
        adapter.dump_json(row, exclude_defaults=True) + b"\n" for row in sorted(rows, key=lambda row: row.key)
    )


def from_lines(content: bytes, kind: type[Row]) -> list[Row]:
    """Parse a segment. Raises ValueError if the content is not a segment of this kind."""
    try:
        rows: list[Row] = _ROWS[kind].validate_json(b"[%s]" % b",".join(content.splitlines()))
        return rows
    except ValidationError as error:  # most likely written by another version
        raise ValueError(first_error(error)) from None


def _result_row(content: bytes, path: str, blob: str) -> BoardRow:
    result = EvalResult.from_json(content)
    if result.path != path:
        raise ValueError(f"belongs at {result.path}")
    return board_row(result, path, blob)


def _request_row(content: bytes, path: str, blob: str) -> QueueRow:
    request = EvalRequest.from_json(content)
    if request.path != path:
        raise ValueError(f"belongs at {request.path}")
    return queue_row(request, blob)


class RowReader(Generic[Row]):
    """Read the rows of one kind of record, and keep them between snapshots by blob id."""

    def __init__(
        self,
        store: Store,
        kind: type[Row],
        segments: str,
        records: str,
        parse: Callable[[bytes, str, str], Row],
        segment_that_knows: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        """Create a reader.

        Args:
            segments: The prefix of the paths of segments.
            records: The prefix of the paths of records.
            parse: Makes a row from the content, path and blob id of a record.
            segment_that_knows: Returns the segment that a record may be left out of on purpose, or None. If the index is
                read, such a record without a row in its segment is skipped instead of being read directly.
        """
        self._store = store
        self._kind: type[Row] = kind
        self._segments = segments
        self._records = records
        self._segment_that_knows = segment_that_knows
        self._parse: Callable[[bytes, str, str], Row] = parse
        self._segments_read: set[str] = set()  # blob ids
        self._last: _ReaderState[Row] = _ReaderState()
        self._reading = threading.Lock()  # a segment must not count as read before its rows are stored

    def read(self, snapshot: Snapshot) -> tuple[list[Row], list[Unreadable]]:
        """Return all rows, and the records that cannot be read."""
        with self._reading:
            last = self._last
            if snapshot.head != last.head:
                with self._store.session():
                    self._last = last = self._updated(last, snapshot)
        rows = last.rows.values()
        unreadable = [row for _, row in rows if isinstance(row, Unreadable)]
        return [row for _, row in rows if not isinstance(row, Unreadable)], unreadable

    def _updated(self, last: "_ReaderState[Row]", snapshot: Snapshot) -> "_ReaderState[Row]":
        """Return the rows at this snapshot, reusing rows of the last one."""
        follows = bool(last.head) and snapshot.since == last.head
        if len(last.rows) > 2 * last.initial_rows + FORGET_AFTER_ROWS:  # many of them have left the index by now
            self._segments_read = set()
            last = _ReaderState()
            follows = False
        # If the store tells what has changed since the last snapshot, only that is compared, and otherwise every path.
        rows: dict[str, tuple[str, Row | Unreadable]] = dict(last.rows) if follows else {}
        left_out = last.left_out if follows else {}
        paths = snapshot.changed if follows else snapshot.files
        new: list[str] = []
        for path in paths:
            if not (path.startswith(self._records) and path.endswith(".json")):
                continue
            blob = snapshot.files.get(path)
            if blob is None:  # the record was deleted
                rows.pop(path, None)
            elif path in last.rows and last.rows[path][0] == blob:
                rows[path] = last.rows[path]
            elif last.left_out.get(path) == blob:
                left_out[path] = blob
            else:
                rows.pop(path, None)
                new.append(path)
        found, more_left_out = self._read_new(sorted(new), snapshot)
        rows |= found
        return _ReaderState(
            snapshot.head,
            rows,
            {**left_out, **more_left_out} if more_left_out else left_out,
            last.initial_rows or len(rows),
        )

    def _read_new(
        self, paths: list[str], snapshot: Snapshot
    ) -> tuple[dict[str, tuple[str, Row | Unreadable]], dict[str, str]]:
        """Read new records from the index, or directly if it does not have them.

        Return blob and row by path, and the blobs of records that are left out on purpose by path.
        """
        indexed: dict[tuple[str, str], Row] = {}
        left_out: dict[str, str] = {}
        blobs = {path: snapshot.files[path] for path in paths}
        if len(paths) > READ_DIRECTLY_UP_TO:
            rows, readable = self._read_segments(snapshot)
            indexed = {(row.path, row.blob): row for row in rows}
            named = {row.path for row in rows}  # a row with another blob is stale, so its record is read directly
            left_out = {
                path: blob
                for path, blob in blobs.items()
                if path not in named and self._segment_that_knows(path) in readable
            }
        unknown = [path for path in paths if (path, blobs[path]) not in indexed and path not in left_out]
        self._store.prefetch(unknown, snapshot)
        found: dict[str, tuple[str, Row | Unreadable]] = {}
        for path in paths:
            if row := indexed.get((path, blobs[path])):
                found[path] = blobs[path], row
            elif path not in left_out:
                found[path] = blobs[path], self._read_record(path, blobs[path], snapshot.head)
        return found, left_out

    def _read_segments(self, snapshot: Snapshot) -> tuple[list[Row], set[str]]:
        """Return the rows of segments that are new or changed, and the paths of all readable segments."""
        rows: list[Row] = []
        segments = {path: blob for path, blob in snapshot.files.items() if path.startswith(self._segments)}
        readable = {path for path, blob in segments.items() if blob in self._segments_read}
        changed = segments.keys() - readable
        self._store.prefetch(changed, snapshot)
        for path in sorted(changed):
            try:
                found = from_lines(self._store.read(path, snapshot.head), self._kind)
                if not found:
                    # A segment keeps some closed requests. If it is empty, all were cancelled or it is damaged.
                    continue
                rows += found
                self._segments_read.add(segments[path])
                readable.add(path)
            except ValueError as error:
                log.warning("index segment %s is unreadable, reading its records instead: %s", path, error)
        return rows, readable

    def _read_record(self, path: str, blob: str, head: str) -> Row | Unreadable:
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
    return RowReader(store, QueueRow, QUEUE, "requests/", _request_row, _segment_of_closed)


def _segment_of_closed(path: str) -> str | None:
    """Return the segment of a closed request, or None for an open one.

    The path is `requests/STATUS/SHARD/KEY.json`, or a shorter one if somebody has put a file elsewhere.
    """
    _, status, *_, name = (*path.split("/"), "")[:4]
    closed = status in (Status.FINISHED, Status.FAILED, Status.QUARANTINED)
    return queue_segment(name) if closed else None


def board_segment(row: BoardRow) -> str:
    """Return the path of the segment that a row of the board belongs to."""
    if row.date is None:
        return f"{BOARD}{row.benchmark}/undated.jsonl"
    day = datetime.fromtimestamp(row.date, UTC)
    return f"{BOARD}{row.benchmark}/{day:%Y-%m/%d}/{int(row.key[0], 16) // 4}.jsonl"


def queue_segment(key: str) -> str:
    """Return the path of the segment that a request belongs to."""
    shard = key[:2] if re.match("[0-9a-f]{2}", key) else "00"  # the file may have any name
    return f"{QUEUE}{shard[0]}/{shard[1]}.jsonl"


def with_result(store: Store, snapshot: Snapshot, result: EvalResult) -> Changes:
    """Return the changes that add a result: its record and its rewritten segment."""
    content = result.to_bytes()
    row = board_row(result, result.path, blob_id(content))
    segment = board_segment(row)
    rows: list[BoardRow] = []
    if segment in snapshot.files:
        try:
            rows = [r for r in from_lines(store.read(segment, snapshot.head), BoardRow) if r.path != row.path]
        except ValueError as error:
            log.warning("index segment %s is unreadable, writing a new one: %s", segment, error)
    return {result.path: content, segment: to_lines([*rows, row], BoardRow)}


def with_requests(rows: Iterable[QueueRow], before: Iterable[EvalRequest], after: Iterable[EvalRequest]) -> Changes:
    """Return the changes that move requests from one state to the next: their records and their rewritten segments.

    `rows` are the rows of the whole queue.
    """
    changes: dict[str, bytes | None] = {request.path: None for request in before}
    touched = {request.key for request in before}
    new: list[QueueRow] = []
    for request in after:
        content = request.to_bytes()
        changes[request.path] = content
        touched.add(request.key)
        new.append(queue_row(request, blob_id(content)))
    shards = {key[:2] for key in touched}
    segments: dict[str, list[QueueRow]] = {queue_segment(shard): [] for shard in shards}
    kept_rows = [row for row in rows if row.key[:2] in shards and row.key not in touched]
    for row in (*kept_rows, *new):
        segments[queue_segment(row.key)].append(row)
    return changes | {path: to_lines(_recent(kept), QueueRow) for path, kept in segments.items()}


def _recent(rows: Iterable[QueueRow]) -> list[QueueRow]:
    """Return the rows that a segment keeps: open requests, and recent closed ones."""
    ordered = sorted(rows, key=lambda row: (row.submitted_at, row.key))
    closed = [row for row in ordered if row.status not in (Status.PENDING, Status.RUNNING)]
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
    newest: dict[str, str] = {}  # month by benchmark, which may still get rows
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
        changes |= dict.fromkeys(paths)
        changes[f"{month}.jsonl"] = to_lines({row.path: row for row in rows}.values(), BoardRow)
    return changes


def _month(path: str) -> str | None:
    """Return the prefix of a segment's month, such as `index/board/ko-vqa/2026-01`, or None if it has no month."""
    found = re.match(r"[^/]+/[^/]+/[^/]+/\d{4}-\d\d", path)
    return found[0] if found else None


def reindexed(store: Store, snapshot: Snapshot) -> tuple[Changes, list[Unreadable]]:
    """Return the changes that rebuild every segment from the records, and the unreadable records."""
    # Without the index, the readers read every record.
    records = {path: blob for path, blob in snapshot.files.items() if not path.startswith("index/")}
    bare = Snapshot(snapshot.head, records)
    results, broken_results = board_reader(store).read(bare)
    requests, broken_requests = queue_reader(store).read(bare)
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
    wanted = {path: to_lines(rows, BoardRow) for path, rows in on_board.items()}
    wanted |= {path: to_lines(_recent(rows), QueueRow) for path, rows in in_queue.items()}
    # A segment of the queue stays, but empty, after its last request was deleted.
    wanted |= {p: b"" for p in snapshot.files if p.startswith(QUEUE) and p.endswith(".jsonl") and p not in wanted}
    changes: dict[str, bytes | None] = {p: None for p in snapshot.files if p.startswith("index/") and p not in wanted}
    changes |= {p: c for p, c in wanted.items() if not unchanged(snapshot, p, c)}
    return changes, broken_results + broken_requests


def rebuild_index(store: Store) -> tuple[int, list[Unreadable]]:
    """Rewrite every segment that does not match the records. Return their number, and the unreadable records.

    Segments are committed in groups of some hundred, so that an interrupted run keeps its progress. A segment that another
    writer changes meanwhile is left alone.
    """
    snapshot = store.snapshot()
    changes, broken = reindexed(store, snapshot)
    paths = sorted(changes)
    for start in range(0, len(paths), SEGMENTS_PER_COMMIT):
        group = paths[start : start + SEGMENTS_PER_COMMIT]

        def still_wrong(now: Snapshot, group: list[str] = group) -> tuple[Changes, str, None]:
            same = {path: changes[path] for path in group if now.files.get(path) == snapshot.files.get(path)}
            return same, "Rebuild the index", None

        transact(store, still_wrong)
    return len(changes), broken
