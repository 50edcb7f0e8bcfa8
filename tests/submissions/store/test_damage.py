"""Test git stores after a killed writer, on a full disk and after years of fetching."""

import os
import re
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from dulwich.client import LocalGitClient
from dulwich.objects import Blob, ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo

from leaderboard.data.live_board import LiveBoard
from scripts.support.hub.repos import Hub
from scripts.support.records import NOW, claimed, request_numbered, result_of, unreachable
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.records.request import Failure, Stage
from submissions.store.git import GitStore
from submissions.store.index import QUEUE, READ_DIRECTLY_UP_TO, board_reader, queue_reader, reindexed, with_result
from submissions.store.mirror import Mirror
from submissions.store.objects import MAX_PACKS, loose_path, merge_packs
from submissions.store.open import open_store
from submissions.texts.errors import DamagedError, StoreError, StoreUnavailableError
from submissions.texts.failure_codes import FailureCode
from tests.support.slow import every_nth

pytestmark = pytest.mark.integration

DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "garbage": lambda content: os.urandom(len(content)),
    "zeros": lambda content: bytes(len(content)),
}


@pytest.fixture
def git(tmp_path: Path) -> GitStore:
    return GitStore(tmp_path / "git")


def damage_blob(folder: Path, content: bytes, change: Callable[[bytes], bytes] = lambda _: b"") -> None:
    """Change the object file that holds this content."""
    with Repo(str(folder)) as repo:
        path = Path(loose_path(repo.object_store, Blob.from_string(content).id))
    path.chmod(0o644)
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize("damage", DAMAGE)
def test_commit_rewrites_damaged_object(git: GitStore, tmp_path: Path, damage: str) -> None:
    first = git.commit({"a.json": b"one\n"}, git.head(), "one")
    damage_blob(tmp_path / "git", b"one\n", DAMAGE[damage])
    with pytest.raises(DamagedError) as raised:
        git.read("a.json", first)
    assert len(str(raised.value).splitlines()) == 1 and "backup" in str(raised.value)
    second = git.commit({"b.json": b"one\n"}, first, "the same content again")
    assert git.read("a.json", second) == git.read("b.json", second) == b"one\n"


@pytest.mark.parametrize("kind", ["blob", "tree", "commit"])
def test_commit_ignores_stale_object_lock(git: GitStore, tmp_path: Path, kind: str) -> None:
    """Leave a lock file for each object of the next commit, as a writer killed while writing it would."""
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


def test_board_reader_skips_damaged_record(git: GitStore, tmp_path: Path) -> None:
    results = [result_of(request_numbered(n)) for n in range(3)]
    for result in results:
        snapshot = git.snapshot()
        git.commit(with_result(git, snapshot, result), snapshot.head, "a result")
    damage_blob(tmp_path / "git", results[1].to_bytes())
    fresh = GitStore(tmp_path / "git")
    rows, unreadable = board_reader(fresh).read(fresh.snapshot())
    assert {row.key for row in rows} == {results[0].request_key, results[2].request_key}
    assert [one.path for one in unreadable] == [results[1].path]


def test_commit_raises_store_error_on_full_disk(git: GitStore, monkeypatch: pytest.MonkeyPatch) -> None:
    head = git.head()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dulwich.object_store.DiskObjectStore.add_object", full)
    with pytest.raises(StoreError, match="No space left on device"):
        git.commit({"a": b"x"}, head, "a")


@pytest.mark.slow
def test_merge_packs_bounds_pack_count(git: GitStore, tmp_path: Path) -> None:
    mirror = GitStore(tmp_path / "mirror")
    most = 0
    for number in range(3 * MAX_PACKS):
        git.commit({f"{number}.json": b"%d" % number}, git.head(), "one more")
        with Repo(str(tmp_path / "mirror")) as repo:
            fetched = LocalGitClient().fetch(str(tmp_path / "git"), repo)
            merge_packs(repo.object_store)
            if number % 10:  # otherwise the next pack would contain this one
                repo.refs[Ref(b"refs/heads/main")] = ObjectID(fetched.refs[Ref(b"refs/heads/main")] or b"")
        most = max(most, len(list((tmp_path / "mirror").glob("objects/pack/*.pack"))))
    assert MAX_PACKS // 2 < most <= MAX_PACKS + 1
    snapshot = mirror.snapshot(head=git.head())
    assert len(snapshot.files) == 3 * MAX_PACKS
    assert all(mirror.read(path, snapshot.head) == path[:-5].encode() for path in snapshot.files)


def test_git_mirror_clone_is_usable_store(git: GitStore, tmp_path: Path) -> None:
    """Restore a clone made while the board was running, as docs/operate.md describes."""
    queue = Queue(git)
    queue.submit(request_numbered(1))
    running = claimed(queue)
    git.tidy(0)
    subprocess.run(["git", "clone", "--quiet", "--mirror", str(tmp_path / "git"), str(tmp_path / "backup")], check=True)
    restored = Queue(GitStore(tmp_path / "backup"))
    assert [row.status for row in restored.rows()] == ["running"]
    restored.publish(running, result_of(running), NOW)
    restored.submit(request_numbered(2))
    assert sorted(row.status for row in restored.rows()) == ["finished", "pending"]
    subprocess.run(["git", "-C", str(tmp_path / "backup"), "fsck", "--strict"], check=True, capture_output=True)


def test_claim_ignores_stale_ref_lock_in_mirror(hub: Hub, tmp_path: Path) -> None:
    store = open_store("hf://datasets/org/store", Settings())
    queue = Queue(store)
    queue.submit(request_numbered(1))
    (mirror,) = (path.parent for path in (tmp_path / "hub-work").rglob("HEAD"))
    lock = mirror / "refs/heads/main.lock"
    lock.write_bytes(b"half")
    os.utime(lock, (1, 1))
    assert queue.claim("w", NOW) is not None
    assert not lock.exists()


def rewrite(folder: Path, pattern: str, change: Callable[[bytes], bytes]) -> None:
    for path in folder.glob(pattern):
        path.chmod(0o644)
        path.write_bytes(change(path.read_bytes()))


def cut_everything(mirror: Path) -> None:
    for pattern in ("objects/pack/*.pack", "objects/??/*"):
        rewrite(mirror, pattern, lambda content: content[:20])


def lose_a_pack(mirror: Path) -> None:
    for path in sorted(mirror.glob("objects/pack/*"))[:2]:
        path.unlink()


def lock_an_index(mirror: Path) -> None:
    for path in mirror.glob("objects/pack/*.pack"):
        path.with_suffix(".idx.lock").touch()


MIRROR_DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty index": lambda mirror: rewrite(mirror, "objects/pack/*.idx", lambda _: b""),
    "truncated index": lambda mirror: rewrite(mirror, "objects/pack/*.idx", lambda content: content[:-40]),
    "empty packs": lambda mirror: rewrite(mirror, "objects/pack/*.pack", lambda _: b""),
    "truncated objects": cut_everything,
    "missing pack": lose_a_pack,
    "empty HEAD": lambda mirror: rewrite(mirror, "HEAD", lambda _: b""),
    "pack without index": lambda mirror: (mirror / "objects/pack/pack-00.pack").write_bytes(b"PACK"),
    "locked index": lock_an_index,
}


@pytest.mark.parametrize("commits", [0, 1])
@pytest.mark.parametrize("damage", every_nth(MIRROR_DAMAGE, 3))
def test_open_store_repairs_damaged_mirror(hub: Hub, tmp_path: Path, damage: str, commits: int) -> None:
    """Repair each kind of damage, also if the Hub has a new commit."""
    store = open_store("hf://datasets/org/store", Settings())
    for number in range(3):
        store.commit({f"{number}.json": b"%d\n" % number}, store.head(), "one")
        store.snapshot()
    (mirror,) = (path.parent for path in (tmp_path / "hub-work").rglob("HEAD"))
    MIRROR_DAMAGE[damage](mirror)
    for _ in range(commits):
        hub.commit("org/store", {"new.json": b"new\n"}, hub.store("org/store").head(), "by another worker")
    fresh = open_store("hf://datasets/org/store", Settings())
    head = fresh.head()
    assert [fresh.read(f"{number}.json", head) for number in range(3)] == [b"0\n", b"1\n", b"2\n"]
    assert ("new.json" in fresh.snapshot().files) == bool(commits)


def test_tidy_ignores_unfinished_pack(git: GitStore, tmp_path: Path) -> None:
    git.commit({"a": b"x"}, git.head(), "a")
    git.tidy(0)
    (tmp_path / "git/objects/pack/tmp1234.pack").write_bytes(b"PACK")
    (tmp_path / "git/objects/pack/pack-00.pack").write_bytes(b"PACK")
    (tmp_path / "git/objects/aa").mkdir(exist_ok=True)
    (tmp_path / "git/objects/aa/bb.lock").write_bytes(b"a name")
    git.commit({"b": b"y"}, git.head(), "b")
    git.tidy(0)
    assert {path.suffix for path in (tmp_path / "git/objects").rglob("*") if path.is_file()} <= {".pack", ".idx", ""}
    assert len(list((tmp_path / "git/objects/pack").glob("*.pack"))) == 2
    assert git.read("b", git.head()) == b"y"


def test_read_raises_damaged_error_if_object_is_missing(git: GitStore, tmp_path: Path) -> None:
    head = git.commit({"a.json": b"one\n", "b.json": b"two\n"}, git.head(), "two")
    with Repo(git.url) as repo:
        loose_path(repo.object_store, Blob.from_string(b"one\n").id).unlink()
    with pytest.raises(DamagedError, match="missing"):
        git.read("a.json", head)
    assert git.read("b.json", head) == b"two\n"
    with pytest.raises(KeyError):
        git.read("c.json", head)
    (tmp_path / "git/refs/heads/main").write_bytes(b"")
    with pytest.raises(StoreError):
        git.head()


@pytest.mark.parametrize("branch", ["0" * 40, "1" * 40, "garbage", ""])
def test_live_board_is_stale_if_branch_is_damaged(git: GitStore, tmp_path: Path, branch: str) -> None:
    git.commit({"a.json": b"1"}, git.head(), "a")
    board = LiveBoard(git)
    assert board.stale_since is None
    (Path(git.url) / "refs/heads/main").write_text(branch + "\n")
    before = board.failed_attempts
    board.refresh()
    assert board.stale_since is not None and board.failed_attempts > before
    with pytest.raises(StoreError):
        GitStore(Path(git.url)).snapshot()


def test_commit_ignores_lock_from_the_future(git: GitStore, tmp_path: Path) -> None:
    head = git.head()
    lock = tmp_path / "git/refs/heads/main.lock"
    lock.touch()
    os.utime(lock, (4e9, 4e9))
    git.commit({"a": b"x"}, head, "a")


def test_git_store_completes_interrupted_creation(tmp_path: Path) -> None:
    for folder in ("branches", "objects/pack", "objects/info", "refs/heads"):
        (tmp_path / "half" / folder).mkdir(parents=True)
    (tmp_path / "half/HEAD").touch()
    assert GitStore(tmp_path / "half").head()
    (tmp_path / "other").mkdir()
    (tmp_path / "other/thesis.txt").write_text("ten years")
    with pytest.raises(StoreError, match="not empty"):
        GitStore(tmp_path / "other")
    assert (tmp_path / "other/thesis.txt").exists()


def quarantine_many(store: GitStore) -> None:
    """Quarantine more requests than a reader reads one by one."""
    queue = Queue(store)
    for number in range(READ_DIRECTLY_UP_TO + 8):
        queue.submit(request_numbered(number))
        queue.fail(claimed(queue), Failure(stage=Stage.LOAD, code=FailureCode.MISSING_LIBRARY), NOW)


def test_queue_knows_closed_requests_without_index(git: GitStore, tmp_path: Path) -> None:
    """Damage the segments that list more quarantined requests than a reader reads one by one."""
    quarantine_many(git)
    for segment in (path for path in git.snapshot().files if path.startswith(QUEUE)):
        damage_blob(tmp_path / "git", git.read(segment, git.head()))
    fresh = Queue(GitStore(tmp_path / "git"))
    assert len(fresh.rows()) == READ_DIRECTLY_UP_TO + 8
    fresh.submit(request_numbered(1000))
    assert len(Queue(GitStore(tmp_path / "git")).rows()) == READ_DIRECTLY_UP_TO + 9
    assert len(fresh.requeue_all()) == READ_DIRECTLY_UP_TO + 8


def test_queue_rows_are_complete_for_concurrent_first_reads(git: GitStore) -> None:
    """Check a past race in which a segment counted as read before its rows were known."""
    quarantine_many(git)
    for _ in range(10):
        queue = Queue(GitStore(Path(git.url)))
        together = threading.Barrier(4)

        def read(queue: Queue = queue, together: threading.Barrier = together) -> int:
            together.wait()
            return len(queue.rows())

        with ThreadPoolExecutor(4) as pool:
            assert [one.result() for one in [pool.submit(read) for _ in range(4)]] == [READ_DIRECTLY_UP_TO + 8] * 4


def test_queue_ignores_stray_files(git: GitStore) -> None:
    quarantine_many(git)
    stray = {"requests/foo.json": b"{}", "requests/x/y.json": b"{}", "index/queue/note.txt": b"-", "\udcff.json": b"{}"}
    git.commit(stray, git.head(), "stray")
    assert len(Queue(GitStore(Path(git.url))).rows()) == READ_DIRECTLY_UP_TO + 8
    changes, unreadable = reindexed(git, git.snapshot())
    assert {record.path for record in unreadable} == {"requests/foo.json", "requests/x/y.json"}
    assert changes == {"index/queue/note.txt": None}


def test_queue_ignores_index_rows_of_other_blobs(git: GitStore) -> None:
    quarantine_many(git)
    files = [path for path in git.snapshot().files if path.startswith(QUEUE)]
    wrong = {
        path: re.sub(rb'"blob":"[0-9a-f]{40}"', b'"blob":"%s"' % (b"0" * 40), git.read(path, git.head()))
        for path in files
    }
    git.commit(wrong, git.head(), "wrong blobs")
    assert len(Queue(GitStore(Path(git.url))).rows()) == READ_DIRECTLY_UP_TO + 8
    git.commit(dict.fromkeys(files, b""), git.head(), "emptied")
    assert len(Queue(GitStore(Path(git.url))).rows()) == READ_DIRECTLY_UP_TO + 8


def test_queue_reader_recovers_from_failed_read(git: GitStore, monkeypatch: pytest.MonkeyPatch) -> None:
    quarantine_many(git)
    reader = queue_reader(git)
    snapshot = git.snapshot()

    with monkeypatch.context() as patch:
        patch.setattr(git, "read", unreachable)
        with pytest.raises(StoreUnavailableError):
            reader.read(snapshot)
    assert len(reader.read(snapshot)[0]) == READ_DIRECTLY_UP_TO + 8


def test_mirror_takes_a_file_whose_lock_a_killed_process_left(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "mirror.git")
    blob = Blob.from_string(b"content")
    with mirror.repository.open() as repo:
        path = loose_path(repo.object_store, blob.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    Path(f"{path}.lock").touch()
    mirror.add_blob(b"content")
    assert mirror.content(blob.id.decode()) == b"content"
