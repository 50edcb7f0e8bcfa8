"""Serve preuploads and commits for the Hub double, with the Hub's limits.

Sources: `_commit_api.py` of huggingface_hub (request bodies, responses), https://huggingface.co/docs/hub/storage-limits,
https://github.com/huggingface/dataset-viewer/issues/2206 (412), https://github.com/huggingface/datasets/issues/6257
(the quota of commits)
"""

import base64
import hashlib
import json
from collections import deque
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from scripts.support.hub.bare import BareRepository, MovedError
from scripts.support.hub.faults import rate_limit_headers
from scripts.support.hub.request_parts import Body
from scripts.support.hub.roles import error
from scripts.support.hub.rules import (
    POINTER_SIZE,
    Pointer,
    is_binary,
    is_lfs,
    refused_files,
    refused_folders,
    refused_pointers,
)
from scripts.support.hub.state import HubState

HOUR = 3600
Changes = dict[str, bytes | None]  # new contents by path; None: deleted
Trees = dict[str, dict[str, str]]  # the object IDs in each folder by name


class RefusedError(Exception):
    """A commit is refused, with the Hub's message."""

    def __init__(self, status: int, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code = status, code


def blob_of(content: bytes) -> str:
    """Return the git object ID of a blob.

    Source: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
    """
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


def serve_commits(app: FastAPI, hub: HubState, kind: str) -> None:
    @app.post(f"/api/{kind}/{{owner}}/{{name}}/preupload/{{revision:path}}")
    def preupload(request: Request, owner: str, name: str, revision: str, body: Body) -> Response:
        repo = hub.name(kind, owner, name)
        if denied := hub.refusal(request, repo, write=True):
            return denied
        store = hub.store(repo)
        head = store.find(revision)
        if head is None:
            return error(request, 404, f"Invalid rev id: {revision}", "RevisionNotFound")
        files = json.loads(body)["files"]
        attributes, *contents = _read_short_files(store, head, [".gitattributes", *(file["path"] for file in files)])
        rules = attributes if isinstance(attributes, bytes) else b""
        answer = []
        for file, known in zip(files, contents, strict=True):
            limit = hub.limits.regular_size
            large = limit is not None and file["size"] > limit
            binary = is_binary(base64.b64decode(file["sample"]))
            mode = "lfs" if large or binary or is_lfs(rules, file["path"]) else "regular"
            pointer = Pointer.parse(known) if isinstance(known, bytes) else None
            oid: str | None
            if pointer:
                oid = pointer.oid
            elif isinstance(known, bytes):
                oid = blob_of(known)
            else:
                oid = known
            answer.append({"path": file["path"], "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        return JSONResponse({"files": answer, "commitOid": head})

    @app.post(f"/api/{kind}/{{owner}}/{{name}}/commit/{{revision:path}}")
    def commit(request: Request, owner: str, name: str, revision: str, body: Body) -> Response:
        repo = hub.name(kind, owner, name)
        if denied := hub.refusal(request, repo, write=True):
            return denied
        if request.query_params.get("create_pr") == "1":
            return error(request, 400, "The double does not support pull requests to datasets and Spaces")
        lines = [json.loads(line) for line in body.splitlines() if line.strip()]
        meanwhile = hub.meanwhile  # what a test lets others do just before this commit, once
        hub.meanwhile = lambda: None
        meanwhile()
        with hub.locked(repo):
            if denied := _refuse_over_quota(hub, request, repo):
                return denied
            try:
                head = _commit(hub, repo, revision, lines)
            except RefusedError as refused:
                return error(request, refused.status, str(refused), refused.code)
        address = f"{request.base_url}{kind}/{owner}/{name}/commit/{head}"
        return JSONResponse({"success": True, "commitOid": head, "commitUrl": address, "hookOutput": ""})


def _read_short_files(store: BareRepository, head: str, paths: list[str]) -> list[bytes | str | None]:
    """Return the content of each path if it is short or .gitattributes, else its object ID, or None without a file."""
    found = store.stat_objects(f"{head}:{path}" for path in paths)
    short = [
        oid
        for path, (kind, oid, size) in zip(paths, found, strict=True)
        if kind == "blob" and (size <= POINTER_SIZE or path == ".gitattributes")
    ]
    contents = dict(zip(short, (content for _, content in store.objects(short)), strict=True))
    return [contents.get(oid, oid) if kind == "blob" else None for kind, oid, _ in found]


def _refuse_over_quota(hub: HubState, request: Request, repo: str) -> Response | None:
    limit = hub.limits.commits_per_hour
    now = hub.clock()
    times = hub.commit_times.setdefault(repo, deque())
    while times and times[0] <= now - HOUR:
        times.popleft()
    if limit is None or len(times) < limit:
        return None
    wait = times[0] + HOUR - now
    message = (
        f"You have exceeded the rate limit for repository commits ({limit} per hour). You can retry this action in "
        f"{'about 1 hour' if wait > HOUR // 2 else f'{round(wait // 60) + 1} minutes'}."
    )
    return error(
        request,
        429,
        message,
        headers=rate_limit_headers("api", 0, wait, limit, HOUR) if hub.sends_quota_headers else None,
    )


def _commit(hub: HubState, repo: str, branch: str, lines: list[dict[str, Any]]) -> str:
    """Make the commit that a request describes, and return its id, or that of the head if nothing changes.

    The order is the Hub's. A deletion of a missing file is refused first. Unchanged files succeed whatever the parent. Then the
    parent must be the head, and the limits must be kept. Raises RefusedError.
    """
    store = hub.store(repo)
    head = store.find(f"refs/heads/{branch}")
    if head is None:
        raise RefusedError(404, f"Invalid rev id: {branch}", "RevisionNotFound")
    header = next(line["value"] for line in lines if line["key"] == "header")
    changes = {line["value"]["path"]: _content(hub, repo, line) for line in lines if line["key"] != "header"}
    trees = store.trees(head, _folders(changes))
    # A fault of the Hub that a test asks for: the commit lands on the head, although it names an older parent.
    is_stale = hub.stale_commits > 0 and header.get("parentCommit") != head
    if is_stale:
        hub.stale_commits -= 1
        changes = {path: content for path, content in changes.items() if content is not None or _exists(path, trees)}
    for path, content in changes.items():
        if content is None and not _exists(path, trees):
            raise RefusedError(404, f"A file with this name doesn't exist: {path}", "EntryNotFound")
    if all(_is_unchanged(path, content, trees) for path, content in changes.items()):
        return head
    parent = head if is_stale else header.get("parentCommit") or head
    if parent != head:
        raise RefusedError(412, "A commit has happened since. Please refresh and try again.")
    _check_limits(hub, changes, trees, f"refs/heads/{branch}", store, head)
    message = "\n\n".join(part for part in (header["summary"], header.get("description")) if part)
    try:
        landed = hub.commit(repo, changes, parent, message, branch)
    except MovedError as moved:  # a git push moved the branch in the meantime
        raise RefusedError(412, "A commit has happened since. Please refresh and try again.") from moved
    hub.commits += 1
    hub.commit_times[repo].append(hub.clock())
    return landed


def _exists(path: str, trees: Trees) -> bool:
    return name_of(path) in trees[folder_of(path)]


def _is_unchanged(path: str, content: bytes | None, trees: Trees) -> bool:
    return content is not None and trees[folder_of(path)].get(name_of(path)) == blob_of(content)


def _content(hub: HubState, repo: str, line: dict[str, Any]) -> bytes | None:
    key = line["key"]
    value = line["value"]
    path = value["path"]
    if not path or "\n" in path or path.startswith("/") or {"", ".", "..", ".git"} & set(path.split("/")):
        raise RefusedError(400, f"Invalid path in repo: {path}")
    if key == "file":
        return base64.b64decode(value["content"]) if value.get("encoding") == "base64" else value["content"].encode()
    if key == "lfsFile":
        size = hub.lfs_size(repo, value["oid"])
        if size is None or value.get("size", size) != size:
            raise RefusedError(400, refused_pointers([path]))
        return bytes(Pointer(value["oid"], size))
    if key in ("deletedFile", "deletedFolder"):
        return None
    raise RefusedError(400, f"Unknown operation: {key}")


def _folders(changes: Changes) -> set[str]:
    """Return every folder that may get a new entry by the changes."""
    found = {""}
    for path in changes:
        while path:
            path = folder_of(path)
            found.add(path)
    return found


def _check_limits(hub: HubState, changes: Changes, trees: Trees, ref: str, store: BareRepository, head: str) -> None:
    """Raise RefusedError if the changes exceed a limit of the Hub. A folder that is over its limit must get smaller."""
    limits = hub.limits
    written = {path: content for path, content in changes.items() if content is not None}
    if lines := refused_files(((path, len(c), c[:8000]) for path, c in written.items()), ref, limits):
        raise RefusedError(400, "\n".join(lines))
    names = {folder: set(entries) for folder, entries in trees.items()}
    before = {folder: len(entries) for folder, entries in names.items()}
    for path, content in changes.items():
        if content is None:
            names[folder_of(path)].discard(name_of(path))
    for path in written:
        while path:  # the file, and the folders that are made for it
            names[folder_of(path)].add(name_of(path))
            path = folder_of(path)
    limit = limits.entries_per_folder
    full = [f for f, entries in names.items() if limit is not None and len(entries) > max(limit, before[f] - 1)]
    if full and limit is not None:
        raise RefusedError(400, refused_folders(sorted(full), ref, limit))
    if limits.files_per_repo is not None:
        existing = {entry.path for entry in store.entries(head, recursive=True) if entry.kind == "blob"}
        deleted = changes.keys() - written.keys()
        if len((existing - deleted) | written.keys()) > limits.files_per_repo:
            raise RefusedError(
                400, f"Your push was rejected because it contains more than {limits.files_per_repo} files."
            )
