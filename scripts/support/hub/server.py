"""Imitate the reading side of the Hugging Face Hub on loopback, for the real huggingface_hub and datasets clients.

Paths, status codes and headers follow the documented HTTP API: https://huggingface.co/docs/hub/api. A model is a
folder `owner/name`, a dataset a folder `datasets/owner/name`; its commit is a hash of that name. Missing
repositories answer 401, as the Hub does without a token, and so do private ones without their token.
"""

import hashlib
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import FastAPI, Form, Request, Response
from fastapi.responses import FileResponse, JSONResponse
from huggingface_hub import ModelCard

from scripts.support.hub.request_parts import revision_and_path


def commit_of(repo: str) -> str:
    """Return the newest commit on main."""
    return hashlib.sha1(repo.encode(), usedforsecurity=False).hexdigest()


def older_commit_of(repo: str) -> str:
    """Return the commit before the newest on main, which has the tag v1."""
    return commit_of(f"{repo} v1")


def pull_request_of(repo: str) -> str:
    """Return the commit of the pull request `refs/pr/1`. The Hub serves it like any other, but it is in no branch."""
    return commit_of(f"{repo} pull request")


def _revisions(repo: str) -> dict[str | None, str]:
    new = commit_of(repo)
    old = older_commit_of(repo)
    pull = pull_request_of(repo)
    return {None: new, "main": new, new: new, "v1": old, old: old, "refs/pr/1": pull, pull: pull}


def build(
    root: Path,
    gated: frozenset[str] = frozenset(),
    private: Mapping[str, str] = {},
    forged: Mapping[str, bytes] = {},
) -> FastAPI:
    """Return the double for the repositories under `root`.

    `private` maps a repository to the token that may read it. `forged` are files that every repository claims to have,
    under names that a file system does not allow.
    """
    app = FastAPI()

    def refusal(request: Request, repo: str, revision: str | None = None) -> Response | None:
        hidden = repo in private and request.headers.get("Authorization") != f"Bearer {private[repo]}"
        if hidden or not (root / repo).is_dir():
            return JSONResponse({"error": "Repository not found"}, 401, {"X-Error-Code": "RepoNotFound"})
        if revision not in _revisions(repo):
            return JSONResponse({"error": "Invalid rev id"}, 404, {"X-Error-Code": "RevisionNotFound"})
        return None

    def entry(repo: str, path: Path) -> dict[str, Any]:
        name = path.relative_to(root / repo).as_posix()
        if path.is_dir():
            return {"type": "directory", "path": name, "size": 0, "oid": commit_of(name)}
        return {"type": "file", "path": name, "size": path.stat().st_size, "oid": _etag(path)}

    def info(request: Request, repo: str, revision: str | None = None) -> Response:
        if refused := refusal(request, repo, revision):
            return refused
        files = sorted(p for p in (root / repo).rglob("*") if p.is_file())
        card = root / repo / "README.md"
        content: dict[str, Any] = {
            "id": repo.removeprefix("datasets/"),
            "sha": _revisions(repo)[revision],
            "private": repo in private,
            "gated": "manual" if repo in gated else False,
            "disabled": False,
            "siblings": [
                *({"rfilename": entry(repo, f)["path"], "size": f.stat().st_size} for f in files),
                *({"rfilename": name, "size": len(content)} for name, content in forged.items()),
            ],
            "tags": [],
            "cardData": ModelCard.load(card).data.to_dict() if card.exists() else {},
        }
        if not repo.startswith("datasets/"):
            content |= {"modelId": repo}
        return JSONResponse(content)

    def tree(request: Request, repo: str, revision: str, path: str = "") -> Response:
        if refused := refusal(request, repo, revision):
            return refused
        folder = root / repo / path
        if not folder.is_dir():
            return JSONResponse({"error": "Entry not found"}, 404, {"X-Error-Code": "EntryNotFound"})
        found = (
            folder.rglob("*") if request.query_params.get("recursive") in ("true", "True", "1") else folder.glob("*")
        )
        claimed = [{"type": "file", "path": n, "size": len(c), "oid": commit_of(n)} for n, c in forged.items()]
        return JSONResponse([*(entry(repo, p) for p in sorted(found)), *claimed])

    def resolve(request: Request, repo: str, revision: str, path: str) -> Response:
        if refused := refusal(request, repo, revision):
            return refused
        headers = {"X-Repo-Commit": _revisions(repo)[revision]}
        if repo in gated:
            return JSONResponse({"error": "Access is restricted"}, 403, {**headers, "X-Error-Code": "GatedRepo"})
        if path in forged:
            return Response(forged[path], headers={**headers, "ETag": f'"{commit_of(path)}"'})
        file = root / repo / path
        if not file.is_file():
            return JSONResponse({"error": "Entry not found"}, 404, {**headers, "X-Error-Code": "EntryNotFound"})
        return FileResponse(file, headers={**headers, "ETag": f'"{_etag(file)}"'})

    @app.get("/api/models/{owner}/{name}")
    @app.get("/api/models/{owner}/{name}/revision/{revision:path}")
    def model_info(request: Request, owner: str, name: str, revision: str | None = None) -> Response:
        return info(request, f"{owner}/{name}", revision)

    @app.get("/api/datasets/{owner}/{name}")
    @app.get("/api/datasets/{owner}/{name}/revision/{revision:path}")
    def dataset_info(request: Request, owner: str, name: str, revision: str | None = None) -> Response:
        return info(request, f"datasets/{owner}/{name}", revision)

    # Source: https://huggingface.co/docs/hub/api, the endpoints behind list_repo_refs and list_repo_commits
    @app.get("/api/models/{owner}/{name}/refs")
    def refs(request: Request, owner: str, name: str) -> Response:
        repo = f"{owner}/{name}"
        main = {"name": "main", "ref": "refs/heads/main", "targetCommit": commit_of(repo)}
        tag = {"name": "v1", "ref": "refs/tags/v1", "targetCommit": older_commit_of(repo)}
        return refusal(request, repo) or JSONResponse({"branches": [main], "tags": [tag], "converts": []})

    @app.get("/api/models/{owner}/{name}/commits/{revision:path}")
    def commits(request: Request, owner: str, name: str, revision: str) -> Response:
        repo = f"{owner}/{name}"
        written = {"title": "", "message": "", "authors": [], "date": "2026-01-01T00:00:00.000Z"}
        history = [{"id": commit, **written} for commit in (commit_of(repo), older_commit_of(repo))]
        return refusal(request, repo, revision) or JSONResponse(history)

    @app.get("/api/models/{owner}/{name}/tree/{revision:path}")
    def model_tree(request: Request, owner: str, name: str, revision: str) -> Response:
        return tree(request, f"{owner}/{name}", revision)

    @app.get("/api/datasets/{owner}/{name}/tree/{revision_and_path:path}")
    def dataset_tree(request: Request, owner: str, name: str) -> Response:
        revision, path = revision_and_path(request, parts_before=5)
        return tree(request, f"datasets/{owner}/{name}", revision, path)

    @app.post("/api/datasets/{owner}/{name}/paths-info/{revision:path}")
    def paths_info(
        request: Request, owner: str, name: str, revision: str, paths: Annotated[list[str], Form()]
    ) -> Response:
        repo = f"datasets/{owner}/{name}"
        found = [root / repo / path for path in paths]
        return refusal(request, repo, revision) or JSONResponse([entry(repo, p) for p in found if p.exists()])

    @app.api_route("/datasets/{owner}/{name}/resolve/{revision_and_path:path}", methods=["GET", "HEAD"])
    def resolve_dataset(request: Request, owner: str, name: str) -> Response:
        revision, path = revision_and_path(request, parts_before=4)
        return resolve(request, f"datasets/{owner}/{name}", revision, path)

    @app.api_route("/{owner}/{name}/resolve/{revision_and_path:path}", methods=["GET", "HEAD"])
    def resolve_model(request: Request, owner: str, name: str) -> Response:
        revision, path = revision_and_path(request, parts_before=3)
        return resolve(request, f"{owner}/{name}", revision, path)

    return app


def _etag(path: Path) -> str:
    return hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()


@contextmanager
def serve(app: Any, **options: Any) -> Iterator[str]:
    """Run the application on a free loopback port while the context lasts, and yield its address."""
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:  # asyncio sets TCP_NODELAY only if the protocol is given
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", **options))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
