"""Serve Git LFS for the Hub double: the batch API, and an object storage under another origin.

Sources: https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md, `lfs.py` of huggingface_hub, and
https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html (signed addresses, which are refused
if the request has another kind of authentication)
"""

import hashlib
import hmac
import json
import re
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse

from scripts.support.hub.request_parts import Body
from scripts.support.hub.roles import error
from scripts.support.hub.state import HubState

TYPE = "application/vnd.git-lfs+json"
SECRET = b"storage secret"


def signed(address: str) -> str:
    """Return the address with a signature of its path."""
    path = "/" + address.split("/", 3)[3]
    return f"{address}?X-Amz-Expires=3600&X-Amz-Signature={_signature(path)}"


def refuse_unsigned(hub: HubState, request: Request) -> Response | None:
    """Return the refusal of a request to another host, with a token or without a valid signature, else None."""
    if "Authorization" in request.headers:
        hub.leaks.append(f"{request.method} {request.url.path}")
        return PlainTextResponse("Only one auth mechanism allowed", 400)
    is_valid = hmac.compare_digest(request.query_params.get("X-Amz-Signature", ""), _signature(request.url.path))
    return None if is_valid and request.url.hostname == hub.storage_host else PlainTextResponse("AccessDenied", 403)


def _signature(path: str) -> str:
    return hmac.new(SECRET, path.encode(), hashlib.sha256).hexdigest()


def serve_lfs(app: FastAPI, hub: HubState, kind: str) -> None:
    @app.post(f"/{kind}/{{owner}}/{{name}}/info/lfs/objects/batch")
    def batch(request: Request, owner: str, name: str, body: Body) -> Response:
        repo = hub.name(kind, owner, name)
        payload = json.loads(body)
        upload = payload["operation"] == "upload"
        if denied := hub.refusal(request, repo, write=upload, content=True):
            return denied
        answers: list[dict[str, Any]] = []
        for wanted in payload["objects"]:
            oid = wanted["oid"]
            size = wanted["size"]
            stored_size = hub.lfs_size(repo, oid)
            answer: dict[str, Any] = {"oid": oid, "size": size, "authenticated": True}
            address = signed(f"{hub.storage(request)}/lfs/{repo}/{oid}")
            if not re.fullmatch("[0-9a-f]{64}", oid) or size < 0 or (stored_size is not None and stored_size != size):
                answer["error"] = {
                    "code": 422,
                    "message": "Validation error: the object has another size, or its ID is not a SHA-256",
                }
            elif not upload and stored_size is None:
                answer["error"] = {"code": 404, "message": "Object does not exist on the server"}
            elif not upload:
                answer["actions"] = {"download": {"href": address, "expires_in": 3600}}
            elif stored_size is None:
                verify = {"href": str(request.url.replace(query="")).replace("/batch", "/verify")}
                if given := request.headers.get("Authorization"):
                    verify["header"] = {"Authorization": given}  # type: ignore[assignment]
                answer["actions"] = {"upload": {"href": address, "expires_in": 3600}, "verify": verify}
            answers.append(answer)
        return JSONResponse({"transfer": "basic", "objects": answers, "hash_algo": "sha256"}, media_type=TYPE)

    @app.post(f"/{kind}/{{owner}}/{{name}}/info/lfs/objects/verify")
    def verify(request: Request, owner: str, name: str, body: Body) -> Response:
        repo = hub.name(kind, owner, name)
        if denied := hub.refusal(request, repo, write=True):
            return denied
        payload = json.loads(body)
        if hub.lfs_size(repo, payload["oid"]) != payload["size"]:
            return error(request, 404, "Object does not exist on the server, or has another size")
        return JSONResponse({}, media_type=TYPE)


def serve_storage(app: FastAPI, hub: HubState) -> None:
    @app.put("/lfs/{repo:path}/{oid}")
    def upload(request: Request, repo: str, oid: str, body: Body) -> Response:
        if denied := refuse_unsigned(hub, request):
            return denied
        if hashlib.sha256(body).hexdigest() != oid:
            return PlainTextResponse("BadDigest", 400)
        hub.keep_lfs(repo, oid, body)
        return Response(headers={"ETag": f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'})

    @app.api_route("/lfs/{repo:path}/{oid}", methods=["GET", "HEAD"])
    def download(request: Request, repo: str, oid: str) -> Response:
        if denied := refuse_unsigned(hub, request):
            return denied
        if hub.lfs_size(repo, oid) is None:
            return PlainTextResponse("NoSuchKey", 404)
        return FileResponse(hub.lfs_path(repo, oid), headers={"ETag": f'"{oid}"'})
