"""A local bare git repository, opened with dulwich and locked against other writers."""

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from dulwich.errors import NotGitRepository
from dulwich.file import FileLocked
from dulwich.object_store import DiskObjectStore
from dulwich.objects import Commit, ObjectID, Tree
from dulwich.pack import PackFileDisappeared
from dulwich.refs import Ref
from dulwich.repo import Repo
from filelock import FileLock, Timeout

from submissions.store.base import MAIN, TRANSIENT_ERRNOS
from submissions.store.objects import DAMAGE, ObjectReader, ObjectWriter
from submissions.texts.errors import DamagedError, StoreError, StoreUnavailableError

MAIN_REF = Ref(b"refs/heads/" + MAIN.encode())
STALE_LOCK_S = 2.0  # a lock file of git older than this is a leftover
LOCK_TIMEOUT_S = 60.0  # to wait for another writer; a commit takes milliseconds unless its process is suspended
_AUTHOR = b"hannun <noreply@hannun.invalid>"
# The files of a repository that has no objects yet, relative to its folder. All other folders in it are empty.
_FILES_OF_EMPTY_REPOSITORY = {"HEAD", "config", "description", "info/exclude"}


class GitRepository:
    """A repository with one branch. Errors of dulwich and of the disk are raised as StoreErrors with one-line messages.

    `open` yields the repository, with refs and objects, and `open_objects` only the objects. Both open the pack files
    again each time, unless the thread is within `session`, which keeps them open for many reads. Within a session
    `open_objects` is faster, because opening the refs takes as long as reading an object.

    Writers take a file lock, which the kernel releases when the process that holds it ends.
    """

    def __init__(self, path: Path) -> None:
        """Create the repository if it does not exist. Raises StoreError if the folder cannot be used."""
        self.path = path
        self.failed_attempts = 0  # errors of dulwich and of the disk, reported in metrics
        self._of_thread = threading.local()  # `.objects` are the objects that `session` keeps open for this thread
        self._lock = FileLock(f"{path.resolve()}.lock")  # resolved, so that a path through a link has the same lock
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not self._exists():
                Path(self._lock.lock_file).touch()  # where no file can be created, filelock would wait in vain
                with self.locked():
                    if not self._exists():
                        self._create()
            with self.open():
                pass
        except (OSError, NotGitRepository) as error:
            raise StoreError(f"{path} is not a usable store: {error}; name a folder that can be written") from error

    def head(self) -> ObjectID:
        """Return the newest commit of the branch. In a new repository, create an empty first commit and return it."""
        with self.open() as repo:
            try:
                return repo.refs[MAIN_REF]
            except KeyError:
                if (self.path / MAIN_REF.decode()).exists():  # an empty or cut-off file reads as a missing branch
                    raise DamagedError(f"{self.path}: the branch {MAIN} is damaged; restore it from a backup") from None
                return self._create_first_commit(repo)

    @property
    def _session_objects(self) -> ObjectReader | None:
        return getattr(self._of_thread, "objects", None)

    @contextmanager
    def open(self) -> Iterator[Repo]:
        """Open the refs and the objects. Reading an object looks again if another process packs it meanwhile."""
        with self._translate_errors():
            if objects := self._session_objects:
                yield Repo(str(self.path), object_store=objects)  # not closed, which would close the session's objects
            else:
                store = ObjectReader(str(self.path / "objects"))
                with closing(Repo(str(self.path), object_store=store)) as repo:
                    yield repo

    @contextmanager
    def open_objects(self) -> Iterator[DiskObjectStore]:
        """Open the objects only, for callers that need no ref."""
        if objects := self._session_objects:
            with self._translate_errors():
                yield objects
        else:
            with self.open() as repo:
                yield repo.object_store

    @contextmanager
    def session(self) -> Iterator[None]:
        """Keep the pack files open for all reads of this thread within the context. Sessions may be nested."""
        if self._session_objects:
            yield
            return
        with self._translate_errors():
            objects = ObjectReader(str(self.path / "objects"))
        self._of_thread.objects = objects
        try:
            # Outside of `_translate_errors`, unlike in `open`: here the caller may do more than read the repository.
            yield
        finally:
            self._of_thread.objects = None
            objects.close()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the writers' lock. Raises StoreUnavailableError if another writer does not release it in time."""
        try:
            with self._lock.acquire(timeout=LOCK_TIMEOUT_S):
                yield
        except Timeout as error:
            advice = "if a process that writes here was stopped, continue it or end it"
            raise StoreUnavailableError(
                f"{self.path}: another writer has held it for {LOCK_TIMEOUT_S:g} s; {advice}"
            ) from error

    def move_branch(self, repo: Repo, before: ObjectID | None, after: ObjectID) -> bool:
        """Move the branch to `after` if it points at `before`, or unconditionally if `before` is None, as a mirror does.

        The caller must hold the lock. Return whether the branch was moved.
        """
        self._remove_leftover_ref_lock()
        if before is None:
            repo.refs[MAIN_REF] = after
            return True
        return repo.refs.set_if_equals(MAIN_REF, before, after)

    def clear(self) -> None:
        """Remove all objects and refs. The repository's folders stay, because other processes may have it open."""
        with self._translate_errors(), self.locked():
            new_repository = self._create_temporary()
            for name in ("HEAD", "config"):  # these may be damaged too
                (new_repository / name).replace(self.path / name)
            shutil.rmtree(new_repository)
            for name in ("packed-refs", "shallow", "refs", "objects"):
                for path in (self.path / name, *(self.path / name).rglob("*")):
                    if not path.is_dir():
                        path.unlink(missing_ok=True)

    def now(self) -> datetime:
        """Return the time by the file system's clock, which is the server's clock on a shared disk."""
        clock = Path(self._lock.lock_file)
        with self._translate_errors():
            clock.touch()
            return datetime.fromtimestamp(clock.stat().st_mtime, UTC)

    def size(self) -> int:
        """Return the size on disk in bytes."""
        size = 0
        for path in self.path.rglob("*"):
            with suppress(FileNotFoundError):  # packed meanwhile
                size += path.stat().st_size if path.is_file() else 0
        return size

    def _exists(self) -> bool:
        """Return whether the folder is a repository, judged by its HEAD file."""
        head = self.path / "HEAD"
        return head.is_file() and head.stat().st_size > 0

    def _create(self) -> None:
        """Create the repository, so that a killed process leaves no half of one.

        Raises StoreError if the folder has files of its own, and DamagedError if it has those of a store that lost its HEAD.
        """
        if not self.path.exists():
            self._create_temporary().rename(self.path)
            return
        if any((self.path / "objects").rglob("*.pack")) or any((self.path / "objects").glob("??/*")):
            raise DamagedError(f"{self.path} has lost its HEAD; restore it from a backup")
        # A process that was killed while it filled the folder left only empty folders and short files.
        files = {str(path.relative_to(self.path)) for path in self.path.rglob("*") if not path.is_dir()}
        if files - _FILES_OF_EMPTY_REPOSITORY - {f"{name}.lock" for name in _FILES_OF_EMPTY_REPOSITORY}:
            raise StoreError(f"{self.path} is not a store and not empty; name another folder")
        # The folder is filled and not replaced, because it may be a mounted volume or a link.
        for name in files:
            (self.path / name).unlink()
        fresh = self._create_temporary()
        with suppress(PermissionError):  # of a volume that belongs to another user
            self.path.chmod(0o700)
        for source in sorted(fresh.iterdir(), key=lambda path: path.name == "HEAD"):  # HEAD last, see `_exists`
            target = self.path / source.name
            if target.is_dir():
                shutil.rmtree(target)
            shutil.move(source, target)
        fresh.rmdir()

    def _create_temporary(self) -> Path:
        """Create an empty repository next to this one."""
        fresh = Path(f"{self.path}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        Repo.init_bare(str(fresh), mkdir=True, default_branch=MAIN.encode()).close()
        fresh.chmod(0o700)
        return fresh

    def _create_first_commit(self, repo: Repo) -> ObjectID:
        """Create the empty first commit, which is identical in every process."""
        tree = Tree()
        commit = new_commit(tree.id, "Start", [], when=0)
        with self.locked():
            objects = ObjectWriter(repo.object_store)
            objects.add_object(tree)
            objects.add_object(commit)
            self._remove_leftover_ref_lock()
            repo.refs.add_if_new(MAIN_REF, commit.id)
        return repo.refs[MAIN_REF]

    def _remove_leftover_ref_lock(self) -> None:
        """Remove git's lock file of the branch once it is 2 s old, unless it disappears before.

        A file from the future is removed at once, because the clock was set back since it was created. The caller holds
        the store's lock, so the file belongs to a killed writer, or for some milliseconds to an operator's git command. Ages
        are by the clock of the file system, which gave the file its time.
        """
        leftover = self.path / f"{MAIN_REF.decode()}.lock"
        try:
            while 0 <= self.now().timestamp() - leftover.stat().st_mtime < STALE_LOCK_S:
                time.sleep(0.05)
            leftover.unlink()
        except FileNotFoundError:
            pass

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise errors of dulwich and of the disk as StoreErrors, and count them."""
        try:
            yield
        except (*DAMAGE, PackFileDisappeared, FileLocked, NotGitRepository, OSError) as error:
            self.failed_attempts += 1
            raise self._as_store_error(error) from error

    def _as_store_error(self, error: Exception) -> StoreError:
        message = " ".join(f"{type(error).__name__} {error}".split())
        if isinstance(error, DAMAGE):
            return DamagedError(f"{self.path}: an object is damaged ({message}); restore it from a backup")
        if isinstance(error, PackFileDisappeared):  # other processes packed it repeatedly during the read
            return StoreUnavailableError(f"{self.path} was packed during the read; try again")
        if isinstance(error, OSError):
            kind = StoreUnavailableError if error.errno in TRANSIENT_ERRNOS else StoreError
            return kind(f"{self.path}: {error.strerror or error}")
        return StoreError(f"{self.path} cannot be used: {message}")


def new_commit(tree: ObjectID, message: str, parents: list[ObjectID], when: int | None = None) -> Commit:
    """Return a commit that is not stored yet. `when` is in seconds since 1970, by default now."""
    commit = Commit()
    commit.tree = tree
    commit.parents = parents
    commit.author = commit.committer = _AUTHOR
    commit.author_time = commit.commit_time = int(time.time()) if when is None else when
    commit.author_timezone = commit.commit_timezone = 0
    commit.encoding = b"UTF-8"
    commit.message = message.encode()
    return commit
