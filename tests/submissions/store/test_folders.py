"""Test that no folder of a store comes near the Hub's limit of 10,000 files."""

from collections import Counter
from collections.abc import Callable
from pathlib import PurePosixPath

import pytest

from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest, request_key
from submissions.store.base import Store
from submissions.store.folders import sharded
from submissions.texts.errors import StoreError
from tests.support.records import NOW

HUB_LIMIT = 10_000
REQUESTS_PER_YEAR = 40_000  # 10,000 submissions to four benchmarks


def test_sharded_spreads_keys_over_folders() -> None:
    keys = (request_key(f"o/m{n}", "0" * 40, "bfloat16", "ko-vqa", "1", None, None) for n in range(REQUESTS_PER_YEAR))
    folders = Counter(PurePosixPath(sharded(f"requests/finished/{key}.json")).parent for key in keys)
    assert len(folders) == 256 and max(folders.values()) < 2 * REQUESTS_PER_YEAR / 256 < HUB_LIMIT / 10


@pytest.mark.parametrize(("entries", "room"), [(3, True), (4, False)])
def test_claim_rejects_request_if_folder_is_full(
    store: Store, make_request: Callable[..., EvalRequest], monkeypatch: pytest.MonkeyPatch, entries: int, room: bool
) -> None:
    monkeypatch.setattr("submissions.store.folders.ENTRIES_PER_FOLDER", 4)
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
