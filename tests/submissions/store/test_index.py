"""Test that the index only speeds up reading: rows always match the records, even if the index is wrong."""

import re
from datetime import timedelta
from typing import Any

import pytest

from scripts.support.records import NOW, Make, claimed, published, request_numbered, result_of
from submissions.queue.queue import Queue
from submissions.records.index_rows import BoardRow
from submissions.records.request import EvalRequest, Failure, Stage
from submissions.records.result import EvalResult
from submissions.store import index
from submissions.store.base import Snapshot, Store, transact
from submissions.store.index import (
    BOARD,
    QUEUE,
    board_reader,
    compacted,
    from_lines,
    queue_reader,
    rebuild_index,
    reindexed,
    with_requests,
    with_result,
)
from submissions.texts.failure_codes import FailureCode


@pytest.fixture
def filled(store: Store, make_request: Make) -> Store:
    """Return a store with three results."""
    for em in (10.0, 20.0, 30.0):
        published(store, make_request(), em)
    return store


class CountingStore:
    """Wrap a store and record the paths that are read from it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.paths: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def read(self, path: str, head: str) -> bytes:
        self.paths.append(path)
        return self._store.read(path, head)


def segments(store: Store, index: str) -> list[str]:
    return [path for path in store.snapshot().files if path.startswith(index)]


def scores(store: Store) -> list[float]:
    rows, unreadable = board_reader(store).read(store.snapshot())
    assert not unreadable
    return sorted(r.metrics["em"] for r in rows)


@pytest.fixture(autouse=True)
def _read_one_record_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a reader read at most one record without the index."""
    monkeypatch.setattr("submissions.store.index.READ_DIRECTLY_UP_TO", 1)


def test_board_reader_reads_only_segments(filled: Store) -> None:
    counting: Any = CountingStore(filled)
    reader = board_reader(counting)
    rows, _ = reader.read(filled.snapshot())
    assert sorted(r.metrics["em"] for r in rows) == [10.0, 20.0, 30.0]
    assert sorted(counting.paths) == sorted(segments(filled, BOARD))
    reader.read(filled.snapshot())
    assert len(counting.paths) == len(segments(filled, BOARD)), "nothing is read again"


def test_board_reader_reads_new_result_directly(filled: Store, make_request: Make) -> None:
    counting: Any = CountingStore(filled)
    reader = board_reader(counting)
    reader.read(filled.snapshot())
    before = list(counting.paths)
    published(filled, make_request(), 40.0)
    assert len(reader.read(filled.snapshot())[0]) == 4
    assert [path.split("/")[0] for path in counting.paths[len(before) :]] == ["results"]


def test_queue_reader_skips_requests_dropped_from_index(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("submissions.store.index.queue_segment", lambda _: f"{QUEUE}all.jsonl")
    monkeypatch.setattr("submissions.store.index.CLOSED_PER_SEGMENT", 1)
    monkeypatch.setattr("submissions.store.index.KEEP_CLOSED_FOR", timedelta(0))
    changes, _ = reindexed(filled, filled.snapshot())
    filled.commit(changes, filled.head(), "reindex")
    counting: Any = CountingStore(filled)
    assert len(queue_reader(counting).read(filled.snapshot())[0]) == 1
    assert sorted(counting.paths) == sorted(segments(filled, QUEUE))


def test_queue_reader_forgets_rows_dropped_from_index(
    store: Store, make_request: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("submissions.store.index.FORGET_AFTER_ROWS", 4)
    monkeypatch.setattr("submissions.store.index.queue_segment", lambda _: f"{QUEUE}all.jsonl")
    queue = Queue(store)
    most = 0
    for week in range(30):
        now = NOW + timedelta(weeks=week)
        queue.submit(make_request(submitted_at=now))
        running = claimed(queue, now)
        queue.publish(running, result_of(running), now)
        most = max(most, len(queue.rows()))
    assert 5 < most < 16
    assert {row.key for row in queue_reader(store).read(store.snapshot())[0]} <= {row.key for row in queue.rows()}


@pytest.mark.parametrize("content", [None, b"", b"[garbage", b"\x00" * 100])
def test_board_reader_survives_broken_segment(filled: Store, content: bytes | None) -> None:
    filled.commit(dict.fromkeys(segments(filled, BOARD), content), filled.head(), "break")
    assert scores(filled) == [10.0, 20.0, 30.0]


def test_board_reader_rereads_changed_record(filled: Store) -> None:
    path = next(p for p in filled.snapshot().files if p.startswith("results/"))
    result = EvalResult.model_validate_json(filled.read(path, filled.head()))
    changed = result.evolve(results={"korquad-2": {"em": 99.0, "f1": 99.0}})
    filled.commit({path: changed.to_bytes()}, filled.head(), "correct by hand")
    assert 99.0 in scores(filled)


BROKEN = [
    b"not json",
    b"{}",
    b'{"schema_version": 2}',
    b"\xef\xbb\xbf{}",
    b'{"schema_version": 1, "schema_version": 1}',
    b'{"date": NaN}',
    b'{"schema_version": 1, "unknown": 1}',
    '{"schema_version": 1}'.encode("utf-16"),
    b"",
]


@pytest.mark.parametrize("content", BROKEN)
def test_board_reader_reports_broken_result(filled: Store, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path = f"results/owner/bad/{'e' * 32}.json"
    filled.commit({path: content}, filled.head(), "break")
    rows, unreadable = board_reader(filled).read(filled.snapshot())
    assert len(rows) == 3
    assert [u.path for u in unreadable] == [path]
    assert "\n" not in unreadable[0].reason
    assert path in caplog.text


@pytest.mark.parametrize("value", ["NaN", "Infinity", "100.5", "-101", '"high"'])
def test_board_reader_rejects_invalid_score_and_misplaced_record(filled: Store, value: str) -> None:
    path = next(p for p in filled.snapshot().files if p.startswith("results/"))
    content = filled.read(path, filled.head())
    broken, changed = re.subn(rb'"em": [\d.]+', f'"em": {value}'.encode(), content, count=1)
    assert changed
    filled.commit({path: broken, f"results/famous/model/{'a' * 32}.json": content}, filled.head(), "forge")
    rows, unreadable = board_reader(filled).read(filled.snapshot())
    assert len(rows) == 2 and {one.path for one in unreadable} == {path, f"results/famous/model/{'a' * 32}.json"}
    assert any("belongs at" in one.reason for one in unreadable)


def test_rebuild_index_keeps_concurrent_writes(
    filled: Store, make_request: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("submissions.store.index.SEGMENTS_PER_COMMIT", 1)
    before = sorted(board_reader(filled).read(filled.snapshot())[0], key=lambda r: r.key)
    filled.commit(dict.fromkeys(segments(filled, "index/")), filled.head(), "lose the index")
    real = index.reindexed
    request = make_request()

    def meanwhile(*arguments: Any) -> Any:
        found = real(*arguments)
        Queue(filled).submit(request)
        return found

    monkeypatch.setattr("submissions.store.index.reindexed", meanwhile)
    changed, broken = rebuild_index(filled)
    assert changed > 1 and not broken
    assert request.key in {row.key for row in Queue(filled).rows()}
    assert sorted(board_reader(filled).read(filled.snapshot())[0], key=lambda r: r.key) == before
    monkeypatch.setattr("submissions.store.index.reindexed", real)
    rebuild_index(filled)
    assert rebuild_index(filled) == (0, [])


def test_reindexed_restores_same_rows(filled: Store) -> None:
    before = sorted(board_reader(filled).read(filled.snapshot())[0], key=lambda r: r.key)
    queue_before = Queue(filled).rows()
    changes, broken = reindexed(filled, filled.snapshot())
    assert (changes, broken) == ({}, []), "the index kept by the queue equals a rebuilt one"
    wiped = {p: None for p in filled.snapshot().files if p.startswith("index/")}
    filled.commit(wiped, filled.head(), "lose the index")
    changes, _ = reindexed(filled, filled.snapshot())
    assert set(changes) == set(wiped) and changes.keys() >= {*segments(filled, QUEUE)}
    filled.commit(changes, filled.head(), "reindex")
    assert sorted(board_reader(filled).read(filled.snapshot())[0], key=lambda r: r.key) == before
    assert Queue(filled).rows() == queue_before


def test_reader_that_goes_back_to_an_earlier_head_has_all_rows(store: Store) -> None:
    """As after a backup was restored."""
    queue = Queue(store)
    for number in range(4):
        queue.submit(request_numbered(number))
        queue.fail(claimed(queue), Failure(stage=Stage.LOAD, code=FailureCode.MISSING_LIBRARY), NOW)
    reader = queue_reader(store)
    quarantined = store.snapshot()
    assert len(reader.read(quarantined)[0]) == 4
    queue.requeue_all()
    assert {row.status for row in reader.read(store.snapshot())[0]} == {"pending"}
    assert [row.status for row in reader.read(quarantined)[0]] == ["quarantined"] * 4


def test_queue_reader_has_closed_requests_that_were_deleted_and_restored(store: Store) -> None:
    """As after a commit is reverted while a program is running."""
    queue = Queue(store)
    for number in range(4):
        queue.submit(request_numbered(number))
        queue.fail(claimed(queue), Failure(stage=Stage.LOAD, code=FailureCode.MISSING_LIBRARY), NOW)
    reader = queue_reader(store)
    before = store.snapshot()
    assert len(reader.read(before)[0]) == 4
    contents = {path: store.read(path, before.head) for path in before.files}
    requests = [EvalRequest.from_json(content) for path, content in contents.items() if path.startswith("requests/")]
    deletion = with_requests(reader.read(before)[0], before=requests[1:], after=[])
    store.commit(deletion, store.head(), "delete three")
    assert len(reader.read(store.snapshot())[0]) == 1
    store.commit({path: contents[path] for path in deletion}, store.head(), "revert")
    assert len(reader.read(store.snapshot())[0]) == 4


def test_queue_segment_with_unknown_status_is_read_from_records(store: Store) -> None:
    queue = Queue(store)
    for number in range(4):
        queue.submit(request_numbered(number))
    (segment, *_) = segments(store, QUEUE)
    content = store.read(segment, store.head()).replace(b'"pending"', b'"of a newer version"')
    store.commit({segment: content}, store.head(), "a newer version")
    rows, unreadable = queue_reader(store).read(store.snapshot())
    assert [row.status for row in rows] == ["pending"] * 4 and not unreadable


def test_merged_month_keeps_the_current_row_of_a_rewritten_result(store: Store) -> None:
    """Errata rewrite results of past months. The order in which a store lists paths must not matter."""
    for number, days in enumerate((0, 40, 41, 42)):
        published(store, request_numbered(number), date=(NOW - timedelta(days=days)).timestamp())
    transact(store, lambda snapshot: (compacted(store, snapshot), "Merge", None))
    rows, _ = board_reader(store).read(store.snapshot())
    oldest = min(rows, key=lambda row: row.date or 0.0)
    result = EvalResult.from_json(store.read(oldest.path, store.head()))
    rewritten = result.evolve(results={result.benchmark: {"em": 99.0, "f1": 99.0}})
    transact(store, lambda snapshot: (with_result(store, snapshot, rewritten), "An erratum", None))
    snapshot = store.snapshot()
    for files in (dict(sorted(snapshot.files.items())), dict(sorted(snapshot.files.items(), reverse=True))):
        (merged,) = (content for content in compacted(store, Snapshot(snapshot.head, files)).values() if content)
        by_path = {row.path: row.blob for row in from_lines(merged, BoardRow)}
        assert by_path == {path: snapshot.files[path] for path in by_path}
