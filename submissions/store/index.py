"""Small Parquet segments that summarise the records, so that reading them all is quick.

A row carries the blob id of its record. A record whose blob no row names is read itself, so the board is
right even where a segment is stale, broken or missing; the segments only make it fast.
"""

import io
import json
import logging
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar, Union, get_args, get_origin

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from submissions.records import EvalRequest, Status
from submissions.results import EvalResult
from submissions.rows import BoardRow, QueueRow, board_row, queue_row
from submissions.store.base import Changes, Snapshot, Store, blob_id, unchanged

log = logging.getLogger(__name__)

BOARD = "index/board/"
QUEUE = "index/queue.parquet"
RECENT = 500  # finished and failed requests kept in the queue's index, and all that still count for a quota:
KEPT = timedelta(days=31)
FEW = 32  # new records that are read themselves; for more, the segments that name them

Row = TypeVar("Row", BoardRow, QueueRow)


@dataclass(frozen=True)
class Unreadable:
    """A record the board leaves out, and why; shown as a count, named in the log."""

    path: str
    reason: str


def _arrow_type(annotation: Any) -> pa.DataType:
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(a for a in get_args(annotation) if a is not type(None))
    if get_origin(annotation) is not None:
        annotation = get_args(annotation)[0]
    by_type = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), datetime: pa.timestamp("us", tz="UTC")}
    return by_type.get(annotation, pa.string())


def _schema(kind: type[BoardRow] | type[QueueRow]) -> pa.Schema:
    return pa.schema([(field.name, _arrow_type(field.type)) for field in fields(kind)])


def to_parquet(rows: Iterable[Row], kind: type[Row]) -> bytes:
    rows, schema = list(rows), _schema(kind)
    table = pa.table({name: [getattr(row, name) for row in rows] for name in schema.names}, schema)
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def from_parquet(content: bytes, kind: type[Row]) -> list[Row]:
    """Raises ValueError where the content is no segment of this kind."""
    try:
        # No thread, of the pool for reading neither (read_table uses it): a segment is small, and a process that ends
        # soon after a threaded read is aborted by pyarrow.
        table = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
        names, columns = table.column_names, [_values(column) for column in table.columns]
        rows = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
        return TypeAdapter(list[kind]).validate_python(rows)  # type: ignore[valid-type]
    except ValidationError as error:  # written by another version, most likely
        raise ValueError(_first_fault(error)) from None
    except pa.ArrowException as error:
        raise ValueError(str(error)) from error


def _values(column: pa.ChunkedArray) -> list[Any]:
    """A column's values, texts that occur often in memory once only."""
    if not pa.types.is_string(column.type):
        return list(column.to_pylist())
    coded = column.combine_chunks().dictionary_encode()
    known = coded.dictionary.to_pylist()
    return [None if code is None else known[code] for code in coded.indices.to_pylist()]


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
        raise ValueError("a key stands twice")
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
    return queue_row(request, path, blob)


class RowReader(Generic[Row]):
    """The rows of one kind of record, remembered between snapshots by blob id."""

    def __init__(
        self,
        store: Store,
        kind: type[Row],
        segments: str,
        records: tuple[str, ...],
        parse: Callable[[bytes, str, str], Row],
        indexed_only: tuple[str, ...] = (),
    ) -> None:
        """Of many new records below `indexed_only`, those that no segment names are left out."""
        self._store = store
        self._kind: type[Row] = kind
        self._segments = segments
        self._records = records
        self._indexed_only = indexed_only
        self._parse: Callable[[bytes, str, str], Row] = parse
        self._known: dict[tuple[str, str], Row | Unreadable | None] = {}  # by path and blob; None: left out on purpose
        self._segments_read: set[str] = set()  # their blobs

    def read(self, snapshot: Snapshot) -> tuple[list[Row], list[Unreadable]]:
        own = [(p, b) for p, b in snapshot.files.items() if p.startswith(self._records) and p.endswith(".json")]
        known, indexed_only = self._known, self._indexed_only
        few = sum(record not in known for record in own) <= FEW
        if not few:
            rows, whole = self._indexed(snapshot)
            known = {**{(row.path, row.blob): row for row in rows}, **known}
            indexed_only = indexed_only if whole else ()
        found: dict[tuple[str, str], Row | Unreadable | None] = {}
        for path, blob in own:
            if (path, blob) in known:
                found[path, blob] = known[path, blob]
            elif few or not path.startswith(indexed_only):
                found[path, blob] = self._read_record(path, blob, snapshot.head)
            else:
                found[path, blob] = None
        self._known = found
        unreadable = [row for row in found.values() if isinstance(row, Unreadable)]
        return [row for row in found.values() if row is not None and not isinstance(row, Unreadable)], unreadable

    def _indexed(self, snapshot: Snapshot) -> tuple[list[Row], bool]:
        """The rows of segments that have changed since they were read last, and whether all segments can be read."""
        rows: list[Row] = []
        segments = {path: blob for path, blob in snapshot.files.items() if path.startswith(self._segments)}
        whole = bool(segments)
        for path, blob in segments.items():
            if blob in self._segments_read:
                continue
            try:
                rows += from_parquet(self._store.read(path, snapshot.head), self._kind)
                self._segments_read.add(blob)
            except ValueError as error:
                whole = False
                log.warning("index segment %s is unreadable, reading its records instead: %s", path, error)
        return rows, whole

    def _read_record(self, path: str, blob: str, head: str) -> Row | Unreadable:
        try:
            return self._parse(self._store.read(path, head), path, blob)
        except ValueError as error:
            log.warning("record %s is left out: %s", path, error)
            return Unreadable(path, str(error))


def board_reader(store: Store) -> RowReader[BoardRow]:
    return RowReader(store, BoardRow, BOARD, ("results/",), _result_row)


def queue_reader(store: Store) -> RowReader[QueueRow]:
    # Old requests that are closed leave the index on purpose.
    closed = tuple(f"requests/{status}/" for status in Status if status not in (Status.PENDING, Status.RUNNING))
    return RowReader(store, QueueRow, QUEUE, ("requests/",), _request_row, closed)


def segment_of(row: BoardRow) -> str:
    month = datetime.fromtimestamp(row.date, UTC).strftime("%Y-%m") if row.date else "undated"
    return f"{BOARD}{row.benchmark}/{month}.parquet"


def with_result(store: Store, snapshot: Snapshot, result: EvalResult) -> Changes:
    """The changes that add a result: its record, and its one segment rewritten."""
    content = result.to_bytes()
    row = board_row(result, result.path, blob_id(content))
    segment = segment_of(row)
    rows: list[BoardRow] = []
    if segment in snapshot.files:
        try:
            rows = [r for r in from_parquet(store.read(segment, snapshot.head), BoardRow) if r.path != row.path]
        except ValueError as error:
            log.warning("index segment %s is unreadable and starts anew: %s", segment, error)
    return {result.path: content, segment: to_parquet([*rows, row], BoardRow)}


def with_requests(rows: Iterable[QueueRow], before: Iterable[EvalRequest], after: Iterable[EvalRequest]) -> Changes:
    """The changes that move requests from one state to the next: their records, and the queue's index."""
    changes: dict[str, bytes | None] = {request.path: None for request in before}
    gone = {request.key for request in before}
    by_key = {row.key: row for row in rows if row.key not in gone}
    for request in after:
        content = request.to_bytes()
        changes[request.path] = content
        by_key[request.key] = queue_row(request, request.path, blob_id(content))
    return {**changes, QUEUE: to_parquet(_recent(by_key.values()), QueueRow)}


def _recent(rows: Iterable[QueueRow]) -> list[QueueRow]:
    ordered = sorted(rows, key=lambda r: (r.submitted_at, r.key))
    closed = [r for r in ordered if r.status not in (Status.PENDING, Status.RUNNING)]
    dropped = {r.key for r in closed[:-RECENT] if r.submitted_at <= ordered[-1].submitted_at - KEPT}
    return [r for r in ordered if r.key not in dropped]


def reindexed(store: Store, snapshot: Snapshot) -> tuple[Changes, list[Unreadable]]:
    """The changes that rebuild every segment from the records alone, and the records that cannot be read."""
    bare = Snapshot(snapshot.head, {p: b for p, b in snapshot.files.items() if not p.startswith("index/")})
    results, broken_results = board_reader(store).read(bare)
    everything = RowReader(store, QueueRow, QUEUE, ("requests/",), _request_row)
    requests, broken_requests = everything.read(bare)
    segments: dict[str, list[BoardRow]] = {}
    for row in results:
        segments.setdefault(segment_of(row), []).append(row)
    wanted = {path: to_parquet(rows, BoardRow) for path, rows in segments.items()}
    if requests:
        wanted[QUEUE] = to_parquet(_recent(requests), QueueRow)
    changes: dict[str, bytes | None] = {p: None for p in snapshot.files if p.startswith("index/") and p not in wanted}
    changes |= {p: c for p, c in wanted.items() if not unchanged(snapshot, p, c)}
    return changes, broken_results + broken_requests
