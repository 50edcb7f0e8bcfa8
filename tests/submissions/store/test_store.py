"""Test the contract that every kind of store keeps, and that no folder comes near the Hub's limit of 10,000 files."""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from filelock import FileLock

from scripts.support.records import NOW, Make
from submissions.config.paths import ROOT
from submissions.queue.queue import Queue
from submissions.records.request import request_key
from submissions.store import git
from submissions.store.base import Snapshot, Store, blob_id, transact
from submissions.store.folders import in_key_folder
from submissions.store.open import open_store
from submissions.texts.errors import ConflictError, StoreError, StoreUnavailableError


def test_commit_stores_many_files_at_once(url: str) -> None:
    store = open_store(url)
    files = {f"a/{i}/한글 {i}.json": f"{i}번".encode() for i in range(40)}
    start = store.head()
    assert len(start) == 40 and store.snapshot().files == {}
    head = store.commit(files, start, "many")
    snapshot = store.snapshot()
    assert snapshot.head == head == store.head()
    assert snapshot.files == {path: blob_id(content) for path, content in files.items()}
    assert {path: store.read(path, head) for path in files} == files
    assert store.snapshot(head=start).files == {}


def test_read_returns_binary_files_unchanged(url: str) -> None:
    store = open_store(url)
    files = {f"{i}.parquet": os.urandom(5000) for i in range(3)} | {"empty.parquet": b""}
    head = store.commit(files, store.head(), "binary")
    assert {path: store.read(path, head) for path in files} == files
    assert {path: open_store(url).read(path, head) for path in files} == files


@pytest.mark.parametrize("file", ["config/thesis.txt", "info/notes", "hooks/pre-commit", "thesis.txt"])
def test_folder_with_other_files_is_not_taken_for_a_store(tmp_path: Path, file: str) -> None:
    kept = tmp_path / "mine" / file
    kept.parent.mkdir(parents=True)
    kept.write_text("years of work")
    with pytest.raises(StoreError, match="is not a store and not empty"):
        open_store(str(tmp_path / "mine"))
    assert kept.read_text() == "years of work"


@pytest.mark.parametrize("is_link", [False, True])
@pytest.mark.parametrize("leftovers", [(), ("HEAD", "config", "HEAD.lock", "refs/heads/", "lost+found/")])
def test_empty_folder_is_filled_and_not_replaced(tmp_path: Path, is_link: bool, leftovers: tuple[str, ...]) -> None:
    """A folder may be a mounted volume or a link, and may have what a killed process has left in it."""
    folder = tmp_path / "volume"
    folder.mkdir()
    for name in leftovers:
        if name.endswith("/"):
            (folder / name).mkdir(parents=True)
        else:
            (folder / name).touch()
    before = folder.stat().st_ino
    path = folder
    if is_link:
        path = tmp_path / "link"
        path.symlink_to(folder)
    store = open_store(str(path))
    head = store.commit({"a.txt": b"a"}, store.head(), "first")
    assert open_store(str(path)).read("a.txt", head) == b"a"
    assert folder.stat().st_ino == before and path.is_symlink() == is_link
    assert not (folder / "HEAD.lock").exists() and not Path(f"{path}.new").exists()


def test_error_within_session_is_not_the_stores(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "s.git"))
    with pytest.raises(AssertionError), store.session():
        raise AssertionError("of the caller")
    with pytest.raises(FileNotFoundError), store.session():
        (tmp_path / "missing").read_text()
    assert store.failed_attempts == 0


def test_clock_of_lost_store_is_a_store_error(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "share/store.git"))
    store.head()
    (tmp_path / "share").rename(tmp_path / "gone")
    with pytest.raises(StoreError):
        store.now()


def test_clock_of_linked_store_is_that_of_its_disk(tmp_path: Path) -> None:
    open_store(str(tmp_path / "disk/s.git"))
    (tmp_path / "link").symlink_to(tmp_path / "disk/s.git")
    open_store(str(tmp_path / "link")).now()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "link"]


def test_history_is_newest_first(url: str) -> None:
    store = open_store(url)
    first = store.commit({"a": b"1"}, store.head(), "one")
    second = store.commit({"a": b"2"}, first, "two")
    commits = list(store.history(second))
    assert [c.id for c in commits[:2]] == [second, first]
    assert [c.message.splitlines()[0] for c in commits[:2]] == ["two", "one"]
    assert abs(store.now() - commits[0].time) < timedelta(minutes=1)
    assert store.read("a", first) == b"1" and open_store(url).snapshot(head=first).files == {"a": blob_id(b"1")}


def test_tidy_keeps_files_and_drops_history(url: str) -> None:
    store = open_store(url)
    reader = open_store(url)
    head = store.head()
    for number in range(3):
        head = store.commit({"record": b"%d" % number, "other": b"-"}, head, "record")
    before = reader.snapshot()
    store.tidy()
    tidied = store.head()
    assert len(list(store.history(tidied))) == 1 and store.read("record", tidied) == b"2"
    assert reader.read("record", before.head) == b"2", "a reader can still read the commit that it has"
    with pytest.raises(ConflictError):
        reader.commit({"record": b"3"}, before.head, "on a removed parent")
    assert reader.commit({"record": b"3"}, tidied, "record") == store.head()
    assert reader.snapshot().files == open_store(url).snapshot().files


def test_commit_rejects_stale_parent(url: str) -> None:
    store = open_store(url)
    start = store.head()
    head = store.commit({"x": b"1"}, start, "first")
    with pytest.raises(ConflictError):
        store.commit({"x": b"2", "y": b"2"}, start, "stale")
    assert store.snapshot() == Snapshot(head, {"x": blob_id(b"1")})


def test_commit_rejects_identical_content_on_stale_parent(url: str) -> None:
    store = open_store(url)
    start = open_store(url).head()
    store.commit({"claim": b"me"}, start, "claim")
    with pytest.raises(ConflictError):
        open_store(url).commit({"claim": b"me"}, start, "claim")


def test_commit_deletes_files_and_empty_folders(url: str) -> None:
    store = open_store(url)
    head = store.commit({"a/b/c": b"1", "d": b"2"}, store.head(), "add")
    store.commit({"a/b/c": None}, head, "delete")
    assert set(store.snapshot().files) == {"d"}
    with pytest.raises(KeyError):
        store.read("a/b/c", store.head())
    assert store.read("a/b/c", head) == b"1"
    for missing in ("d/e", "a/b", "none"):  # below a file, a folder, and nothing
        with pytest.raises(KeyError):
            store.read(missing, head)


def test_snapshot_reads_only_changed_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(str(tmp_path / "s.git"))
    head = store.commit({f"{n}/record": b"1" for n in range(5)}, store.head(), "records")
    store.snapshot()
    store.commit({"0/record": b"2"}, head, "one")
    entries = git._entries
    read = list[str]()

    def recording(*arguments: Any) -> Any:
        read.append(arguments[1])
        return entries(*arguments)

    monkeypatch.setattr("submissions.store.git._entries", recording)
    assert len(store.snapshot().files) == 5
    assert len(read) == 4, "only the root and one folder of both snapshots are read"


def test_snapshot_lists_changes_since_previous(url: str) -> None:
    store = open_store(url)
    other = open_store(url)
    first = store.commit({"a/1": b"1", "a/2": b"2", "b": b"3", "c": b"4"}, store.head(), "first")
    before = store.snapshot()
    second = other.commit({"a/1": None, "a/2": b"5", "b": None, "b/1": b"6", "c": b"4"}, first, "second")
    after = store.snapshot()
    assert after == other.snapshot() == open_store(url).snapshot() and after.head == second
    assert after.since == before.head and after.changed == {"a/1", "a/2", "b", "b/1"}
    assert store.snapshot(first) == before
    assert (
        store.count_entries("a", first) == 2
        and store.count_entries("a", second) == 1
        and store.count_entries("no", second) == 0
    )


def _add_twenty(url: str, writer: int) -> None:
    store = open_store(url)
    for i in range(20):
        # The writers conflict on purpose, far more often than a real queue, so retry the whole transaction.
        while True:
            try:
                transact(store, lambda _, i=i: ({f"{writer}/{i}": b"x"}, "add", None))  # type: ignore[misc]
                break
            except ConflictError:
                continue


@pytest.mark.slow
def test_transact_concurrent_processes_lose_nothing(url: str) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_add_twenty, args=(url, w)) for w in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [w.exitcode for w in writers] == [0] * 4
    assert set(open_store(url).snapshot().files) == {f"{w}/{i}" for w in range(4) for i in range(20)}


WRITE_FOR_EVER = """
import sys
from submissions.store.open import open_store
store = open_store(sys.argv[1])
n = 0
while True:
    store.commit({"a": b"%d" % n, "b": b"%d" % n}, store.head(), "both")
    n += 1
    print(n, flush=True)
"""


@pytest.mark.slow
@pytest.mark.integration
def test_commit_killed_writer_leaves_intact_store(tmp_path: Path) -> None:
    url = str(tmp_path / "killed.git")
    for round_ in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", WRITE_FOR_EVER, url], cwd=ROOT, stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            for _ in range(3 + round_):
                writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
        store = open_store(url)
        head = store.head()
        assert store.read("a", head) == store.read("b", head)
        store.commit({"a": b"-", "b": b"-"}, head, "goes on")
    checked = subprocess.run(["git", "-C", url, "fsck", "--strict"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_commit_times_out_on_held_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = str(tmp_path / "still.git")
    store = open_store(url)
    head = store.commit({"a": b"1"}, store.head(), "before")
    monkeypatch.setattr("submissions.store.git_repository.LOCK_TIMEOUT_S", 0.1)
    with FileLock(f"{url}.lock"):
        for reader in (store, open_store(url)):
            assert reader.read("a", reader.head()) == b"1"
        with pytest.raises(StoreUnavailableError, match="continue it or end it"):
            store.commit({"a": b"2"}, head, "meanwhile")
    assert store.commit({"a": b"3"}, head, "after") == store.head()


def test_git_command_reads_store(tmp_path: Path) -> None:
    store = open_store(f"file://{tmp_path}/plain.git")
    store.commit({"한글/파일.json": b"{}"}, store.head(), "한글 메시지")
    show = ["git", "-C", str(tmp_path / "plain.git"), "show", "main:한글/파일.json"]
    assert subprocess.run(show, capture_output=True, check=True).stdout == b"{}"


def test_transact_decides_again_after_conflict(url: str) -> None:
    store = open_store(url)
    rival = open_store(url)
    seen: list[set[str]] = []

    def decide(snapshot: Snapshot) -> tuple[dict[str, bytes], str, int]:
        seen.append(set(snapshot.files))
        if len(seen) == 1:
            rival.commit({"rival": b"1"}, snapshot.head, "first")
        return {"mine": b"1"}, "mine", len(seen)

    assert transact(store, decide) == 2
    assert seen == [set(), {"rival"}]
    assert set(store.snapshot().files) == {"rival", "mine"}


HUB_LIMIT = 10_000
REQUESTS_PER_YEAR = 40_000  # 10,000 submissions to four benchmarks


def test_in_key_folder_spreads_keys_over_folders() -> None:
    keys = (request_key(f"o/m{n}", "0" * 40, "bfloat16", "ko-vqa", "1", None, None) for n in range(REQUESTS_PER_YEAR))
    folders = Counter(PurePosixPath(in_key_folder(f"requests/finished/{key}.json")).parent for key in keys)
    assert len(folders) == 256 and max(folders.values()) < 2 * REQUESTS_PER_YEAR / 256 < HUB_LIMIT / 10


def test_claim_rejects_request_if_folder_is_full(
    store: Store, make_request: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("submissions.store.folders.ENTRIES_PER_FOLDER", 4)
    queue = Queue(store)
    request = make_request()
    queue.submit(request)
    folder = f"requests/finished/{request.key[:2]}"
    full = store.commit({f"{folder}/{n:032x}.json": b"{}" for n in range(4)}, store.head(), "many")
    with pytest.raises(StoreError, match=f"/{folder} of the store has 4 entries"):
        queue.claim("w", NOW)
    assert store.head() == full
    store.commit({f"{folder}/{0:032x}.json": None}, full, "one less")
    assert queue.claim("w", NOW)
