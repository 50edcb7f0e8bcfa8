"""Access the bare git repositories of the Hub double through the git command line.

Sources: https://git-scm.com/docs/git-fast-import (a commit reads and writes only the changed trees),
https://git-scm.com/docs/git-cat-file, https://git-scm.com/docs/git-ls-tree
"""

import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ZERO_ID = "0" * 40  # the object ID that git uses for a missing object
SETTINGS = {
    "core.compression": "1",  # large trees are written often, so compress quickly
    "core.fsync": "none",
    "gc.auto": "0",
    "http.receivepack": "true",
    "receive.autogc": "false",
    "uploadpack.allowFilter": "true",
    "uploadpack.allowAnySHA1InWant": "true",
}


class MovedError(Exception):
    """The head of the branch is not the expected commit."""


@dataclass(frozen=True)
class Entry:
    """An entry of a tree: the path from the root, the kind (blob or tree) and the object ID."""

    path: str
    kind: str
    oid: str


@dataclass(frozen=True)
class Commit:
    """A commit with its time in seconds since 1970."""

    id: str
    seconds: int
    author: str
    message: str


class BareRepository:
    """A bare git repository in a folder, with commit times from `clock`."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self.clock = clock

    def git(self, *arguments: str, content: bytes = b"") -> bytes:
        return self.run(*arguments, content=content, check=True).stdout

    def run(self, *arguments: str, content: bytes = b"", check: bool = False) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["git", "--git-dir", str(self.folder), *arguments], input=content, capture_output=True, check=check
        )

    def make(self) -> None:
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", str(self.folder)], check=True)
        with (self.folder / "config").open("a") as config:
            for name, value in SETTINGS.items():
                section, _, key = name.partition(".")
                config.write(f"[{section}]\n\t{key} = {value}\n")

    def find(self, revision: str) -> str | None:
        """Return the commit of a branch, a tag, a full ref name or a commit ID, or None if there is none."""
        found = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        return found.stdout.decode().strip() or None

    def head(self, branch: str = "main") -> str:
        commit = self.find(f"refs/heads/{branch}")
        if commit is None:
            raise KeyError(branch)
        return commit

    def refs(self, folder: str) -> dict[str, str]:
        """Return the commits of the refs in a folder such as refs/heads, by the name of the ref below the folder."""
        lines = self.git("for-each-ref", "--format=%(objectname) %(*objectname) %(refname)", folder).decode()
        split = [line.split(" ") for line in lines.splitlines()]
        return {name.removeprefix(f"{folder}/"): peeled or oid for oid, peeled, name in split}

    def set_ref(self, ref: str, new: str, old: str = ZERO_ID) -> None:
        """Set a ref to `new`. Raises MovedError if it is not `old`; all zeros means that it must not exist."""
        if self.run("update-ref", ref, new, old).returncode:
            raise MovedError(ref)

    def delete_ref(self, ref: str) -> None:
        self.git("update-ref", "-d", ref)

    def commit(
        self,
        changes: Mapping[str, bytes | None],
        parent: str | None,
        message: str,
        branch: str = "main",
        author: str = "org",
    ) -> str:
        """Commit the changes and return the commit ID. Content of None removes a file or a folder.

        Raises MovedError if the branch is not at `parent`.
        """
        encoded = message.encode()
        stream = [
            b"commit refs/heads/%s\nmark :1\n" % branch.encode(),
            b"committer %s <%s@users.noreply.huggingface.co> %d +0000\n"
            % (author.encode(), author.encode(), self.clock()),
            b"data %d\n%s\n" % (len(encoded), encoded),
            b"from %s\n" % parent.encode() if parent else b"",
        ]
        for path, content in changes.items():
            if content is None:
                stream.append(b"D %s\n" % _quote(path))
            else:
                stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (_quote(path), len(content), content))
        stream.append(b"\nget-mark :1\ndone\n")
        done = self.run("fast-import", "--quiet", "--done", "--date-format=raw-permissive", content=b"".join(stream))
        if done.returncode:
            for report in self.folder.glob("fast_import_crash_*"):
                report.unlink(missing_ok=True)
            raise MovedError(done.stderr.decode())
        return done.stdout.decode().strip()

    def squash(self, branch: str, message: str) -> str:
        """Replace the history of a branch by one commit and return its ID."""
        head = self.head(branch)
        who = f"org <org@users.noreply.huggingface.co> {int(self.clock())} +0000"
        tree = self.git("rev-parse", f"{head}^{{tree}}").decode().strip()
        raw = f"tree {tree}\nauthor {who}\ncommitter {who}\n\n{message}\n".encode()
        squashed = self.git("hash-object", "-t", "commit", "-w", "--stdin", content=raw).decode().strip()
        self.set_ref(f"refs/heads/{branch}", squashed, head)
        return squashed

    def history(self, revision: str, most: int = -1) -> list[Commit]:
        text = self.git("log", f"--max-count={most}", "-z", "--format=%H%n%ct%n%an%n%B", revision).decode()
        split = [part.split("\n", 3) for part in text.split("\0") if part]
        return [Commit(oid, int(seconds), author, message) for oid, seconds, author, message in split]

    def entries(self, commit: str, folder: str = "", recursive: bool = False) -> list[Entry]:
        """Return the entries of a folder, or of the whole tree below it with folders before their content.

        Raises KeyError if there is no such folder.
        """
        options = ["-r", "-t"] if recursive else []
        listed = self.run("ls-tree", "-z", *options, f"{commit}:{folder}")
        if listed.returncode:
            raise KeyError(folder)
        found = []
        for line in listed.stdout.decode().split("\0")[:-1]:
            head, _, name = line.partition("\t")
            _, kind, oid = head.split(" ")
            found.append(Entry(f"{folder}/{name}" if folder else name, kind, oid))
        return found

    def trees(self, commit: str, folders: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return the object IDs in each folder by name. A missing folder has none."""
        wanted = list(folders)
        found: dict[str, dict[str, str]] = {folder: {} for folder in wanted}
        for folder, (kind, content) in zip(wanted, self.objects(f"{commit}:{f}" for f in wanted), strict=True):
            if kind == "tree":
                found[folder] = dict(_parse_tree(content))
        return found

    def objects(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield type and content of each object from `git cat-file --batch`. The type of a missing one is `missing`."""
        query = "".join(f"{name}\n" for name in names).encode()
        rest = memoryview(self.git("cat-file", "--batch", content=query)) if query else memoryview(b"")
        while rest:
            end = bytes(rest[:4096]).find(b"\n")
            head = bytes(rest[:end]).decode()
            rest = rest[end + 1 :]
            if head.endswith(" missing"):
                yield "missing", b""
                continue
            _, kind, size = head.split(" ")
            yield kind, bytes(rest[: int(size)])
            rest = rest[int(size) + 1 :]

    def stat_objects(self, names: Iterable[str]) -> list[tuple[str, str, int]]:
        """Return type, object ID and size of each object. The type of a missing one is `missing`."""
        query = "".join(f"{name}\n" for name in names).encode()
        lines = self.git("cat-file", "--batch-check", content=query).decode().splitlines()
        found = []
        for line in lines:
            if line.endswith(" missing"):
                found.append(("missing", ZERO_ID, 0))
            else:
                oid, kind, size = line.split(" ")
                found.append((kind, oid, int(size)))
        return found

    def read(self, path: str, revision: str) -> bytes:
        ((kind, content),) = self.objects([f"{revision}:{path}"])
        if kind != "blob":
            raise KeyError(path)
        return content


def _quote(path: str) -> bytes:
    """Quote a path for git fast-import."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'.encode()


def _parse_tree(content: bytes) -> Iterator[tuple[str, str]]:
    """Yield name and object ID of each entry of a raw tree.

    Source: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
    """
    at = 0
    while at < len(content):
        end = content.index(b"\0", at)
        name = content[at:end].partition(b" ")[2]
        yield name.decode(), content[end + 1 : end + 21].hex()
        at = end + 21
