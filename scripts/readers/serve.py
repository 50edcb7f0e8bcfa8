"""Serve the reader through an OpenAI-compatible API, like a provider's model."""

import base64
import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from typing import Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse
from PIL import Image

from scripts.readers.rules import UNKNOWN, answer
from scripts.readers.text import Classifier, Page
from scripts.support.hub.server import serve

CACHED_PAGES = 64  # each page has several questions


@contextmanager
def reader_server(classify: Classifier) -> Iterator[str]:
    """Run a server that answers with the reader, and yield its base URL."""
    app = FastAPI()
    images: dict[str, bytes] = {}

    @lru_cache(maxsize=CACHED_PAGES)
    def page(digest: str) -> Page:
        return Page.of(Image.open(io.BytesIO(images[digest])), classify)

    @app.post("/v1/chat/completions")
    def complete(body: dict[str, Any]) -> JSONResponse:
        parts = body["messages"][-1]["content"]
        parts = [{"type": "text", "text": parts}] if isinstance(parts, str) else parts
        text = "".join(part["text"] for part in parts if part["type"] == "text")
        reply = UNKNOWN
        for part in parts:
            if part["type"] == "image_url":
                content = base64.b64decode(part["image_url"]["url"].partition(",")[2])
                digest = sha256(content).hexdigest()
                images[digest] = content
                reply = answer(page(digest), text)
        message = {"role": "assistant", "content": reply}
        usage = {"prompt_tokens": len(text), "completion_tokens": len(reply), "total_tokens": len(text) + len(reply)}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        completion = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "usage": usage}
        return JSONResponse(completion | {"choices": [choice]})

    with serve(app) as address:
        yield f"{address}/v1"
