"""Imitate the Hugging Face Hub with real bare git repositories and Storage Buckets.

The double follows the Hub's documentation and the code of its clients, and imports nothing of the project under test. Each
module names its sources. Tests may set limits and delays as attributes; the defaults are those of the Hub.
"""

import asyncio
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from scripts.support.hub import rules
from scripts.support.hub.bare import BareRepository
from scripts.support.hub.buckets import Bucket, serve_buckets
from scripts.support.hub.cas import Cas, serve_cas, serve_tokens
from scripts.support.hub.commits import serve_commits
from scripts.support.hub.faults import Fault as Fault
from scripts.support.hub.faults import RateLimits, cut_body, discard, rate_limited
from scripts.support.hub.git_http import serve_git
from scripts.support.hub.jobs import TOKEN as TOKEN
from scripts.support.hub.jobs import Runner, serve_jobs
from scripts.support.hub.lfs import serve_lfs, serve_storage
from scripts.support.hub.reading import serve_reading
from scripts.support.hub.refs import serve_refs
from scripts.support.hub.roles import Role, Roles, token_of
from scripts.support.hub.server import build
from scripts.support.hub.spaces import Space, serve_spaces

BINARY = (
    "*.7z *.arrow *.avro *.bin *.bz2 *.ckpt *.ftz *.gz *.h5 *.joblib *.lz4 *.mds *.mlmodel *.model *.msgpack *.npy *.npz "
    "*.onnx *.ot *.parquet *.pb *.pickle *.pkl *.pt *.pth *.rar *.safetensors saved_model/**/* *.tar.* *.tar *.tflite *.tgz "
    "*.wasm *.xz *.zip *.zst *tfevents* *.pcm *.sam *.raw *.aac *.flac *.mp3 *.ogg *.wav *.bmp *.gif *.png *.tiff *.jpg "
    "*.jpeg *.webp *.mp4 *.webm"
)
ATTRIBUTES = "".join(f"{pattern} filter=lfs diff=lfs merge=lfs -text\n" for pattern in BINARY.split()).encode()
HOOK = f"#!/bin/sh\nexec '{sys.executable}' -I '{rules.__file__}'\n"


class Hub:
    """The double as an ASGI application, with repositories under a folder and faults on demand.

    A dataset is named `owner/name`, a Space `spaces/owner/name` and a bucket `buckets/owner/name`.
    """

    storage_host = "localhost"  # host of the second origin, which is the same server and port

    def __init__(self, root: Path, clock: Callable[[], float] = time.time) -> None:
        self.root = root
        self.clock = clock
        self.app = FastAPI(openapi_url=None)
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
        self.without_plan: set[str] = set()  # namespaces that may not have a Gradio Space
        self.cas = Cas()
        self.leaks: list[str] = []  # requests that sent a token to the second origin
        self.runner = Runner()
        self.jobs: list[dict[str, Any]] = []  # scheduled jobs and jobs
        self.pulls: list[tuple[str, dict[str, bytes]]] = []  # pull requests to models
        self.released = asyncio.Event()
        self._locks: dict[str, threading.Lock] = {}
        for kind in ("datasets", "spaces"):
            for serve in (serve_commits, serve_refs, serve_lfs, serve_git, serve_tokens):
                serve(self.app, self, kind)
        # The header of a README.md is always valid.
        self.app.post("/api/validate-yaml")(lambda: {"errors": [], "warnings": []})
        serve_reading(self.app, self, "datasets")
        serve_storage(self.app, self)
        serve_buckets(self.app, self)
        serve_cas(self.app, self)
        serve_spaces(self.app, self)
        serve_jobs(self.app, self.jobs, self.pulls, self.runner)
        serve_reading(self.app, self, "spaces")
        self.app.mount("/", build(root))  # models

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

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request = f"{scope['method']} {scope['path']}"
        self.seen.append(request)
        fault = next((f for f in self.faults if f.takes(request)), None)
        receive, send = self._counting(receive, send, scope["method"] == "HEAD")
        if fault and fault.hang:
            await self.released.wait()
            return None
        if fault is None or fault.cut:
            return await self._serve(scope, receive, cut_body(send) if fault else send)
        if fault.landed:
            await self._serve(scope, receive, discard)
        response: Response = JSONResponse({"error": "a fault on demand"}, fault.status, fault.headers)
        return await response(scope, receive, send)

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        name = {"X-Request-Id": f"Root=1-{len(self.seen):08x}"}
        over, headers = self.rates.headers(scope["path"], token_of(Request(scope)) or "")
        if over is not None:
            return await rate_limited(over, headers)(scope, receive, send)

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                given = [(k.lower().encode(), v.encode()) for k, v in {**name, **headers}.items()]
                message = {**message, "headers": [*given, *message["headers"]]}
            await send(message)

        return await self.app(scope, receive, send_with_headers)

    def _counting(self, receive: Any, send: Any, head: bool) -> tuple[Any, Any]:
        async def received() -> Any:
            message = await receive()
            self.received += len(message.get("body", b""))
            return message

        async def sent(message: Any) -> None:
            self.sent += 0 if head else len(message.get("body", b""))
            await send(message)

        return received, sent
