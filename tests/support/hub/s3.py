"""The S3 gateway to the Hub double's buckets: PutObject, GetObject, HeadObject, DeleteObject and ListObjectsV2.

sources: https://huggingface.co/docs/hub/storage-buckets-s3 (keys, redirects, preconditions, what is not supported),
https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html (signatures),
https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html. The endpoint is `ADDRESS/s3/NAMESPACE`.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote

from fastapi import FastAPI, Request, Response

from tests.support.hub.body import Body
from tests.support.hub.buckets import EMPTY, Bucket, BucketFile
from tests.support.hub.lfs import signed
from tests.support.hub.reading import ranged
from tests.support.hub.refs import date
from tests.support.hub.xorbs import FileInfo, Term

if TYPE_CHECKING:
    from tests.support.hub.repos import Hub

PROXIED = ("aws-cli", "botocore", "aws-sdk-rust")  # clients that follow no redirect
CHUNK, MOST = 128 * 2**10, 1000
AUTHORIZATION = re.compile(r"AWS4-HMAC-SHA256 Credential=([^,]+),\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})")


def credentials(hub: "Hub", token: str) -> tuple[str, str]:
    """The access key and its secret that are made of a token, with its role."""
    key, secret = f"HFAK{secrets.token_hex(8).upper()}", secrets.token_hex(20)
    hub.s3_keys[key] = (secret, token)
    return key, secret


def signature(
    secret: str, method: str, path: str, query: str, headers: Mapping[str, str], names: str, scope: str
) -> str:
    """Version 4; `path` as it was sent, `names` the signed headers, `scope` the credential without the key."""
    asked = "&".join(sorted(f"{quote(k, safe='-_.~')}={quote(v, safe='-_.~')}" for k, v in parse_qsl(query, True)))
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in names.split(";"))
    canonical = "\n".join([method, path, asked, lines, names, headers["x-amz-content-sha256"]])
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, digest])
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def keep(hub: "Hub", repo: str, content: bytes) -> str:
    """A file whose hash is the gateway's to make; the chunks are not compressed."""
    if not content:
        return EMPTY
    name = hashlib.sha256(content).hexdigest()
    pieces = [content[at : at + CHUNK] for at in range(0, len(content), CHUNK)]
    xorb = b"".join(b"\0%s\0%s" % (2 * (len(p).to_bytes(3, "little"),)) + p for p in pieces)
    hub.cas.xorbs[name] = xorb
    hub.cas.register(FileInfo(name, (Term(name, 0, len(pieces), len(content)),), None), repo)
    return name


def serve_s3(app: FastAPI, hub: "Hub") -> None:
    def opened(request: Request, repo: str, body: bytes, write: bool) -> tuple[Bucket, Response | None]:
        refused = _refused(hub, request, repo, body, write)
        bucket = hub.buckets.get(repo)
        return bucket or Bucket(0), refused or (None if bucket else _error(404, "NoSuchBucket"))

    @app.get("/s3/{owner}/{name}")
    def listed(request: Request, owner: str, name: str, body: Body) -> Response:
        bucket, no = opened(request, f"buckets/{owner}/{name}", body, write=False)
        asked = request.query_params
        if no or asked.get("list-type") != "2":
            return no or _error(501, "NotImplemented")
        if asked.get("delimiter", "/") != "/":
            return _error(400, "InvalidArgument")
        return _list(bucket, name, dict(asked))

    @app.put("/s3/{owner}/{name}/{key:path}")
    def put(request: Request, owner: str, name: str, key: str, body: Body) -> Response:
        repo = f"buckets/{owner}/{name}"
        bucket, no = opened(request, repo, body, write=True)
        if no:
            return no
        if "aws-chunked" in request.headers.get("Content-Encoding", "") or "X-Amz-Copy-Source" in request.headers:
            return _error(501, "NotImplemented")
        if not key or re.search(r"^/|/$|//|\.\./|^\./|\.\.$|\\|\0", key):
            return _error(400, "InvalidArgument")
        with hub.locked(repo):
            there = bucket.files.get(key)
            only, unless = request.headers.get("If-Match"), request.headers.get("If-None-Match")
            if only is not None and there is None:
                return _error(404, "NoSuchKey")
            if (only is not None and there and not _fits(only, there)) or (unless and there and _fits(unless, there)):
                return _error(412, "PreconditionFailed")
            kind, now = request.headers.get("Content-Type"), hub.clock()
            bucket.files[key] = BucketFile(key, len(body), keep(hub, repo, body), now, now, kind)
            return Response(headers={"ETag": _tag(bucket.files[key])})

    @app.api_route("/s3/{owner}/{name}/{key:path}", methods=["GET", "HEAD"])
    def get(request: Request, owner: str, name: str, key: str, body: Body) -> Response:
        bucket, no = opened(request, f"buckets/{owner}/{name}", body, write=False)
        if no:
            return no
        if key not in bucket.files:
            return _error(404, "NoSuchKey")
        file = bucket.files[key]
        headers = {"ETag": _tag(file), "Content-Type": file.content_type or "binary/octet-stream"}
        if request.method == "GET" and not any(who in request.headers.get("User-Agent", "").lower() for who in PROXIED):
            headers["Location"] = signed(f"{hub.storage(request)}/bridge/{file.xet_hash}")
            return Response(status_code=302, headers=headers)
        return ranged(request, hub.cas.content(file.xet_hash), headers)

    @app.delete("/s3/{owner}/{name}/{key:path}")
    def delete(request: Request, owner: str, name: str, key: str, body: Body) -> Response:
        bucket, no = opened(request, f"buckets/{owner}/{name}", body, write=True)
        if no:
            return no
        bucket.files.pop(key, None)
        return Response(status_code=204)


def _refused(hub: "Hub", request: Request, repo: str, body: bytes, write: bool) -> Response | None:
    given = AUTHORIZATION.fullmatch(request.headers.get("Authorization", ""))
    if given is None:
        return _error(403, "AccessDenied")
    key, _, scope = given[1].partition("/")
    if key not in hub.s3_keys:
        return _error(403, "InvalidAccessKeyId")
    secret, token = hub.s3_keys[key]
    told = request.headers.get("x-amz-content-sha256", "")
    path = request.scope["raw_path"].decode()
    right = signature(secret, request.method, path, request.url.query, request.headers, given[2], scope)
    if right != given[3]:
        return _error(403, "SignatureDoesNotMatch")
    if re.fullmatch("[0-9a-f]{64}", told) and hashlib.sha256(body).hexdigest() != told:
        return _error(400, "XAmzContentSHA256Mismatch")
    role = hub.roles.role(token, repo)
    enough = role == "write" or (not write and (role == "read" or repo in hub.public))
    return None if enough else _error(403, "AccessDenied")


def _tag(file: BucketFile) -> str:
    return f'"{file.xet_hash}"'


def _fits(asked: str, file: BucketFile) -> bool:
    return asked == "*" or _tag(file) in [f'"{one.strip().strip(chr(34))}"' for one in asked.split(",")]


def _list(bucket: Bucket, name: str, asked: dict[str, str]) -> Response:
    prefix, after = asked.get("prefix", ""), asked.get("continuation-token", asked.get("start-after", ""))
    most = min(int(asked.get("max-keys", MOST)), MOST)
    shown: dict[str, str] = {}
    for key, file in sorted(bucket.files.items()):
        rest = key.removeprefix(prefix)
        folder = prefix + rest.partition("/")[0] + "/" if "delimiter" in asked and "/" in rest else None
        if not key.startswith(prefix) or (folder or key) <= after:
            continue
        if folder:
            shown[folder] = f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>"
        else:
            about = f"<Size>{file.size}</Size><ETag>{escape(_tag(file))}</ETag><StorageClass>STANDARD</StorageClass>"
            when = f"<LastModified>{date(file.uploaded)}</LastModified>"
            shown[key] = f"<Contents><Key>{escape(key)}</Key>{when}{about}</Contents>"
    page = list(shown)[:most]
    more = len(shown) > len(page)
    token = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if more and page else ""
    head = (
        f"<Name>{name}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(page)}</KeyCount><MaxKeys>{most}</MaxKeys>"
    )
    return _xml(
        "ListBucketResult",
        f"{head}<IsTruncated>{str(more).lower()}</IsTruncated>{token}{''.join(shown[one] for one in page)}",
    )


def _error(status: int, code: str) -> Response:
    return _xml("Error", f"<Code>{code}</Code><Message>{code}</Message>", status)


def _xml(name: str, content: str, status: int = 200) -> Response:
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<{name}>{content}</{name}>'
    return Response(text, status, media_type="application/xml")
