"""The web application: routes for programs, and the pages in both languages."""

import os

import gradio as gr
import uvicorn
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware.gzip import GZipMiddleware

from evaluator.engines.registry import REGISTRY
from leaderboard.data.live_board import LiveBoard
from leaderboard.pages.layout import STYLE, THEME, build_page
from leaderboard.web.auth import Visitors
from leaderboard.web.gradio_api import limit_tools
from leaderboard.web.gradio_sessions import install_stateless_sessions
from leaderboard.web.language import ADDRESSES, LanguageRedirectMiddleware
from leaderboard.web.operations import operations
from leaderboard.web.page_cache import PageCacheMiddleware
from leaderboard.web.protocol import BoundedHttpProtocol
from leaderboard.web.routes import routes
from leaderboard.web.security import SecurityMiddleware
from submissions.checks.submit import SubmissionService
from submissions.config.paths import ASSETS
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.store.open import open_store
from submissions.texts.errors import SettingsError

ICON = ASSETS / "icon.svg"
# Only the Hub's proxies, which have private addresses, connect to a Space directly. Visitors connect through them.
SPACE_PROXIES = "127.0.0.1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,fc00::/7"
MAX_CONNECTIONS = 2000  # open connections or requests; above it the answer is 503
SHUTDOWN_GRACE_S = 3  # seconds that responses may take at shutdown; the stream of an open page would never end
OAUTH_VARIABLES = (
    "OAUTH_CLIENT_ID",
    "OAUTH_CLIENT_SECRET",
    "OAUTH_SCOPES",
    "OPENID_PROVIDER_URL",
    "SYSTEM",
    "SPACE_ID",
)


def check_sign_in() -> None:
    """Raise SettingsError if an environment variable that Gradio needs for signing in at the Hub is missing.

    Without SYSTEM and SPACE_ID, Gradio takes the process for a local one and signs everybody in as the operator.
    """
    if missing := [name for name in OAUTH_VARIABLES if not os.environ.get(name)]:
        raise SettingsError(
            f"HANNUN_AUTH=oauth needs {', '.join(missing)}: a Space has them with hf_oauth in its README (docs/deploy.md)"
        )


def build_app(settings: Settings) -> FastAPI:
    """Build the application for the store in the settings.

    Raises StoreError if the store cannot be opened, SettingsError if sign-in is required but not configured.
    """
    if settings.auth == "oauth":
        check_sign_in()
    store = open_store(settings.store, settings)
    board = LiveBoard(store, Heartbeats(settings))
    service = SubmissionService(Queue(store, settings.lease, settings.max_attempts), settings, REGISTRY)
    visitors = Visitors(settings.auth)
    app = FastAPI(title="Hannun", docs_url=None, redoc_url=None, openapi_url=None)

    # A request passes the middleware added last first.
    app.add_middleware(SecurityMiddleware)
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    app.add_middleware(PageCacheMiddleware)
    app.add_middleware(LanguageRedirectMiddleware)

    for router in (routes(board, STYLE), operations(board, settings.work_dir)):
        _allow_head(router)
        app.include_router(router)
    # The longer path is mounted first, since the app mounted at the root takes all other paths.
    for language, address in sorted(ADDRESSES.items(), key=lambda pair: -len(pair[1])):
        page = build_page(board, service, visitors, language)
        gr.mount_gradio_app(
            app,
            page,
            path=address.rstrip("/") or "/",
            theme=THEME,
            head=f"<style>{STYLE}</style>",
            footer_links=[],
            show_error=False,
            ssr_mode=False,
            allowed_paths=[],
            favicon_path=str(ICON) if language == "ko" else None,  # browsers request it at the root
            run_history=False,
            mcp_server=language == "ko",  # one server is enough; False, because None would read an environment variable
        )
        install_stateless_sessions(app, page)
        if language == "ko":
            limit_tools(page)
    return app


def _allow_head(router: APIRouter) -> None:
    """Allow HEAD on all routes, for monitors and `curl -I`. FastAPI, unlike Starlette, does not add it to GET."""
    for route in router.routes:
        if isinstance(route, APIRoute):
            route.methods = {*(route.methods or ()), "HEAD"}


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
        http=BoundedHttpProtocol,
        ws="none",
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=SHUTDOWN_GRACE_S,
    )
