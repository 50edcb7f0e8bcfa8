"""Small segments that summarise the records, so that reading them all is quick.

A segment is JSON lines, a row a record. A row carries the blob id of its record. A record whose blob no row names is read
itself, so the board is right even where a segment is stale, broken or missing; the segments only make it fast. Each commit
rewrites one or two of them and uploads them whole, so they are small: those of the queue lie by the first two digits of the
key, those of the board by benchmark and day. Past months of the board are put together by `compacted`.
"""

import json
import logging
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from submissions.records.index_rows import BoardRow, QueueRow, board_row, queue_row
from submissions.records.request import EvalRequest, Status
from submissions.records.result import EvalResult
from submissions.store.base import Changes, Snapshot, Store, blob_id, transact, unchanged

log = logging.getLogger(__name__)

BOARD, QUEUE = "index/board/", "index/queue/"
RECENT = 2  # finished and failed requests kept in a segment of the queue, and all that still count for a quota:
KEPT = timedelta(days=31)
MANY = 1000  # rows more than when they were read first, after which those that the segments leave out are forgotten
SEGMENTS_PER_COMMIT = 500
FEW = 32  # new records that are read themselves; for more, the segments that name them

Row = TypeVar("Row", BoardRow, QueueRow)


@dataclass(frozen=True)
class Unreadable:
    """A record the board leaves out, and why; shown as a count, named in the log."""

    path: str
    reason: str


@dataclass(frozen=True)
class _Known(Generic[Row]):
    """What a reader knows of the records at a head."""

    head: str = ""
    rows: dict[str, tuple[str, Row | Unreadable]] = field(default_factory=dict)  # blob and row by path
    left_out: dict[str, str] = field(default_factory=dict)  # blob by path: on purpose
    first: int = 0  # how many rows there were when all were read


_ROW: dict[Any, TypeAdapter[Any]] = {kind: TypeAdapter(kind) for kind in (BoardRow, QueueRow)}
_ROWS: dict[Any, TypeAdapter[Any]] = {kind: TypeAdapter(list[kind]) for kind in (BoardRow, QueueRow)}  # type: ignore[valid-type]


def to_lines(rows: Iterable[Row], kind: type[Row]) -> bytes:
    """A segment, in the order of the keys."""
    adapter = _ROW[kind]
    return b"".join(
        adapter.dump_json(row, exclude_defaults=True) + b"\n" for row in sorted(rows, key=lambda row: row.key)
    )


def from_lines(content: bytes, kind: type[Row]) -> list[Row]:
    """Raises ValueError where the content is no segment of this kind."""
    try:
        rows: list[Row] = _ROWS[kind].validate_json(b"[%s]" % b",".join(content.splitlines()))
        return rows
    except ValidationError as error:  # written by another version, most likely
        raise ValueError(_first_fault(error)) from None


def parse_record(content: bytes, kind: type[EvalResult] | type[EvalRequest]) -> Any:
    """A record from its bytes. Raises ValueError with one line that says what is wrong."""
    try:
        text = content.decode("utf-8")  # json.loads would take a byte-order mark, and other encodings
        return kind.model_validate(json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant))
    except ValidationError as error:
        raise ValueError(_first_fault(error)) from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"no JSON: {error}") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(record := dict(pairs)) < len(pairs):
        raise ValueError("a key appears twice")
    return record


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in first['loc']) or 'record'}: {first['msg']}"


def _result_row(content: bytes, path: str, blob: str) -> BoardRow:
    result: EvalResult = parse_record(content, EvalResult)
    if result.path != path:
        raise ValueError(f"belongs at {result.path}")
    return board_row(result, path, blob)


def _request_row(content: bytes, path: str, blob: str) -> QueueRow:
    request: EvalRequest = parse_record(content, EvalRequest)
    if request.path != path:
        raise ValueError(f"belongs at {request.path}; python -m submissions reindex moves records of older versions")
    return queue_row(request, blob)


class RowReader(Generic[Row]):
    """The rows of one kind of record, remembered between snapshots by blob id."""

    def __init__(
        self,
        store: Store,
        kind: type[Row],
        segments: str,
        records: str,
        parse: Callable[[bytes, str, str], Row],
        segment_that_knows: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        """Of many new records, those are left out on purpose that `segment_that_knows` gives a segment for, and that the
        segment does not name."""
        self._store = store
        self._kind: type[Row] = kind
        self._segments = segments
        self._records = records
        self._segment_that_knows = segment_that_knows
        self._parse: Callable[[bytes, str, str], Row] = parse
        self._segments_read: set[str] = set()  # their blobs
        self._last: _Known[Row] = _Known()
        self._reading = threading.Lock()  # a segment counts as read only once its rows are known

    def read(self, snapshot: Snapshot) -> tuple[list[Row], list[Unreadable]]:
        """All rows, and the records that have none."""
        with self._reading:
            last = self._last
            if snapshot.head != last.head:
                with self._store.session():
                    self._last = last = self._followed(last, snapshot)
        rows = last.rows.values()
        unreadable = [row for _, row in rows if isinstance(row, Unreadable)]
        return [row for _, row in rows if not isinstance(row, Unreadable)], unreadable

    def _followed(self, last: "_Known[Row]", snapshot: Snapshot) -> "_Known[Row]":
        """What is known as of this snapshot, from what was known before."""
        follows = bool(last.head) and snapshot.since == last.head
        if len(last.rows) > 2 * last.first + MANY:  # by now the segments leave many of them out
            self._segments_read, last, follows = set(), _Known(), False
        rows, left_out = (dict(last.rows), last.left_out) if follows else ({}, {})
        new: list[str] = []
        for path in snapshot.changed if follows else snapshot.files:
            if not (path.startswith(self._records) and path.endswith(".json")):
                continue
            blob = snapshot.files.get(path)
            if blob is not None and path in last.rows and last.rows[path][0] == blob:
                rows[path] = last.rows[path]
            elif blob is not None and last.left_out.get(path) == blob:
                left_out[path] = blob
            else:
                rows.pop(path, None)
                new += [path] if blob is not None else []
        found, more_left_out = self._read_new(sorted(new), snapshot)
        rows |= found
        return _Known(
            snapshot.head, rows, {**left_out, **more_left_out} if more_left_out else left_out, last.first or len(rows)
        )

    def _read_new(
        self, paths: list[str], snapshot: Snapshot
    ) -> tuple[dict[str, tuple[str, Row | Unreadable]], dict[str, str]]:
        """What the segments tell of records, and else they themselves; and those that are left out, with their blobs."""
        indexed: dict[tuple[str, str], Row] = {}
        left_out: dict[str, str] = {}
        blobs = {path: snapshot.files[path] for path in paths}
        if len(paths) > FEW:
            rows, whole = self._indexed(snapshot)
            indexed = {(row.path, row.blob): row for row in rows}
            named = {row.path for row in rows}  # also with another blob: then the record is read
            left_out = {
                path: blobs[path]
                for path in paths
                if path not in named and (segment := self._segment_that_knows(path)) and segment in whole
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

    def _indexed(self, snapshot: Snapshot) -> tuple[list[Row], set[str]]:
        """The rows of segments that have changed since they were read last, and the paths of all that can be read."""
        rows: list[Row] = []
        segments = {path: blob for path, blob in snapshot.files.items() if path.startswith(self._segments)}
        whole = {path for path, blob in segments.items() if blob in self._segments_read}
        changed = segments.keys() - whole
        self._store.prefetch(changed, snapshot)
        for path in sorted(changed):
            try:
                found = from_lines(self._store.read(path, snapshot.head), self._kind)
                if not found:
                    continue  # of many closed requests some stay in the index: all were cancelled, or it is damaged
                rows += found
                self._segments_read.add(segments[path])
                whole.add(path)
            except ValueError as error:
                log.warning("index segment %s is unreadable, reading its records instead: %s", path, error)
        return rows, whole

    def _read_record(self, path: str, blob: str, head: str) -> Row | Unreadable:
        try:
            return self._parse(self._store.read(path, head), path, blob)
        except ValueError as error:
            log.warning("record %s is left out: %s", path, error)
            return Unreadable(path, str(error))


def board_reader(store: Store) -> RowReader[BoardRow]:
    return RowReader(store, BoardRow, BOARD, "results/", _result_row)


def queue_reader(store: Store) -> RowReader[QueueRow]:
    """Of open requests and recent ones: old requests that are closed leave the index on purpose."""
    return RowReader(store, QueueRow, QUEUE, "requests/", _request_row, _segment_of_closed)


def _segment_of_closed(path: str) -> str | None:
    _, status, *_, name = (*path.split("/"), "")[:4]
    closed = status in (Status.FINISHED, Status.FAILED, Status.QUARANTINED)
    return queue_segment(name) if closed else None


def board_segment(row: BoardRow) -> str:
    if row.date is None:
        return f"{BOARD}{row.benchmark}/undated.jsonl"
    day = datetime.fromtimestamp(row.date, UTC)
    return f"{BOARD}{row.benchmark}/{day:%Y-%m/%d}/{int(row.key[0], 16) // 4}.jsonl"


def queue_segment(key: str) -> str:
    shard = key[:2] if re.match("[0-9a-f]{2}", key) else "00"  # a file's name may be none of ours
    return f"{QUEUE}{shard[0]}/{shard[1]}.jsonl"


def with_result(store: Store, snapshot: Snapshot, result: EvalResult) -> Changes:
    """The changes that add a result: its record, and its one segment rewritten."""
    content = result.to_bytes()
    row = board_row(result, result.path, blob_id(content))
    segment = board_segment(row)
    rows: list[BoardRow] = []
    if segment in snapshot.files:
        try:
            rows = [r for r in from_lines(store.read(segment, snapshot.head), BoardRow) if r.path != row.path]
        except ValueError as error:
            log.warning("index segment %s is unreadable and starts anew: %s", segment, error)
    return {result.path: content, segment: to_lines([*rows, row], BoardRow)}


def with_requests(rows: Iterable[QueueRow], before: Iterable[EvalRequest], after: Iterable[EvalRequest]) -> Changes:
    """The changes that move requests from one state to the next: their records, and their segments rewritten.

    `rows`: of the whole queue.
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
    for row in (*(row for row in rows if row.key[:2] in shards and row.key not in touched), *new):
        segments[queue_segment(row.key)].append(row)
    return changes | {path: to_lines(_recent(own), QueueRow) for path, own in segments.items()}


def _recent(rows: Iterable[QueueRow]) -> list[QueueRow]:
    """Of a segment's rows those that are open, and the newest of the others."""
    ordered = sorted(rows, key=lambda r: (r.submitted_at, r.key))
    closed = [r for r in ordered if r.status not in (Status.PENDING, Status.RUNNING)]
    dropped = {r.key for r in closed[:-RECENT] if r.submitted_at <= ordered[-1].submitted_at - KEPT}
    return [r for r in ordered if r.key not in dropped]


def compacted(store: Store, snapshot: Snapshot) -> Changes:
    """The changes that make one segment of each past month of the board."""
    months: dict[str, list[str]] = {}
    for path in snapshot.files:
        if path.startswith(BOARD) and (month := _month(path)):
            months.setdefault(month, []).append(path)
    newest: dict[str, str] = {}
    for month in sorted(months):
        newest[month.rpartition("/")[0]] = month
    changes: dict[str, bytes | None] = {}
    for month, paths in months.items():
        if month in newest.values() or len(paths) == 1:
            continue
        store.prefetch(paths, snapshot)
        try:
            rows = [row for path in paths for row in from_lines(store.read(path, snapshot.head), BoardRow)]
        except ValueError as error:
            log.warning("the segments of %s stay as they are: %s", month, error)
            continue
        changes |= dict.fromkeys(paths)
        changes[f"{month}.jsonl"] = to_lines({row.path: row for row in rows}.values(), BoardRow)
    return changes


def _month(path: str) -> str | None:
    """`index/board/ko-vqa/2026-01` of a segment of that month."""
    found = re.match(r"[^/]+/[^/]+/[^/]+/\d{4}-\d\d", path)
    return found[0] if found else None


def reindexed(store: Store, snapshot: Snapshot) -> tuple[Changes, list[Unreadable]]:
    """The changes that rebuild every segment from the records alone, and the records that cannot be read."""
    bare = Snapshot(snapshot.head, {p: b for p, b in snapshot.files.items() if not p.startswith("index/")})
    results, broken_results = board_reader(store).read(bare)
    requests, broken_requests = queue_reader(store).read(bare)
    on_board: dict[str, list[BoardRow]] = {}
    in_queue: dict[str, list[QueueRow]] = {}
    for result in results:
        on_board.setdefault(board_segment(result), []).append(result)
    for request in requests:
        in_queue.setdefault(queue_segment(request.key), []).append(request)
    past = {month for path in snapshot.files if (month := _month(path)) and path == f"{month}.jsonl"}
    for path in [path for path in on_board if _month(path) in past]:
        on_board.setdefault(f"{_month(path)}.jsonl", []).extend(on_board.pop(path))
    wanted = {path: to_lines(rows, BoardRow) for path, rows in on_board.items()}
    wanted |= {path: to_lines(_recent(own), QueueRow) for path, own in in_queue.items()}
    # The queue keeps a segment whose last request has gone.
    wanted |= {p: b"" for p in snapshot.files if p.startswith(QUEUE) and p.endswith(".jsonl") and p not in wanted}
    changes: dict[str, bytes | None] = {p: None for p in snapshot.files if p.startswith("index/") and p not in wanted}
    changes |= {p: c for p, c in wanted.items() if not unchanged(snapshot, p, c)}
    return changes, broken_results + broken_requests


def rebuild_index(store: Store) -> tuple[int, list[Unreadable]]:
    """Commit every segment that is not as the records say. Returns how many, and the records that cannot be read.

    In commits of some hundred, so that one that is interrupted has not been for nothing. A segment that others have
    written meanwhile is theirs.
    """
    snapshot = store.snapshot()
    changes, broken = reindexed(store, snapshot)
    paths = sorted(changes)
    for start in range(0, len(paths), SEGMENTS_PER_COMMIT):
        some = paths[start : start + SEGMENTS_PER_COMMIT]

        def still_wrong(now: Snapshot, some: list[str] = some) -> tuple[Changes, str, None]:
            same = {path: changes[path] for path in some if now.files.get(path) == snapshot.files.get(path)}
            return same, "Rebuild the index", None

        transact(store, still_wrong)
    return len(changes), broken
