"""Serve the rules through an OpenAI-compatible API, like a provider's model."""

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse

from evaluator.fresh.draw import pairs_of_set
from evaluator.fresh.pairs import image_names
from scripts.readers.printed import Printed, printed_on
from scripts.readers.rules import answer
from scripts.support.hub.server import serve


def printed_by_picture(seed: str, n: int, folder: Path) -> dict[str, Printed]:
    """Return what each picture of a drawn set prints, by the SHA-256 of its file."""
    found = {}
    for pair in pairs_of_set(seed, n):
        for place, facts in enumerate(pair.facts):
            printed = printed_on(facts)
            for version in pair.versions:
                for name in image_names(seed, facts, place, version):
                    found[sha256((folder / "images" / name).read_bytes()).hexdigest()] = printed
    return found


@contextmanager
def reader_server(printed: Mapping[str, Printed]) -> Iterator[str]:
    """Run a server that answers with the rules, and yield its base URL."""
    app = FastAPI()

    @app.post("/v1/chat/completions")
    def complete(body: dict[str, Any]) -> JSONResponse:
        parts = body["messages"][-1]["content"]
        parts = [{"type": "text", "text": parts}] if isinstance(parts, str) else parts
        text = "".join(part["text"] for part in parts if part["type"] == "text")
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        digests = [sha256(base64.b64decode(url.partition(",")[2])).hexdigest() for url in urls]
        known = [printed[digest] for digest in digests if digest in printed]
        reply = answer(known[0], text) if known else "정답: 알 수 없음"
        message = {"role": "assistant", "content": reply}
        usage = {"prompt_tokens": len(text), "completion_tokens": len(reply), "total_tokens": len(text) + len(reply)}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        completion = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "usage": usage}
        return JSONResponse(completion | {"choices": [choice]})

    with serve(app) as address:
        yield f"{address}/v1"
