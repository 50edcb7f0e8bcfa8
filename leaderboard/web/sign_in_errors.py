"""Answer a visitor whose sign-in fails, because of the provider or because the visitor declined."""

import logging
from json import JSONDecodeError

from authlib.common.errors import AuthlibBaseError  # type: ignore[import-untyped]
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse
from httpx2 import HTTPError
from starlette.responses import Response

log = logging.getLogger(__name__)

UNREACHABLE = "로그인 서버에 연결할 수 없습니다. 잠시 후 다시 시도하세요.\nThe sign-in server cannot be reached. Try again later.\n"
NOT_SIGNED_IN = "로그인이 완료되지 않았습니다.\nThe sign-in was not completed.\n"


def add_sign_in_errors(app: FastAPI) -> None:
    """Add the answers to errors of Gradio's sign-in routes. Those of other routes stay internal errors."""
    app.add_exception_handler(HTTPError, _provider_failed)
    app.add_exception_handler(JSONDecodeError, _provider_failed)
    app.add_exception_handler(AuthlibBaseError, _not_signed_in)


def _provider_failed(request: Request, error: Exception) -> Response:
    _require_sign_in_route(request, error)
    log.warning("the sign-in provider failed: %s: %s", type(error).__name__, error)
    return PlainTextResponse(UNREACHABLE, 503, headers={"Retry-After": "60"})


def _not_signed_in(request: Request, error: Exception) -> Response:
    _require_sign_in_route(request, error)
    log.info("a sign-in was not completed: %s", type(error).__name__)
    return PlainTextResponse(NOT_SIGNED_IN, 400)


def _require_sign_in_route(request: Request, error: Exception) -> None:
    """Raise the error again if another route raised it."""
    if not request.url.path.startswith("/login/"):
        raise error
