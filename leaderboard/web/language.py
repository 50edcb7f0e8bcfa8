"""The URLs of the Korean and the English page, and the redirect from `/` to the page in the browser's language."""

import re

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from leaderboard.views.texts import Language

ADDRESSES: dict[Language, str] = {"ko": "/", "en": "/en/"}
_CHOICE = re.compile(r"\s*([A-Za-z]{1,8})(?:-[A-Za-z0-9-]*)?\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?")


def language_url(language: Language) -> str:
    """Return the URL of a language's page, which is not redirected to the browser's preferred language."""
    return ADDRESSES[language] + ("?lang=ko" if language == "ko" else "")


def preferred_language(accepted: str) -> Language:
    """Return Korean or English, whichever an Accept-Language header (RFC 9110, 12.5.4) ranks higher.

    Korean wins ties and is the answer for an empty header. English is the answer if only other languages are named.
    """
    weights: dict[str, float] = {}
    for choice in accepted[:500].split(","):
        if match := _CHOICE.fullmatch(choice):
            weights.setdefault(match[1].lower(), float(match[2] or 1))
    korean, english = weights.get("ko", 0.0), weights.get("en", 0.0)
    return "ko" if not any(weights.values()) or (korean and korean >= english) else "en"


class LanguageRedirectMiddleware:
    """Redirects `/` to the page in the browser's language, and `/en` to `/en/`.

    `/` with a query string is not redirected.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == ADDRESSES["en"].rstrip("/"):
            query = scope["query_string"].decode("latin-1")
            answer = RedirectResponse(ADDRESSES["en"] + (f"?{query}" if query else ""), 308)
            return await answer(scope, receive, send)
        bare = scope["type"] == "http" and scope["path"] == ADDRESSES["ko"] and not scope["query_string"]
        language = preferred_language(Headers(scope=scope).get("accept-language", "")) if bare else "ko"
        if bare and language != "ko":
            answer = RedirectResponse(
                ADDRESSES[language], 302, {"Vary": "Accept-Language", "Cache-Control": "no-store"}
            )
            return await answer(scope, receive, send)
        await self._app(scope, receive, send)
