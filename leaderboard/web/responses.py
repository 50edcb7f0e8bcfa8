"""Make responses that clients may keep and must revalidate (RFC 9111, RFC 9110 8.8.3).

A client sends the ETag of its copy in If-None-Match, and gets the short answer 304 as long as the content is the same. For
content that depends on the board only, the tag is the board's version, so that the content need not be made to compare it.
"""

import json
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

from leaderboard.views.location import Location
from leaderboard.web.address import PLACEHOLDER
from submissions.store.base import blob_id

JSON = "application/json"
HTML = "text/html; charset=utf-8"
# The answer to a request that failed unexpectedly, perhaps after a model was queued.
INTERNAL_ERROR = "internal error; before you submit again, look whether the model is in the queue already"


def revalidated(
    request: Request, tag: str, media_type: str, write: Callable[[], bytes], name: str | None = None
) -> Response:
    """Return the content with an ETag, or 304 if the client has it already; then `write` is not called.

    `name` is the file name of a download; without it the content is shown in the browser.
    """
    headers = {"ETag": f'"{tag}"', "Cache-Control": "no-cache"}  # "no-cache" allows copies that are revalidated
    tags_of_client = request.headers.get("If-None-Match", "")  # of its copies, or * for any copy
    if tags_of_client.strip() == "*" or f'"{tag}"' in tags_of_client:
        return Response(status_code=304, headers=headers)
    if name:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return Response(write(), media_type=media_type, headers=headers)


def revalidated_content(request: Request, content: bytes, media_type: str, name: str | None = None) -> Response:
    """Return content that is made already. Its hash is the ETag."""
    return revalidated(request, blob_id(content), media_type, lambda: content, name)


def tag_at_origin(tag: str, here: Location) -> str:
    """Return an ETag for content that contains the board's address. It differs by address, of which a board may have several.

    `("3f1c9a", https://board.example.org) -> "3f1c9a-603583bf"`
    """
    return f"{tag}-{blob_id(here.origin.encode())[:8]}"


def with_origin(content: bytes, here: Location) -> bytes:
    """Return the content with the board's address in place of PLACEHOLDER."""
    return content.replace(PLACEHOLDER.encode(), here.origin.encode())


def to_json(value: Any) -> bytes:
    """Return a value as JSON in UTF-8. Raises ValueError for NaN and infinity, which JSON does not have."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def allow_head(router: APIRouter) -> APIRouter:
    """Allow HEAD on all routes that answer GET, for monitors and `curl -I`. FastAPI, unlike Starlette, does not add it."""
    for route in router.routes:
        if isinstance(route, APIRoute) and route.methods == {"GET"}:
            route.methods = {"GET", "HEAD"}
    return router
