"""Build and serve the web application: pages, data, the submission form, monitoring, and Gradio's API for programs.

`app.py` calls `build_app` and `serve`. A request passes gzip and `SecurityMiddleware`, and reaches the first route that
matches. Gradio takes seconds to import, so it is mounted as a `LateApp`: pages are served before it is ready.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from threading import Lock

import uvicorn
from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from evaluator.engines.registry import REGISTRY
from leaderboard.data.live_board import LiveBoard
from leaderboard.web.address import public_address
from leaderboard.web.assets import asset_routes
from leaderboard.web.auth import Visitors
from leaderboard.web.data_routes import data_routes
from leaderboard.web.late_app import LateApp
from leaderboard.web.operations import operations
from leaderboard.web.page_routes import OtherPaths, page_routes
from leaderboard.web.protocol import MAX_CONNECTIONS, bounded_protocol
from leaderboard.web.responses import INTERNAL_ERROR, allow_head
from leaderboard.web.security import SecurityMiddleware, security_headers
from leaderboard.web.submit_routes import submit_routes
from submissions.checks.submit import SubmissionService
from submissions.config.garbage_collection import no_garbage_collection
from submissions.config.settings import Settings
from submissions.config.sign_in import check_sign_in
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.store.open import check_lasts, open_store

# Only the Hub's proxies, which have private addresses, connect to a Space directly. Visitors connect through them.
SPACE_PROXIES = "127.0.0.1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,fc00::/7"
SHUTDOWN_GRACE_S = 3  # seconds that responses may take at shutdown; the stream of an open page would never end
# Gradio keeps the blocks that are being built in a global, so applications of one process, as in tests, are built in turn.
_BUILDING_GRADIO = Lock()


def build_app(settings: Settings) -> FastAPI:
    """Return the application for the stores in the settings.

    Raises StoreError if the store cannot be opened, SettingsError if sign-in is required but not configured, or if the
    stores of a Space would be lost at its next restart.
    """
    if "SPACE_ID" in os.environ and settings.ephemeral_store == "refuse":
        for variable, url in settings.stores.items():
            check_lasts(variable, url)
    if settings.auth == "oauth":
        check_sign_in()
    store = open_store(settings.store, settings)
    board = LiveBoard(store, Heartbeats(settings), opened_books=settings.opened_books, links=settings.links)
    service = SubmissionService(Queue(store, settings.lease, settings.max_attempts), settings, REGISTRY)
    visitors = Visitors(settings.auth)
    api = LateApp(partial(_gradio_app, board, service, visitors))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        api.start()
        yield
        await api.stop()

    app = FastAPI(title="Hannun", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    if visitors.sign_in:
        # Imports all of Gradio, which takes seconds. It cannot be part of the LateApp, because the form needs its session.
        from gradio.oauth import attach_oauth

        attach_oauth(app)
    app.state.public_address = public_address(settings)
    # The middleware that is added last is the outermost, so gzip also compresses the responses of SecurityMiddleware.
    app.add_middleware(SecurityMiddleware, address=app.state.public_address)
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)
    for router in (
        *data_routes(board),
        operations(board, api, settings.work_dir),
        asset_routes(),
        page_routes(board),
        submit_routes(board, service, visitors),
    ):
        app.include_router(allow_head(router))
    app.router.routes.append(OtherPaths(board))  # the last route before Gradio
    app.add_exception_handler(Exception, internal_error)
    app.mount("/", api)
    return app


def _gradio_app(board: LiveBoard, service: SubmissionService, visitors: Visitors) -> FastAPI:
    """Import Gradio, which takes seconds, and return the application with its API.

    Garbage collection is paused meanwhile, as `app.py` does for all of `build_app`. Gradio parses its own source code when it
    is imported. In Python 3.11, `ast.parse` fails if a finalizer lets another thread parse in between, for example to log a
    traceback, and a Gradio that is half imported cannot be imported again.
    """
    with _BUILDING_GRADIO:
        with no_garbage_collection():
            from leaderboard.web.gradio_api import gradio_app
        return gradio_app(board, service, visitors)


def internal_error(request: Request, error: Exception) -> Response:
    """Return the answer to a request that failed unexpectedly. The server logs the error.

    Starlette calls this outside of all middleware, so the security headers are added here.
    """
    return PlainTextResponse(INTERNAL_ERROR, 500, security_headers())


def serve(app: FastAPI, settings: Settings) -> None:
    """Answer requests until the process receives a signal to stop.

    A visitor's address is read from a proxy's headers only if FORWARDED_ALLOW_IPS names that proxy, or on a Space.
    """
    proxies = os.environ.get("FORWARDED_ALLOW_IPS") or (SPACE_PROXIES if "SPACE_ID" in os.environ else None)
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_config=None,  # the log handlers set by `log_safely` remove secrets
        proxy_headers=proxies is not None,
        forwarded_allow_ips=proxies,
        http=bounded_protocol(proxies),
        ws="none",
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=SHUTDOWN_GRACE_S,
    )
