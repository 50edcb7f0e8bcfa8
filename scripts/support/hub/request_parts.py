"""Read the parts of a request that FastAPI does not hand to endpoints by itself."""

from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Request


async def _whole(request: Request) -> bytes:
    return await request.body()


Body = Annotated[bytes, Depends(_whole)]  # the whole body, also for endpoints that run in a thread


def revision_and_path(request: Request, parts_before: int) -> tuple[str, str]:
    """Return the revision and the path that end an address, after a number of other parts.

    `/datasets/org/store/resolve/refs%2Fpr%2F1/a/b.json` ends with the revision `refs/pr/1` and the path `a/b.json` after 4
    parts. Clients quote the slashes of a revision, but routes match the unquoted address, in which its end is unknown.
    """
    quoted = request.scope["raw_path"].decode().split("/", parts_before + 1)[-1]
    revision, _, path = quoted.partition("/")
    return unquote(revision), unquote(path)
