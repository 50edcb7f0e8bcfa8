"""The embedded store: a bare git repository.

The branch moves only if it still points at the parent. Blobs, trees and the commit are written before the branch moves, so
a process that is killed at any moment leaves either the old head or the new one.
"""

import threading
import time
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISDIR
from typing import cast

from dulwich.object_store import BaseObjectStore, commit_tree_changes
from dulwich.objects import Blob, ObjectID, parse_tree
from dulwich.objects import Commit as GitCommit
from dulwich.refs import Ref
from dulwich.repo import Repo

from submissions.store.base import MAIN, READERS_GRACE_S, Changes, Commit, Snapshot
from submissions.store.git_repository import MAIN_REF, GitRepository, new_commit
from submissions.store.objects import (
    REPACK_ABOVE,
    ObjectWriter,
    merge_packs,
    pack_loose_objects,
    remove_leftovers,
    remove_unreachable,
    repack,
)
from submissions.texts.errors import ConflictError, DamagedError

_FILE = 0o100644
OBJECT_ID_BYTES = 20
PATH_ENCODING_ERRORS = "surrogateescape"  # other programs may have written names that are not UTF-8
SQUASHED = b"refs/squashed/"  # heads before a squash, named by the time of the squash, for readers that still use them


Folder = dict[str, tuple[bool, ObjectID]]  # name → whether it is a folder, and its id
NO_ENTRY = (False, None)


class GitStore:
    """A store in a bare git repository on this machine. It implements `base.Store`, which describes the public methods.

    A snapshot is made from the last one: only folders whose id differs are read, so it takes little time in a large store.
    """

    hidden: str | None = None  # a path that snapshots leave out: in a `Mirror`, `.gitattributes`, which the Hub adds

    def __init__(self, path: Path) -> None:
        self.url = str(path)
        self.write_lock = threading.Lock()
        self.repository = GitRepository(path)
        self._walking = threading.Lock()  # held while a snapshot is made
        self._forget()

    def _forget(self) -> None:
        self._last = Snapshot("", {})  # the last snapshot
        self._tree: ObjectID | None = None  # the root folder of `_last`

    @property
    def failed_attempts(self) -> int:
        return self.repository.failed_attempts

    def head(self) -> str:
        return self.repository.head().decode()

    def snapshot(self, head: str | None = None) -> Snapshot:
        head = head or self.head()
        with self._walking, self.repository.open() as repo:
            if self._last.head != head:
                tree = self._tree_of(repo, head)
                self._last = self._next_snapshot(repo, head, tree)
                self._tree = tree
            return self._last

    def _tree_of(self, repo: Repo, head: str) -> ObjectID:
        """Return the root folder of a commit.

        Raises KeyError if the commit does not exist, but DamagedError if the branch points at it.
        """
        try:
            commit = _commit(repo, head)
        except KeyError:
            if repo.refs.as_dict().get(MAIN_REF) == head.encode():
                message = f"{self.url}: the newest commit is missing: {head}; restore it from a backup"
                raise DamagedError(message) from None
            raise
        tree: ObjectID = commit.tree
        return tree

    def _next_snapshot(self, repo: Repo, head: str, tree: ObjectID) -> Snapshot:
        """Return the snapshot of a commit with this root folder, made from the last snapshot."""
        last = self._last
        try:
            changed = dict(self._changed(repo, self._tree, tree))
        except DamagedError:
            # `tidy` may have removed a folder of the last snapshot. Everything is read then. If this snapshot is damaged, the error
            # is raised again.
            last = Snapshot("", {})
            changed = dict(self._changed(repo, None, tree))
        if self.hidden:
            changed.pop(self.hidden, None)
        files = dict(last.files)
        for path, blob in changed.items():
            if blob is None:
                del files[path]
            else:
                files[path] = blob
        return Snapshot(head, files, last.head, frozenset(changed))

    def _changed(
        self, repo: Repo, before: ObjectID | None, after: ObjectID | None, prefix: str = ""
    ) -> Iterator[tuple[str, str | None]]:
        """Yield the paths in which two folders differ, with the blobs of the second one, or None if it has no such file."""
        old = _entries(repo, before) if before else {}
        new = _entries(repo, after) if after else {}
        for name in old.keys() | new.keys():
            was_folder, id_before = old.get(name, NO_ENTRY)
            is_folder, id_after = new.get(name, NO_ENTRY)
            if (was_folder, id_before) == (is_folder, id_after):
                continue
            path = f"{prefix}{name}"
            # A file may have taken the place of a folder, or a folder that of a file.
            folder_before = id_before if was_folder else None
            folder_after = id_after if is_folder else None
            if folder_before or folder_after:
                yield from self._changed(repo, folder_before, folder_after, f"{path}/")
            if id_after and not is_folder:
                yield path, id_after.decode()
            elif id_before and not was_folder:
                yield path, None

    def read(self, path: str, head: str) -> bytes:
        last = self._last
        blob = last.files[path] if head == last.head else self.blob(path, head)
        return self.content(blob)

    def count_entries(self, folder: str, head: str) -> int:
        with self.repository.open() as repo:
            return len(_entries_at(repo, head, folder.split("/") if folder else []))

    def session(self) -> AbstractContextManager[None]:
        return self.repository.session()

    def prefetch(self, paths: Collection[str], snapshot: Snapshot) -> None:
        pass  # everything is on this machine

    def blob(self, path: str, head: str) -> str:
        """Return the id of a path's content at a commit. Raises KeyError if it does not exist."""
        *folders, name = path.split("/")
        with self.repository.open() as repo:
            is_folder, sha = _entries_at(repo, head, folders).get(name, NO_ENTRY)
            if sha is None or is_folder:
                raise KeyError(path)
            return sha.decode()

    def content(self, blob: str) -> bytes:
        """Return the content of a file by its id.

        Raises DamagedError if the object is missing, KeyError if it is not that of a file.
        """
        with self.repository.open_objects() as objects:
            try:
                kind, content = objects.get_raw(ObjectID(blob.encode()))
            except KeyError:
                raise DamagedError(f"an object is missing: {blob}; restore it from a backup") from None
            if kind != Blob.type_num:
                raise KeyError(blob)
            return content

    def commit(self, changes: Changes, parent: str, message: str) -> str:
        with self.repository.locked(), self.repository.open() as repo:
            objects = ObjectWriter(repo.object_store)
            if repo.refs[MAIN_REF].decode() != parent:
                raise ConflictError(MAIN)
            entries: list[tuple[bytes, int | None, ObjectID | None]] = []
            for path, content in changes.items():
                name = path.encode(errors=PATH_ENCODING_ERRORS)
                if content is None:
                    entries.append((name, None, None))
                else:
                    blob = Blob.from_string(content)
                    objects.add_object(blob)
                    entries.append((name, _FILE, blob.id))
            tree = commit_tree_changes(cast(BaseObjectStore, objects), _commit(repo, parent).tree, entries)
            before = ObjectID(parent.encode())
            commit = new_commit(tree, message, [before])
            objects.add_object(commit)
            if not self.repository.move_branch(repo, before, commit.id):
                raise ConflictError(MAIN)
            return commit.id.decode()

    def history(self, head: str) -> Iterator[Commit]:
        with self.repository.open() as repo:
            following: str | None = head
            while following:
                commit = _commit(repo, following)
                yield Commit(following, datetime.fromtimestamp(commit.commit_time, UTC), commit.message.decode())
                parent = commit.parents[0] if commit.parents else None
                following = parent.decode() if parent and parent in repo.object_store else None

    def tidy(self, grace_s: float = READERS_GRACE_S) -> None:
        """Squash the history and pack what is left. Snapshots of the last `grace_s` seconds stay readable.

        With `grace_s=0`, only what the newest commit has is left in the files, unless somebody has added branches.

        dulwich's gc is not used. It keeps the whole history of every ref, including the refs to squashed heads, which
        exist for readers.
        """
        with self.repository.locked(), self.repository.open() as repo:
            head = self._squash(repo)
            remove_leftovers(repo.object_store)
            # All commits before the squash are in the history of a squashed head, so the new head needs no search.
            kept = [head]
            for squashed_head in _expire_squashed(repo, grace_s):
                kept += _recent(repo, squashed_head, grace_s)
            if _has_only_our_refs(repo):  # otherwise other commits need objects too
                _remove_all_but(repo, kept, grace_s)
            pack_loose_objects(repo.object_store)
            merge_packs(repo.object_store)

    def _squash(self, repo: Repo) -> GitCommit:
        """Move the branch to a new commit that has the same files and no history, and return it.

        The last head gets a ref, for readers that still use it. Raises ConflictError if the branch has moved meanwhile.
        """
        before = repo.refs[MAIN_REF]
        squashed = new_commit(_commit(repo, before.decode()).tree, "Squash", [])
        ObjectWriter(repo.object_store).add_object(squashed)
        repo.refs[Ref(SQUASHED + b"%d-%s" % (time.time(), before[:8]))] = before
        if not self.repository.move_branch(repo, before, squashed.id):
            raise ConflictError(MAIN)  # by a writer that does not use our lock, such as git itself
        return squashed

    def now(self) -> datetime:
        return self.repository.now()


def _expire_squashed(repo: Repo, grace_s: float) -> list[ObjectID]:
    """Delete the refs to heads squashed more than `grace_s` seconds ago, and return the other squashed heads."""
    found = []
    for name, head in repo.refs.as_dict(Ref(SQUASHED)).items():
        if time.time() - int(name.partition(b"-")[0]) > grace_s:
            del repo.refs[Ref(SQUASHED + name)]
        else:
            found.append(head)
    return found


def _has_only_our_refs(repo: Repo) -> bool:
    """Return whether there are no refs besides the branch and the squashed heads. An operator may have added branches."""
    names = {Ref(b"refs/" + name) for name in repo.refs.as_dict(Ref(b"refs/"))}
    return all(name == MAIN_REF or name.startswith(SQUASHED) for name in names)


def _recent(repo: Repo, head: ObjectID, seconds: float) -> Iterator[GitCommit]:
    """Yield the commits of the last `seconds`, and the one before them, which was the head `seconds` ago."""
    since = time.time() - seconds
    following = head
    while following in repo.object_store:
        commit = _commit(repo, following.decode())
        yield commit
        if commit.commit_time < since or not commit.parents:
            return
        following = commit.parents[0]


def _remove_all_but(repo: Repo, kept: Sequence[GitCommit], grace_s: float) -> None:
    """Remove the objects that none of these commits needs, if they are older than `grace_s` seconds."""
    reachable = {commit.id for commit in kept}
    for commit in kept:
        _add_tree(repo, commit.tree, reachable)
    remove_unreachable(repo.object_store, reachable, grace_s)
    repack(repo.object_store, reachable, above=REPACK_ABOVE if grace_s else 0)


def _add_tree(repo: Repo, folder: ObjectID, known: set[ObjectID]) -> None:
    """Add the ids of a folder and of everything in it to `known`."""
    if folder in known:
        return
    known.add(folder)
    for is_folder, sha in _entries(repo, folder).values():
        if is_folder:
            _add_tree(repo, sha, known)
        else:
            known.add(sha)


def _entries(repo: Repo, folder: ObjectID) -> Folder:
    """Return what is in a folder. Raises DamagedError if the folder's object is missing."""
    hex_id = folder.decode()
    loose = Path(f"{repo.object_store.path}/{hex_id[:2]}/{hex_id[2:]}")
    try:  # reading the loose file directly takes half the time of dulwich
        content = zlib.decompress(loose.read_bytes()).partition(b"\0")[2]
    except FileNotFoundError:
        try:
            _, content = repo.object_store.get_raw(folder)
        except KeyError:
            raise DamagedError(f"an object is missing: {hex_id}; restore it from a backup") from None
    found = parse_tree(content, OBJECT_ID_BYTES)
    return {name.decode(errors=PATH_ENCODING_ERRORS): (S_ISDIR(mode), ObjectID(sha)) for name, mode, sha in found}


def _entries_at(repo: Repo, head: str, folders: Sequence[str]) -> Folder:
    """Return what is in a folder of a commit, or nothing if there is no such folder. `folders` is its path: ["a", "b"].

    Raises DamagedError as `_entries` does.
    """
    entries = _entries(repo, _commit(repo, head).tree)
    for name in folders:
        is_folder, sha = entries.get(name, NO_ENTRY)
        if sha is None or not is_folder:
            return {}
        entries = _entries(repo, sha)
    return entries


def _commit(repo: Repo, head: str) -> GitCommit:
    commit = repo[head.encode()]
    if not isinstance(commit, GitCommit):
        raise KeyError(head)
    return commit
