"""The web application: result downloads, and the pages in both languages."""

import re

import gradio as gr
from fastapi import FastAPI, HTTPException, Response
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.board import Board
from leaderboard.pages.shell import ADDRESSES, STYLE, THEME, build_page
from submissions.queue import Queue
from submissions.settings import Settings
from submissions.stores import open_store

# Nothing is guessed from contents, nothing of ours is framed but by the Hub, no address of ours is told to others.
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": "frame-ancestors 'self' https://huggingface.co https://*.hf.space; "
    "object-src 'none'; base-uri 'self'; form-action 'self'",
}


class Guarded:
    """Puts HEADERS on every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, guarded)


def build_app(settings: Settings) -> FastAPI:
    """The application over the store named in the settings. Raises StoreError where that cannot be opened."""
    store = open_store(settings.store, settings)
    board = Board(store)
    queue = Queue(store, settings.lease, settings.max_attempts)
    app = FastAPI(title="Hannun", docs_url=None, redoc_url=None, openapi_url=None)

    app.add_middleware(Guarded)

    @app.get("/results/{key}.json")
    def result(key: str) -> Response:
        content = board.result_json(key) if re.fullmatch(r"[0-9a-f]{32}", key) else None
        if content is None:
            raise HTTPException(404, "no such result")
        disposition = {"Content-Disposition": f'attachment; filename="{key}.json"'}
        return Response(content, media_type="application/json", headers=disposition)

    # The longer address first: what is mounted at the root takes all the rest.
    for language, address in sorted(ADDRESSES.items(), key=lambda pair: -len(pair[1])):
        gr.mount_gradio_app(
            app,
            build_page(board, queue, settings, language),
            path=address.rstrip("/") or "/",
            theme=THEME,
            head=f"<style>{STYLE}</style>",
            footer_links=[],
            show_error=False,
            ssr_mode=False,
            allowed_paths=[],
        )
    return app
