"""A stand-in for the Hugging Face Hub on loopback, for the real huggingface_hub client to talk to.

Paths, status codes and headers follow the documented HTTP API: https://huggingface.co/docs/hub/api. A repository
is a folder; its commit is made up from the folder's name. Missing ones answer 401 as the Hub does to strangers.
"""

import hashlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse, JSONResponse


def commit_of(repo: str) -> str:
    return hashlib.sha1(repo.encode(), usedforsecurity=False).hexdigest()


def build(root: Path, gated: frozenset[str] = frozenset()) -> FastAPI:
    app = FastAPI()

    def missing(repo: str, revision: str | None) -> Response | None:
        if not (root / repo).is_dir():
            return JSONResponse({"error": "Repository not found"}, 401, {"X-Error-Code": "RepoNotFound"})
        if revision not in (None, "main", commit_of(repo)):
            return JSONResponse({"error": "Invalid rev id"}, 404, {"X-Error-Code": "RevisionNotFound"})
        return None

    @app.get("/api/models/{owner}/{name}")
    @app.get("/api/models/{owner}/{name}/revision/{revision:path}")
    def model_info(owner: str, name: str, revision: str | None = None) -> Response:
        repo = f"{owner}/{name}"
        if refused := missing(repo, revision):
            return refused
        files = sorted(p.relative_to(root / repo).as_posix() for p in (root / repo).rglob("*") if p.is_file())
        info: dict[str, Any] = {
            "id": repo,
            "modelId": repo,
            "sha": commit_of(repo),
            "private": False,
            "gated": "manual" if repo in gated else False,
            "disabled": False,
            "siblings": [{"rfilename": f} for f in files],
            "tags": [],
            "cardData": {"license": "mit"},
            "safetensors": {"parameters": {"F32": 1234}, "total": 1234},
        }
        return JSONResponse(info)

    @app.get("/api/models/{owner}/{name}/tree/{revision}")
    def tree(owner: str, name: str, revision: str) -> Response:
        repo = f"{owner}/{name}"
        if refused := missing(repo, revision):
            return refused
        entries = [
            {"type": "file", "path": p.relative_to(root / repo).as_posix(), "size": p.stat().st_size, "oid": _etag(p)}
            for p in sorted((root / repo).rglob("*"))
            if p.is_file()
        ]
        return JSONResponse(entries)

    @app.api_route("/{owner}/{name}/resolve/{revision}/{path:path}", methods=["GET", "HEAD"])
    def resolve(owner: str, name: str, revision: str, path: str, request: Request) -> Response:
        repo = f"{owner}/{name}"
        if refused := missing(repo, revision):
            return refused
        headers = {"X-Repo-Commit": commit_of(repo)}
        if repo in gated:
            return JSONResponse({"error": "Access is restricted"}, 403, {**headers, "X-Error-Code": "GatedRepo"})
        file = root / repo / path
        if not file.is_file():
            return JSONResponse({"error": "Entry not found"}, 404, {**headers, "X-Error-Code": "EntryNotFound"})
        return FileResponse(file, headers={**headers, "ETag": f'"{_etag(file)}"'})

    return app


def _etag(path: Path) -> str:
    return hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()


@contextmanager
def serve(app: Any) -> Iterator[str]:
    """The application on a free loopback port while the context lasts; gives its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
