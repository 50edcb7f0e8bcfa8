"""Git over HTTP of the Hub double: git's own backend, with what the Hub's answers lack.

sources: https://git-scm.com/docs/git-http-backend, https://git-scm.com/docs/gitprotocol-v2,
https://github.com/harbor-framework/harbor/pull/2328 (objects that are asked for one by one come without a packfile), and
https://github.com/taskcluster/taskgraph/pull/1046 (nor does any, where git has compressed its request)
"""

import gzip
import os
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request, Response

from tests.support.hub.body import Body

if TYPE_CHECKING:
    from tests.support.hub.repos import Hub

UPLOAD, RECEIVE = "git-upload-pack", "git-receive-pack"


def serve_git(app: FastAPI, hub: "Hub", kind: str) -> None:
    @app.get(f"/{kind}/{{owner}}/{{name}}/info/refs")
    def advertise(request: Request, owner: str, name: str) -> Response:
        repo = hub.name(kind, owner, name)
        service = request.query_params.get("service", "")
        if no := hub.refusal(request, repo, write=service == RECEIVE, content=True):
            return no
        answer = _backend(hub, request, repo, "info/refs", b"")
        listed = service == UPLOAD and "version=2" not in request.headers.get("Git-Protocol", "")
        return _lagging(hub, repo, answer) if listed else answer

    @app.post(f"/{kind}/{{owner}}/{{name}}/{UPLOAD}")
    def upload(request: Request, owner: str, name: str, body: Body) -> Response:
        repo = hub.name(kind, owner, name)
        if no := hub.refusal(request, repo, content=True):
            return no
        nothing = Response(b"", media_type=f"application/x-{UPLOAD}-result")
        if request.headers.get("Content-Encoding") == "gzip":
            if not hub.inflates:
                return nothing
            body = gzip.decompress(body)
        lines = list(packet_lines(body))
        wants = [line.split()[1].decode() for line in lines if line.startswith(b"want ")]
        if hub.lag and (unknown := _newest(hub, repo)) in wants:
            hub.lag -= 1
            said = f"ERR upload-pack: not our ref {unknown}"
            return Response(f"{len(said) + 4:04x}{said}", media_type=f"application/x-{UPLOAD}-result")
        if wants and not hub.single_objects:
            kinds = {kind for kind, _, _ in hub.store(repo).checked(wants)}
            if not kinds <= {"commit", "tag", "missing"}:
                return nothing
        answer = _backend(hub, request, repo, UPLOAD, body)
        return _lagging(hub, repo, answer) if b"command=ls-refs" in [line.strip() for line in lines] else answer

    @app.post(f"/{kind}/{{owner}}/{{name}}/{RECEIVE}")
    def receive(request: Request, owner: str, name: str, body: Body) -> Response:
        repo = hub.name(kind, owner, name)
        if no := hub.refusal(request, repo, write=True):
            return no
        if request.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        return _backend(hub, request, repo, RECEIVE, body)


def packet_lines(body: bytes) -> Iterator[bytes]:
    """source: https://git-scm.com/docs/gitprotocol-common"""
    at = 0
    while at + 4 <= len(body):
        size = int(body[at : at + 4], 16)
        if size >= 4:
            yield body[at + 4 : at + size]
        at += max(size, 4)


def _backend(hub: "Hub", request: Request, repo: str, path: str, body: bytes) -> Response:
    limits = {name: getattr(hub.limits, name) for name in ("entries_per_folder", "regular_size", "binary_size")}
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_PROJECT_ROOT": str(hub.root / "git"),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        "PATH_INFO": f"/{repo}.git/{path}",
        "QUERY_STRING": request.url.query,
        "REQUEST_METHOD": request.method,
        "REMOTE_USER": "somebody",
        "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HUB_LFS": str(hub.root / "lfs" / repo),
        **{f"HUB_{name.upper()}": "" if value is None else str(value) for name, value in limits.items()},
    }
    answered = subprocess.run(["git", "http-backend"], env=environment, input=body, capture_output=True, check=False)
    head, _, content = answered.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
    return Response(content, int(headers.pop("Status", "200").split()[0]), headers)


def _newest(hub: "Hub", repo: str) -> str:
    return hub.store(repo).history("refs/heads/main", 1)[0].id


def _lagging(hub: "Hub", repo: str, answer: Response) -> Response:
    """The commit before the newest in its place, as often as `lag` says."""
    commits = hub.store(repo).history("refs/heads/main", 2) if hub.lag else []
    if len(commits) < 2:
        return answer
    hub.lag -= 1
    shown = bytes(answer.body).replace(commits[0].id.encode(), commits[1].id.encode())
    return Response(shown, answer.status_code, {k: v for k, v in answer.headers.items() if k != "content-length"})
