"""Serve the Storage Buckets of the Hub double, for `hf://buckets/OWNER/NAME`.

Sources: `create_bucket` to `download_bucket_files` in `hf_api.py`, `_buckets.py` and `hf_file_system.py` of
huggingface_hub, and https://huggingface.co/docs/hub/storage-buckets. The content of files goes through Xet: see cas.py.
"""

import json
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from scripts.support.hub.cas import EMPTY, token_answer
from scripts.support.hub.jobs import ACCOUNTS
from scripts.support.hub.lfs import signed
from scripts.support.hub.request_parts import Body
from scripts.support.hub.roles import error, token_of
from scripts.support.hub.state import Bucket, BucketFile, HubState, date

PAGE = 1000  # entries


def serve_buckets(app: FastAPI, hub: HubState) -> None:
    buckets = hub.buckets

    def refusal(request: Request, repo: str, write: bool = False) -> Response | None:
        return hub.roles.refusal(request, repo, repo in buckets, write)

    def about(repo: str) -> dict[str, Any]:
        bucket = buckets[repo]
        size = sum(file.size for file in bucket.files.values())
        answer = {
            "id": repo.removeprefix("buckets/"),
            "private": repo not in hub.public,
            "createdAt": date(bucket.created),
        }
        return {**answer, "size": size, "totalFiles": len(bucket.files)}

    def set_visibility(repo: str, private: bool) -> None:
        (hub.public.discard if private else hub.public.add)(repo)

    @app.post("/api/buckets/{owner}/{name}")
    def create(request: Request, owner: str, name: str, body: Body) -> Response:
        who = ACCOUNTS.get(token_of(request) or "", {}).get("name", "me")
        repo = f"buckets/{who if owner == 'me' else owner}/{name}"
        if hub.roles.role(token_of(request), repo) == "none" or owner in hub.foreign:
            return error(request, 403, f'You don\'t have the rights to create a bucket under the namespace "{owner}"')
        if denied := hub.roles.refusal(request, repo, True, write=True):
            return denied
        answer = {"url": f"{request.base_url}{repo}", "id": repo.removeprefix("buckets/"), "name": repo}
        if repo in buckets:
            return JSONResponse({**answer, "error": "You already created this bucket"}, 409)
        buckets[repo] = Bucket(hub.clock())
        set_visibility(repo, json.loads(body or b"{}").get("visibility", "public") == "private")
        return JSONResponse(answer)

    @app.get("/api/buckets/{owner}")
    def listed(request: Request, owner: str) -> Response:
        given = hub.roles.role(token_of(request), f"buckets/{owner}/")
        own = [repo for repo in buckets if repo.startswith(f"buckets/{owner}/")]
        return JSONResponse([about(repo) for repo in own if given != "none" or repo in hub.public])

    @app.get("/api/buckets/{owner}/{name}")
    def info(request: Request, owner: str, name: str) -> Response:
        repo = f"buckets/{owner}/{name}"
        return refusal(request, repo) or JSONResponse(about(repo))

    @app.delete("/api/buckets/{owner}/{name}")
    def delete(request: Request, owner: str, name: str) -> Response:
        repo = f"buckets/{owner}/{name}"
        if denied := refusal(request, repo, write=True):
            return denied
        del buckets[repo]
        return Response(status_code=204)

    @app.put("/api/buckets/{owner}/{name}/settings")
    def settings(request: Request, owner: str, name: str, body: Body) -> Response:
        repo = f"buckets/{owner}/{name}"
        if denied := refusal(request, repo, write=True):
            return denied
        set_visibility(repo, json.loads(body)["private"])
        return JSONResponse(about(repo))

    @app.get("/api/buckets/{owner}/{name}/tree")
    @app.get("/api/buckets/{owner}/{name}/tree/{prefix:path}")
    def tree(request: Request, owner: str, name: str, prefix: str = "") -> Response:
        repo = f"buckets/{owner}/{name}"
        if denied := refusal(request, repo):
            return denied
        params = request.query_params
        answer = _list_files(buckets[repo], prefix, params.get("recursive", "").lower() in ("true", "1"))
        start = int(params.get("cursor", 0))
        headers = {}
        if start + PAGE < len(answer):
            headers["Link"] = f'<{request.url.include_query_params(cursor=start + PAGE)}>; rel="next"'
        return JSONResponse(answer[start : start + PAGE], headers=headers)

    @app.post("/api/buckets/{owner}/{name}/paths-info")
    def paths_info(request: Request, owner: str, name: str, body: Body) -> Response:
        repo = f"buckets/{owner}/{name}"
        if denied := refusal(request, repo):
            return denied
        files = buckets[repo].files
        return JSONResponse([files[path].to_json() for path in json.loads(body)["paths"] if path in files])

    @app.post("/api/buckets/{owner}/{name}/batch")
    def batch(request: Request, owner: str, name: str, body: Body) -> Response:
        repo = f"buckets/{owner}/{name}"
        if denied := refusal(request, repo, write=True):
            return denied
        operations = [json.loads(line) for line in body.splitlines() if line.strip()]
        results = [(operation["path"], _apply_operation(hub, request, repo, operation)) for operation in operations]
        failed = [{"path": path, "error": why} for path, why in results if why]
        answer = {
            "success": not failed,
            "processed": len(results),
            "succeeded": len(results) - len(failed),
            "failed": failed,
        }
        return JSONResponse(answer, 422 if failed and len(failed) == len(results) else 200)

    @app.get("/api/buckets/{owner}/{name}/xet-{scope}-token")
    def token(request: Request, owner: str, name: str, scope: str) -> Response:
        repo = f"buckets/{owner}/{name}"
        return refusal(request, repo, write=scope == "write") or token_answer(hub, request, repo, scope)

    @app.api_route("/buckets/{owner}/{name}/resolve/{path:path}", methods=["GET", "HEAD"])
    def resolve(request: Request, owner: str, name: str, path: str) -> Response:
        repo = f"buckets/{owner}/{name}"
        if denied := refusal(request, repo):
            return denied
        file = buckets[repo].files.get(path)
        if file is None:
            return error(request, 404, "Entry not found", "EntryNotFound")
        refresh = f"{request.base_url}api/buckets/{owner}/{name}/xet-read-token"
        headers = {
            "X-Xet-Hash": file.xet_hash,
            "X-Linked-Size": str(file.size),
            "X-Linked-Etag": f'"{file.xet_hash}"',
            "Link": f'<{refresh}>; rel="xet-auth"',
            "Location": signed(f"{hub.storage(request)}/bridge/{file.xet_hash}"),
        }
        return Response(status_code=302, headers=headers)


def _list_files(bucket: Bucket, prefix: str, recursive: bool) -> list[dict[str, Any]]:
    """Return all files with the prefix or, if not recursive, the files and folders of one level."""
    files = [file for path, file in sorted(bucket.files.items()) if path.startswith(prefix)]
    if recursive:
        return [file.to_json() for file in files]
    is_folder = prefix and not prefix.endswith("/") and prefix not in bucket.files
    depth = prefix.count("/") + bool(is_folder)  # of the level that is listed: 1 for "a", "a/" and the file "a/b.txt"
    answer: dict[str, dict[str, Any]] = {}
    for file in files:
        parts = file.path.split("/")
        if len(parts) == depth + 1:
            answer[file.path] = file.to_json()
        elif len(parts) > depth:
            folder = "/".join(parts[: depth + 1])
            answer[folder] = {"type": "directory", "path": folder, "uploadedAt": date(file.uploaded)}
    return list(answer.values())


def _apply_operation(hub: HubState, request: Request, repo: str, operation: dict[str, Any]) -> str | None:
    """Apply an operation. Return why it failed, or None if it did not."""
    files = hub.buckets[repo].files
    path = operation["path"]
    kind = operation["type"]
    if kind == "deleteFile":
        return None if files.pop(path, None) else "File not found"
    if not path or path.startswith("/") or path.endswith("/") or {"", ".", ".."} & set(path.split("/")):
        return "Invalid path"
    name = operation["xetHash"]
    source = repo
    if kind == "copyFile":
        repo_type = operation["sourceRepoType"]
        source = operation["sourceRepoId"] if repo_type == "dataset" else f"{repo_type}s/{operation['sourceRepoId']}"
        if hub.roles.role(token_of(request), source) == "none" and source not in hub.public:
            return "Source repository not found"
    if name != EMPTY and name not in hub.cas.repo_files.get(source, set()):
        return "Xet file not found"
    size = hub.cas.files[name].size if name in hub.cas.files else 0
    hub.cas.repo_files.setdefault(repo, set()).add(name)
    now = hub.clock()
    files[path] = BucketFile(
        path, size, name, operation.get("mtime", now * 1000) / 1000, now, operation.get("contentType")
    )
    return None
