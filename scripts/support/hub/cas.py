"""Serve the content-addressed store (CAS) behind Xet, to which hf_xet uploads and from which it downloads.

xorbs.py explains xorbs, chunks, shards and terms. A reconstruction says which ranges of which xorbs make up a file.

Sources: https://huggingface.co/docs/xet/api, https://huggingface.co/docs/xet/auth,
https://huggingface.co/docs/xet/download-protocol, and `_xet.py` of huggingface_hub (the headers of the tokens)
"""

import json
import re
import time
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from scripts.support.hub.lfs import refuse_unsigned, signed
from scripts.support.hub.reading import ranged, requested_part
from scripts.support.hub.request_parts import Body
from scripts.support.hub.state import HubState
from scripts.support.hub.xorbs import FileInfo, Term, chunks_of, files_of

HASH = re.compile("[0-9a-f]{64}")
EMPTY = "0" * 64  # the hash of an empty file: https://huggingface.co/docs/xet/hashing


def serve_tokens(app: FastAPI, hub: HubState, kind: str) -> None:
    @app.get(f"/api/{kind}/{{owner}}/{{name}}/xet-{{scope}}-token/{{revision:path}}")
    def token(request: Request, owner: str, name: str, scope: str, revision: str) -> Response:
        repo = hub.name(kind, owner, name)
        if denied := hub.refusal(request, repo, write=scope == "write", content=True):
            return denied
        return token_answer(hub, request, repo, scope)


def token_answer(hub: HubState, request: Request, repo: str, scope: str) -> Response:
    token, end = hub.cas.token(scope, repo)
    address = f"{hub.storage(request)}/cas"
    headers = {"X-Xet-Access-Token": token, "X-Xet-Token-Expiration": str(end), "X-Xet-Cas-Url": address}
    return JSONResponse({"accessToken": token, "exp": end, "casUrl": address}, headers=headers)


def serve_cas(app: FastAPI, hub: HubState) -> None:
    cas = hub.cas

    def grant(request: Request) -> tuple[str, str, float] | None:
        """Return the scope, the repository and the end of a request's token, or None if it is unknown."""
        return cas.tokens.get(request.headers.get("Authorization", "").removeprefix("Bearer "))

    def refusal(request: Request, write: bool = False) -> Response | None:
        granted = grant(request)
        if granted is None or granted[2] < time.time():
            return PlainTextResponse("Unauthorized", 401)
        if write and granted[0] != "write":
            return PlainTextResponse("Forbidden", 403)
        return None

    def store_shard(request: Request, shard: bytes) -> str | None:
        """Store the files of a shard. Return what is wrong with it, or None."""
        granted = grant(request)
        assert granted is not None, "`refusal` was asked before"
        repo = granted[1]
        try:
            for file in files_of(shard):
                cas.register(file, repo)
                if file.sha256 and not repo.startswith("buckets/"):  # a bucket has no git, and so no LFS
                    hub.keep_lfs(repo, file.sha256, cas.content(file.hash))
                    cas.lfs[repo, file.sha256] = file.hash
        except ValueError as error:
            return str(error)
        return None

    @app.post("/cas/v1/xorbs/default/{name}")
    def upload(request: Request, name: str, body: Body) -> Response:
        if denied := refusal(request, write=True):
            return denied
        try:
            chunks = chunks_of(body)
        except ValueError as error:
            return PlainTextResponse(str(error), 400)
        if not HASH.fullmatch(name) or not chunks:
            return PlainTextResponse("Bad Request", 400)
        new = name not in cas.xorbs
        cas.xorbs.setdefault(name, body)
        return JSONResponse({"was_inserted": new})

    @app.head("/cas/v1/xorbs/default/{name}")
    def head(request: Request, name: str) -> Response:
        if denied := refusal(request):
            return denied
        return Response(cas.xorbs[name]) if name in cas.xorbs else Response(status_code=404)

    @app.post("/cas/v1/shards")
    def shard(request: Request, body: Body) -> Response:
        if denied := refusal(request, write=True):
            return denied
        wrong = store_shard(request, body)
        return PlainTextResponse(wrong, 400) if wrong else JSONResponse({"result": 1})

    @app.post("/cas/v2/shards")
    def streamed(request: Request, body: Body) -> Response:
        if denied := refusal(request, write=True):
            return denied
        wrong = store_shard(request, body)
        events: list[dict[str, Any]] = [{"type": "validating", "verified": 1, "total": 1}]
        if wrong:
            events.append({"type": "error", "message": wrong, "retryable": False})
        else:
            events += [{"type": "committing", "stage": stage} for stage in ("uploading", "syncing")]
            events.append({"type": "result", "result": 1})
        return Response("".join(json.dumps(event) + "\n" for event in events), media_type="application/x-ndjson")

    @app.get("/cas/v1/chunks/{prefix}/{name}")
    def chunk(request: Request, prefix: str, name: str) -> Response:
        return refusal(request) or PlainTextResponse("not tracked by global deduplication", 404)

    @app.get("/cas/{version}/reconstructions/{name}")
    def reconstruction(request: Request, version: str, name: str) -> Response:
        if denied := refusal(request):
            return denied
        if name not in cas.files:
            return PlainTextResponse("Not Found", 404)
        file = cas.files[name]
        part = requested_part(request, file.size)
        if part is None:
            part = range(file.size)
        if not part:
            return PlainTextResponse("Range Not Satisfiable", 416)
        offset, terms = _terms_covering(file, part)
        answer: dict[str, Any] = {
            "offset_into_first_range": offset,
            "terms": [
                {
                    "hash": term.xorb,
                    "unpacked_length": term.size,
                    "range": {"start": term.start, "end": term.end},
                }
                for term in terms
            ],
        }
        by_range: dict[str, list[dict[str, Any]]] = {}  # version 1: a download for each range of a xorb
        by_xorb: dict[str, list[dict[str, Any]]] = {}  # version 2: one download of all ranges of a xorb
        for xorb in {term.xorb for term in terms}:
            address = signed(f"{hub.storage(request)}/xorb/default/{xorb}")
            ranges = _ranges_of(cas.xorbs[xorb], [term for term in terms if term.xorb == xorb])
            by_range[xorb] = [{"range": one["chunks"], "url": address, "url_range": one["bytes"]} for one in ranges]
            by_xorb[xorb] = [{"url": address, "ranges": ranges}]
        downloads = {"fetch_info": by_range} if version == "v1" else {"xorbs": by_xorb}
        return JSONResponse(answer | downloads)

    @app.get("/xorb/default/{name}")
    def fetch(request: Request, name: str) -> Response:
        if denied := refuse_unsigned(hub, request):
            return denied
        if name not in cas.xorbs:
            return PlainTextResponse("Not Found", 404)
        xorb = cas.xorbs[name]
        requested = [(int(a), int(b)) for a, b in re.findall(r"(\d+)-(\d+)", request.headers.get("Range", ""))]
        if len(requested) < 2:  # one range, or none
            return ranged(request, xorb, {})
        satisfiable = [
            (start, min(end, len(xorb) - 1)) for start, end in requested if start <= end and start < len(xorb)
        ]
        if not satisfiable:
            return PlainTextResponse("Range Not Satisfiable", 416)
        parts = b""  # https://www.rfc-editor.org/rfc/rfc9110#name-multipart-byteranges
        for start, end in satisfiable:
            parts += b"\r\n--part\r\nContent-Range: bytes %d-%d/%d\r\n\r\n" % (start, end, len(xorb))
            parts += xorb[start : end + 1]
        return Response(parts + b"\r\n--part--\r\n", 206, media_type="multipart/byteranges; boundary=part")

    @app.api_route("/bridge/{name}", methods=["GET", "HEAD"])
    def bridge(request: Request, name: str) -> Response:
        """Send a whole file over HTTP to clients that do not use Xet."""
        if denied := refuse_unsigned(hub, request):
            return denied
        if name != EMPTY and name not in cas.files:
            return PlainTextResponse("Not Found", 404)
        return ranged(request, cas.content(name), {"ETag": f'"{name}"'})


def _terms_covering(file: FileInfo, part: range) -> tuple[int, list[Term]]:
    """Return the terms that contain these bytes of a file, and the offset of the first byte in the first term."""
    found: list[Term] = []
    at = offset = 0
    for term in file.terms:
        if at < part.stop and at + term.size > part.start:
            offset = part.start - at if not found else offset
            found.append(term)
        at += term.size
    return offset, found


def _ranges_of(xorb: bytes, terms: list[Term]) -> list[dict[str, dict[str, int]]]:
    """Return the ranges of a xorb that the terms need. The end of a range of chunks is excluded, that of bytes included."""
    chunks = chunks_of(xorb)
    return [
        {
            "chunks": {"start": first, "end": end},
            "bytes": {"start": chunks[first].start, "end": chunks[end - 1].end - 1},
        }
        for first, end in _merge_ranges(terms)
    ]


def _merge_ranges(terms: list[Term]) -> list[tuple[int, int]]:
    """Return the ranges of chunks of the terms, with adjacent ranges merged."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted((term.start, term.end) for term in terms):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
