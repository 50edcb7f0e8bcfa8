"""Control the access to the Hub double by roles of tokens, and public and gated repositories.

Sources: https://huggingface.co/docs/hub/security-tokens (roles of tokens), https://huggingface.co/docs/hub/datasets-gated,
`hf_raise_for_status` of huggingface_hub (codes, headers), and https://huggingface.co/docs/hub/repositories-settings
"""

import base64
from typing import Literal

from fastapi import Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

Role = Literal["none", "read", "write"]
REALM = {"WWW-Authenticate": 'Basic realm="Authentication required", charset="UTF-8"'}


class Roles:
    """The roles of tokens, and the repositories that are public or gated."""

    def __init__(self, tokens: dict[str, Role]) -> None:
        self.tokens = tokens  # role for all repositories, unless `grants` has another
        self.grants: dict[tuple[str, str], Role] = {}  # by token and repository
        self.public: set[str] = set()  # repositories that anybody may read
        self.gated: set[str] = set()  # repositories whose files only tokens with a role may read

    def role(self, token: str | None, repo: str) -> Role:
        if token is None:
            return "none"
        return self.grants.get((token, repo), self.tokens.get(token, "none"))

    def refusal(
        self, request: Request, repo: str, known: bool, write: bool = False, content: bool = False
    ) -> Response | None:
        """Return the refusal of a request, or None if it is allowed. `content` requests files that a gate protects."""
        token = token_of(request)
        if token is not None and token not in self.tokens:
            return error(request, 401, "Invalid credentials in Authorization header")
        role = self.role(token, repo)
        if not known or (role == "none" and repo not in self.public):
            if token is None:
                return error(request, 401, "Invalid username or password.", "RepoNotFound")
            return error(request, 404, "Repository not found", "RepoNotFound")
        if write and role != "write":
            if token is None:
                return error(request, 401, "Invalid username or password.")
            return error(request, 403, "Authorization error.")
        if content and role == "none" and repo in self.gated:
            status = 401 if token is None else 403
            return error(request, status, f"Access to dataset {repo} is restricted.", "GatedRepo")
        return None


def token_of(request: Request) -> str | None:
    """Return the token of a Bearer header, or the password of a Basic header as git and git-lfs send it.

    It is empty if the header is malformed: no token is empty, so the request is refused.
    """
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, given = header.partition(" ")
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(given).decode().partition(":")[2]
        except ValueError:
            return ""
    return given if scheme.lower() == "bearer" else ""


def error(
    request: Request, status: int, message: str, code: str | None = None, headers: dict[str, str] | None = None
) -> Response:
    """Return an error as the Hub does, in the body and in headers. Git gets plain text."""
    error_headers = dict(headers or {})
    if message.isascii() and "\n" not in message:  # others are not allowed in a header
        error_headers["X-Error-Message"] = message
    if code:
        error_headers["X-Error-Code"] = code
    # https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md#response-errors
    if "/info/lfs" in request.url.path:
        return JSONResponse(
            {"message": message, "error": message},
            status,
            {**error_headers, "LFS-Authenticate": REALM["WWW-Authenticate"]},
        )
    if "/info/refs" in request.url.path or "/git-" in request.url.path:
        return PlainTextResponse(message, status, {**error_headers, **REALM} if status == 401 else error_headers)
    return JSONResponse({"error": message}, status, error_headers)
