"""Routes of badges, preview pictures (`/cards`), pictures of public items (`/samples`), and the site map."""

from dataclasses import replace
from mimetypes import guess_type

from fastapi import APIRouter, HTTPException, Request, Response

from evaluator.benchmarks import BENCHMARKS
from evaluator.quarters.books import BENCHMARK as KO_FRESH
from leaderboard.data.explorer import public_file
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.opened import opened_file
from leaderboard.pages.share import badge, benchmark_card, comparison_card, model_card, overview_card
from leaderboard.pages.site_files import site_map
from leaderboard.web.address import PLACEHOLDER
from leaderboard.web.content_cache import ContentCache
from leaderboard.web.page_routes import language_named, location_of
from leaderboard.web.responses import revalidated, revalidated_content, tag_at_origin, with_origin

SVG = "image/svg+xml"


def picture_routes(board: LiveBoard) -> APIRouter:
    router = APIRouter()
    cache = ContentCache()

    @router.get("/badge/{model:path}/{benchmark}.svg")
    def badge_of(request: Request, model: str, benchmark: str) -> Response:
        content = badge(board.fresh_view(), model, benchmark) if benchmark in BENCHMARKS else None
        if content is None:
            raise HTTPException(404, f"no such result; benchmarks are {', '.join(BENCHMARKS)}")
        return revalidated_content(request, content, SVG)

    @router.get("/cards/{name:path}.png")
    def card(request: Request, name: str, models: str = "", lang: str = "ko") -> Response:
        view = board.fresh_view()
        language = language_named(lang)
        if name in view.boards:
            content: bytes | None = benchmark_card(view, name, language)
        elif name == "compare":
            content = comparison_card(view, models, language)
        elif name == "overview":
            content = overview_card(view, language)
        else:
            content = model_card(view, name.removeprefix("models/"), language)
        if content is None:
            raise HTTPException(404, "no such picture")
        return revalidated_content(request, content, "image/png")

    @router.get("/samples/{name}/{path:path}")
    def sample(request: Request, name: str, path: str) -> Response:
        content = public_file(name, path) if name in BENCHMARKS else None
        if content is None and name == KO_FRESH.name:  # its quarters become public when they are revealed
            content = opened_file(board.opened_books, path)
        if content is None:
            raise HTTPException(404, "no such picture of a public item")
        media_type = guess_type(path)[0] or "application/octet-stream"
        return revalidated_content(request, content, media_type)

    @router.get("/sitemap.xml")
    def sitemap_xml(request: Request) -> Response:
        view = board.fresh_view()
        here = location_of(request, "ko", "")
        # The site map is kept once, with PLACEHOLDER in place of the board's address, and is written only if the client has no
        # copy.
        write = cache.writer("sitemap", view.version, lambda: site_map(view, replace(here, origin=PLACEHOLDER)))
        tag = tag_at_origin(view.version, here)
        return revalidated(request, tag, "application/xml", lambda: with_origin(write(), here))

    return router
