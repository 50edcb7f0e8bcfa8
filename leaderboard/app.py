"""The web application: what programs read, and the pages in both languages."""

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
# Whoever reaches a Space directly is a proxy of the Hub, in some private network: no visitor is.
SPACE_PROXIES = "127.0.0.1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,fc00::/7"
MAX_CONNECTIONS = 2000  # and requests under way; above it the answer is 503
GRACE_S = 3  # for answers under way when the process is told to end; an open page's stream would go on for ever
SIGN_IN = ("OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET", "OAUTH_SCOPES", "OPENID_PROVIDER_URL", "SYSTEM", "SPACE_ID")


def check_sign_in() -> None:
    """Raises SettingsError where Gradio could not ask the Hub who a visitor is.

    Outside of a Space it would sign everybody in as the operator, unless told that this is one.
    """
    if missing := [name for name in SIGN_IN if not os.environ.get(name)]:
        raise SettingsError(
            f"HANNUN_AUTH=oauth needs {', '.join(missing)}: a Space has them with hf_oauth in its README (docs/deploy.md)"
        )


def build_app(settings: Settings) -> FastAPI:
    """The application over the store named in the settings.

    Raises StoreError where that cannot be opened, SettingsError where visitors are to sign in and cannot.
    """
    if settings.auth == "oauth":
        check_sign_in()
    store = open_store(settings.store, settings)
    board = LiveBoard(store, Heartbeats(settings))
    service = SubmissionService(Queue(store, settings.lease, settings.max_attempts), settings, REGISTRY)
    visitors = Visitors(settings.auth)
    app = FastAPI(title="Hannun", docs_url=None, redoc_url=None, openapi_url=None)

    # A request passes the last of these first.
    app.add_middleware(SecurityMiddleware)
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    app.add_middleware(PageCacheMiddleware)
    app.add_middleware(LanguageRedirectMiddleware)

    for router in (routes(board, STYLE), operations(board, settings.work_dir)):
        _allow_head(router)
        app.include_router(router)
    # The longer address first: what is mounted at the root takes all the rest.
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
            favicon_path=str(ICON) if language == "ko" else None,  # browsers ask for it at the root
            run_history=False,
            mcp_server=language == "ko",  # one is enough; False, for None would ask the environment
        )
        install_stateless_sessions(app, page)
        if language == "ko":
            limit_tools(page)
    return app


def _allow_head(router: APIRouter) -> None:
    """Monitors and `curl -I` ask so; FastAPI, unlike Starlette, lets a route that reads answer GET alone."""
    for route in router.routes:
        if isinstance(route, APIRoute):
            route.methods = {*(route.methods or ()), "HEAD"}


def serve(app: FastAPI, settings: Settings) -> None:
    """Answer requests until the process is told to end. What a proxy says of a visitor's address is believed only
    where FORWARDED_ALLOW_IPS names that proxy, or on a Space."""
    proxies = os.environ.get("FORWARDED_ALLOW_IPS") or (SPACE_PROXIES if "SPACE_ID" in os.environ else None)
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_config=None,  # the log of app.py leaves secrets out
        proxy_headers=proxies is not None,
        forwarded_allow_ips=proxies,
        http=BoundedHttpProtocol,
        ws="none",
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=GRACE_S,
    )
