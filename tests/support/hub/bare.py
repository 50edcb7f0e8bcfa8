"""Bare git repositories of the Hub double, through the git command line.

sources: https://git-scm.com/docs/git-fast-import (a commit reads and writes only the trees that change),
https://git-scm.com/docs/git-cat-file, https://git-scm.com/docs/git-ls-tree
"""

import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

NOBODY = "0" * 40
SETTINGS = {
    "core.compression": "1",  # trees of thousands of names are written often
    "core.fsync": "none",
    "gc.auto": "0",
    "http.receivepack": "true",
    "receive.autogc": "false",
    "uploadpack.allowFilter": "true",
    "uploadpack.allowAnySHA1InWant": "true",
}


class MovedError(Exception):
    """The branch has another commit than the parent."""


@dataclass(frozen=True)
class Entry:
    """A line of a tree: a blob or a tree, by its path from the root."""

    path: str
    kind: str
    oid: str


@dataclass(frozen=True)
class Commit:
    id: str
    seconds: int
    author: str
    message: str


class BareRepository:
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
        """The commit of a branch, of a tag, or of a name in full."""
        said = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        return said.stdout.decode().strip() or None

    def head(self, branch: str = "main") -> str:
        commit = self.find(f"refs/heads/{branch}")
        if commit is None:
            raise KeyError(branch)
        return commit

    def refs(self, folder: str) -> dict[str, str]:
        """The commits of refs/heads or refs/tags by their names below it."""
        lines = self.git("for-each-ref", "--format=%(objectname) %(*objectname) %(refname)", folder).decode()
        split = [line.split(" ") for line in lines.splitlines()]
        return {name.removeprefix(f"{folder}/"): peeled or oid for oid, peeled, name in split}

    def set_ref(self, ref: str, new: str, old: str = NOBODY) -> None:
        """`old` is what the ref must be; none is all zeros, in git's own words."""
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
        """Files written, and removed where there is no content; a path may also be a folder that is removed."""
        said = message.encode()
        stream = [
            b"commit refs/heads/%s\nmark :1\n" % branch.encode(),
            b"committer %s <%s@users.noreply.huggingface.co> %d +0000\n"
            % (author.encode(), author.encode(), self.clock()),
            b"data %d\n%s\n" % (len(said), said),
            b"from %s\n" % parent.encode() if parent else b"",
        ]
        for path, content in changes.items():
            if content is None:
                stream.append(b"D %s\n" % _quoted(path))
            else:
                stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (_quoted(path), len(content), content))
        stream.append(b"\nget-mark :1\ndone\n")
        done = self.run("fast-import", "--quiet", "--done", "--date-format=raw-permissive", content=b"".join(stream))
        if done.returncode:
            for report in self.folder.glob("fast_import_crash_*"):
                report.unlink(missing_ok=True)
            raise MovedError(done.stderr.decode())
        return done.stdout.decode().strip()

    def squash(self, branch: str, message: str) -> str:
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
        """What lies in a folder; all below it too, folders before what they hold. KeyError where it is none."""
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
        """The names in each folder with their objects; nothing where there is no such folder."""
        wanted = list(folders)
        found: dict[str, dict[str, str]] = {folder: {} for folder in wanted}
        for folder, (kind, content) in zip(wanted, self.objects(f"{commit}:{f}" for f in wanted), strict=True):
            if kind == "tree":
                found[folder] = dict(_tree(content))
        return found

    def objects(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Type and content of each, as `git cat-file --batch` tells them; missing ones are of the type `missing`."""
        asked = "".join(f"{name}\n" for name in names).encode()
        rest = memoryview(self.git("cat-file", "--batch", content=asked)) if asked else memoryview(b"")
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

    def checked(self, names: Iterable[str]) -> list[tuple[str, str, int]]:
        """Type, object and size of each; type `missing` where there is none."""
        asked = "".join(f"{name}\n" for name in names).encode()
        lines = self.git("cat-file", "--batch-check", content=asked).decode().splitlines()
        found = []
        for line in lines:
            if line.endswith(" missing"):
                found.append(("missing", NOBODY, 0))
            else:
                oid, kind, size = line.split(" ")
                found.append((kind, oid, int(size)))
        return found

    def read(self, path: str, revision: str) -> bytes:
        ((kind, content),) = self.objects([f"{revision}:{path}"])
        if kind != "blob":
            raise KeyError(path)
        return content


def _quoted(path: str) -> bytes:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'.encode()


def _tree(content: bytes) -> Iterator[tuple[str, str]]:
    """source: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects"""
    at = 0
    while at < len(content):
        end = content.index(b"\0", at)
        name = content[at:end].partition(b" ")[2]
        yield name.decode(), content[end + 1 : end + 21].hex()
        at = end + 21
