"""Who may read and write what on the Hub double.

sources: https://huggingface.co/docs/hub/security-tokens (roles of tokens), https://huggingface.co/docs/hub/datasets-gated,
`hf_raise_for_status` of huggingface_hub (codes, headers), and https://huggingface.co/docs/hub/repositories-settings
"""

import base64
from typing import Literal

from fastapi import Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

Role = Literal["none", "read", "write"]
REALM = {"WWW-Authenticate": 'Basic realm="Authentication required", charset="UTF-8"'}


class Roles:
    def __init__(self, tokens: dict[str, Role]) -> None:
        self.tokens = tokens  # of every repository, unless it is granted another role
        self.grants: dict[tuple[str, str], Role] = {}  # by token and repository
        self.public: set[str] = set()  # repositories that anybody may read
        self.gated: set[str] = set()  # repositories whose files are for those with a role only

    def role(self, token: str | None, repo: str) -> Role:
        if token is None:
            return "none"
        return self.grants.get((token, repo), self.tokens.get(token, "none"))

    def refusal(
        self, request: Request, repo: str, known: bool, write: bool = False, content: bool = False
    ) -> Response | None:
        """`content`: the request is for what a gate hides."""
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
    """Of either scheme: git and git-lfs give it as a password."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "basic":
        return base64.b64decode(given).decode().partition(":")[2] or None
    return given or None


def error(
    request: Request, status: int, message: str, code: str | None = None, headers: dict[str, str] | None = None
) -> Response:
    """The Hub tells its errors in the body and in headers; to git in plain text."""
    told = dict(headers or {})
    if message.isascii() and "\n" not in message:  # a header takes no more
        told["X-Error-Message"] = message
    if code:
        told["X-Error-Code"] = code
    if (
        "/info/lfs" in request.url.path
    ):  # https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md#response-errors
        return JSONResponse(
            {"message": message, "error": message}, status, {**told, "LFS-Authenticate": REALM["WWW-Authenticate"]}
        )
    if "/info/refs" in request.url.path or "/git-" in request.url.path:
        return PlainTextResponse(message, status, {**told, **REALM} if status == 401 else told)
    return JSONResponse({"error": message}, status, told)
