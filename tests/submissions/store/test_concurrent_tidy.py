"""Test readers while another process packs, squashes or empties the repository that they read."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dulwich.object_store import DiskObjectStore
from dulwich.refs import Ref
from dulwich.repo import Repo

from submissions.config.paths import ROOT
from submissions.store import git as git_store
from submissions.store.base import READERS_GRACE_S, blob_id
from submissions.store.git import GitStore
from submissions.store.mirror import Mirror
from submissions.store.objects import REPACK_ABOVE, ObjectReader
from submissions.store.open import open_store

READERS, SECONDS = 15, 20.0
# A program that writes and tidies until it is killed.
TIDIER = """
import sys
from submissions.store.git import GitStore
store, number = GitStore(__import__("pathlib").Path(sys.argv[1])), 0
while True:
    number += 1
    store.commit({"count.json": b"%d" % number, f"{number % 20}.json": b"%d" % number}, store.head(), "count")
    store.tidy(grace_s=float(sys.argv[2]))
    print(number, flush=True)
"""


@pytest.fixture
def tidied_between_lookups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitStore:
    """Return a store that is packed after a reader has searched the packs and before it opens the loose file."""
    store = GitStore(tmp_path / "store.git")
    store.commit({"a.json": b"1"}, store.head(), "a")
    look_for_loose = DiskObjectStore._get_loose_object

    def tidy_first(self: DiskObjectStore, sha: Any) -> Any:
        monkeypatch.setattr(DiskObjectStore, "_get_loose_object", look_for_loose)
        GitStore(Path(store.url)).tidy()
        return self._get_loose_object(sha)

    monkeypatch.setattr(DiskObjectStore, "_get_loose_object", tidy_first)
    return store


READS: dict[str, Callable[[GitStore, str], object]] = {
    "snapshot": lambda store, head: dict(GitStore(Path(store.url)).snapshot(head).files),
    "content": lambda store, head: store.content(blob_id(b"1")),
    "blob": lambda store, head: store.blob("a.json", head),
    "history": lambda store, head: len(list(store.history(head))),
    "count_entries": lambda store, head: store.count_entries("", head),
}


@pytest.mark.parametrize("name", READS)
def test_read_finds_object_packed_between_two_lookups(
    name: str, tmp_path: Path, tidied_between_lookups: GitStore
) -> None:
    head = (Path(tidied_between_lookups.url) / "refs/heads/main").read_text().strip()
    expected: dict[str, object] = {"snapshot": {"a.json": blob_id(b"1")}, "content": b"1", "blob": blob_id(b"1")}
    expected |= {"history": 2, "count_entries": 1}
    assert READS[name](tidied_between_lookups, head) == expected[name]
    assert any(Path(tidied_between_lookups.url).glob("objects/pack/*.pack")), "the tidy took place"


def test_snapshot_stays_readable_after_several_tidies(tmp_path: Path) -> None:
    store = GitStore(tmp_path / "store.git")
    store.commit({"a.json": b"1", "b.json": b"-"}, store.head(), "a")
    before = store.head()
    store.commit({"a.json": b"2"}, before, "a")
    for path in Path(store.url).rglob("objects/??/*"):  # written long ago and replaced only now
        os.utime(path, (1, 1))
    for number in range(REPACK_ABOVE + 2):  # enough packs to be rewritten without unneeded objects
        store.tidy()
        store.commit({"a.json": b"3%d" % number}, store.head(), "a")
    store.tidy()
    reader = GitStore(Path(store.url))
    assert reader.snapshot(before).files.keys() == {"a.json", "b.json"}
    assert reader.read("a.json", before) == b"1"


def test_tidy_forgets_squashed_heads_after_grace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = GitStore(tmp_path / "store.git")
    store.commit({"a.json": b"1"}, store.head(), "a")
    store.tidy()
    assert len(_squashed(store)) == 1
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + READERS_GRACE_S + 2)
    store.tidy()
    assert len(_squashed(store)) == 1, "the older squashed head is gone"


def test_tidy_keeps_objects_of_operators_branch(tmp_path: Path) -> None:
    store = GitStore(tmp_path / "store.git")
    store.commit({"a.json": b"1"}, store.head(), "a")
    before = store.head()
    subprocess.run(["git", "-C", store.url, "branch", "kept", before], check=True)
    store.commit({"a.json": b"2"}, before, "a")
    for _ in range(2):
        store.tidy(grace_s=0)
    assert store.read("a.json", before) == b"1"


def _squashed(store: GitStore) -> set[Ref]:
    with Repo(store.url) as repo:
        return set(repo.refs.as_dict(Ref(git_store.SQUASHED)))


@pytest.mark.integration
@pytest.mark.parametrize("step", ["snapshot", "blob", "content", "has"])
def test_snapshot_fetches_emptied_mirror_again(step: str, hub: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty the mirror by another process right before one of the reader's steps."""
    url = "hf://datasets/org/store"
    reader = open_store(url)
    other = open_store(url)
    reader.commit({"a.json": b"1"}, reader.head(), "a")
    head = reader.snapshot().head
    assert reader.read("a.json", head) == b"1"
    real = getattr(Mirror, step)

    def emptied_first(mirror: Mirror, *arguments: object) -> object:
        monkeypatch.setattr(Mirror, step, real)
        other._mirror.reset()  # type: ignore[attr-defined]
        return real(mirror, *arguments)

    monkeypatch.setattr(Mirror, step, emptied_first)
    assert open_store(url).snapshot(head).files.keys() == {"a.json"}
    assert reader.read("a.json", head) == b"1"
    assert getattr(Mirror, step) is real, "the mirror was emptied"
    with pytest.raises(KeyError):
        reader.read("missing.json", head)


@pytest.mark.parametrize("changes", [0, 1, 5])
def test_look_up_is_repeated_while_packs_change(tmp_path: Path, changes: int) -> None:
    """Check that an object that moves at each look-up is found, and that a missing one is looked up twice only."""
    store = GitStore(tmp_path / "store.git")
    looked: list[int] = []
    store.commit({"a.json": b"1"}, store.head(), "a")
    with store.repository.open_objects() as objects:
        assert isinstance(objects, ObjectReader)

        def find() -> str:
            looked.append(len(looked))
            if len(looked) <= changes:
                Path(objects.pack_dir, f"pack-{len(looked):040x}.pack").touch()
            if changes and len(looked) == changes + 1:
                return "found"
            raise KeyError

        if changes:
            assert objects.look_up(find) == "found"
        else:
            with pytest.raises(KeyError):
                objects.look_up(find)
            assert len(looked) == 2


@pytest.mark.slow
def test_readers_miss_nothing_during_tidy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Read every file of fresh snapshots in 15 threads while another process commits and tidies without a pause."""
    store = GitStore(tmp_path / "store.git")
    store.commit({f"{n}.json": b"0" for n in range(20)}, store.head(), "start")
    errors: list[BaseException] = []
    reads = [0] * READERS
    ended = threading.Event()

    def read_on(number: int) -> None:
        while not ended.is_set():
            try:
                reader = GitStore(Path(store.url))
                snapshot = reader.snapshot()
                for path in snapshot.files:
                    int(reader.read(path, snapshot.head))
                    reads[number] += 1
                reads[number] += len(list(reader.history(snapshot.head)))
            except Exception as error:
                errors.append(error)

    with subprocess.Popen(
        [sys.executable, "-c", TIDIER, store.url, "3600"], cwd=ROOT, stdout=subprocess.PIPE
    ) as tidier:
        threads = [threading.Thread(target=read_on, args=(number,)) for number in range(READERS)]
        for thread in threads:
            thread.start()
        ended.wait(SECONDS)
        ended.set()
        for thread in threads:
            thread.join()
        assert tidier.poll() is None, "the other process tidied until the end"
        tidier.kill()
        assert tidier.stdout
        tidies = len(tidier.stdout.read().splitlines())
    with capsys.disabled():
        print(f"\n{sum(reads):,} reads by {READERS} threads over {tidies:,} tidies: {len(errors)} errors")
    assert not errors, errors[:3]
    assert tidies >= 20 and sum(reads) >= 500
