"""What a killed writer, a full disk or years of fetching leave in a git store."""

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
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.records.request import Failure, Stage
from submissions.store.git import GitStore
from submissions.store.index import FEW, QUEUE, board_reader, queue_reader, reindexed, with_result
from submissions.store.objects import MAX_PACKS, loose_path, merge_packs
from submissions.store.open import open_store
from submissions.texts.errors import DamagedError, StoreError, StoreUnavailableError
from submissions.texts.failure_codes import FailureCode
from tests.support.hub.repos import Hub
from tests.support.records import NOW, request_numbered, result_of

pytestmark = pytest.mark.integration

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
    git.tidy(0)
    subprocess.run(["git", "clone", "--quiet", "--mirror", str(tmp_path / "git"), str(tmp_path / "backup")], check=True)
    restored = Queue(GitStore(tmp_path / "backup"))
    assert [row.status for row in restored.rows()] == ["running"]
    restored.publish(running, result_of(running), NOW)
    restored.submit(request_numbered(2))
    assert sorted(row.status for row in restored.rows()) == ["finished", "pending"]
    subprocess.run(["git", "-C", str(tmp_path / "backup"), "fsck", "--strict"], check=True, capture_output=True)


def test_a_dead_writers_ref_lock_in_a_mirror_costs_no_claim(hub: Hub, tmp_path: Path) -> None:
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


def lose_a_pack(mirror: Path) -> None:
    for path in sorted(mirror.glob("objects/pack/*"))[:2]:
        path.unlink()


def lock_an_index(mirror: Path) -> None:
    for path in mirror.glob("objects/pack/*.pack"):
        path.with_suffix(".idx.lock").touch()


MIRROR_DAMAGE: dict[str, Callable[[Path], object]] = {
    "an index emptied": lambda mirror: rewrite(mirror, "objects/pack/*.idx", lambda _: b""),
    "an index cut": lambda mirror: rewrite(mirror, "objects/pack/*.idx", lambda content: content[:-40]),
    "packs emptied": lambda mirror: rewrite(mirror, "objects/pack/*.pack", lambda _: b""),
    "a pack gone": lose_a_pack,
    "the HEAD gone": lambda mirror: rewrite(mirror, "HEAD", lambda _: b""),
    "a pack without an index": lambda mirror: (mirror / "objects/pack/pack-00.pack").write_bytes(b"PACK"),
    "a lock of an index": lock_an_index,
}


@pytest.mark.parametrize("commits", [0, 1])
@pytest.mark.parametrize("how", MIRROR_DAMAGE)
def test_a_mirror_heals_whatever_is_damaged(hub: Hub, tmp_path: Path, how: str, commits: int) -> None:
    """Also where the Hub has a new commit meanwhile."""
    store = open_store("hf://datasets/org/store", Settings())
    for number in range(3):
        store.commit({f"{number}.json": b"%d\n" % number}, store.head(), "one")
        store.snapshot()
    (mirror,) = (path.parent for path in (tmp_path / "hub-work").rglob("HEAD"))
    MIRROR_DAMAGE[how](mirror)
    for _ in range(commits):
        hub.commit("org/store", {"new.json": b"new\n"}, hub.store("org/store").head(), "by another worker")
    fresh = open_store("hf://datasets/org/store", Settings())
    head = fresh.head()
    assert [fresh.read(f"{number}.json", head) for number in range(3)] == [b"0\n", b"1\n", b"2\n"]
    assert ("new.json" in fresh.snapshot().files) == bool(commits)


def test_a_pack_that_a_killed_process_began_stops_no_merging(git: GitStore, tmp_path: Path) -> None:
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


def test_a_missing_or_empty_part_is_told_as_damage(git: GitStore, tmp_path: Path) -> None:
    head = git.commit({"a.json": b"one\n", "b.json": b"two\n"}, git.head(), "two")
    blob_path(tmp_path / "git", b"one\n").unlink()
    with pytest.raises(DamagedError, match="missing"):
        git.read("a.json", head)
    assert git.read("b.json", head) == b"two\n"
    with pytest.raises(KeyError):
        git.read("c.json", head)
    (tmp_path / "git/refs/heads/main").write_bytes(b"")
    with pytest.raises(StoreError):
        git.head()


@pytest.mark.parametrize("branch", ["0" * 40, "1" * 40, "garbage", ""])
def test_board_over_a_damaged_branch_is_not_ready(git: GitStore, tmp_path: Path, branch: str) -> None:
    git.commit({"a.json": b"1"}, git.head(), "a")
    board = LiveBoard(git)
    assert board.stale_since is None
    (Path(git.url) / "refs/heads/main").write_text(branch + "\n")
    before = board.failed_attempts
    board.refresh()
    assert board.stale_since is not None and board.failed_attempts > before
    with pytest.raises(StoreError):
        GitStore(Path(git.url)).snapshot()


def test_a_lock_from_the_future_is_waited_for_by_nobody(git: GitStore, tmp_path: Path) -> None:
    head = git.head()
    lock = tmp_path / "git/refs/heads/main.lock"
    lock.touch()
    os.utime(lock, (4e9, 4e9))
    git.commit({"a": b"x"}, head, "a")


def test_a_store_whose_making_was_cut_off_is_made_anew(tmp_path: Path) -> None:
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
    """More requests than are read one by one."""
    queue = Queue(store)
    for number in range(FEW + 8):
        queue.submit(request_numbered(number))
        running = queue.claim("w", NOW)
        assert running
        queue.fail(running, Failure(stage=Stage.LOAD, code=FailureCode.MISSING_LIBRARY), NOW)


def test_closed_requests_are_known_without_the_index(git: GitStore, tmp_path: Path) -> None:
    """More than are read one by one, all quarantined, and the segment that names them is damaged."""
    quarantine_many(git)
    for segment in (path for path in git.snapshot().files if path.startswith(QUEUE)):
        path = blob_path(tmp_path / "git", git.read(segment, git.head()))
        path.chmod(0o644)
        path.write_bytes(b"")
    fresh = Queue(GitStore(tmp_path / "git"))
    assert len(fresh.rows()) == FEW + 8
    fresh.submit(request_numbered(1000))
    assert len(Queue(GitStore(tmp_path / "git")).rows()) == FEW + 9
    assert len(fresh.requeue_all()) == FEW + 8


def test_threads_that_read_first_together_all_know_every_request(git: GitStore) -> None:
    """A segment was once taken for read before its rows were known, and its requests for left out."""
    quarantine_many(git)
    for _ in range(10):
        queue, together = Queue(GitStore(Path(git.url))), threading.Barrier(4)

        def read(queue: Queue = queue, together: threading.Barrier = together) -> int:
            together.wait()
            return len(queue.rows())

        with ThreadPoolExecutor(4) as pool:
            assert [one.result() for one in [pool.submit(read) for _ in range(4)]] == [FEW + 8] * 4


def test_files_that_are_none_of_ours_stop_nobody(git: GitStore) -> None:
    quarantine_many(git)
    stray = {"requests/foo.json": b"{}", "requests/x/y.json": b"{}", "index/queue/note.txt": b"-", "\udcff.json": b"{}"}
    git.commit(stray, git.head(), "stray")
    assert len(Queue(GitStore(Path(git.url))).rows()) == FEW + 8
    changes, unreadable = reindexed(git, git.snapshot())
    assert {record.path for record in unreadable} == {"requests/foo.json", "requests/x/y.json"}
    assert changes == {"index/queue/note.txt": None}


def test_rows_of_other_blobs_hide_no_request(git: GitStore) -> None:
    quarantine_many(git)
    files = [path for path in git.snapshot().files if path.startswith(QUEUE)]
    wrong = {
        path: re.sub(rb'"blob":"[0-9a-f]{40}"', b'"blob":"%s"' % (b"0" * 40), git.read(path, git.head()))
        for path in files
    }
    git.commit(wrong, git.head(), "wrong blobs")
    assert len(Queue(GitStore(Path(git.url))).rows()) == FEW + 8
    git.commit(dict.fromkeys(files, b""), git.head(), "emptied")
    assert len(Queue(GitStore(Path(git.url))).rows()) == FEW + 8


def test_one_failed_read_of_the_index_is_made_up_for(git: GitStore, monkeypatch: pytest.MonkeyPatch) -> None:
    quarantine_many(git)
    reader, snapshot = queue_reader(git), git.snapshot()

    def away(*_: object) -> bytes:
        raise StoreUnavailableError("the store is out of reach")

    with monkeypatch.context() as patch:
        patch.setattr(git, "read", away)
        with pytest.raises(StoreUnavailableError):
            reader.read(snapshot)
    assert len(reader.read(snapshot)[0]) == FEW + 8
