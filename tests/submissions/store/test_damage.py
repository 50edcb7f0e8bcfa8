"""What a killed writer, a full disk or years of fetching leave in a git store."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from dulwich.client import LocalGitClient
from dulwich.objects import Blob, ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo

from submissions.errors import DamagedError, StoreError
from submissions.queue.queue import Queue
from submissions.settings import Settings
from submissions.store.git import GitStore
from submissions.store.index import board_reader, with_result
from submissions.store.objects import MAX_PACKS, loose_path, merge_packs
from submissions.store.open import open_store
from tests.support.hub.repos import Hub
from tests.support.records import NOW, request_numbered, result_of

DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[: len(content) // 2],
    "garbage": lambda content: os.urandom(len(content)),
    "zeros": lambda content: bytes(len(content)),
}


@pytest.fixture
def git(tmp_path: Path) -> GitStore:
    return GitStore(tmp_path / "git")


def blob_path(folder: Path, content: bytes) -> Path:
    with Repo(str(folder)) as repo:
        return loose_path(repo.object_store, Blob.from_string(content).id)


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_object_is_told_in_one_line_and_written_anew(git: GitStore, tmp_path: Path, how: str) -> None:
    first = git.commit({"a.json": b"one\n"}, git.head(), "one")
    path = blob_path(tmp_path / "git", b"one\n")
    path.chmod(0o644)
    path.write_bytes(DAMAGE[how](path.read_bytes()))
    with pytest.raises(DamagedError) as told:
        git.read("a.json", first)
    assert len(str(told.value).splitlines()) == 1 and "backup" in str(told.value)
    second = git.commit({"b.json": b"one\n"}, first, "the same content again")
    assert git.read("a.json", second) == git.read("b.json", second) == b"one\n"


@pytest.mark.parametrize("kind", ["blob", "tree", "commit"])
def test_a_killed_writer_leaves_no_lock_that_stops_the_next(git: GitStore, tmp_path: Path, kind: str) -> None:
    """Every object of the next commit in turn has a lock file, as a writer that was killed while writing it leaves."""
    other = GitStore(tmp_path / "other")
    head = other.commit({"requests/a.json": b"one\n"}, other.head(), "one")
    with Repo(str(tmp_path / "other")) as repo:
        names = [sha for sha in repo.object_store if repo[sha].type_name == kind.encode()]
    assert names
    with Repo(str(tmp_path / "git")) as repo:
        for sha in names:
            path = loose_path(repo.object_store, sha)
            path.parent.mkdir(exist_ok=True)
            Path(f"{path}.lock").write_bytes(b"half")
    git.commit({"requests/a.json": b"one\n"}, git.head(), "one")
    assert git.read("requests/a.json", git.head()) == other.read("requests/a.json", head)


def test_one_damaged_record_hides_no_other(git: GitStore, tmp_path: Path) -> None:
    results = [result_of(request_numbered(n)) for n in range(3)]
    for result in results:
        snapshot = git.snapshot()
        git.commit(with_result(git, snapshot, result), snapshot.head, "a result")
    path = blob_path(tmp_path / "git", results[1].to_bytes())
    path.chmod(0o644)
    path.write_bytes(b"")
    fresh = GitStore(tmp_path / "git")
    rows, unreadable = board_reader(fresh).read(fresh.snapshot())
    assert {row.key for row in rows} == {results[0].request_key, results[2].request_key}
    assert [one.path for one in unreadable] == [results[1].path]


def test_a_damaged_mirror_is_fetched_anew(hub: Hub, tmp_path: Path) -> None:
    store = open_store("hf://datasets/org/store", Settings())
    store.commit({"a.json": b"one\n"}, store.head(), "one")
    store.snapshot()
    (mirror,) = (path.parent for path in (tmp_path / "hub-work").rglob("HEAD"))
    for file in (*mirror.glob("objects/pack/*.pack"), *mirror.glob("objects/??/*")):
        file.chmod(0o644)
        file.write_bytes(file.read_bytes()[:20])
    fresh = open_store("hf://datasets/org/store", Settings())
    assert fresh.read("a.json", fresh.head()) == b"one\n"


def test_a_disk_that_cannot_be_written_is_a_store_error(git: GitStore, monkeypatch: pytest.MonkeyPatch) -> None:
    head = git.head()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dulwich.object_store.DiskObjectStore.add_object", full)
    with pytest.raises(StoreError, match="No space left on device"):
        git.commit({"a": b"x"}, head, "a")


def test_packs_stay_few_however_often_a_mirror_fetches(git: GitStore, tmp_path: Path) -> None:
    mirror = GitStore(tmp_path / "mirror")
    most = 0
    for number in range(3 * MAX_PACKS):
        git.commit({f"{number}.json": b"%d" % number}, git.head(), "one more")
        with Repo(str(tmp_path / "mirror")) as repo:
            fetched = LocalGitClient().fetch(str(tmp_path / "git"), repo)
            merge_packs(repo.object_store)
            if number % 10:  # else the next pack has all that this one has
                repo.refs[Ref(b"refs/heads/main")] = ObjectID(fetched.refs[Ref(b"refs/heads/main")] or b"")
        most = max(most, len(list((tmp_path / "mirror").glob("objects/pack/*.pack"))))
    assert MAX_PACKS // 2 < most <= MAX_PACKS + 1
    snapshot = mirror.snapshot(head=git.head())
    assert len(snapshot.files) == 3 * MAX_PACKS
    assert all(mirror.read(path, snapshot.head) == path[:-5].encode() for path in snapshot.files)


def test_a_backup_made_by_git_is_a_store(git: GitStore, tmp_path: Path) -> None:
    """`docs/operate.md`: cloned while the board runs, and put where the store was."""
    queue = Queue(git)
    queue.submit(request_numbered(1))
    running = queue.claim("w", NOW)
    assert running
    queue.heartbeat(running, NOW)
    git.collect_garbage(0)
    subprocess.run(["git", "clone", "--quiet", "--mirror", str(tmp_path / "git"), str(tmp_path / "backup")], check=True)
    restored = Queue(GitStore(tmp_path / "backup"))
    assert [row.status for row in restored.rows()] == ["running"] and restored.leases([running.key])
    restored.publish(running, result_of(running), NOW)
    restored.submit(request_numbered(2))
    assert sorted(row.status for row in restored.rows()) == ["finished", "pending"]
    subprocess.run(["git", "-C", str(tmp_path / "backup"), "fsck", "--strict"], check=True, capture_output=True)
