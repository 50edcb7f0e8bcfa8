"""Routes of the pages in both languages, old addresses, and the page for addresses that do not exist.

A route finds the page of its address in `leaderboard/pages/site_map.py` and writes it for the `Location` that the request
asks for. The HTML is kept until the board changes. It is written with PLACEHOLDER as the board's address, which each
response replaces by the host that the visitor uses, so that no Host header decides which pages are kept.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import get_args

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from leaderboard.data.live_board import LiveBoard
from leaderboard.pages import model, queue
from leaderboard.pages.missing import missing
from leaderboard.pages.page import Page, versions
from leaderboard.pages.site_map import FOLDERS, pages
from leaderboard.views.location import LANGUAGE_FOLDERS, Location, Theme
from leaderboard.views.texts import Language
from leaderboard.web.address import PLACEHOLDER, origin_of
from leaderboard.web.language import preferred_language
from leaderboard.web.responses import HTML, revalidated, tag_at_origin, with_origin
from submissions.store.base import blob_id

CACHED_PAGES = 64  # addresses whose HTML is kept
MAX_VALUE_LENGTH = 1000  # characters of a parameter; the rest is ignored
# What gradio_client, plain HTTP calls and MCP clients need. Gradio has many more: uploads, a proxy, files of the server, and
# without sign-in a /logout that leads to whichever host the request names. With sign-in, its routes are found before Gradio's.
GRADIO_PATHS = re.compile(
    r"/config|/gradio_api/(info|openapi\.json|app_id|startup-events|heartbeat/\w+|queue/(join|data)"
    r"|call/(v2/)?\w+|call/\w+/\w+|reset|cancel|mcp)/?"
)
# Parameters that named the page when all pages had one address: /?model=OWNER/NAME. They still work, because a link to the
# page of a Space on the Hub, which shows the board in a frame, can pass on parameters but no path.
OLD_PARAMS = {"model": model.FOLDER, "request": queue.FOLDER}


def page_routes(board: LiveBoard) -> APIRouter:
    """Return the routes of all pages that only read."""
    router = APIRouter()

    @lru_cache(maxsize=CACHED_PAGES)
    def content_of(page: Page, here: Location, version: str) -> tuple[str, bytes] | None:
        """Return the ETag and the HTML of a page, or None if there is nothing at this location."""
        html = page.write(board, here, version)
        if html is None:
            return None
        content = html.encode()
        return blob_id(content), content

    def respond(request: Request, page: Page, here: Location) -> Response:
        version = versions(board)[page.refreshed_by]
        found = content_of(page, replace(here, origin=PLACEHOLDER), version)
        if found is None:
            return missing_page(board, request)
        tag, content = found
        return revalidated(request, tag_at_origin(tag, here), HTML, lambda: with_origin(content, here))

    def handler(page: Page, language: Language, path: str) -> Callable[..., Response]:
        """Return the handler of a page with a fixed address, such as /en/ko-vqa."""

        def answer(request: Request) -> Response:
            is_overview = not path
            if is_overview and (address := _redirect_from_overview(request, language)):
                return RedirectResponse(address, 302, {"Vary": "Accept-Language", "Cache-Control": "no-store"})
            return respond(request, page, location_of(request, language, path, page.params))

        return answer

    def folder_handler(page: Page, language: Language, path: str) -> Callable[..., Response]:
        """Return the handler of the pages below a path, such as /en/models/OWNER/NAME."""

        def answer(request: Request) -> Response:
            name = str(request.path_params["name"])
            return respond(request, page, location_of(request, language, path + name, page.params))

        return answer

    for language, folder in LANGUAGE_FOLDERS.items():
        for path, page in pages().items():
            router.add_api_route(f"/{folder}{path}", handler(page, language, path))
        for path, page in FOLDERS.items():
            router.add_api_route(f"/{folder}{path}{{name:path}}", folder_handler(page, language, path))

    @router.get("/en")
    def add_slash(request: Request) -> Response:
        return RedirectResponse(_with_query("/en/", request), 308)

    return router


def language_named(name: str) -> Language:
    """Return the language that a parameter names; Korean unless it is English."""
    return "en" if name == "en" else "ko"


def location_of(request: Request, language: Language, path: str, params: tuple[str, ...] = ()) -> Location:
    """Return the location that a request asks for, with those of its parameters that the page understands.

    The values of a parameter that is given several times are joined by commas: `?size=0-2&size=2-4` -> ("size",
    "0-2,2-4").
    """
    given = request.query_params
    known = {name: ",".join(given.getlist(name))[:MAX_VALUE_LENGTH] for name in params if name in given}
    theme: Theme | None = next((theme for theme in get_args(Theme) if theme == given.get("__theme")), None)
    return Location(language, path, tuple(known.items()), origin_of(request), theme)


def language_of(path: str) -> Language:
    """Return the language of a page by the path of its address: English for /en and below it."""
    return "en" if f"{path}/".startswith(f"/{LANGUAGE_FOLDERS['en']}") else "ko"


def missing_page(board: LiveBoard, request: Request) -> Response:
    """Return the answer to a path without a route: a redirect to the page that is meant, or a page that says there is none.

    The page has links to others, in the language of the address.
    """
    if request.method not in ("GET", "HEAD"):
        return PlainTextResponse("method not allowed", 405, {"Allow": "GET, HEAD"})
    if meant_path := _meant_path(request.url.path):
        return RedirectResponse(_with_query(meant_path, request), 308)
    path = str(request.scope["path"])  # `request.url.path` escapes "?" and "#"
    language = language_of(path)
    html = missing(board, location_of(request, language, _page_of(path)))
    return Response(html, 404, media_type=HTML)


def _meant_path(path: str) -> str | None:
    """Return the path of the page that a path means, or None if it means none: /ko-vqa/ and /KO-VQA mean /ko-vqa."""
    without_slashes = path.strip("/")  # at the start too: a redirect to //evil.example leads to another site
    if path.endswith("/") and without_slashes not in ("", "en"):
        return f"/{without_slashes}"
    lower_path = path.lower()
    # The form is not among `pages`: it has routes of its own (`submit_routes.py`).
    is_page = lower_path == "/en" or _page_of(lower_path) in (*pages(), "submit")
    return lower_path if is_page and path != lower_path else None


def _page_of(path: str) -> str:
    """Return a path without its first slash and the folder of its language: /en/ko-vqa -> ko-vqa."""
    return path.removeprefix("/").removeprefix(LANGUAGE_FOLDERS[language_of(path)])


def _with_query(path: str, request: Request) -> str:
    """Return an address with the query of a request, if it has one."""
    return f"{path}?{request.url.query}" if request.url.query else path


class OtherPaths(BaseRoute):
    """Answers all paths that no route before it matches, except those that clients of Gradio's API need.

    Gradio is mounted after it, so this keeps all other paths of Gradio from being reached.
    """

    def __init__(self, board: LiveBoard) -> None:
        self._board = board

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http" or GRADIO_PATHS.fullmatch(scope["path"]):
            return Match.NONE, {}
        return Match.FULL, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        # In a thread, because rendering would block other requests.
        answer = await run_in_threadpool(missing_page, self._board, Request(scope))
        await answer(scope, receive, send)


def _redirect_from_overview(request: Request, language: Language) -> str | None:
    """Return the link that a request for the overview is redirected to, or None if it is answered with the overview.

    An address of former versions is redirected to the page that it means, in the language that it names:

        /?tab=ko-vqa&lang=en   /en/ko-vqa
        /?tab=model            /models
        /?model=OWNER/NAME     /models/OWNER/NAME
        /?compare=A,B          /compare?models=A,B

    `/` without any parameter but a theme is redirected to the language of the browser. `language` is that of the path.
    """
    given = request.query_params
    params = {name: ",".join(given.getlist(name)) for name in given}
    lang = params.pop("lang", "")
    tab = params.pop("tab", "")
    params.pop("__theme", None)  # `here` adds it to all links
    wanted = language_named(lang) if lang in get_args(Language) else language
    here = location_of(request, wanted, "")
    for name, folder in OLD_PARAMS.items():
        if name in params:
            return here.link(folder + params[name])
    if "compare" in params:
        return here.link("compare", models=params["compare"])
    if tab == "model":
        return here.link("models")
    if tab and (tab in pages() or tab == "submit"):
        return here.link(tab, **params)
    if wanted != language:
        return here.link("", **params)
    preferred = preferred_language(request.headers.get("accept-language", ""))
    # Only `/` is redirected, with no parameter but a theme: `/en/` and `/?lang=ko` are languages that the visitor has chosen.
    if language == "ko" and preferred == "en" and not (params or lang or tab):
        return here.in_language("en")
    return None
