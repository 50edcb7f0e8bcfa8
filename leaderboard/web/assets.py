"""Routes of the files that pages load: style sheet, script, icon and plotly.js."""

import gzip
from functools import cache

from fastapi import APIRouter, HTTPException, Request, Response

from leaderboard.views.location import asset_path, asset_version
from leaderboard.web.address import origin_of

MEDIA_TYPES = {
    "style.css": "text/css; charset=utf-8",
    "board.js": "text/javascript; charset=utf-8",
    "plotly.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
KEPT_A_YEAR = "public, max-age=31536000, immutable"  # the link contains the version
KEPT_A_DAY = "public, max-age=86400"


def asset_routes() -> APIRouter:
    """Return the routes of the files in MEDIA_TYPES, of /favicon.ico and of /robots.txt."""
    router = APIRouter()

    @router.get("/assets/{name}")
    def asset(request: Request, name: str) -> Response:
        if name not in MEDIA_TYPES:
            raise HTTPException(404, f"no such file; available: {', '.join(MEDIA_TYPES)}")
        is_current = request.query_params.get("v") == asset_version(name)
        headers = {"Cache-Control": KEPT_A_YEAR if is_current else KEPT_A_DAY, "Vary": "Accept-Encoding"}
        if "gzip" in request.headers.get("Accept-Encoding", ""):
            return Response(
                _gzipped(name), media_type=MEDIA_TYPES[name], headers=headers | {"Content-Encoding": "gzip"}
            )
        return Response(asset_path(name).read_bytes(), media_type=MEDIA_TYPES[name], headers=headers)

    @router.get("/favicon.ico")
    def icon(request: Request) -> Response:
        return asset(request, "icon.svg")

    @router.get("/robots.txt")
    def robots(request: Request) -> Response:
        content = f"User-agent: *\nAllow: /\nSitemap: {origin_of(request)}/sitemap.xml\n"
        return Response(content, media_type="text/plain")

    return router


@cache
def _gzipped(name: str) -> bytes:
    """Return a compressed file. `GZipMiddleware` would compress it again for each request, and plotly.js has almost 5 MB."""
    return gzip.compress(asset_path(name).read_bytes(), mtime=0)
