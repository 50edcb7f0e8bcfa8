"""Dataset repositories of the Hub double: real bare git repositories, written by the Hub's commit API.

Reading through git is git's own HTTP backend. What the Hub does beside git (LFS for binary files, no check of the
parent where nothing would change) is done here. Paths and bodies: https://huggingface.co/docs/hub/api and
https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md.
"""

import asyncio
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from fastapi import FastAPI, Form, Request, Response
from fastapi.responses import JSONResponse

from submissions.errors import ConflictError
from submissions.store.base import POINTER, blob_id
from submissions.store.git import GitStore
from tests.support.hub.jobs import TOKEN as TOKEN
from tests.support.hub.jobs import serve_jobs
from tests.support.hub.server import build

ATTRIBUTES = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"


@dataclass
class Fault:
    """What goes wrong with requests whose method and path fit, the next `times` of them."""

    match: str  # regular expression over "METHOD /path"
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    landed: bool = False  # the request is served all the same, only its answer is lost
    cut: bool = False  # the answer comes with half of its body
    hang: bool = False  # no answer comes
    times: int = 1


class Hub:
    """The double as an ASGI application: repositories under a folder, and faults on demand."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.app = FastAPI()
        self.faults: list[Fault] = []
        self.seen: list[str] = []  # requests, "METHOD /path"
        self.tokens = {TOKEN}
        self.commits = 0
        self.lag = 0  # times that git still shows the commit before the newest
        self.public: set[str] = set()  # repositories that anybody may read
        self.jobs: list[dict[str, Any]] = []  # scheduled jobs, jobs and webhooks
        self.pulls: list[tuple[str, dict[str, bytes]]] = []  # pull requests to models
        self.released = asyncio.Event()
        _writing(self)
        _reading(self)
        serve_jobs(self.app, self.jobs, self.pulls)
        self.app.mount("/", build(root))  # models

    def create(self, repo: str) -> GitStore:
        """A new dataset repository, with the attributes the Hub puts into it."""
        store = self.store(repo)
        self.commit(repo, {".gitattributes": ATTRIBUTES}, store.head(), "initial commit")
        return store

    def store(self, repo: str) -> GitStore:
        return GitStore(self.root / "git" / f"{repo}.git")

    def commit(self, repo: str, changes: dict[str, bytes | None], parent: str, message: str) -> str:
        return self.store(repo).commit(changes, parent, message)

    def whole(self, content: bytes) -> bytes:
        """What an LFS pointer stands for, or the content itself."""
        if not content.startswith(POINTER):
            return content
        return (self.root / "lfs" / content.split(b"sha256:")[1][:64].decode()).read_bytes()

    def refusal(self, request: Request, repo: str) -> Response | None:
        given = request.headers.get("Authorization", "")
        if given.startswith("Basic "):
            given = f"Bearer {base64.b64decode(given[6:]).decode().partition(':')[2]}"
        known = (self.root / "git" / f"{repo}.git").is_dir()
        if not known or given.removeprefix("Bearer ") not in self.tokens:
            return JSONResponse({"error": "Repository not found"}, 401, {"X-Error-Code": "RepoNotFound"})
        return None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request = f"{scope['method']} {scope['path']}"
        self.seen.append(request)
        fault = next((f for f in self.faults if f.times > 0 and re.search(f.match, request)), None)
        if fault is None:
            return await self.app(scope, receive, send)
        fault.times -= 1
        if fault.hang:
            await self.released.wait()
            return None
        if fault.cut:
            return await self.app(scope, receive, _cutting(send))
        if fault.landed:
            await self.app(scope, receive, _nowhere)
        response = JSONResponse({"error": "a fault on demand"}, fault.status, fault.headers)
        return await response(scope, receive, send)


async def _nowhere(message: Any) -> None:
    pass


def _cutting(send: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
    """Half of each piece of the body, under a length that fits, as a proxy does that lost its upstream."""
    start: dict[str, Any] = {}

    async def cut(message: Any) -> None:
        if message["type"] == "http.response.start":
            start.update(message, headers=[(k, v) for k, v in message["headers"] if k.lower() != b"content-length"])
            await send(start)
        else:
            await send({**message, "body": message.get("body", b"")[: len(message.get("body", b"")) // 2]})

    return cut


def _reading(hub: Hub) -> None:
    app = hub.app

    def entries(repo: str, revision: str) -> list[dict[str, Any]]:
        store = hub.store(repo)
        snapshot = store.snapshot(head=None if revision == "main" else revision)
        folders = {str(f) for path in snapshot.files for f in PurePosixPath(path).parents} - {"."}
        listed = [{"type": "directory", "path": f, "size": 0, "oid": "0" * 40} for f in sorted(folders)]
        for path, blob in snapshot.files.items():
            content = store.read(path, snapshot.head)
            entry = {"type": "file", "path": path, "size": len(hub.whole(content)), "oid": blob}
            if content.startswith(POINTER):
                oid = content.split(b"sha256:")[1][:64].decode()
                entry["lfs"] = {"oid": oid, "size": entry["size"], "pointerSize": len(content)}
            listed.append(entry)
        return listed

    @app.get("/api/datasets/{owner}/{name}")
    @app.get("/api/datasets/{owner}/{name}/revision/{revision:path}")
    def info(request: Request, owner: str, name: str, revision: str = "main") -> Response:
        repo = f"{owner}/{name}"
        if no := hub.refusal(request, repo):
            return no
        siblings = [{"rfilename": e["path"]} for e in entries(repo, revision) if e["type"] == "file"]
        head = hub.store(repo).head() if revision == "main" else revision
        content = {
            "id": repo,
            "sha": head,
            "private": repo not in hub.public,
            "gated": False,
            "disabled": False,
            "tags": [],
        }
        return JSONResponse({**content, "siblings": siblings})

    @app.get("/api/datasets/{owner}/{name}/tree/{revision}")
    @app.get("/api/datasets/{owner}/{name}/tree/{revision}/{path:path}")
    def tree(request: Request, owner: str, name: str, revision: str, path: str = "") -> Response:
        if no := hub.refusal(request, f"{owner}/{name}"):
            return no
        deep = request.query_params.get("recursive", "").lower() in ("true", "1")
        below = [e for e in entries(f"{owner}/{name}", revision) if e["path"].startswith(f"{path}/" if path else "")]
        depth = len(PurePosixPath(path).parts) + 1
        return JSONResponse([e for e in below if deep or len(PurePosixPath(e["path"]).parts) == depth])

    @app.post("/api/datasets/{owner}/{name}/paths-info/{revision}")
    def paths_info(
        request: Request, owner: str, name: str, revision: str, paths: Annotated[list[str], Form()]
    ) -> Response:
        repo = f"{owner}/{name}"
        return hub.refusal(request, repo) or JSONResponse([e for e in entries(repo, revision) if e["path"] in paths])

    @app.api_route("/datasets/{owner}/{name}/resolve/{revision}/{path:path}", methods=["GET", "HEAD"])
    def resolve(request: Request, owner: str, name: str, revision: str, path: str) -> Response:
        repo = f"{owner}/{name}"
        if no := hub.refusal(request, repo):
            return no
        store = hub.store(repo)
        head = store.head() if revision == "main" else revision
        headers = {"X-Repo-Commit": head}
        try:
            content = hub.whole(store.read(path, head))
        except KeyError:
            return JSONResponse({"error": "Entry not found"}, 404, {**headers, "X-Error-Code": "EntryNotFound"})
        return Response(content, headers={**headers, "ETag": f'"{hashlib.sha256(content).hexdigest()}"'})


def _writing(hub: Hub) -> None:
    app = hub.app

    @app.get("/api/datasets/{owner}/{name}/refs")
    def refs(request: Request, owner: str, name: str) -> Response:
        repo = f"{owner}/{name}"
        if no := hub.refusal(request, repo):
            return no
        folder = hub.root / "git" / f"{repo}.git/refs/heads"
        branches = [p for p in sorted(folder.iterdir()) if not p.name.endswith(".lock")]
        listed = [
            {"name": p.name, "ref": f"refs/heads/{p.name}", "targetCommit": p.read_text().strip()} for p in branches
        ]
        return JSONResponse({"branches": listed, "tags": [], "converts": []})

    @app.post("/api/datasets/{owner}/{name}/branch/{branch}")
    async def branch(request: Request, owner: str, name: str, branch: str) -> Response:
        repo = f"{owner}/{name}"
        if no := hub.refusal(request, repo):
            return no
        folder = hub.root / "git" / f"{repo}.git/refs/heads"
        if (folder / branch).exists():
            return JSONResponse({"error": "Reference already exists"}, 409)
        (folder / branch).write_text((folder / "main").read_text())
        return JSONResponse({})

    @app.post("/api/datasets/{owner}/{name}/super-squash/{branch}")
    async def squash(request: Request, owner: str, name: str, branch: str) -> Response:
        repo = f"{owner}/{name}"
        if no := hub.refusal(request, repo):
            return no
        hub.store(repo).tidy()
        return JSONResponse({})

    @app.post("/api/datasets/{owner}/{name}/preupload/{revision}")
    async def preupload(request: Request, owner: str, name: str, revision: str) -> Response:
        repo = f"{owner}/{name}"
        if no := hub.refusal(request, repo):
            return no
        files = hub.store(repo).snapshot().files
        answer = []
        for file in (await request.json())["files"]:
            binary = b"\0" in base64.b64decode(file["sample"]) or file["path"].endswith(".parquet")
            mode = {"uploadMode": "lfs" if binary and file["size"] else "regular", "shouldIgnore": False}
            answer.append({"path": file["path"], **mode, "oid": files.get(file["path"])})
        return JSONResponse({"files": answer})

    @app.post("/datasets/{owner}/{name}/info/lfs/objects/batch")
    async def batch(request: Request, owner: str, name: str) -> Response:
        if no := hub.refusal(request, f"{owner}/{name.removesuffix('.git')}"):
            return no
        objects = (await request.json())["objects"]
        address = str(request.base_url)
        actions = [{**o, "actions": {"upload": {"href": f"{address}lfs/{o['oid']}"}}} for o in objects]
        kept = [o for o in objects if (hub.root / "lfs" / o["oid"]).exists()]
        return JSONResponse({"transfer": "basic", "objects": [o for o in actions if {**o, "actions": 0} not in kept]})

    @app.put("/lfs/{oid}")
    async def upload(request: Request, oid: str) -> Response:
        content = await request.body()
        if hashlib.sha256(content).hexdigest() != oid:
            return Response(status_code=400)
        (hub.root / "lfs").mkdir(exist_ok=True)
        partial = hub.root / "lfs" / f"{oid}.{id(request)}"
        partial.write_bytes(content)
        partial.replace(hub.root / "lfs" / oid)
        return Response()

    @app.post("/api/datasets/{owner}/{name}/commit/{revision}")
    async def commit(request: Request, owner: str, name: str, revision: str) -> Response:
        repo = f"{owner}/{name}"
        if no := hub.refusal(request, repo):
            return no
        lines = [json.loads(line) for line in (await request.body()).splitlines()]
        header = lines[0]["value"]
        changes: dict[str, bytes | None] = {}
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                changes[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                changes[value["path"]] = POINTER + f"oid sha256:{value['oid']}\nsize {value['size']}\n".encode()
            else:
                changes[value["path"]] = None
        store = hub.store(repo)
        snapshot = store.snapshot()
        if missing := [p for p, content in changes.items() if content is None and p not in snapshot.files]:
            return JSONResponse({"error": f"A file with this name doesn't exist: {missing[0]}"}, 404)
        same = all(content is not None and snapshot.files.get(p) == blob_id(content) for p, content in changes.items())
        head = snapshot.head
        if not same:  # else success, whatever the parent
            parent = header.get("parentCommit", head)
            message = f"{header['summary']}\n\n{header['description']}"
            try:
                head = await asyncio.to_thread(hub.commit, repo, changes, parent, message)
            except ConflictError:
                error = "A commit has happened since. Please refresh and try again."
                return JSONResponse({"error": error}, 412)
            hub.commits += 1
        return JSONResponse(
            {"success": True, "commitOid": head, "commitUrl": f"{request.base_url}{repo}/commit/{head}"}
        )

    @app.api_route("/datasets/{owner}/{name}/info/refs", methods=["GET"])
    @app.api_route("/datasets/{owner}/{name}/git-upload-pack", methods=["POST"])
    async def git(request: Request, owner: str, name: str) -> Response:
        repo = f"{owner}/{name.removesuffix('.git')}"
        if no := hub.refusal(request, repo):
            return no
        body = await request.body()
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(hub.root / "git"),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": request.url.path.replace("/datasets", "", 1).replace(
                f"/{name}/", f"/{repo.split('/')[1]}.git/"
            ),
            "QUERY_STRING": request.url.query,
            "REQUEST_METHOD": request.method,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "uploadpack.allowFilter",
            "GIT_CONFIG_VALUE_0": "true",
        }
        backend = await asyncio.to_thread(
            subprocess.run,
            [shutil.which("git") or "git", "http-backend"],
            env=environment,
            input=body,
            stdout=subprocess.PIPE,
            check=False,
        )
        shown = backend.stdout
        if hub.lag and request.method == "GET":
            hub.lag -= 1
            newest, before, *_ = [commit.id.encode() for commit in hub.store(repo).history(hub.store(repo).head())]
            shown = shown.replace(newest, before)
        head, _, content = shown.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        status = int(headers.pop("Status", "200").split()[0])
        return Response(content, status, headers)
