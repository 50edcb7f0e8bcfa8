"""Check commits and pushes by the Hub's rules. As a program, this module is git's pre-receive hook.

Sources: https://huggingface.co/docs/hub/storage-limits and https://huggingface.co/docs/hub/repositories-getting-started;
the messages are quoted by users of the Hub: https://github.com/huggingface/datasets/issues/7956 (folders),
https://github.com/embeddings-benchmark/mteb/issues/1368 (large files), https://github.com/qdonnars/ohmywind/pull/289
(binary files), https://github.com/huggingface/huggingface_hub/issues/3829 (LFS pointers without a file).
This module only imports the standard library, because git runs it by its path.
"""

import fnmatch
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

RULE = "-" * 73
POINTER = b"version https://git-lfs.github.com/spec/v1\n"
POINTER_SIZE = 200  # bytes; no pointer is longer
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@dataclass
class Limits:
    """The limits of the Hub, which tests may change. None means no limit."""

    entries_per_folder: int | None = 10_000
    files_per_repo: int | None = None  # the Hub recommends 100,000 but enforces no limit
    regular_size: int | None = 10 * 2**20  # bytes of a file that is not in LFS
    binary_size: int | None = 0  # bytes; larger binary files must be in LFS
    commits_per_hour: int | None = 128
    tree_page: int = 1000
    tree_page_expanded: int = 100
    commits_page: int = 50


@dataclass(frozen=True)
class Pointer:
    """An LFS pointer. Source: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md"""

    oid: str
    size: int

    def __bytes__(self) -> bytes:
        return POINTER + f"oid sha256:{self.oid}\nsize {self.size}\n".encode()

    @classmethod
    def parse(cls, content: bytes) -> "Pointer | None":
        if len(content) > POINTER_SIZE or not content.startswith(POINTER):
            return None
        found = re.search(rb"^oid sha256:([0-9a-f]{64})\nsize ([0-9]+)$", content, re.MULTILINE)
        return cls(found[1].decode(), int(found[2])) if found else None


def is_binary(content: bytes) -> bool:
    """Return whether git regards the content as binary: it has a NUL in its first 8000 bytes.

    Source: https://git-scm.com/docs/gitattributes
    """
    return b"\0" in content[:8000]


def is_lfs(attributes: bytes, path: str) -> bool:
    """Return whether the last matching line of .gitattributes sets the LFS filter."""
    found = False
    for line in attributes.decode().splitlines():
        pattern, *given = line.split() or ["#"]
        name = path if "/" in pattern else path.rpartition("/")[2]
        if not pattern.startswith("#") and fnmatch.fnmatchcase(name, pattern.replace("**/", "*").lstrip("/")):
            found = "filter=lfs" in given if any(g.lstrip("-!").startswith("filter") for g in given) else found
    return found


def refused_files(files: Iterable[tuple[str, int, bytes]], ref: str, limits: Limits) -> list[str]:
    """Return the lines that refuse files, given as path, size and first bytes. LFS pointers are always allowed."""
    given = [file for file in files if file[1] > POINTER_SIZE or Pointer.parse(file[2]) is None]
    large = [p for p, size, _ in given if limits.regular_size is not None and size > limits.regular_size]
    if large:
        return _refusal(
            "it contains files larger than 10 MiB.",
            "Please use https://git-lfs.github.com/ to store large files.",
            "See also: https://hf.co/docs/hub/repositories-getting-started#terminal",
            offending=[f"{path} (ref: {ref})" for path in large],
        )
    binary_limit = limits.binary_size
    binary = [p for p, size, start in given if binary_limit is not None and size > binary_limit and is_binary(start)]
    if binary:
        return _refusal(
            "it contains binary files.",
            "Please use https://huggingface.co/docs/hub/xet to store binary files.",
            offending=[f"{path} (ref: {ref})" for path in binary],
        )
    return []


def refused_folders(folders: Iterable[str], ref: str, limit: int) -> str:
    shown = " ".join(f"/{folder}/" if folder else "/" for folder in folders)
    return (
        "Your push was rejected because it contains too many files per directory. Each directory in your git repo can "
        f"only contain up to {limit} files. Offending reference: {ref} Offending directories: {shown}"
    )


def refused_pointers(paths: Iterable[str]) -> str:
    return (
        "Your push was rejected because an LFS pointer pointed to a file that does not exist. For instance, this can "
        "happen if you used git push --no-verify to push your changes. Offending file: "
        + " ".join(f"- {path}" for path in paths)
    )


def _refusal(reason: str, *advice: str, offending: list[str]) -> list[str]:
    shown = ["Offending files:", *(f"  - {line}" for line in offending)]
    return [f"Your push was rejected because {reason}", *advice, "", *shown]


def _git(*arguments: str, content: bytes = b"") -> bytes:
    return subprocess.run(["git", *arguments], input=content, stdout=subprocess.PIPE, check=True).stdout


def _blobs(names: list[tuple[str, str]]) -> Iterable[tuple[str, int, bytes]]:
    rest = _git("cat-file", "--batch", content="".join(f"{oid}\n" for oid, _ in names).encode())
    for _, path in names:
        head, _, rest = rest.partition(b"\n")
        size = int(head.split(b" ")[2])
        yield path, size, rest[:size]
        rest = rest[size + 1 :]


def _refuse_push(old: str, new: str, ref: str, limits: Limits, lfs: Path) -> list[str]:
    """Return why a push is refused. Checks all files of all new commits, even files that a later commit removes."""
    listed = _git("rev-list", "--objects", new, "--not", "--all").decode().splitlines()
    named = [(oid, path) for oid, _, path in (line.partition(" ") for line in listed) if path]
    kinds = _git(
        "cat-file", "--batch-check=%(objecttype)", content="".join(f"{o}\n" for o, _ in named).encode()
    ).split()
    files = list(_blobs([name for name, kind in zip(named, kinds, strict=True) if kind == b"blob"]))
    if refused := refused_files(((path, size, content[:8000]) for path, size, content in files), ref, limits):
        return refused
    pointers = [(path, Pointer.parse(content)) for path, _, content in files]
    if missing := [path for path, pointer in pointers if pointer and not (lfs / pointer.oid).exists()]:
        return [refused_pointers(missing)]
    counted: dict[str, int] = {}
    for path in _git("ls-tree", "-r", "-t", "-z", "--name-only", new).decode().split("\0")[:-1]:
        folder = path.rpartition("/")[0]
        counted[folder] = counted.get(folder, 0) + 1
    limit = limits.entries_per_folder
    full = [folder for folder, count in counted.items() if limit is not None and count > limit]
    return [refused_folders(full, ref, limit)] if full and limit is not None else []


def main() -> int:
    """Check the refs from standard input. The limits and the folder of LFS objects are in the environment."""
    text = {name: os.environ[f"HUB_{name.upper()}"] for name in ("entries_per_folder", "regular_size", "binary_size")}
    limits = Limits(**{name: int(value) if value else None for name, value in text.items()})  # type: ignore[arg-type]
    for line in sys.stdin:
        old, new, ref = line.split()
        if set(new) != {"0"} and (lines := _refuse_push(old, new, ref, limits, Path(os.environ["HUB_LFS"]))):
            print(RULE, *lines, RULE, sep="\n", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
