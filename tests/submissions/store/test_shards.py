"""No folder of a store comes near the Hub's limit of 10,000 files, and what lies flat is moved."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from submissions.__main__ import main
from submissions.errors import StoreError
from submissions.queue.queue import Queue
from submissions.records import EvalRequest, request_key
from submissions.store.base import Store
from submissions.store.shards import sharded
from tests.support.records import NOW, result_of

HUB_LIMIT = 10_000
YEAR = 40_000  # requests: 10,000 submissions to four benchmarks


def test_ten_years_of_keys_fill_no_folder() -> None:
    keys = (request_key(f"o/m{n}", "0" * 40, "bfloat16", "ko-vqa", "1", None, None) for n in range(YEAR))
    folders = Counter(PurePosixPath(sharded(f"requests/finished/{key}.json")).parent for key in keys)
    assert len(folders) == 256 and max(folders.values()) < 2 * YEAR / 256 < HUB_LIMIT / 10


@pytest.mark.parametrize(("entries", "room"), [(3, True), (4, False)])
def test_nothing_is_evaluated_whose_result_would_find_no_room(
    store: Store, make_request: Callable[..., EvalRequest], monkeypatch: pytest.MonkeyPatch, entries: int, room: bool
) -> None:
    monkeypatch.setattr("submissions.store.shards.ENTRIES_PER_FOLDER", 4)
    queue, request = Queue(store), make_request()
    queue.submit(request)
    folder = f"requests/finished/{request.key[:2]}"
    store.commit({f"{folder}/{n:032x}.json": b"{}" for n in range(entries)}, store.head(), "many")
    head = store.head()
    if room:
        assert queue.claim("w", NOW)
    else:
        with pytest.raises(StoreError, match=f"/{folder} of the store has 4 entries"):
            queue.claim("w", NOW)
        assert store.head() == head


def test_records_of_an_older_version_are_moved_and_lose_nothing(
    store: Store,
    make_request: Callable[..., EvalRequest],
    settings_here: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    queue = Queue(store)
    pending, done = make_request(), make_request()
    queue.submit(done)
    running = queue.claim("w", NOW)
    assert running
    queue.publish(running, result_of(running), NOW)
    queue.submit(pending)
    before = {row.key: row.status for row in queue.rows()}
    flatten(store)
    assert Queue(store).rows() == []
    assert main(["reindex"]) == 0
    assert json.loads(capsys.readouterr().out) == {"segments_changed": 0, "moved": 2, "unreadable": {}}
    assert {row.key: row.status for row in Queue(store).rows()} == before
    assert Queue(store).get(pending.key) == pending


def flatten(store: Store) -> None:
    """As older versions wrote them."""
    snapshot = store.snapshot()
    deep = [path for path in snapshot.files if path.startswith(("requests/", "details/"))]
    flat = {path: str(Path(path).parent.parent / Path(path).name) for path in deep}
    changes = {flat[path]: store.read(path, snapshot.head) for path in deep}
    store.commit({**changes, **dict.fromkeys(deep)}, snapshot.head, "flat")
