"""Keep a local mirror of a repository on a git server, from which `HubStore` reads (`hub.py`)."""

from typing import Any

from dulwich.client import HttpGitClient
from dulwich.object_store import ObjectStoreGraphWalker
from dulwich.objects import Blob, ObjectID

from submissions.store.git import GitStore
from submissions.store.git_repository import MAIN_REF
from submissions.store.objects import ObjectWriter, merge_packs, remove_leftovers


class Mirror(GitStore):
    """The last commits of a repository with all their folders, but only those files that were read before.

    The others are downloaded one at a time, and added with `add_blob`. A mirror is read only: commits are made on the server,
    so `commit` and `tidy` of a `GitStore` are never called.
    """

    hidden = ".gitattributes"  # left out of snapshots: the Hub adds one to every repository

    def reset(self) -> None:
        """Remove everything from the mirror, because its objects are damaged or too many.

        Other processes that read it fetch the missing objects again.
        """
        self.repository.clear()
        with self._walking:  # the last snapshot must not be forgotten while the next one is made from it
            self._forget()

    def has(self, sha: str) -> bool:
        """Return whether this object is in the mirror."""
        with self.repository.open() as repo:
            return ObjectID(sha.encode()) in repo.object_store

    def add_blob(self, content: bytes) -> None:
        """Add a file that was downloaded on its own."""
        with self.repository.locked(), self.repository.open() as repo:
            writer = ObjectWriter(repo.object_store, survives_power_failure=False)  # a damaged mirror is fetched again
            writer.add_object(Blob.from_string(content))

    def fetch(self, client: HttpGitClient, name: str, head: str, depth: int | None, *, blobs: bool = False) -> None:
        """Fetch a commit and its folders from a git server, and with `blobs` also its files.

        `name` is that of the repository on the server. `depth` is the number of commits. None fetches all since the last
        one, or the whole history if none was fetched or files are wanted.
        """

        def wanted(*_: Any, **__: Any) -> list[ObjectID]:
            """Return what to fetch, whatever branches the server has."""
            return [ObjectID(head.encode())]

        def no_parents(_: ObjectID) -> list[ObjectID]:
            """Return no ancestors of a known commit: the mirror may lack them, so the server must not think that it has them."""
            return []

        with self.repository.locked(), self.repository.open() as repo:
            # A client names the commits that it has, and the server does not send what belongs to them, files included. A
            # mirror may lack the files, so to get them, it names no commit.
            last = repo.refs.as_dict().get(MAIN_REF)
            known_commits: list[ObjectID] = []
            if last and last in repo.object_store and not blobs:
                known_commits.append(last)
            walker = ObjectStoreGraphWalker(known_commits, no_parents, repo.get_shallow())
            remove_leftovers(repo.object_store)
            pack, commit_pack, abort = repo.object_store.add_pack()
            try:
                fetched = client.fetch_pack(
                    name,
                    wanted,
                    walker,
                    pack.write,
                    depth=depth,
                    filter_spec=None if blobs else b"blob:none",
                    protocol_version=2,  # dulwich supports filters only in this version
                )
            except BaseException:
                abort()
                raise
            commit_pack()
            repo.update_shallow(fetched.new_shallow, fetched.new_unshallow)
            self.repository.move_branch(repo, None, ObjectID(head.encode()))  # None: wherever it points now
            merge_packs(repo.object_store)
