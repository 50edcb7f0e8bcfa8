"""Serve the S3 gateway to the Hub double's buckets: PutObject, GetObject, HeadObject, DeleteObject, ListObjectsV2.

Sources: https://huggingface.co/docs/hub/storage-buckets-s3 (keys, redirects, preconditions, unsupported features),
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

from scripts.support.hub.body import Body
from scripts.support.hub.buckets import EMPTY, Bucket, BucketFile
from scripts.support.hub.lfs import signed
from scripts.support.hub.reading import ranged
from scripts.support.hub.refs import date
from scripts.support.hub.xorbs import FileInfo, Term

if TYPE_CHECKING:
    from scripts.support.hub.repos import Hub

PROXIED = ("aws-cli", "botocore", "aws-sdk-rust")  # clients that do not follow redirects
CHUNK, MAX_KEYS = 128 * 2**10, 1000
AUTHORIZATION = re.compile(r"AWS4-HMAC-SHA256 Credential=([^,]+),\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})")


def credentials(hub: "Hub", token: str) -> tuple[str, str]:
    """Create an access key and its secret with the role of a token."""
    key, secret = f"HFAK{secrets.token_hex(8).upper()}", secrets.token_hex(20)
    hub.s3_keys[key] = (secret, token)
    return key, secret


def signature(
    secret: str, method: str, path: str, query: str, headers: Mapping[str, str], names: str, scope: str
) -> str:
    """Return the signature, version 4.

    `path` is as it was sent, `names` are the signed headers, and `scope` is the credential without the key.
    """
    params = "&".join(sorted(f"{quote(k, safe='-_.~')}={quote(v, safe='-_.~')}" for k, v in parse_qsl(query, True)))
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in names.split(";"))
    canonical = "\n".join([method, path, params, lines, names, headers["x-amz-content-sha256"]])
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, digest])
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def store_file(hub: "Hub", repo: str, content: bytes) -> str:
    """Store a file in uncompressed chunks and return its hash, which the gateway may choose."""
    if not content:
        return EMPTY
    name = hashlib.sha256(content).hexdigest()
    pieces = [content[at : at + CHUNK] for at in range(0, len(content), CHUNK)]
    xorb = b"".join(b"\0%s\0%s" % (2 * (len(p).to_bytes(3, "little"),)) + p for p in pieces)
    hub.cas.xorbs[name] = xorb
    hub.cas.register(FileInfo(name, (Term(name, 0, len(pieces), len(content)),), None), repo)
    return name


def serve_s3(app: FastAPI, hub: "Hub") -> None:
    def open_bucket(request: Request, repo: str, body: bytes, write: bool) -> tuple[Bucket, Response | None]:
        """Return the bucket, and the refusal of the request or None."""
        denied = _refuse_request(hub, request, repo, body, write)
        bucket = hub.buckets.get(repo)
        return bucket or Bucket(0), denied or (None if bucket else _error(404, "NoSuchBucket"))

    @app.get("/s3/{owner}/{name}")
    def listed(request: Request, owner: str, name: str, body: Body) -> Response:
        bucket, denied = open_bucket(request, f"buckets/{owner}/{name}", body, write=False)
        params = request.query_params
        if denied or params.get("list-type") != "2":
            return denied or _error(501, "NotImplemented")
        if params.get("delimiter", "/") != "/":
            return _error(400, "InvalidArgument")
        return _list(bucket, name, dict(params))

    @app.put("/s3/{owner}/{name}/{key:path}")
    def put(request: Request, owner: str, name: str, key: str, body: Body) -> Response:
        repo = f"buckets/{owner}/{name}"
        bucket, denied = open_bucket(request, repo, body, write=True)
        if denied:
            return denied
        if "aws-chunked" in request.headers.get("Content-Encoding", "") or "X-Amz-Copy-Source" in request.headers:
            return _error(501, "NotImplemented")
        if not key or re.search(r"^/|/$|//|\.\./|^\./|\.\.$|\\|\0", key):
            return _error(400, "InvalidArgument")
        with hub.locked(repo):
            existing = bucket.files.get(key)
            if_match, if_none_match = request.headers.get("If-Match"), request.headers.get("If-None-Match")
            if if_match is not None and existing is None:
                return _error(404, "NoSuchKey")
            if existing and (
                (if_match is not None and not _matches(if_match, existing))
                or (if_none_match and _matches(if_none_match, existing))
            ):
                return _error(412, "PreconditionFailed")
            kind, now = request.headers.get("Content-Type"), hub.clock()
            bucket.files[key] = BucketFile(key, len(body), store_file(hub, repo, body), now, now, kind)
            return Response(headers={"ETag": _etag(bucket.files[key])})

    @app.api_route("/s3/{owner}/{name}/{key:path}", methods=["GET", "HEAD"])
    def get(request: Request, owner: str, name: str, key: str, body: Body) -> Response:
        bucket, denied = open_bucket(request, f"buckets/{owner}/{name}", body, write=False)
        if denied:
            return denied
        if key not in bucket.files:
            return _error(404, "NoSuchKey")
        file = bucket.files[key]
        headers = {"ETag": _etag(file), "Content-Type": file.content_type or "binary/octet-stream"}
        if request.method == "GET" and not any(who in request.headers.get("User-Agent", "").lower() for who in PROXIED):
            headers["Location"] = signed(f"{hub.storage(request)}/bridge/{file.xet_hash}")
            return Response(status_code=302, headers=headers)
        return ranged(request, hub.cas.content(file.xet_hash), headers)

    @app.delete("/s3/{owner}/{name}/{key:path}")
    def delete(request: Request, owner: str, name: str, key: str, body: Body) -> Response:
        bucket, denied = open_bucket(request, f"buckets/{owner}/{name}", body, write=True)
        if denied:
            return denied
        bucket.files.pop(key, None)
        return Response(status_code=204)


def _refuse_request(hub: "Hub", request: Request, repo: str, body: bytes, write: bool) -> Response | None:
    given = AUTHORIZATION.fullmatch(request.headers.get("Authorization", ""))
    if given is None:
        return _error(403, "AccessDenied")
    key, _, scope = given[1].partition("/")
    if key not in hub.s3_keys:
        return _error(403, "InvalidAccessKeyId")
    secret, token = hub.s3_keys[key]
    content_hash = request.headers.get("x-amz-content-sha256", "")
    path = request.scope["raw_path"].decode()
    expected = signature(secret, request.method, path, request.url.query, request.headers, given[2], scope)
    if expected != given[3]:
        return _error(403, "SignatureDoesNotMatch")
    if re.fullmatch("[0-9a-f]{64}", content_hash) and hashlib.sha256(body).hexdigest() != content_hash:
        return _error(400, "XAmzContentSHA256Mismatch")
    role = hub.roles.role(token, repo)
    is_allowed = role == "write" or (not write and (role == "read" or repo in hub.public))
    return None if is_allowed else _error(403, "AccessDenied")


def _etag(file: BucketFile) -> str:
    return f'"{file.xet_hash}"'


def _matches(condition: str, file: BucketFile) -> bool:
    """Return whether an If-Match or If-None-Match header matches the file."""
    return condition == "*" or _etag(file) in [f'"{one.strip().strip(chr(34))}"' for one in condition.split(",")]


def _list(bucket: Bucket, name: str, params: dict[str, str]) -> Response:
    prefix, after = params.get("prefix", ""), params.get("continuation-token", params.get("start-after", ""))
    limit = min(int(params.get("max-keys", MAX_KEYS)), MAX_KEYS)
    shown: dict[str, str] = {}
    for key, file in sorted(bucket.files.items()):
        rest = key.removeprefix(prefix)
        folder = prefix + rest.partition("/")[0] + "/" if "delimiter" in params and "/" in rest else None
        if not key.startswith(prefix) or (folder or key) <= after:
            continue
        if folder:
            shown[folder] = f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>"
        else:
            about = f"<Size>{file.size}</Size><ETag>{escape(_etag(file))}</ETag><StorageClass>STANDARD</StorageClass>"
            when = f"<LastModified>{date(file.uploaded)}</LastModified>"
            shown[key] = f"<Contents><Key>{escape(key)}</Key>{when}{about}</Contents>"
    page = list(shown)[:limit]
    more = len(shown) > len(page)
    token = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if more and page else ""
    head = f"<Name>{name}</Name><Prefix>{escape(prefix)}</Prefix>"
    head += f"<KeyCount>{len(page)}</KeyCount><MaxKeys>{limit}</MaxKeys>"
    return _xml(
        "ListBucketResult",
        f"{head}<IsTruncated>{str(more).lower()}</IsTruncated>{token}{''.join(shown[one] for one in page)}",
    )


def _error(status: int, code: str) -> Response:
    return _xml("Error", f"<Code>{code}</Code><Message>{code}</Message>", status)


def _xml(name: str, content: str, status: int = 200) -> Response:
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<{name}>{content}</{name}>'
    return Response(text, status, media_type="application/xml")
