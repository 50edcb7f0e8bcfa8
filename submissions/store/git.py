"""The embedded store: a bare git repository, through dulwich.

Writers in several processes are kept apart by a lock the kernel frees when its holder dies, and the branch
moves only if it still points at the parent. Blobs, trees and the commit are written before the branch, so a
process killed at any moment leaves either the old head or the new one.
"""

import shutil
import threading
import time
import zlib
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from stat import S_ISDIR
from typing import cast

from dulwich.errors import NotGitRepository
from dulwich.file import FileLocked
from dulwich.object_store import (
    BaseObjectStore,
    DiskObjectStore,
    commit_tree_changes,
    tree_lookup_path,
)
from dulwich.objects import Blob, ObjectID, ShaFile, Tree, parse_tree
from dulwich.objects import Commit as GitCommit
from dulwich.pack import PackFileDisappeared
from dulwich.refs import Ref
from dulwich.repo import Repo
from filelock import FileLock, Timeout

from submissions.store.base import MAIN, PASSING, Changes, Commit, Snapshot
from submissions.store.objects import (
    DAMAGE,
    ObjectReader,
    ObjectWriter,
    merge_packs,
    pack_loose_objects,
    remove_leftovers,
    remove_unreachable,
    repack,
)
from submissions.texts.errors import ConflictError, DamagedError, StoreError, StoreUnavailableError

_AUTHOR = b"hannun <noreply@hannun.invalid>"
_FILE = 0o100644
STALE_LOCK_S = 2.0  # seconds
LOCK_TIMEOUT_S = 60.0  # seconds for another writer; a commit takes milliseconds unless its process stands still
READERS_GRACE_S = 3600.0  # seconds that a reader may be at an older snapshot
OBJECT_ID_BYTES = 20
ODD = "surrogateescape"  # what becomes of names that are no UTF-8, which none of ours is
MAIN_REF = Ref(b"refs/heads/" + MAIN.encode())
SQUASHED = b"refs/squashed/"  # heads before a squash, named by its time, for readers that are still at them
_SKELETON = {"HEAD", "branches", "config", "description", "hooks", "info", "objects", "refs"}

Folder = dict[str, tuple[bool, ObjectID]]  # by name: whether a folder, and the id


class GitStore:
    hidden: str | None = None  # a path that no snapshot has

    def __init__(self, path: Path) -> None:
        self.url = str(path)
        self.failed_attempts = 0
        self.write_lock = threading.Lock()
        self._path = path
        self._last = Snapshot("", {})  # taken
        self._tree: ObjectID | None = None  # its
        self._folders: dict[ObjectID, Folder] = {}  # all in it
        self._walking = threading.Lock()
        self._session = threading.local()  # packs that this thread has open
        self._lock = FileLock(f"{path.resolve()}.lock")  # the same for whoever comes by a link
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not self._is_there():
                with self._locked():
                    if not self._is_there():
                        self._init()
            with self._repo():
                pass
        except (OSError, NotGitRepository) as error:
            raise StoreError(f"{path} is no usable store: {error}; name a folder that can be written") from error

    def _is_there(self) -> bool:
        head = self._path / "HEAD"
        return head.is_file() and head.stat().st_size > 0

    def head(self) -> str:
        with self._repo() as repo:
            try:
                head = repo.refs[MAIN_REF].decode()
            except KeyError:
                if (self._path / MAIN_REF.decode()).exists():
                    raise DamagedError(f"{self.url}: the branch {MAIN} is damaged; restore it from a backup") from None
                return self._start(repo)
            return head

    def snapshot(self, head: str | None = None) -> Snapshot:
        head = head or self.head()
        with self._walking, self._repo() as repo:
            if (last := self._last).head != head:
                try:
                    tree = _commit(repo, head).tree
                except KeyError:
                    if repo.refs.as_dict(Ref(b"refs/heads/")).get(Ref(MAIN.encode())) == head.encode():
                        message = f"{self.url}: the newest commit is missing: {head}; restore it from a backup"
                        raise DamagedError(message) from None
                    raise
                try:
                    changed = dict(self._changed(repo, self._tree, tree))
                except DamagedError:  # a folder that was thrown away since, or one that is needed
                    last, self._folders = Snapshot("", {}), {}
                    changed = dict(self._changed(repo, None, tree))
                changed.pop(self.hidden or "", None)
                files = dict(last.files)
                for path, blob in changed.items():
                    if blob is None:
                        del files[path]
                    else:
                        files[path] = blob
                self._last, self._tree = Snapshot(head, files, last.head, frozenset(changed)), tree
            return self._last

    def _changed(
        self, repo: Repo, before: ObjectID | None, after: ObjectID | None, prefix: str = ""
    ) -> Iterator[tuple[str, str | None]]:
        """Paths in which two folders differ, and the blobs of the second one. Few folders change in a commit."""
        old, new = self._listed(repo, before), self._listed(repo, after)
        for name in old.keys() | new.keys():
            was, now = old.get(name), new.get(name)
            if was == now:
                continue
            path = f"{prefix}{name}"
            folder_before = was[1] if was and was[0] else None
            folder_after = now[1] if now and now[0] else None
            if folder_before or folder_after:
                yield from self._changed(repo, folder_before, folder_after, f"{path}/")
            if now and not now[0]:
                yield path, now[1].decode()
            elif was and not was[0]:
                yield path, None
        if before:
            self._folders.pop(before, None)

    def _listed(self, repo: Repo, folder: ObjectID | None) -> Folder:
        if folder is None:
            return {}
        if folder not in self._folders:
            self._folders[folder] = _entries(repo, folder)
        return self._folders[folder]

    def read(self, path: str, head: str) -> bytes:
        last = self._last
        sha = last.files[path] if head == last.head else self.blob(path, head)
        return self.content(sha)

    def entries(self, folder: str, head: str) -> int:
        with self._repo() as repo:
            sha = _commit(repo, head).tree
            for name in folder.split("/") if folder else ():
                is_folder, sha = _entries(repo, sha).get(name, (False, sha))
                if not is_folder:
                    return 0
            return len(_entries(repo, sha))

    def prefetch(self, paths: Collection[str], snapshot: Snapshot) -> None:
        pass

    def blob(self, path: str, head: str) -> str:
        """The id of a path's content at a commit. Raises KeyError if it is not there."""
        with self._repo() as repo:
            mode, sha = tree_lookup_path(partial(_object, repo), _commit(repo, head).tree, path.encode(errors=ODD))
            if S_ISDIR(mode):
                raise KeyError(path)
            return sha.decode()

    def content(self, blob: str) -> bytes:
        with self._objects() as objects:
            try:
                kind, content = objects.get_raw(ObjectID(blob.encode()))
            except KeyError:
                raise DamagedError(f"an object is missing: {blob}; restore it from a backup") from None
            if kind != Blob.type_num:
                raise KeyError(blob)
            return content

    def commit(self, changes: Changes, parent: str, message: str) -> str:
        with self._locked(), self._repo() as repo:
            objects = ObjectWriter(repo.object_store)
            if repo.refs[MAIN_REF].decode() != parent:
                raise ConflictError(MAIN)
            entries: list[tuple[bytes, int | None, ObjectID | None]] = []
            for path, content in changes.items():
                if content is None:
                    entries.append((path.encode(errors=ODD), None, None))
                else:
                    blob = Blob.from_string(content)
                    objects.add_object(blob)
                    entries.append((path.encode(errors=ODD), _FILE, blob.id))
            tree = commit_tree_changes(cast(BaseObjectStore, objects), _commit(repo, parent).tree, entries)
            commit = _new_commit(tree, message, [ObjectID(parent.encode())])
            objects.add_object(commit)
            self._drop_stale_ref_lock()
            if not repo.refs.set_if_equals(MAIN_REF, ObjectID(parent.encode()), commit.id):
                raise ConflictError(MAIN)
            return commit.id.decode()

    def history(self, head: str) -> Iterator[Commit]:
        with self._repo() as repo:
            following: str | None = head
            while following:
                commit = _commit(repo, following)
                yield Commit(following, datetime.fromtimestamp(commit.commit_time, UTC), commit.message.decode())
                parent = commit.parents[0] if commit.parents else None
                following = parent.decode() if parent and parent in repo.object_store else None

    def tidy(self, grace_s: float = READERS_GRACE_S) -> None:
        """Squash the history and pack what is left. Snapshots of the last `grace_s` seconds stay readable."""
        with self._locked(), self._repo() as repo:
            before = repo.refs[MAIN_REF]
            head = _new_commit(_commit(repo, before.decode()).tree, "Squash", [])
            ObjectWriter(repo.object_store).add_object(head)
            repo.refs[Ref(SQUASHED + b"%d-%s" % (time.time(), before[:8]))] = before
            self._drop_stale_ref_lock()
            if not repo.refs.set_if_equals(MAIN_REF, before, head.id):
                raise ConflictError(MAIN)  # of a writer who does not hold our lock, such as git itself
            remove_leftovers(repo.object_store)
            kept = {
                commit.id: commit.tree for old in _squashed(repo, grace_s) for commit in _recent(repo, old, grace_s)
            }
            if _has_only_our_refs(repo):
                reachable = {head.id, *kept}
                for tree in (head.tree, *kept.values()):
                    _add_below(repo, tree, reachable)
                remove_unreachable(repo.object_store, reachable, grace_s)
                repack(repo.object_store, reachable)
            pack_loose_objects(repo.object_store)
            merge_packs(repo.object_store)

    def now(self) -> datetime:
        """By the clock of the file system, which on a shared disk is the server's."""
        clock = Path(f"{self._path}.lock")
        clock.touch()
        return datetime.fromtimestamp(clock.stat().st_mtime, UTC)

    def size(self) -> int:
        """Bytes on the disk."""
        return sum(path.stat().st_size for path in self._path.rglob("*") if path.is_file())

    def _init(self) -> None:
        """Made beside its place, so that a process killed meanwhile leaves no half of it."""
        if self._path.exists():
            # Nothing but empty folders and files of a few lines: what a process killed while it made the store has left.
            if any((self._path / "objects").rglob("*.pack")) or any((self._path / "objects").glob("??/*")):
                raise DamagedError(f"{self.url} has lost its HEAD; restore it from a backup")
            if {path.name for path in self._path.iterdir()} - _SKELETON:
                raise StoreError(f"{self.url} is no store and not empty; name another folder")
            shutil.rmtree(self._path)
        self._made().rename(self._path)

    def _made(self) -> Path:
        """An empty repository beside this one."""
        fresh = Path(f"{self._path}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        Repo.init_bare(str(fresh), mkdir=True, default_branch=MAIN.encode()).close()
        fresh.chmod(0o700)
        return fresh

    @contextmanager
    def session(self) -> Iterator[None]:
        if getattr(self._session, "objects", None):
            yield
            return
        with self._repo() as repo:
            self._session.objects = repo.object_store
            try:
                yield
            finally:
                self._session.objects = None

    def _start(self, repo: Repo) -> str:
        """Make the empty first commit, the same in every process that tries."""
        tree = Tree()
        commit = _new_commit(tree.id, "Start", [], when=0)
        with self._locked():
            objects = ObjectWriter(repo.object_store)
            objects.add_object(tree)
            objects.add_object(commit)
            self._drop_stale_ref_lock()
            repo.refs.add_if_new(MAIN_REF, commit.id)
        return repo.refs[MAIN_REF].decode()

    def _drop_stale_ref_lock(self) -> None:
        """Remove git's own lock file where its holder must be dead.

        We hold the store's lock, so it is not one of our writers': it is a killed one's, or belongs to an operator's
        git command, which keeps it for milliseconds.
        """
        leftover = self._path / f"{MAIN_REF.decode()}.lock"
        try:
            while 0 <= time.time() - leftover.stat().st_mtime < STALE_LOCK_S:  # a clock may have been set back
                time.sleep(0.05)
            leftover.unlink()
        except FileNotFoundError:
            pass

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keeps other writers out. Raises StoreUnavailableError where one of them does not leave."""
        try:
            with self._lock.acquire(timeout=LOCK_TIMEOUT_S):
                yield
        except Timeout as error:
            advice = "if a process that writes here was stopped, continue it or end it"
            raise StoreUnavailableError(
                f"{self.url}: another writer has held it for {LOCK_TIMEOUT_S:g} s; {advice}"
            ) from error

    @contextmanager
    def _repo(self) -> Iterator[Repo]:
        with self._told():
            if objects := getattr(self._session, "objects", None):
                yield Repo(str(self._path), object_store=objects)
            else:
                objects = ObjectReader(str(self._path / "objects"))
                with closing(Repo(str(self._path), object_store=objects)) as repo:
                    yield repo

    @contextmanager
    def _objects(self) -> Iterator[DiskObjectStore]:
        """Without the rest of the repository, which costs as much to open as an object to read."""
        if objects := getattr(self._session, "objects", None):
            with self._told():
                yield objects
        else:
            with self._repo() as repo:
                yield repo.object_store

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn errors of dulwich and of the disk into DamagedError and StoreError, each in one line."""
        try:
            yield
        except (*DAMAGE, PackFileDisappeared, FileLocked, NotGitRepository, OSError) as error:
            self.failed_attempts += 1
            raise self._as_store_error(error) from error

    def _as_store_error(self, error: Exception) -> StoreError:
        said = " ".join(f"{type(error).__name__} {error}".split())
        if isinstance(error, DAMAGE):
            return DamagedError(f"{self.url}: an object is damaged ({said}); restore it from a backup")
        if isinstance(error, PackFileDisappeared):  # packed again and again while it was read
            return StoreUnavailableError(f"{self.url} was packed meanwhile; try again")
        if isinstance(error, OSError):
            kind = StoreUnavailableError if error.errno in PASSING else StoreError
            return kind(f"{self.url}: {error.strerror or error}")
        return StoreError(f"{self.url} cannot be used: {said}")


def _squashed(repo: Repo, grace_s: float) -> list[ObjectID]:
    """Return the heads that were squashed within the last seconds, and delete the refs to older ones."""
    found = []
    for name, head in repo.refs.as_dict(Ref(SQUASHED)).items():
        if time.time() - int(name.partition(b"-")[0]) > grace_s:
            del repo.refs[Ref(SQUASHED + name)]
        else:
            found.append(head)
    return found


def _has_only_our_refs(repo: Repo) -> bool:
    """Return whether the branch and the squashed heads are all refs: an operator may have made branches."""
    names = {Ref(b"refs/" + name) for name in repo.refs.as_dict(Ref(b"refs/"))}
    return all(name == MAIN_REF or name.startswith(SQUASHED) for name in names)


def _recent(repo: Repo, head: ObjectID, seconds: float) -> Iterator[GitCommit]:
    """The commits of the last seconds, and the one before them, which was the newest then."""
    since, following = time.time() - seconds, head
    while following in repo.object_store:
        commit = _commit(repo, following.decode())
        yield commit
        if commit.commit_time < since or not commit.parents:
            return
        following = commit.parents[0]


def _add_below(repo: Repo, folder: ObjectID, known: set[ObjectID]) -> None:
    """Add the ids of a folder and of all in it."""
    if folder in known:
        return
    known.add(folder)
    for is_folder, sha in _entries(repo, folder).values():
        if is_folder:
            _add_below(repo, sha, known)
        else:
            known.add(sha)


def _entries(repo: Repo, folder: ObjectID) -> Folder:
    hex_id = folder.decode()
    loose = Path(f"{repo.object_store.path}/{hex_id[:2]}/{hex_id[2:]}")
    try:  # as git writes it; dulwich takes twice the time
        content = zlib.decompress(loose.read_bytes()).partition(b"\0")[2]
    except FileNotFoundError:
        try:
            _, content = repo.object_store.get_raw(folder)
        except KeyError:
            raise DamagedError(f"an object is missing: {hex_id}; restore it from a backup") from None
    found = parse_tree(content, OBJECT_ID_BYTES)
    return {name.decode(errors=ODD): (S_ISDIR(mode), ObjectID(sha)) for name, mode, sha in found}


def _object(repo: Repo, sha: ObjectID) -> ShaFile:
    try:
        return repo[sha]
    except KeyError:
        raise DamagedError(f"an object is missing: {sha.decode()}; restore it from a backup") from None


def _commit(repo: Repo, head: str) -> GitCommit:
    commit = repo[head.encode()]
    if not isinstance(commit, GitCommit):
        raise KeyError(head)
    return commit


def _new_commit(tree: ObjectID, message: str, parents: list[ObjectID], when: int | None = None) -> GitCommit:
    commit = GitCommit()
    commit.tree = tree
    commit.parents = parents
    commit.author = commit.committer = _AUTHOR
    commit.author_time = commit.commit_time = int(time.time()) if when is None else when
    commit.author_timezone = commit.commit_timezone = 0
    commit.encoding = b"UTF-8"
    commit.message = message.encode()
    return commit
