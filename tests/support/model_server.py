"""A model server that repeats the question as its output, and otherwise behaves like vLLM 0.32, as measured on the real one.

`python -m tests.support.model_server MODEL PORT`. Options choose what other servers do, and faults.
"""

import argparse
import asyncio
import json
import os
import shlex
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from tokenizers import Tokenizer

OPENAI_FIELDS = {"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "chat_template_kwargs"}


def command(*options: str) -> str:
    """Return the command that starts this server, for HANNUN_SERVER and --spawn."""
    return shlex.join([sys.executable, "-m", "tests.support.model_server", "{model}", "{port}", *options])


def make_app(arguments: argparse.Namespace) -> FastAPI:
    app = FastAPI()
    tokenizer = Tokenizer.from_file(str(Path(arguments.model) / "tokenizer.json"))
    asked = 0

    @app.get("/health")
    def health() -> dict[str, str]:
        return {}

    @app.get("/version")
    async def version() -> Response:
        if arguments.drips:
            return StreamingResponse(_drip())
        return JSONResponse({"version": arguments.version})

    @app.get("/v1/models")
    def models() -> dict[str, Any]:
        return {"data": [{"id": arguments.model, "max_model_len": arguments.context}]}

    @app.post("/v1/chat/completions")
    async def complete(request: Request) -> Response:
        nonlocal asked
        asked += 1
        if arguments.counts:
            arguments.counts.write_text(str(asked))
        if arguments.ends_after and asked > arguments.ends_after:
            os._exit(9)
        if arguments.hangs_after is not None and asked > arguments.hangs_after:
            await asyncio.Event().wait()
        if arguments.fails_after is not None and asked > arguments.fails_after:
            return JSONResponse({"error": {"message": "EngineCore died"}}, 500)
        if arguments.no_choices:
            usage = {"prompt_tokens": 1, "completion_tokens": 0, "total_tokens": 1}
            return JSONResponse({"id": "1", "object": "chat.completion", "created": 1, "choices": [], "usage": usage})
        body = await request.json()
        unexpected = set(body) - OPENAI_FIELDS
        if arguments.strict and unexpected:
            return JSONResponse({"detail": f"Unexpected fields in the request: {unexpected}"}, 422)
        content = body["messages"][0]["content"]
        if arguments.rejects and arguments.rejects in content[-1]["text"]:
            return JSONResponse({"detail": [{"msg": "rejected", "input": body}]}, 422)
        if arguments.image_status and any(part["type"] == "image_url" for part in content):
            return JSONResponse({"error": {"message": "image input is not supported"}}, arguments.image_status)
        prompt = len(tokenizer.encode(content[-1]["text"]).ids)
        limit = body.get("max_tokens") or body.get("max_completion_tokens")
        if arguments.context and (limit > arguments.context or prompt > arguments.context):
            message = f"This model's maximum context length is {arguments.context} tokens"
            return JSONResponse({"error": {"message": message, "param": "input_tokens"}}, 400)
        return _json(_completion(arguments.says or content[-1]["text"], body, limit, prompt))

    def _completion(says: str, body: dict[str, Any], limit: int, prompt: int) -> dict[str, Any]:
        ids = tokenizer.encode(says, add_special_tokens=False).ids
        stops = {tokenizer.token_to_id(arguments.end), *body.get("stop_token_ids", ())}
        end = next((n for n, token in enumerate(ids) if token in stops), None)
        generated = ids[:limit] if end is None else ids[: end + 1][:limit]
        finish = "stop" if end is not None and end < limit else "length"
        shown = generated[:-1] if finish == "stop" else generated
        text = tokenizer.decode(shown, skip_special_tokens=_skips(arguments, body))
        message: dict[str, Any] = {"role": "assistant", "content": text, "reasoning": None}
        if arguments.parser:
            message |= _parsed(tokenizer.decode(shown, skip_special_tokens=False))
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
        if body.get("return_token_ids") and not arguments.no_ids:
            choice["token_ids"] = json.loads(arguments.ids) if arguments.ids else generated
        usage = {"prompt_tokens": prompt, "completion_tokens": len(generated), "total_tokens": 0}
        return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}

    return app


async def _drip() -> AsyncIterator[bytes]:
    while True:
        yield b" "
        await asyncio.sleep(0.01)


def _skips(arguments: argparse.Namespace, body: dict[str, Any]) -> bool:
    return bool(arguments.hides_special_tokens or body.get("skip_special_tokens", True))


def _json(completion: dict[str, Any]) -> Response:
    """Return JSON that may have numbers which the standard does not know."""
    return Response(json.dumps(completion), media_type="application/json")


def _parsed(text: str) -> dict[str, Any]:
    """Return the message as a reasoning parser makes it: everything is reasoning until a closing tag."""
    before, closed, after = text.partition("</think>")
    return {"reasoning": before.removeprefix("<think>") or None, "content": (after or None) if closed else None}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("port", type=int)
    parser.add_argument("--says", help="the output, special tokens included (default: the question)")
    parser.add_argument("--end", default="<|im_end|>", help="the token at which the server ends an answer by itself")
    parser.add_argument("--parser", action="store_true", help="with a reasoning parser")
    parser.add_argument("--context", type=int, help="maximum number of tokens; longer requests get status 400")
    parser.add_argument("--strict", action="store_true", help="reject fields that OpenAI does not have with status 422")
    parser.add_argument("--no-ids", action="store_true", help="never return the ids of tokens")
    parser.add_argument("--hides-special-tokens", action="store_true", help="whatever the request asks for")
    parser.add_argument("--ids", help="JSON that is returned in place of the ids")
    parser.add_argument("--rejects", help="reject questions with this text, with status 422 and the whole request")
    parser.add_argument("--image-status", type=int, help="reject images with this status")
    parser.add_argument("--ends-after", type=int, help="end the process after this many questions")
    parser.add_argument("--fails-after", type=int, help="answer with status 500 after this many questions")
    parser.add_argument("--hangs-after", type=int, help="answer nothing after this many questions")
    parser.add_argument("--no-choices", action="store_true", help="send usage, but no choices")
    parser.add_argument("--drips", action="store_true", help="send a version that never ends")
    parser.add_argument("--counts", type=Path, help="write the number of questions so far to this file")
    parser.add_argument("--version", default="0.32.0+test")
    arguments = parser.parse_args()
    uvicorn.run(make_app(arguments), host="127.0.0.1", port=arguments.port, log_level="warning")


if __name__ == "__main__":
    main()
