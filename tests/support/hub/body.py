"""The whole body of a request, for endpoints that work in a thread."""

from typing import Annotated

from fastapi import Depends, Request


async def _whole(request: Request) -> bytes:
    return await request.body()


Body = Annotated[bytes, Depends(_whole)]
