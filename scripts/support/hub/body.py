"""Provide the whole body of a request to endpoints that run in a thread."""

from typing import Annotated

from fastapi import Depends, Request


async def _whole(request: Request) -> bytes:
    return await request.body()


Body = Annotated[bytes, Depends(_whole)]
