"""Serve git over HTTP for the Hub double: with git's own backend, but with the gaps of the Hub's answers.

Sources: https://git-scm.com/docs/git-http-backend, https://git-scm.com/docs/gitprotocol-v2,
https://github.com/harbor-framework/harbor/pull/2328 (requests for single objects get no packfile), and
https://github.com/taskcluster/taskgraph/pull/1046 (compressed requests get no packfile)
"""

import gzip
import os
import subprocess
from collections.abc import Iterator

from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse

from scripts.support.hub.request_parts import Body
from scripts.support.hub.state import HubState

UPLOAD, RECEIVE = "git-upload-pack", "git-receive-pack"


def serve_git(app: FastAPI, hub: HubState, kind: str) -> None:
    """Add the routes that git clients use for the repositories of a kind, "datasets" or "spaces"."""

    @app.get(f"/{kind}/{{owner}}/{{name}}/info/refs")
    def advertise(request: Request, owner: str, name: str) -> Response:
        repo = hub.name(kind, owner, name)
        service = request.query_params.get("service", "")
        if denied := hub.refusal(request, repo, write=service == RECEIVE, content=True):
            return denied
        answer = _backend(hub, request, repo, "info/refs", b"")
        # Protocol 2 lists refs later, by ls-refs (see `upload`).
        has_refs = service == UPLOAD and "version=2" not in request.headers.get("Git-Protocol", "")
        return _with_lag(hub, repo, answer) if has_refs else answer

    @app.post(f"/{kind}/{{owner}}/{{name}}/{UPLOAD}")
    def upload(request: Request, owner: str, name: str, body: Body) -> Response:
        repo = hub.name(kind, owner, name)
        if denied := hub.refusal(request, repo, content=True):
            return denied
        no_packfile = Response(b"", media_type=f"application/x-{UPLOAD}-result")
        if request.headers.get("Content-Encoding") == "gzip":
            if not hub.accepts_gzip:
                return no_packfile  # as the Hub answers compressed requests
            body = gzip.decompress(body)
        lines = list(packet_lines(body))
        wants = [line.split()[1].decode() for line in lines if line.startswith(b"want ")]
        if hub.lag and (newest := _newest_commit(hub, repo)) in wants:
            hub.lag -= 1
            error_line = f"ERR upload-pack: not our ref {newest}"
            return Response(f"{len(error_line) + 4:04x}{error_line}", media_type=f"application/x-{UPLOAD}-result")
        if wants and not hub.serves_single_objects:
            object_types = {object_type for object_type, _, _ in hub.store(repo).stat_objects(wants)}
            if not object_types <= {"commit", "tag", "missing"}:
                return no_packfile  # as the Hub answers a partial clone that asks for a single tree or blob
        answer = _backend(hub, request, repo, UPLOAD, body)
        return _with_lag(hub, repo, answer) if b"command=ls-refs" in [line.strip() for line in lines] else answer

    @app.post(f"/{kind}/{{owner}}/{{name}}/{RECEIVE}")
    def receive(request: Request, owner: str, name: str, body: Body) -> Response:
        repo = hub.name(kind, owner, name)
        if denied := hub.refusal(request, repo, write=True):
            return denied
        if request.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        return _backend(hub, request, repo, RECEIVE, body)


def packet_lines(body: bytes) -> Iterator[bytes]:
    """Yield the packet lines of a request.

    Source: https://git-scm.com/docs/gitprotocol-common
    """
    at = 0
    while at + 4 <= len(body):
        size = int(body[at : at + 4], 16)
        if size >= 4:
            yield body[at + 4 : at + size]
        at += max(size, 4)


def _backend(hub: HubState, request: Request, repo: str, path: str, body: bytes) -> Response:
    """Let `git http-backend`, a CGI program, answer a request. `path` is the part of the address after the repository."""
    limits = {name: getattr(hub.limits, name) for name in ("entries_per_folder", "regular_size", "binary_size")}
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_PROJECT_ROOT": str(hub.root / "git"),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        "PATH_INFO": f"/{repo}.git/{path}",
        "QUERY_STRING": request.url.query,
        "REQUEST_METHOD": request.method,
        "REMOTE_USER": "somebody",  # the backend refuses pushes without a user; who may push was checked before
        "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        # The pre-receive hook reads these (`main` in rules.py).
        "HUB_LFS": str(hub.root / "lfs" / repo),
        **{f"HUB_{name.upper()}": "" if value is None else str(value) for name, value in limits.items()},
    }
    answered = subprocess.run(["git", "http-backend"], env=environment, input=body, capture_output=True, check=False)
    if not answered.stdout:  # also a refusal ends with a status other than 0, but it has an answer
        return PlainTextResponse(answered.stderr.decode(errors="replace"), 500)
    head, _, content = answered.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
    return Response(content, int(headers.pop("Status", "200").split()[0]), headers)


def _newest_commit(hub: HubState, repo: str) -> str:
    return hub.store(repo).history("refs/heads/main", 1)[0].id


def _with_lag(hub: HubState, repo: str, answer: Response) -> Response:
    """Replace the newest commit by the one before it, for the next `hub.lag` answers."""
    commits = hub.store(repo).history("refs/heads/main", 2) if hub.lag else []
    if len(commits) < 2:
        return answer
    hub.lag -= 1
    shown = bytes(answer.body).replace(commits[0].id.encode(), commits[1].id.encode())
    return Response(shown, answer.status_code, {k: v for k, v in answer.headers.items() if k != "content-length"})
