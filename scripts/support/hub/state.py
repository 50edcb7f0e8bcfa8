"""What the double of the Hub holds: its repositories, buckets, Spaces, roles and limits, and how tests set them."""

import asyncio
import secrets
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import Request, Response

from scripts.support.hub import rules
from scripts.support.hub.bare import BareRepository
from scripts.support.hub.faults import Fault, RateLimits
from scripts.support.hub.jobs import TOKEN, Runner
from scripts.support.hub.roles import Role, Roles
from scripts.support.hub.xorbs import FileInfo, chunks_of, unpack

LIFETIME = 900  # seconds that a token is valid, by the host's clock, which is also the client's
BINARY = (
    "*.7z *.arrow *.avro *.bin *.bz2 *.ckpt *.ftz *.gz *.h5 *.joblib *.lz4 *.mds *.mlmodel *.model *.msgpack *.npy *.npz "
    "*.onnx *.ot *.parquet *.pb *.pickle *.pkl *.pt *.pth *.rar *.safetensors saved_model/**/* *.tar.* *.tar *.tflite *.tgz "
    "*.wasm *.xz *.zip *.zst *tfevents* *.pcm *.sam *.raw *.aac *.flac *.mp3 *.ogg *.wav *.bmp *.gif *.png *.tiff *.jpg "
    "*.jpeg *.webp *.mp4 *.webm"
)
ATTRIBUTES = "".join(f"{pattern} filter=lfs diff=lfs merge=lfs -text\n" for pattern in BINARY.split()).encode()
HOOK = f"#!/bin/sh\nexec '{sys.executable}' -I '{rules.__file__}'\n"


def date(seconds: float) -> str:
    """Return the time in the format of the Hub's API."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


@dataclass
class BucketFile:
    path: str
    size: int
    xet_hash: str
    mtime: float
    uploaded: float
    content_type: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "type": "file",
            "path": self.path,
            "size": self.size,
            "xetHash": self.xet_hash,
            "mtime": date(self.mtime),
            "uploadedAt": date(self.uploaded),
        }


@dataclass
class Bucket:
    created: float
    files: dict[str, BucketFile] = field(default_factory=dict)


@dataclass
class Space:
    """What the Hub keeps of a Space besides its files. The values of secrets are never shown again."""

    sdk: str
    variables: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)


@dataclass
class Cas:
    """The stored xorbs and files, and the tokens that have been issued."""

    xorbs: dict[str, bytes] = field(default_factory=dict)
    files: dict[str, FileInfo] = field(default_factory=dict)
    tokens: dict[str, tuple[str, str, float]] = field(default_factory=dict)  # scope, repository and expiry time
    lfs: dict[tuple[str, str], str] = field(default_factory=dict)  # file hashes by repository and SHA-256
    repo_files: dict[str, set[str]] = field(default_factory=dict)  # files uploaded with a token of each repository

    def token(self, scope: str, repo: str) -> tuple[str, int]:
        token = f"xet_{secrets.token_hex(16)}"
        end = int(time.time()) + LIFETIME
        self.tokens[token] = (scope, repo, end)
        return token, end

    def register(self, file: FileInfo, repo: str) -> None:
        """Register a file. Raises ValueError if a xorb is missing or does not match the shard."""
        for term in file.terms:
            chunks = chunks_of(self.xorbs[term.xorb]) if term.xorb in self.xorbs else []
            given = chunks[term.start : term.end]
            if not given or len(given) != term.end - term.start or sum(c.size for c in given) != term.size:
                raise ValueError(f"{file.hash} refers to missing chunks of {term.xorb}")
        self.files[file.hash] = file
        self.repo_files.setdefault(repo, set()).add(file.hash)

    def pieces(self, file: FileInfo) -> Iterator[bytes]:
        for term in file.terms:
            xorb = self.xorbs[term.xorb]
            yield from (unpack(xorb, chunk) for chunk in chunks_of(xorb)[term.start : term.end])

    def content(self, name: str) -> bytes:
        """Return the content of a file. The empty file is not stored."""
        return b"".join(self.pieces(self.files[name])) if name in self.files else b""


class HubState:
    """The repositories under a folder, and what tests may set: limits, delays and faults.

    A dataset is named `owner/name`, a Space `spaces/owner/name` and a bucket `buckets/owner/name`.
    """

    storage_host = "localhost"  # host of the second origin, which is the same server and port

    def __init__(self, root: Path, clock: Callable[[], float] = time.time) -> None:
        self.root = root
        self.clock = clock
        self.faults: list[Fault] = []
        self.seen: list[str] = []  # all requests as "METHOD /path"
        self.received = self.sent = 0  # bytes in the bodies of requests and answers
        self.tokens: dict[str, Role] = {TOKEN: "write"}
        self.roles = Roles(self.tokens)
        self.grants = self.roles.grants
        self.public = self.roles.public
        self.gated = self.roles.gated
        self.limits = rules.Limits()
        self.rates = RateLimits(lambda: self.clock())
        self.sends_quota_headers = True  # add RateLimit headers to the refusal of too many commits
        self.commits = 0
        self.commit_times: dict[str, deque[float]] = {}
        self.meanwhile: Callable[[], object] = lambda: None  # what others do just before a commit arrives
        self.stale_commits = 0  # number of commits that are stored on the newest one, whichever they name
        self.lag = 0  # number of times that git still shows the commit before the newest
        self.refs_lag = self.info_lag = 0  # the same for the list of refs, and for `sha` of the repository info
        self.serves_single_objects = False  # git sends packfiles for single trees and blobs
        self.accepts_gzip = False  # git accepts compressed requests; its client compresses those over 1024 bytes
        self.resolve_cache = True  # answer regular files with a redirect to the same origin
        self.buckets: dict[str, Bucket] = {}
        self.spaces: dict[str, Space] = {}
        self.foreign: set[str] = set()  # namespaces in which no token may create anything
        self.without_plan: set[str] = set()  # namespaces that may only have static Spaces
        self.cas = Cas()
        self.leaks: list[str] = []  # requests that sent a token to the second origin
        self.runner = Runner()
        self.jobs: list[dict[str, Any]] = []  # scheduled jobs and jobs
        self.pulls: list[tuple[str, dict[str, bytes]]] = []  # pull requests to models
        self.released = asyncio.Event()
        self._locks: dict[str, threading.Lock] = {}

    def name(self, kind: str, owner: str, name: str) -> str:
        repo = f"{owner}/{name.removesuffix('.git')}"
        return repo if kind == "datasets" else f"{kind}/{repo}"

    def create(self, repo: str) -> BareRepository:
        """Create a repository with the .gitattributes file of the Hub."""
        store = self.store(repo)
        store.make()
        hook = store.folder / "hooks" / "pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(HOOK)
        hook.chmod(0o755)
        store.commit({".gitattributes": ATTRIBUTES}, None, "initial commit")
        return store

    def store(self, repo: str) -> BareRepository:
        return BareRepository(self.root / "git" / f"{repo}.git", lambda: self.clock())

    def commit(
        self, repo: str, changes: dict[str, bytes | None], parent: str, message: str, branch: str = "main"
    ) -> str:
        """Commit without the API and its limits."""
        return self.store(repo).commit(changes, parent, message, branch)

    def locked(self, repo: str) -> threading.Lock:
        return self._locks.setdefault(repo, threading.Lock())

    def whole(self, content: bytes) -> bytes:
        """Return the object behind an LFS pointer, or the content itself if it is not a pointer."""
        pointer = rules.Pointer.parse(content)
        return next((self.root / "lfs").rglob(pointer.oid)).read_bytes() if pointer else content

    def lfs_path(self, repo: str, oid: str) -> Path:
        return self.root / "lfs" / repo / oid

    def lfs_size(self, repo: str, oid: str) -> int | None:
        path = self.lfs_path(repo, oid)
        return path.stat().st_size if path.is_file() else None

    def keep_lfs(self, repo: str, oid: str, content: bytes) -> None:
        path = self.lfs_path(repo, oid)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{oid}.{threading.get_ident()}")
        partial.write_bytes(content)
        partial.replace(path)

    def storage(self, request: Request) -> str:
        """Return the address of the second origin."""
        return f"{request.url.scheme}://{self.storage_host}:{request.url.port}"

    def refusal(self, request: Request, repo: str, write: bool = False, content: bool = False) -> Response | None:
        return self.roles.refusal(request, repo, self.store(repo).folder.is_dir(), write, content)
