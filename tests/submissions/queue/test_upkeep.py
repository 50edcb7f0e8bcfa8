"""Test the weekly upkeep, which merges past months and squashes the history while others read and write."""

import os
import subprocess
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from dulwich.objects import Blob
from dulwich.repo import Repo

from scripts.support.evaluated import evaluated
from scripts.support.records import NOW, published, request_numbered
from submissions.queue.upkeep import UPKEEP_INTERVAL, tidy_if_due, tidy_now
from submissions.store import git, git_repository
from submissions.store.base import Store, blob_id, transact
from submissions.store.git import GitStore
from submissions.store.index import board_reader, compacted, reindexed
from submissions.store.objects import REPACK_ABOVE
from submissions.store.open import open_store
from submissions.store.private import PrivateStore
from submissions.texts.errors import ConflictError
from tests.support.slow import only_first

pytestmark = pytest.mark.integration


def publish_dated(store: Store, number: int, days_ago: float) -> None:
    published(store, request_numbered(number), date=(NOW - timedelta(days=days_ago)).timestamp())


@pytest.mark.parametrize("url", only_first(["git", "hub"]), indirect=True)
def test_tidy_now_merges_past_months(url: str, private: PrivateStore) -> None:
    store = open_store(url)
    for number, days in enumerate((0, 1, 40, 41, 42, 75, 76)):
        publish_dated(store, number, days)
    before = board_reader(store).read(store.snapshot())
    tidy_now(store, private, NOW)
    segments = [path for path in store.snapshot().files if path.startswith("index/board/")]
    months = [path for path in segments if path.count("/") == 3]
    assert len(months) == 2 and len(segments) <= 4, segments
    rows, unreadable = board_reader(open_store(url)).read(open_store(url).snapshot())
    assert sorted(row.key for row in rows) == sorted(row.key for row in before[0]) and not unreadable
    assert compacted(store, store.snapshot()) == {} and reindexed(store, store.snapshot()) == ({}, [])
    publish_dated(store, 100, 75.5)  # a late result of a past month
    changes, _ = reindexed(store, store.snapshot())
    transact(store, lambda _: (changes, "reindex", None))
    assert compacted(store, store.snapshot()) == {}
    assert len(board_reader(open_store(url)).read(store.snapshot())[0]) == 8


def test_tidy_if_due_runs_once_a_week(url: str, private: PrivateStore) -> None:
    store = open_store(url)
    publish_dated(store, 1, 0)
    assert not tidy_if_due(store, private, NOW), "a new private store does not squash the dataset at the first start"
    commits = len(list(store.history(store.head())))
    assert commits > 1 and not tidy_if_due(store, private, NOW + UPKEEP_INTERVAL / 2)
    assert tidy_if_due(store, private, NOW + UPKEEP_INTERVAL)
    assert len(list(store.history(store.head()))) == 1
    private.write("tidied.json", b"[]")
    assert not tidy_if_due(store, private, NOW + UPKEEP_INTERVAL), "an unreadable time stamp is written again"
    assert tidy_if_due(store, private, NOW + 2 * UPKEEP_INTERVAL)


@pytest.mark.parametrize("url", only_first(["git", "hub"]), indirect=True)
def test_tidy_keeps_concurrent_writes(url: str) -> None:
    """Let three writers count while the history is squashed repeatedly: no step is lost or repeated."""
    steps = 4 if url.startswith("hf://") else 12
    store = open_store(url)
    store.commit({f"{n}.json": b"0" for n in range(3)}, store.head(), "start")
    errors: list[BaseException] = []

    def count(name: int) -> None:
        writer_store = open_store(url)
        try:
            for _ in range(steps):
                transact(
                    writer_store,
                    lambda snapshot: (
                        {f"{name}.json": b"%d" % (int(writer_store.read(f"{name}.json", snapshot.head)) + 1)},
                        "count",
                        None,
                    ),
                )
        except BaseException as error:
            errors.append(error)

    writers = [threading.Thread(target=count, args=(number,)) for number in range(3)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        open_store(url).tidy()
        snapshot = store.snapshot()
        assert snapshot.files.keys() == {"0.json", "1.json", "2.json"}
        assert int(store.read("0.json", snapshot.head)) <= steps
    for writer in writers:
        writer.join()
    assert not errors
    assert store.snapshot().files == {f"{n}.json": blob_id(b"%d" % steps) for n in range(3)}


def test_tidy_now_keeps_board_rows(tmp_path: Path, private: PrivateStore) -> None:
    store = open_store(str(tmp_path / "board.git"))
    reader = board_reader(open_store(store.url))
    results = [evaluated(request_numbered(number), 50.0 + number, 40) for number in range(3)]
    store.commit({result.path: result.to_bytes() for result in results}, store.head(), "not in the index")
    rows = reader.read(store.snapshot())[0]
    tidy_now(store, private, NOW)
    after = reader.read(open_store(store.url).snapshot())[0]
    assert len(rows) == 3 and sorted(row.key for row in after) == sorted(row.key for row in rows)


def test_tidy_raises_conflict_on_commit_without_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit without the lock, like an operator's `git push`, just before the branch is moved."""
    store = GitStore(tmp_path / "pushed.git")
    store.commit({"a": b"1"}, store.head(), "a")
    work = tmp_path / "work"
    subprocess.run(["git", "clone", "-q", store.url, str(work)], check=True)
    (work / "b").write_text("2")
    real = git_repository.new_commit

    def pushed_meanwhile(*arguments: Any, **named: Any) -> Any:
        made = real(*arguments, **named)
        if arguments[1] == "Squash":
            monkeypatch.setattr(git, "new_commit", real)
            commit = ["-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "pushed"]
            for step in (["add", "b"], commit, ["push", "-q", "origin", "main"]):
                subprocess.run(["git", "-C", str(work), *step], check=True)
        return made

    monkeypatch.setattr(git, "new_commit", pushed_meanwhile)
    with pytest.raises(ConflictError):
        store.tidy()
    assert store.snapshot().files.keys() == {"a", "b"}
    store.tidy()
    assert store.snapshot().files.keys() == {"a", "b"} and len(list(store.history(store.head()))) == 1


def test_tidy_keeps_old_objects_for_readers(tmp_path: Path) -> None:
    """Check that old objects are kept for readers if they have only just become unneeded."""
    store = GitStore(tmp_path / "idle.git")
    for number in range(3):
        store.commit({"a": b"%d" % number, "b": b"-"}, store.head(), "a")
    for path in Path(store.url).rglob("objects/??/*"):
        os.utime(path, (1, 1))
    before = store.head()
    reader = GitStore(Path(store.url))
    store.tidy()
    assert reader.read("a", before) == b"2" and reader.snapshot(before).files.keys() == {"a", "b"}


def test_tidy_replaces_redundant_packs(tmp_path: Path) -> None:
    store = GitStore(tmp_path / "packed.git")
    store.commit({"a": b"1"}, store.head(), "a")
    for _ in range(2):
        store.tidy(0)
    with closing(Repo(store.url)) as repo:
        for number in range(3 * REPACK_ABOVE):
            repo.object_store.add_objects([(Blob.from_string(b"%d" % number), None)])
    store.tidy(0)
    assert store.read("a", store.head()) == b"1"
    assert len(list(Path(store.url).glob("objects/pack/*.pack"))) <= 3


def test_tidy_keeps_store_small(tmp_path: Path) -> None:
    store = GitStore(tmp_path / "small.git")
    for week in range(52):
        for path in Path(store.url).rglob("objects/??/*"):
            os.utime(path, (1, 1))
        store.commit({"index": os.urandom(20_000), f"{week}.json": b"%d" % week}, store.head(), "week")
        store.tidy(0)
    assert store.repository.size() < 400_000 and len(list(Path(store.url).glob("objects/pack/*.pack"))) <= 10
    snapshot = store.snapshot()
    assert [store.read(f"{week}.json", snapshot.head) for week in (0, 51)] == [b"0", b"51"]
    checked = subprocess.run(["git", "-C", store.url, "fsck", "--strict"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
