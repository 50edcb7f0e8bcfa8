"""Responses that clients may keep and must revalidate."""

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


def revalidated(
    request: Request, tag: str, media_type: str, write: Callable[[], bytes], name: str | None = None
) -> Response:
    """Return the content with an ETag, or 304 if the client has it already.

    `name` is the file name of a download.
    """
    headers = {"ETag": f'"{tag}"', "Cache-Control": "no-cache"}
    known = request.headers.get("If-None-Match", "")  # tags of the client's copies, or * for any copy
    if known.strip() == "*" or f'"{tag}"' in known:
        return Response(status_code=304, headers=headers)
    if name:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return Response(write(), media_type=media_type, headers=headers)


def revalidated_content(request: Request, content: bytes, media_type: str, name: str | None = None) -> Response:
    """Return content that is made already. Its hash is the ETag."""
    return revalidated(request, blob_id(content), media_type, lambda: content, name)


def located(tag: str, here: Location) -> str:
    """Return an ETag for content with addresses of the board. It changes with the board's address."""
    return f"{tag}-{blob_id(here.origin.encode())[:8]}"


def with_origin(content: bytes, here: Location) -> bytes:
    """Return content that was made with PLACEHOLDER with the board's address in its place."""
    return content.replace(PLACEHOLDER.encode(), here.origin.encode())


def to_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def allow_head(router: APIRouter) -> APIRouter:
    """Allow HEAD on all routes that answer GET, for monitors and `curl -I`. FastAPI, unlike Starlette, does not add it."""
    for route in router.routes:
        if isinstance(route, APIRoute) and route.methods == {"GET"}:
            route.methods = {"GET", "HEAD"}
    return router
