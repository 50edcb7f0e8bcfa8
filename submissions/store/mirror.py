"""What this machine has of a repository on a git server: the commits fetched last, their folders, and files as they came."""

import shutil

from dulwich.client import HttpGitClient
from dulwich.object_store import ObjectStoreGraphWalker
from dulwich.objects import Blob, ObjectID
from dulwich.refs import Ref

from submissions.store.base import MAIN, Snapshot
from submissions.store.git import MAIN_REF, GitStore
from submissions.store.objects import merge_packs, remove_leftovers


class Mirror(GitStore):
    hidden = ".gitattributes"  # the Hub puts one into each repository

    def reset(self) -> None:
        """Empty the mirror, if its objects are damaged or too many.

        The repository stays in place: another process that reads it finds objects missing, and fetches them again.
        """
        with self._locked():
            fresh = self._made()
            for name in ("HEAD", "config"):
                (fresh / name).replace(self._path / name)
            shutil.rmtree(fresh)
            for name in ("packed-refs", "shallow", "refs", "objects"):
                for path in (self._path / name, *(self._path / name).rglob("*")):
                    if not path.is_dir():
                        path.unlink(missing_ok=True)
            self._last, self._tree, self._folders = Snapshot("", {}), None, {}

    def has(self, sha: str) -> bool:
        """Whether this object is here."""
        with self._repo() as repo:
            return ObjectID(sha.encode()) in repo.object_store

    def add_blob(self, content: bytes) -> None:
        """For a mirror, whose files come one by one."""
        with self._locked(), self._repo() as repo:
            repo.object_store.add_object(Blob.from_string(content))

    def fetch(self, client: HttpGitClient, path: str, head: str, depth: int | None, *, blobs: bool = False) -> None:
        """Take over a commit and its folders from a git server, and its files where `blobs`.

        `depth`: so many commits; None for all since the one fetched last.
        """
        with self._locked(), self._repo() as repo:
            last = repo.refs.as_dict(Ref(b"refs/")).get(Ref(b"heads/" + MAIN.encode()))
            haves = [last] if last and last in repo.object_store and not blobs else []
            walker = ObjectStoreGraphWalker(haves, lambda _: [], repo.get_shallow())
            remove_leftovers(repo.object_store)
            pack, commit_pack, abort = repo.object_store.add_pack()
            try:
                fetched = client.fetch_pack(
                    path,
                    lambda *_, **__: [ObjectID(head.encode())],
                    walker,
                    pack.write,
                    depth=depth,
                    filter_spec=None if blobs else b"blob:none",
                    protocol_version=2,  # the only one in which dulwich can filter
                )
            except BaseException:
                abort()
                raise
            commit_pack()
            repo.update_shallow(fetched.new_shallow, fetched.new_unshallow)
            self._drop_stale_ref_lock()
            repo.refs[MAIN_REF] = ObjectID(head.encode())
            merge_packs(repo.object_store)
