"""Serve repository info, trees in pages, and files for the Hub double.

Sources: https://huggingface.co/docs/hub/api, `RepoFile`, `paginate`, `get_hf_file_metadata` and `hf_raise_for_status` of
huggingface_hub, https://huggingface.co/docs/hub/rate-limits (resolve-cache)
"""

import base64
import json
import re
from typing import Any
from urllib.parse import parse_qs, quote

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from scripts.support.hub.bare import BareRepository, Entry
from scripts.support.hub.lfs import signed
from scripts.support.hub.request_parts import Body, revision_and_path
from scripts.support.hub.roles import error
from scripts.support.hub.rules import POINTER_SIZE, Pointer
from scripts.support.hub.state import HubState, date

TRUE_VALUES = ("true", "1", "True")


def describe_entries(store: BareRepository, commit: str, entries: list[Entry], expand: bool) -> list[dict[str, Any]]:
    """Return entries as the API does, with size and ID of the object behind an LFS pointer.

    With `expand`, each entry has the commit that was read as its last one. The Hub names the one that changed the entry.
    """
    sizes = store.stat_objects(entry.oid for entry in entries)
    short = [e.oid for e, (_, _, size) in zip(entries, sizes, strict=True) if e.kind == "blob" and size <= POINTER_SIZE]
    contents = dict(zip(short, (content for _, content in store.objects(short)), strict=True))
    newest = store.history(commit, 1)[0]
    listed = []
    for entry, (_, _, size) in zip(entries, sizes, strict=True):
        kind = "file" if entry.kind == "blob" else "directory"
        item: dict[str, Any] = {
            "type": kind,
            "oid": entry.oid,
            "size": size if kind == "file" else 0,
            "path": entry.path,
        }
        if pointer := Pointer.parse(contents.get(entry.oid, b"")) if kind == "file" else None:
            item |= {"size": pointer.size, "lfs": {"oid": pointer.oid, "size": pointer.size, "pointerSize": size}}
        if expand:
            item["lastCommit"] = {
                "id": newest.id,
                "title": newest.message.splitlines()[0],
                "date": date(newest.seconds),
            }
        listed.append(item)
    return listed


def serve_reading(app: FastAPI, hub: HubState, kind: str) -> None:
    """Add the routes that read the repositories of a kind, "datasets" or "spaces"."""

    def find_commit(request: Request, repo: str, revision: str, content: bool = False) -> tuple[str, Response | None]:
        """Return the commit of a revision, or the refusal of the request."""
        if denied := hub.refusal(request, repo, content=content):
            return "", denied
        commit = hub.store(repo).find(revision)
        if commit is None:
            return "", error(request, 404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return commit, None

    @app.get(f"/api/{kind}/{{owner}}/{{name}}")
    @app.get(f"/api/{kind}/{{owner}}/{{name}}/revision/{{revision:path}}")
    def info(request: Request, owner: str, name: str, revision: str = "main") -> Response:
        repo = hub.name(kind, owner, name)
        commit, denied = find_commit(request, repo, revision)
        if denied:
            return denied
        store = hub.store(repo)
        if hub.info_lag and revision == "main" and len(before := store.history(commit, 2)) > 1:
            hub.info_lag -= 1
            commit = before[1].id
        entries = [entry for entry in store.entries(commit, recursive=True) if entry.kind == "blob"]
        siblings: list[dict[str, Any]] = [{"rfilename": entry.path} for entry in entries]
        if request.query_params.get("blobs", "") in TRUE_VALUES:
            for sibling, one in zip(siblings, describe_entries(store, commit, entries, False), strict=True):
                sibling |= {"size": one["size"], "blobId": one["oid"]}
                if lfs := one.get("lfs"):
                    sibling["lfs"] = {"sha256": lfs["oid"], "size": lfs["size"], "pointerSize": lfs["pointerSize"]}
        answer = {
            "id": f"{owner}/{name}",
            "author": owner,
            "sha": commit,
            "lastModified": date(store.history(commit, 1)[0].seconds),
            "private": repo not in hub.public,
            "gated": "manual" if repo in hub.gated else False,
            "disabled": False,
            "tags": [],
            "siblings": siblings,
        }
        if kind == "spaces":
            answer["sdk"] = hub.spaces[repo].sdk if repo in hub.spaces else "gradio"
        return JSONResponse(answer)

    @app.get(f"/api/{kind}/{{owner}}/{{name}}/tree/{{revision_and_path:path}}")
    def tree(request: Request, owner: str, name: str) -> Response:
        revision, path = revision_and_path(request, parts_before=5)
        repo = hub.name(kind, owner, name)
        requested = request.query_params
        commit, denied = find_commit(request, repo, revision)
        if denied:
            return denied
        store = hub.store(repo)
        try:
            entries = store.entries(commit, path.strip("/"), requested.get("recursive", "") in TRUE_VALUES)
        except KeyError:
            return error(request, 404, f"{path} does not exist on {revision!r}", "EntryNotFound")
        expand = requested.get("expand", "") in TRUE_VALUES
        most = hub.limits.tree_page_expanded if expand else hub.limits.tree_page
        size = max(1, min(int(requested.get("limit", most)), most))
        start = int(base64.urlsafe_b64decode(requested["cursor"])) if "cursor" in requested else 0
        headers = {}
        if start + size < len(entries):
            cursor = base64.urlsafe_b64encode(str(start + size).encode()).decode()
            headers["Link"] = f'<{request.url.include_query_params(cursor=cursor)}>; rel="next"'
        return JSONResponse(describe_entries(store, commit, entries[start : start + size], expand), headers=headers)

    @app.post(f"/api/{kind}/{{owner}}/{{name}}/paths-info/{{revision:path}}")
    def paths_info(request: Request, owner: str, name: str, revision: str, body: Body) -> Response:
        repo = hub.name(kind, owner, name)
        commit, denied = find_commit(request, repo, revision)
        if denied:
            return denied
        if "json" in request.headers.get("Content-Type", ""):
            fields = json.loads(body)
            expand = bool(fields.get("expand"))
        else:
            fields = parse_qs(body.decode())
            expand = fields.get("expand", [""])[0] in TRUE_VALUES
        store = hub.store(repo)
        paths = [path.strip("/") for path in fields["paths"]]
        objects = zip(paths, store.stat_objects(f"{commit}:{path}" for path in paths), strict=True)
        entries = [Entry(path, object_type, oid) for path, (object_type, oid, _) in objects if object_type != "missing"]
        return JSONResponse(describe_entries(store, commit, entries, expand))

    @app.api_route(f"/{kind}/{{owner}}/{{name}}/resolve/{{revision_and_path:path}}", methods=["GET", "HEAD"])
    def resolve(request: Request, owner: str, name: str) -> Response:
        """Redirect to the content of a file: an LFS file by 302 to the storage, another by 307 to the same origin.

        X-Linked-Etag and X-Linked-Size describe the content, because the client asks for them by HEAD and does not follow a
        redirect to another origin.
        """
        revision, path = revision_and_path(request, parts_before=4)
        repo = hub.name(kind, owner, name)
        commit, denied = find_commit(request, repo, revision, content=True)
        if denied:
            return denied
        store = hub.store(repo)
        ((object_type, oid, size),) = store.stat_objects([f"{commit}:{path}"])
        headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if object_type != "blob":
            return error(request, 404, "Entry not found", "EntryNotFound", headers)
        pointer = Pointer.parse(store.read(path, commit)) if size <= POINTER_SIZE else None
        etag, whole = (pointer.oid, pointer.size) if pointer else (oid, size)
        headers |= {"X-Linked-Etag": f'"{etag}"', "X-Linked-Size": str(whole)}
        if pointer:
            address = signed(f"{hub.storage(request)}/lfs/{repo}/{pointer.oid}")
            if xet := hub.cas.lfs.get((repo, pointer.oid)):
                refresh = f"{request.base_url}api/{kind}/{owner}/{name}/xet-read-token/{commit}"
                headers |= {"X-Xet-Hash": xet, "Link": f'<{refresh}>; rel="xet-auth"'}
            return Response(status_code=302, headers={**headers, "Location": address})
        if not hub.resolve_cache:
            return ranged(request, store.read(path, commit), {**headers, "ETag": f'"{oid}"'})
        address = f"/api/resolve-cache/{kind}/{owner}/{name}/{commit}/{quote(path)}?etag={quote(oid)}"
        return Response(status_code=307, headers={**headers, "Location": address})

    @app.api_route(f"/api/resolve-cache/{kind}/{{owner}}/{{name}}/{{commit}}/{{path:path}}", methods=["GET", "HEAD"])
    def cached(request: Request, owner: str, name: str, commit: str, path: str) -> Response:
        repo = hub.name(kind, owner, name)
        _, denied = find_commit(request, repo, commit, content=True)
        if denied:
            return denied
        ((object_type, oid, _),) = hub.store(repo).stat_objects([f"{commit}:{path}"])
        if object_type != "blob":
            return error(request, 404, "Entry not found", "EntryNotFound")
        headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes", "ETag": f'"{oid}"'}
        return ranged(request, hub.store(repo).read(path, commit), headers)


def ranged(request: Request, content: bytes, headers: dict[str, str]) -> Response:
    """Return the content, or the part of it that the Range header asks for."""
    part = requested_part(request, len(content))
    if part is None:
        return Response(content, headers=headers, media_type="application/octet-stream")
    if not part:
        return Response(status_code=416, headers={**headers, "Content-Range": f"bytes */{len(content)}"})
    range_headers = {**headers, "Content-Range": f"bytes {part.start}-{part.stop - 1}/{len(content)}"}
    return Response(content[part.start : part.stop], 206, range_headers, "application/octet-stream")


def requested_part(request: Request, size: int) -> range | None:
    """Return the places that the Range header asks for: "bytes=2-5", "bytes=2-" or the last 5 "bytes=-5".

    Return None if there is none, or one that is ignored as invalid: of another form, or that ends before it starts. The range
    is empty if it lies beyond the content, and must be refused then.

    Source: https://www.rfc-editor.org/rfc/rfc9110#name-range
    """
    requested = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("Range", ""))
    first, last = requested.groups() if requested else ("", "")
    if first and last:
        return None if int(last) < int(first) else range(int(first), min(int(last) + 1, size))
    if first:
        return range(int(first), size)
    if last:
        return range(max(0, size - int(last)), size)
    return None
