"""Test the API engine on a real `transformers serve`, on a server with every kind of fault, and its load on a server."""

import asyncio
import base64
import gzip
import io
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import PAGE, Answer, Prompt, cleaned
from evaluator.core.errors import EvaluationError
from evaluator.engines.api_http import make_client
from evaluator.engines.api_request import RequestParameters
from evaluator.engines.load import load_engine
from evaluator.engines.options import EngineOptions
from evaluator.engines.server_pool import MAX_REST_SECONDS, ServerLoad
from scripts.support.hub.server import serve
from scripts.support.serving import python
from submissions.config.api_options import ApiOptions
from submissions.config.paths import ROOT, SAMPLES
from submissions.records.result import EvalResult

SERVE = "transformers serve {model} --device cpu --dtype float32 --host 127.0.0.1 --port {port}"
SERVE = f"{Path(sys.executable).parent}/{SERVE}"


@pytest.fixture(autouse=True)
def _few_quick_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.engines.api.ATTEMPTS", 3)
    monkeypatch.setattr("evaluator.engines.api.LONGEST_WAIT", 0.01)


@pytest.mark.slow
@pytest.mark.integration
def test_spawned_server_answers_like_chat_engine(models_dir: Path) -> None:
    model = models_dir / "tiny/image-text"
    benchmark = BENCHMARKS["ko-vqa"]
    prompts = [p for item in benchmark.load(SAMPLES / "ko-vqa")[:5] for p in benchmark.prompts(item)]
    prompts += [Prompt("text only", "안녕하세요?"), Prompt("cut", "길게 말해 보세요.", prompts[0].images)]
    options = EngineOptions(model, "float32", 24, 4)
    expected = {a.id: (a.text, a.status) for a in load_engine("chat", options).answer(prompts)}
    served = load_engine("api", EngineOptions(model, "float32", 24, 4, api=ApiOptions(spawn=SERVE)))
    try:
        given = {a.id: (a.text, a.status) for a in served.answer(prompts)}
        process = served._server._process  # type: ignore[attr-defined]
        (child,) = _children(process.pid)
    finally:
        served.close()
    assert given.keys() == expected.keys()
    assert {k: text for k, (text, _) in given.items()} == {k: text for k, (text, _) in expected.items()}
    assert process.poll() is not None and _ends(child)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _ends(pid: int) -> bool:
    """Return whether a process has ended or ends within half a minute."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 30)[0])
    finally:
        os.close(handle)


def test_server_process_ends_with_its_owner(tmp_path: Path) -> None:
    """Kill the owner without a chance to clean up, and check that the guard ends the server."""
    code = (
        "import subprocess, sys, time\n"
        "guard = subprocess.Popen([sys.executable, '-m', 'evaluator.engines.server_process', 'sh', '-c',"
        " 'echo $$; sleep 600 & sleep 600'], stdin=subprocess.PIPE)\n"
        "print(guard.pid, flush=True)\n"
        "guard.wait()"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    pids = [int(owner.stdout.readline()), int(owner.stdout.readline())]
    owner.kill()
    owner.wait()
    owner.stdout.close()
    assert all(map(_ends, pids))


def test_server_process_gives_children_time_to_end(tmp_path: Path) -> None:
    """A server that exits at once must not cost its children the grace period, in which they write what they hold."""
    saved = tmp_path / "saved"
    child = f"trap 'sleep 0.5; echo done > {saved}; exit' TERM; echo ready; while :; do sleep 0.1; done"
    command = [sys.executable, "-m", "evaluator.engines.server_process", "bash", "-c", f"({child}) & sleep 600"]
    guard = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert guard.stdout is not None and guard.stdout.readline() == "ready\n"
    guard.terminate()
    guard.communicate(timeout=30)
    assert saved.read_text() == "done\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("false {model} {port}", "ended with code 1"),
        ("no-such-server {model} {port}", "ended with code"),
        ("serve {modle} {port}", "may contain"),
        ("serve {port}", "must contain {model}"),
        (" ", "the command is empty"),
    ],
)
def test_load_engine_raises_if_server_does_not_start(tmp_path: Path, command: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message) as error:
        load_engine("api", EngineOptions(tmp_path, "float32", 8, api=ApiOptions(spawn=command)))
    assert error.value.code == "server_failed"


@pytest.mark.slow
def test_run_with_spawned_server(environment: dict[str, str], models_dir: Path, tmp_path: Path) -> None:
    command = ["-m", "evaluator", "run", "--model", str(models_dir / "tiny/image-text"), "--benchmark", "ko-vdc"]
    command += ["--limit", "2", "--latency-samples", "4", "--spawn", SERVE, "--out", str(tmp_path / "out")]
    done = python(*command, environment=environment)
    assert done.returncode == 0, done.stderr
    result = EvalResult.model_validate_json((tmp_path / "out/result.json").read_bytes())
    assert (result.config.engine, result.config.model_dtype, result.dataset.n) == ("api", None, 2)
    assert result.batch_invariance and result.batch_invariance.scores_changed == 0


@pytest.mark.slow
def test_parity_compares_two_engines(environment: dict[str, str], models_dir: Path, tmp_path: Path) -> None:
    command = ["-m", "evaluator", "parity", str(models_dir / "tiny/image-text"), "--items", "3"]
    done = python(*command, "--spawn", SERVE, environment=environment)
    assert done.returncode == 0, done.stderr
    assert "3 questions: built-in" in done.stdout and "transformers" in done.stdout
    assert "0 answers are not the same text" in done.stdout
    without = python(*command, environment=environment)
    assert without.returncode == 2 and "HANNUN_SERVER" in without.stderr


Reply = Callable[[dict[str, Any], int], Response]


PARTS = [{"type": "thinking", "thinking": [{"type": "text", "text": "7 × 6"}]}, {"type": "text", "text": "42"}]


def completion(text: Any, finish: str = "stop", choices: bool = True, **message: Any) -> Response:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    content = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
    content["choices"] = [choice] if choices else []
    return JSONResponse(content)


def _half() -> Iterator[bytes]:
    yield b'{"id": "1", "choi'
    raise RuntimeError("the server breaks off")


class Served:
    """Serve replies that depend on the question and on how often it was asked."""

    def __init__(self, reply: Reply) -> None:
        self.asked: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        self.app = FastAPI()

        @self.app.post("/v1/chat/completions")
        async def complete(request: Request) -> Response:
            body = await request.json()
            question = body["messages"][0]["content"][-1]["text"]
            self.asked[question] += 1
            self.bodies.append(body)
            self.keys.add(request.headers.get("Authorization"))
            return reply(body, self.asked[question])


def engine_of(*addresses: str, engine: Mapping[str, Any] = {}, **options: Any) -> Any:
    """Return the API engine for these servers, with options of the API and of the engine."""
    first, *others = (f"{address}/v1" for address in addresses)
    api = ApiOptions(base_url=first, replicas=tuple(others), model="m", **options)
    return load_engine("api", EngineOptions(Path(), "bfloat16", 8, **{"batch_size": 4, **engine}, api=api))


def answers_of(served: Served, prompts: list[Prompt], engine: Mapping[str, Any] = {}, **options: Any) -> list[Answer]:
    with serve(served.app) as address:
        return list(engine_of(address, engine=engine, **options).answer(prompts))


def ask(served: Served, prompts: list[Prompt], **options: Any) -> dict[str, tuple[str, str]]:
    return {answer.id: (answer.text, answer.status) for answer in answers_of(served, prompts, **options)}


def questions(count: int) -> list[Prompt]:
    return [Prompt(str(number), f"질문 {number}") for number in range(count)]


SOON = {"Retry-After": "0.01"}
FAULTS: dict[str, tuple[Reply, tuple[str, str]]] = {
    "slow down": (lambda _, n: PlainTextResponse("", 429, SOON) if n < 3 else completion("답"), ("답", "ok")),
    "falls over": (lambda _, n: PlainTextResponse("oops", 500, SOON) if n < 2 else completion("답"), ("답", "ok")),
    "always falls over": (lambda *_: PlainTextResponse("oops", 503, SOON), ("", "infra_error")),
    "garbage": (lambda *_: PlainTextResponse("<html>"), ("", "infra_error")),
    "garbage once": (lambda _, n: JSONResponse({"choices": []}) if n < 2 else completion("답"), ("답", "ok")),
    "truncated body": (lambda *_: StreamingResponse(_half(), media_type="application/json"), ("", "infra_error")),
    "bad request": (lambda *_: JSONResponse({"error": {"message": "too long"}}, 400), ("", "infra_error")),
    "no content": (lambda *_: completion(None), ("", "empty")),
    "cut off": (lambda *_: completion("길게", "length"), ("길게", "truncated")),
    "refused": (lambda *_: completion(None, refusal="안 됩니다"), ("", "refused")),
    "filtered": (lambda *_: completion("", "content_filter"), ("", "refused")),
    "filtered with a reason": (lambda *_: completion(None, "content_filter: PROHIBITED"), ("", "refused")),
    "blocked": (lambda *_: completion(None, choices=False), ("", "refused")),
    "reasoning_content": (lambda *_: completion("42", reasoning_content="7 × 6"), ("42", "ok")),
    "reasoning": (lambda *_: completion("42", reasoning="7 × 6"), ("42", "ok")),
    "tags": (lambda *_: completion("<think>7 × 6</think>\n\n42"), ("42", "ok")),
    "cut off within reasoning": (lambda *_: completion("<think>7 ×", "length"), ("", "truncated")),
    "cut off in separate reasoning": (lambda *_: completion("", "length", reasoning_content="7 ×"), ("", "truncated")),
    "parts": (lambda *_: completion(PARTS), ("42", "ok")),
    "plain parts": (lambda *_: completion(["4", "2"]), ("42", "ok")),
}


def test_answer_maps_each_fault_to_a_status() -> None:
    served = Served(lambda body, n: FAULTS[body["messages"][0]["content"][-1]["text"]][0](body, n))
    given = ask(served, [Prompt(name, name) for name in FAULTS])
    assert given == {name: expected for name, (_, expected) in FAULTS.items()}
    assert served.asked["slow down"] == 3 and served.asked["bad request"] == 1
    assert all(b["temperature"] == 0 and b["max_tokens"] == 8 and b["model"] == "m" for b in served.bodies)


def test_answer_gives_up_on_hanging_server() -> None:
    released = threading.Event()
    served = Served(lambda *_: completion("답"))

    @served.app.post("/hang/v1/chat/completions")
    def hang() -> Response:
        released.wait()
        return completion("zu spät")

    with serve(served.app) as address:
        with pytest.raises(EvaluationError, match="cannot be reached"):
            list(engine_of(f"{address}/hang", timeout=0.2).answer([Prompt("1", "?")]))
        released.set()


def test_late_rejection_of_parameter_is_no_failure() -> None:
    """Two requests have the parameter. The second is rejected after the first has been repeated without it and answered."""
    answered = asyncio.Event()
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def complete(request: Request) -> Response:
        body = await request.json()
        question = body["messages"][0]["content"][-1]["text"]
        if question == "질문 2":  # is asked once the answer to the first question has been taken
            answered.set()
        if "temperature" not in body:
            return completion("답")
        if question == "질문 1":
            await answered.wait()
        return JSONResponse({"error": {"message": "temperature is not supported"}}, 400)

    with serve(app) as address:
        given = {
            answer.id: answer.status for answer in engine_of(address, engine={"batch_size": 2}).answer(questions(3))
        }
    assert given == {"0": "ok", "1": "ok", "2": "ok"}


def streamed(*deltas: dict[str, Any], finish: str = "stop", usage: dict[str, int] | None = None) -> Response:
    """Return a completion in pieces, as servers stream it."""
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks += [{**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}]
    chunks += [{**head, "choices": [], "usage": usage}] if usage else []
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"]
    return StreamingResponse(iter(lines), media_type="text/event-stream")


USED = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
STREAMS: dict[str, tuple[Response, tuple[str, str]]] = {
    "pieces": (streamed({"role": "assistant"}, {"content": "4"}, {"content": "2"}, usage=USED), ("42", "ok")),
    "thought": (streamed({"reasoning_content": "7"}, {"reasoning_content": "×6"}, {"content": "42"}), ("42", "ok")),
    "cut off": (streamed({"content": "길"}, finish="length", usage=USED), ("길", "truncated")),
    "refused": (streamed({"refusal": "안 "}, {"refusal": "됩니다"}), ("", "refused")),
    "nothing": (streamed(usage=USED), ("", "empty")),
}


def test_answer_joins_streamed_pieces() -> None:
    served = Served(lambda body, _: STREAMS[body["messages"][0]["content"][-1]["text"]][0])
    given = ask(served, [Prompt(name, name) for name in STREAMS])
    assert given == {name: expected for name, (_, expected) in STREAMS.items()}
    assert all(body["stream"] and body["stream_options"] == {"include_usage": True} for body in served.bodies)


@pytest.mark.parametrize("delta", [{}, {"delta": None}, {"delta": "?"}])
def test_answer_survives_chunk_without_message(delta: dict[str, Any]) -> None:
    choices = [[{"index": 0, "delta": {"content": "42"}}], [{"index": 0, "finish_reason": "stop", **delta}]]
    lines = [f"data: {json.dumps({'id': '1', 'object': 'chat.completion.chunk', 'choices': c})}\n\n" for c in choices]
    stream = StreamingResponse(iter([*lines, "data: [DONE]\n\n"]), media_type="text/event-stream")
    assert ask(Served(lambda body, _: stream), [Prompt("1", "?")]) == {"1": ("42", "ok")}


def test_answer_falls_back_to_no_stream() -> None:
    def reply(body: dict[str, Any], _: int) -> Response:
        if "stream_options" in body or "stream" in body:
            return JSONResponse({"error": {"message": "Unrecognized argument: stream_options"}}, 400)
        return completion("답")

    assert ask(Served(reply), [Prompt("1", "?")]) == {"1": ("답", "ok")}


def test_answer_retries_stalled_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.engines.api_http.STALL_SECONDS", 0.3)
    released = threading.Event()

    def half(_: object, n: int) -> Response:
        def lines() -> Iterator[str]:
            yield 'data: {"id": "1", "choices": [{"index": 0, "delta": {"content": "반"}}]}\n\n'
            released.wait()

        if n < 2:
            return StreamingResponse(lines(), media_type="text/event-stream")
        released.set()
        return completion("답")

    assert ask(Served(half), [Prompt("1", "?")]) == {"1": ("답", "ok")}


def test_answer_rejects_compressed_body() -> None:
    """Guard against a body of 3 MB that would decompress to 3 GB."""
    bomb = gzip.compress(b"{" + b" " * 50_000_000)
    served = Served(lambda *_: Response(bomb, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"}))
    with pytest.raises(EvaluationError):
        ask(served, [Prompt("1", "?")])


def test_answer_gives_up_on_long_response(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.engines.api_http.MAX_RESPONSE_BYTES", 10_000)
    served = Served(lambda body, _: streamed(*[{"content": "길" * 100}] * (100 if len(served.bodies) < 4 else 1)))
    assert ask(served, [Prompt("1", "?")])["1"] == ("", "infra_error")
    assert ask(served, [Prompt("2", "??")])["2"][1] == "ok"


def test_answer_does_not_follow_redirect() -> None:
    """Check that the question and its image are not sent to another host."""
    other = Served(lambda *_: completion("답"))
    with serve(other.app) as elsewhere:
        served = Served(lambda *_: Response("", 307, headers={"Location": f"{elsewhere}/v1/chat/completions"}))
        assert ask(served, [Prompt("1", "?")]) == {"1": ("", "infra_error")}
    assert not other.bodies


def test_answer_caps_retry_after() -> None:
    served = Served(lambda _, n: PlainTextResponse("", 429, {"Retry-After": "86400"}) if n < 2 else completion("답"))
    assert ask(served, [Prompt("1", "?")]) == {"1": ("답", "ok")}


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -1000, "completion_tokens": -1000, "total_tokens": 0},
        {"total_tokens": 900},
        {"prompt_tokens": "many", "completion_tokens": 3, "total_tokens": 3},
    ],
)
def test_budget_keeps_what_was_reserved_if_it_is_unknown_what_was_used(usage: dict[str, Any]) -> None:
    served = Served(lambda *_: streamed({"content": "답"}, usage=usage))
    (answer,) = answers_of(served, questions(1))
    assert answer.status == "ok" and None in (answer.prompt_tokens, answer.tokens)
    with pytest.raises(EvaluationError, match="budget of 60 tokens"):
        answers_of(served, questions(50), {"batch_size": 1}, max_tokens=60)


def test_answer_raises_if_server_is_unreachable() -> None:
    with pytest.raises(EvaluationError, match="cannot be reached") as error:
        list(engine_of("http://127.0.0.1:9").answer(questions(50)))
    assert error.value.code == "server_failed" and error.value.code.is_permanent and not error.value.code.is_host_fault


def changed(**changes: Any) -> Response:
    body = json.loads(bytes(completion("답").body))
    return JSONResponse(body | changes)


MALFORMED: dict[str, Callable[[], Response]] = {
    "tokens as text": lambda: changed(usage={"prompt_tokens": "many", "completion_tokens": None}),
    "tokens as list": lambda: changed(usage=[1, 2]),
    "too many tokens": lambda: changed(usage={"prompt_tokens": 10**30, "completion_tokens": 10**300}),
    "choices as text": lambda: changed(choices="abc"),
    "no message": lambda: changed(choices=[{"index": 0, "message": None, "finish_reason": "stop"}]),
    "list as body": lambda: Response("[1, 2]", media_type="application/json"),
    "deep nesting": lambda: Response('{"choices": ' + "[" * 100_000, media_type="application/json"),
    "half a surrogate pair": lambda: Response(
        '{"choices": [{"index": 0, "message": {"content": "답\\ud800"}}]}', media_type="application/json"
    ),
    "null delta": lambda: streamed({"content": "답"}, None),  # type: ignore[arg-type]
    "chunk choices as text": lambda: Response(
        'data: {"choices": "x"}\n\ndata: [DONE]\n\n', media_type="text/event-stream"
    ),
    "chunk without object": lambda: Response("data: [1]\n\ndata: 7\n\n", media_type="text/event-stream"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_answer_retries_malformed_completion(name: str) -> None:
    once = Served(lambda _, n: MALFORMED[name]() if n < 3 else completion("답"))
    (given,) = ask(once, [Prompt("1", "?")]).values()
    assert given in (("답", "ok"), ("답?", "ok"))
    always = Served(lambda *_: MALFORMED[name]())
    (given,) = ask(always, [Prompt("1", "?")]).values()
    assert given[1] in ("infra_error", "ok")


HALF = "\ud800"  # of a surrogate pair, which UTF-8 cannot write


@pytest.mark.parametrize(
    "changes",
    [
        {"model": f"gpt{HALF}"},
        {"model": "gpt", "system_fingerprint": {"id": HALF}},
        {"choices": [{"index": 0, "message": {"content": None, "refusal": {"reason": HALF}}}]},
        {"choices": [{"index": 0, "message": {"content": "답", "refusal": [HALF]}}]},
        {"choices": [{"index": 0, "message": {"content": {"type": "text", "text": f"답{HALF}"}}}]},
        {"choices": [{"index": 0, "message": {"content": [{"type": "thinking", "thinking": {"a": HALF}}]}}]},
        {"choices": [{"index": 0, "message": {"content": "답", "reasoning_content": HALF}, "finish_reason": {"a": 1}}]},
    ],
)
def test_answer_with_fields_of_other_types_can_be_stored(changes: dict[str, Any]) -> None:
    served = Served(lambda *_: Response(json.dumps(json.loads(bytes(completion("답").body)) | changes)))
    for answer in answers_of(served, [Prompt("1", "?")]):
        json.dumps(asdict(cleaned(answer)), ensure_ascii=False).encode()


def test_answer_stops_if_every_question_is_refused() -> None:
    served = Served(lambda *_: JSONResponse({"error": {"message": "reasoning_effort is not supported"}}, 400))
    with pytest.raises(EvaluationError, match=r"400: .*reasoning_effort is not supported") as error:
        ask(served, questions(50))
    assert error.value.code == "api_refused" and len(served.bodies) < 20


def test_key_is_redacted_even_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-abcdefghijklmnopqrstuvwxyz"
    monkeypatch.setenv("HANNUN_API_KEY", key)
    (answer,) = answers_of(Served(lambda *_: changed(model=f"m {key}")), [Prompt("1", "?")])
    assert answer.model and "abcdefgh" not in answer.model
    refusing = Served(lambda *_: JSONResponse({"error": {"message": f"wrong key {key[:20]}..."}}, 401))
    with pytest.raises(EvaluationError) as error:
        ask(refusing, [Prompt("1", "?")])
    assert "abcdefgh" not in str(error.value)


def test_key_comes_from_environment_and_must_not_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EvaluationError, match="MY_KEY is not set") as error:
        ask(Served(lambda *_: completion("답")), [], key="MY_KEY")
    assert error.value.code == "api_refused"
    monkeypatch.setenv("MY_KEY", "sk-키")
    with pytest.raises(EvaluationError, match="MY_KEY has characters") as error:
        ask(Served(lambda *_: completion("답")), [], key="MY_KEY")
    assert error.value.code == "api_refused"
    served = Served(lambda *_: completion("답"))
    ask(served, [Prompt("1", "?")])
    assert served.keys == {None}
    monkeypatch.setenv("HANNUN_API_KEY", "sk-secret")
    ask(served, [Prompt("1", "?")])
    assert served.keys == {None, "Bearer sk-secret"}


def test_request_includes_effort() -> None:
    served = Served(lambda *_: completion("42"))
    answers_of(served, [Prompt("1", "?")], {"max_reasoning_tokens": 100, "thinking": "low"})
    assert (served.bodies[0]["reasoning_effort"], served.bodies[0]["max_tokens"]) == ("low", 108)


def test_answer_separates_and_counts_reasoning() -> None:
    served = Served(lambda *_: completion("42", reasoning_content="7 × 6"))
    reasoning = {"max_reasoning_tokens": 100, "thinking": "on"}
    (answer,) = answers_of(served, [Prompt("1", "?")], reasoning, reasons=True)
    assert (answer.text, answer.raw, answer.prompt_tokens, answer.tokens) == ("42", "7 × 6\n42", 7, 3)
    assert answer.reasoning_tokens == 2, "estimated from their share of the text"
    assert served.bodies[0]["max_tokens"] == 108


@pytest.mark.parametrize("status", [401, 402, 403, 404, 429])
def test_answer_raises_on_permanent_error(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANNUN_API_KEY", "sk-secret")
    error = {"message": "no such key: sk-secret", "code": "insufficient_quota"}
    served = Served(lambda *_: JSONResponse({"error": error}, status))
    with pytest.raises(EvaluationError, match=str(status)) as found:
        ask(served, questions(50))
    assert found.value.code == "api_refused" and len(served.bodies) < 10
    assert "no such key: ***" in str(found.value), "the key is redacted"


@pytest.mark.parametrize(
    ("options", "spent", "sent"),
    [
        ({"max_requests": 5}, (0, 0), 5),
        ({"max_tokens": 60}, (0, 0), 6),  # 10 per question; 1 + 8 must remain for the next one
        ({"max_cost": 1e-3, "prices": (10.0, 50.0)}, (0, 0), 3),  # 0.22e-3 each; the next may cost up to 0.41e-3
        ({"max_cost": 1e-3, "prices": (10.0, 50.0)}, (10, 18), 0),
    ],
)
def test_budget_is_never_exceeded(options: dict[str, Any], spent: tuple[int, int], sent: int) -> None:
    served = Served(lambda *_: completion("답"))
    with pytest.raises(EvaluationError) as error:
        answers_of(
            served, [Prompt(str(n), str(n % 10)) for n in range(50)], {"batch_size": 1, "spent": spent}, **options
        )
    assert error.value.code == "budget_spent" and len(served.bodies) == sent


def test_budget_keeps_nothing_for_refused_requests() -> None:
    """A provider charges for no request that it answers with an error, but may for one whose response breaks off."""
    # A question needs at most 17 + 8 tokens, and uses 10.
    refusing = Served(lambda _, n: completion("답") if n == 2 else PlainTextResponse("", 500))
    answers = answers_of(refusing, questions(4), {"batch_size": 1}, max_tokens=60)
    assert [a.status for a in answers] == ["ok"] * 4
    breaking = Served(lambda _, n: completion("답") if n == 2 else StreamingResponse(_half()))
    with pytest.raises(EvaluationError, match="budget of 60 tokens"):
        answers_of(breaking, questions(4), {"batch_size": 1}, max_tokens=60)


def test_request_sends_public_images_as_links(tmp_path: Path) -> None:
    Image.new("RGB", (60, 40), "red").save(tmp_path / "piece.png")
    link = "https://charts.example/1.png"
    prompt = Prompt("1", "?", (tmp_path / "never opened.png", tmp_path / "piece.png"), (link,))
    served = Served(lambda *_: completion("답"))
    assert ask(served, [prompt], image_links=True) == {"1": ("답", "ok")}
    assert ask(served, [prompt]) == {"1": ("", "infra_error")}
    (body,) = served.bodies
    first, piece = (part["image_url"]["url"] for part in body["messages"][0]["content"][:-1])
    assert first == link and piece.startswith("data:image/png;base64,")


def test_request_sends_images_as_data_urls(tmp_path: Path) -> None:
    Image.new("RGB", (60, 40), "red").save(tmp_path / "small.png")
    Image.new("RGB", (400, 300), "blue").save(tmp_path / "large.jpg")
    (tmp_path / "broken.png").write_bytes((tmp_path / "small.png").read_bytes()[:60])
    served = Served(lambda *_: completion("답"))
    two = Prompt("1", "?", (tmp_path / "small.png", tmp_path / "large.jpg"))
    broken = Prompt("2", "??", (tmp_path / "broken.png",))
    answers = {a.id: a for a in answers_of(served, [two, broken], {"max_pixels": 30_000})}
    (body,) = served.bodies
    urls = [part["image_url"]["url"] for part in body["messages"][0]["content"][:-1]]
    contents = [base64.b64decode(url.partition("base64,")[2]) for url in urls]
    assert contents[0] == (tmp_path / "small.png").read_bytes() and urls[0].startswith("data:image/png;")
    assert Image.open(io.BytesIO(contents[1])).size == (200, 150)
    assert answers["1"].resize == 0.5 and answers["2"].status == "infra_error"


def test_request_selects_windows_of_long_page() -> None:
    page = "".join(f"<p>{n}번째 문단에는 {n * 37}개의 돌이 있다. 가온산 아래 누리천이 흐른다.</p>" for n in range(200))
    served = Served(lambda *_: completion("답"))
    prompt = Prompt("1", f"{PAGE}\n질문?", question="142번째 문단에는 몇 개의 돌이 있는가?", page=page)
    ask(served, [prompt], page_chars=2000)
    text = served.bodies[0]["messages"][0]["content"][-1]["text"]
    assert len(text) < 2100 and "142번째 문단" in text
    ask(served, [prompt])
    assert page in served.bodies[1]["messages"][0]["content"][-1]["text"]


def test_answer_limits_concurrent_requests() -> None:
    under_way = 0
    most = 0
    lock = threading.Lock()
    together = threading.Barrier(4, timeout=30)
    app = FastAPI()

    @app.post("/v1/chat/completions")
    def complete() -> Response:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        together.wait()  # no request is answered before four are waiting
        with lock:
            under_way -= 1
        return completion("답")

    with serve(app) as address:
        engine = engine_of(address)
        started = time.perf_counter()
        answers = list(engine.answer(questions(40)))
        elapsed = time.perf_counter() - started
    assert len(answers) == 40 and most == 4
    assert sum(answer.seconds for answer in answers) <= elapsed, "no second of overlapping requests counts twice"


@pytest.mark.slow
@pytest.mark.integration
def test_run_on_remote_server(environment: dict[str, str], tmp_path: Path) -> None:
    fail_first = Served(
        lambda body, n: PlainTextResponse("", 400) if len(fail_first.bodies) == 1 else completion("61.5조")
    )
    command = ["-m", "evaluator", "run", "--model", "gpt-x", "--benchmark", "ko-vqa", "--limit", "6"]
    with serve(fail_first.app) as address:
        command += ["--base-url", f"{address}/v1", "--out", str(tmp_path / "out")]
        environment = {**environment, "HANNUN_API_KEY": "sk-secret"}
        first = python(*command, environment=environment)
        assert first.returncode == 1 and "1 of 6 questions have no answer" in first.stderr
        details = [json.loads(line) for line in (tmp_path / "out/details.jsonl").read_text().splitlines()]
        assert Counter(d["status"] for d in details) == {"ok": 5, "infra_error": 1}
        assert not (tmp_path / "out/result.json").exists()
        asked = len(fail_first.bodies)
        again = python(*command, environment=environment)
    assert again.returncode == 0, again.stderr
    assert len(fail_first.bodies) - asked == 1, "only the failed question is asked again"
    result = EvalResult.model_validate_json((tmp_path / "out/result.json").read_bytes())
    assert (result.config.model_name, result.config.model_sha) == ("api/gpt-x", None)
    assert result.latency and result.latency.hardware == "remote server"
    written = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert b"sk-secret" not in written and b"sk-secret" not in (first.stderr + again.stderr).encode()


def test_run_api_requires_server(environment: dict[str, str], tmp_path: Path) -> None:
    command = ["-m", "evaluator", "run", "--model", "gpt-x", "--benchmark", "ko-vqa", "--engine", "api"]
    done = python(*command, "--out", str(tmp_path), environment=environment)
    assert done.returncode == 2 and "--base-url" in done.stderr


def test_answer_gives_work_to_free_servers() -> None:
    """Check that a server that has failed only costs time and is not asked again for every question."""
    asked: Counter[int] = Counter()

    def reply(server: int) -> Reply:
        def answer(*_: object) -> Response:
            asked[server] += 1
            if server == 2 and asked[server] > 5:
                return PlainTextResponse("out of order", 503, SOON)
            return completion("답")

        return answer

    prompts = questions(200)
    with ExitStack() as stack:
        addresses = [stack.enter_context(serve(Served(reply(number)).app)) for number in range(3)]
        answers = list(engine_of(*addresses, "http://127.0.0.1:9").answer(prompts))
    assert sorted(a.id for a in answers) == sorted(p.id for p in prompts)
    assert {(a.text, a.status) for a in answers} == {("답", "ok")}
    assert asked[0] + asked[1] >= 195 and min(asked[0], asked[1]) > 50, "both servers work"
    assert 5 <= asked[2] <= 30, "the broken server is rarely asked"


def test_answer_continues_if_one_server_refuses() -> None:
    gone = Served(lambda *_: JSONResponse({"error": {"message": "no such model"}}, 404))
    well = Served(lambda *_: completion("답"))
    with serve(gone.app) as one, serve(well.app) as other:
        engine = engine_of(one, other)
        assert {answer.status for answer in engine.answer(questions(40))} == {"ok"}
        (alone,) = engine.answer([Prompt("alone", "한 번 더")])
        assert alone.status == "ok" and gone.asked["한 번 더"] == 0, (
            "the refusing server still rests, so latency does not include it"
        )
        with pytest.raises(EvaluationError, match="404"):
            list(engine_of(one, one).answer(questions(40)))


def test_budget_end_keeps_paid_answers() -> None:
    served = Served(lambda *_: completion("답"))
    answers = []
    with serve(served.app) as one, serve(served.app) as other:
        engine = engine_of(one, other, engine={"batch_size": 8}, max_requests=30)
        with pytest.raises(EvaluationError, match="the budget of 30 requests is spent"):
            for answer in engine.answer(questions(50)):
                answers.append(answer)
    assert len(answers) == served.asked.total() == 30


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_slow_down_counts_outage_once(clock: list[float]) -> None:
    load = ServerLoad(8)
    for _ in range(8):
        load.slow_down(rest=True)
    assert (load.room, load.rests_until) == (2, 102.0)


def test_slow_down_caps_rest_of_server(clock: list[float]) -> None:
    load = ServerLoad(8)
    for _ in range(2000):
        clock[0] = load.rests_until + 1
        load.slow_down(rest=True)
    assert load.rests_until == clock[0] + MAX_REST_SECONDS
    load.speed_up()
    assert load.rests_until == 0.0


@pytest.mark.parametrize(
    ("complaint", "left_out"),
    [
        ("Upstream error: temperature", {"temperature"}),
        ("Streaming is not supported; set stream=false", {"stream_options"}),
        ("unknown field stream_options", {"stream_options"}),
        ("Upstream error: downstreams are busy", set()),
    ],
)
def test_parameter_is_left_out_if_an_error_names_it_as_a_word(complaint: str, left_out: set[str]) -> None:
    import openai  # takes a quarter of a second, in every process that collects this file

    parameters = RequestParameters({"stream": True, "stream_options": {"include_usage": True}}, {})
    before = parameters.of_request(8).parameters.keys()
    response = httpx2.Response(
        400, json={"error": {"message": complaint}}, request=httpx2.Request("POST", "http://a/v1")
    )
    error = openai.BadRequestError(complaint, response=response, body=response.json())
    assert parameters.adapt_to(error) is bool(left_out)
    assert before - parameters.of_request(8).parameters.keys() == left_out


@pytest.mark.integration
@pytest.mark.parametrize(("key", "sent"), [(None, False), ("", False), ("secret", True)])
def test_client_sends_no_authorization_but_the_key(
    key: str | None, sent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "of OpenAI")
    seen: list[str | None] = []
    app = FastAPI()

    @app.get("/v1/models")
    def models(request: Request) -> dict[str, Any]:
        seen.append(request.headers.get("authorization"))
        assert "of OpenAI" not in request.headers.values()
        return {"object": "list", "data": []}

    async def ask(address: str) -> None:
        async with make_client(f"{address}/v1", key) as client:
            await client.models.list()

    with serve(app) as address:
        asyncio.run(ask(address))
    assert seen == (["Bearer secret"] if sent else [None])
