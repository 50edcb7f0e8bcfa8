"""Any OpenAI-compatible server: closed models, vLLM, SGLang, `transformers serve`. Nothing of the model is loaded here.

Requests go out side by side, more of them while the server keeps up and half as many when it says it does not. One
that fails for good is `infra_error`, never an answer.
"""

import asyncio
import base64
import io
import json
import mimetypes
import os
import queue
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletion
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from evaluator.core.data_types import Answer, AnswerStatus, Prompt
from evaluator.core.errors import EvaluationError
from evaluator.engines.api_http import collect, make_client, time_limits
from evaluator.engines.hardware import torch_environment
from evaluator.engines.images import fitted_size, load_image
from evaluator.engines.options import EngineOptions
from evaluator.engines.pages import fit_page
from evaluator.engines.server import Server
from evaluator.engines.server_pool import (
    REFUSED,
    InvalidCompletionError,
    ServerLoad,
    ServerPool,
    is_quota,
    is_retryable,
)
from submissions.config.api_options import API_KEY, ApiOptions
from submissions.hub_models.chat_template import TemplateRenderer
from submissions.hub_models.model_facts import QUESTION, folder_template
from submissions.hub_models.reasoning import (
    ANY,
    EFFORT,
    Tags,
    learn_tags,
    opens,
    reasoning_of,
    strip_reasoning,
    unmarked,
    values_of,
)
from submissions.records.options import EFFORTS
from submissions.store.retry_after import wait_retry_after
from submissions.texts.errors import RefusedError, TemplateError
from submissions.texts.failure_codes import FailureCode

ATTEMPTS = 8
MAX_REFUSED = 8  # questions refused by a server that has answered none, after which it is asked no more
MAX_TOKENS_COUNTED = 10**9  # a larger count is none
CONCURRENCY = 32  # requests under way, at most
LONGEST_WAIT = 300.0  # seconds between two tries, whatever the server asks for
IMAGE_TOKENS = 2048  # reserved in the budget for an image, until the server says what it took
# What reading a completion of another form than documented raises.
MALFORMED = (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError)
KEY_PIECE = 8  # characters of a key that are left out wherever they stand
_END = object()


class ApiEngine:
    params = None

    @staticmethod
    def environment(options: EngineOptions) -> dict[str, str | float]:
        """That of this machine where the server runs here, too; nothing of one elsewhere."""
        return {} if options.api is None or options.remote else torch_environment(options)

    def __init__(self, options: EngineOptions) -> None:
        if options.api is None:
            raise EvaluationError(FailureCode.SERVER_FAILED, "the API engine needs --base-url or --spawn")
        self._options = options
        self._key = os.environ.get(options.api.key)
        if options.remote and not self._key and options.api.key != API_KEY:
            raise EvaluationError(FailureCode.API_REFUSED, f"the variable {options.api.key} is not set")
        facts = _TemplateFacts(reasons=options.asks_for_reasoning)
        if options.api.spawn:
            facts = _template_facts(options)
        self._facts = facts
        self._max_tokens = options.max_new_tokens + (options.max_reasoning_tokens if facts.reasons else 0)
        self._parameters: dict[str, Any] = {"max_tokens": self._max_tokens, "temperature": 0}
        if options.remote:  # our own server is watched otherwise, and some drop half a letter at the end of a stream
            self._parameters |= {"stream": True, "stream_options": {"include_usage": True}}
        if options.remote and options.thinking in EFFORTS:
            self._parameters[EFFORT] = options.thinking
        self._reached = self._answered = False  # whether the server has ever sent a response, and an answer
        self._refused = 0  # questions that it has refused
        self._server = Server(options.api.spawn, options) if options.api.spawn else None
        own = self._server.base_url if self._server else options.api.base_url
        self._base_urls = (own, *options.api.replicas)
        self.batch_size = options.batch_size or CONCURRENCY
        self._loads = [ServerLoad(self.batch_size) for _ in self._base_urls]
        self._budget = Budget(options.api, options.spent)

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        done: queue.Queue[Any] = queue.Queue()
        stopped = threading.Event()

        def run() -> None:
            try:
                asyncio.run(self._answer_all(iter(prompts), done, stopped))
            except BaseExceptionGroup as group:
                done.put(group.exceptions[0])
            except BaseException as error:
                done.put(error)
            done.put(_END)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            while (result := done.get()) is not _END:
                if isinstance(result, BaseException):
                    raise result
                yield result
        finally:
            stopped.set()
            thread.join()

    def close(self) -> None:
        if self._server:
            self._server.close()

    async def _answer_all(self, prompts: Iterator[Prompt], done: queue.Queue[Any], stopped: threading.Event) -> None:
        # Retries are made here, not by the client: a Retry-After counts, and every refusal slows all requests down.
        clients = [make_client(str(url), self._key) for url in self._base_urls]
        servers, spent = ServerPool(clients, self._loads), list[EvaluationError]()

        async def work() -> None:
            for prompt in prompts:
                if stopped.is_set() or spent:
                    return
                try:
                    done.put(await self._ask(servers, prompt))
                except EvaluationError as error:
                    if error.code != FailureCode.BUDGET_SPENT:
                        raise
                    spent.append(error)  # what is under way is paid for

        async with AsyncExitStack() as stack:
            for client in clients:
                await stack.enter_async_context(client)
            async with asyncio.TaskGroup() as group:
                for _ in range(self.batch_size * len(clients)):
                    group.create_task(work())
        if spent:
            raise spent[0]

    @property
    def _api(self) -> ApiOptions:
        assert self._options.api is not None
        return self._options.api

    async def _ask(self, servers: ServerPool, prompt: Prompt) -> Answer:
        room = None if self._api.page_chars is None else self._api.page_chars + len(prompt.text)
        text, windows = fit_page(prompt, room, len)
        try:
            images, resize = await asyncio.to_thread(_urls, prompt, self._api.image_links, self._options.max_pixels)
        except (OSError, ValueError):
            return Answer(prompt.id, "", "infra_error", 0.0, windows)
        content = [
            *({"type": "image_url", "image_url": {"url": url}} for url in images),
            {"type": "text", "text": text},
        ]
        reserved = (len(text.encode()) + IMAGE_TOKENS * len(images), self._max_tokens)
        started = time.perf_counter()
        try:
            answer = await self._complete(servers, prompt.id, content, reserved)
        except (openai.OpenAIError, InvalidCompletionError, json.JSONDecodeError) as error:
            self._check_refusal(error)
            return Answer(prompt.id, "", "infra_error", time.perf_counter() - started, windows, None, resize)
        self._answered = True
        if answer.prompt_tokens is not None and answer.tokens is not None:
            self._budget.settle(reserved, (answer.prompt_tokens, answer.tokens))
        return replace(
            answer,
            seconds=time.perf_counter() - started,
            windows=windows,
            resize=resize,
            sampled="temperature" not in self._parameters,
        )

    def _check_refusal(self, error: Exception) -> None:
        """Raise EvaluationError if no other question would fare better than one that ended with this error."""
        if not self._reached and isinstance(error, openai.APIConnectionError):
            raise EvaluationError(FailureCode.SERVER_FAILED, "the server cannot be reached") from None
        if not isinstance(error, openai.APIStatusError):
            return
        self._refused += not is_retryable(error)
        hopeless = not self._answered and self._refused >= MAX_REFUSED
        if error.status_code in REFUSED or is_quota(error) or hopeless:
            said = _reason(error, self._key)
            raise EvaluationError(FailureCode.API_REFUSED, f"the server answers {error.status_code}: {said}") from None

    async def _complete(
        self, servers: ServerPool, prompt_id: str, content: list[Any], reserved: tuple[int, int]
    ) -> Answer:
        """Ask until there is an answer, and return it."""
        async for attempt in AsyncRetrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=lambda state: min(LONGEST_WAIT, wait_retry_after(state)),
            retry=retry_if_exception(servers.is_retryable),
            reraise=True,
        ):
            with attempt:
                async with servers.slot() as client:
                    self._budget.count_request()
                    if attempt.retry_state.attempt_number == 1:
                        self._budget.reserve(*reserved)
                    completion = await self._create(client, content)
                    return _read_completion(completion, prompt_id, self._facts, self._key)
        raise AssertionError("the last try either returns or raises")

    async def _create(self, client: openai.AsyncOpenAI, content: list[Any]) -> Any:
        """Send one request, greedy, and return its completion; a stall of the stream ends it.

        A parameter that the server does not take is left out from then on, or goes by its newer name: models that reason
        take no temperature, and call the limit of tokens another name.
        """
        extra = {"chat_template_kwargs": self._facts.switches} if self._facts.switches else None
        while True:
            parameters = dict(self._parameters)
            try:
                async with asyncio.timeout(self._api.timeout):
                    response = await client.chat.completions.with_raw_response.create(
                        model=self._api.model or str(self._options.model),
                        messages=[{"role": "user", "content": content}],
                        extra_body=extra,
                        timeout=time_limits(self._api.timeout, streams="stream" in parameters),
                        **parameters,
                    )
                    self._reached = True
                    return await _read_body(response)
            except openai.BadRequestError as error:
                said = f"{error.param} {error.message}"
                if "stream" in parameters and "stream" in said:
                    self._parameters.pop("stream_options", None)
                    if "stream_options" not in parameters:
                        self._parameters.pop("stream", None)
                elif "max_tokens" in parameters and "max_tokens" in said:
                    self._parameters.pop("max_tokens", None)
                    self._parameters["max_completion_tokens"] = self._max_tokens
                elif "temperature" in parameters and "temperature" in said:
                    self._parameters.pop("temperature", None)
                else:
                    raise
            except openai.APIStatusError:
                self._reached = True
                raise
            except TimeoutError:
                raise openai.APITimeoutError(httpx2.Request("POST", str(client.base_url))) from None


async def _read_body(response: Any) -> ChatCompletion:
    """Return the completion in a response, streamed or whole. Raises InvalidCompletionError if it is not one."""
    try:
        if "text/event-stream" in response.headers.get("Content-Type", ""):
            return await collect(response.parse())
        return ChatCompletion.construct(**json.loads(await response.http_response.aread()))
    except (httpx2.HTTPError, *MALFORMED) as error:
        raise InvalidCompletionError(f"{type(error).__name__} while the completion was read") from None


@dataclass(frozen=True)
class _TemplateFacts:
    """What is known of how a server's model is asked; of one elsewhere, only whether it reasons."""

    reasons: bool = False
    opened: bool = False  # whether its prompts end within the reasoning already
    switches: dict[str, Any] = field(default_factory=dict)  # for its chat template, which the server renders
    tags: Tags | None = ANY  # of its template


def _template_facts(options: EngineOptions) -> _TemplateFacts:
    """Return the facts of a model whose folder is here, by the same rules as the built-in engine."""
    try:
        template, tokens = folder_template(options.model)
    except RefusedError:
        return _TemplateFacts()
    if not template:
        return _TemplateFacts()
    switches = values_of(template, options.thinking)
    renderer = TemplateRenderer(template, tokens)
    try:
        for words in ([{"type": "text", "text": QUESTION}], QUESTION):
            asked = {"role": "user", "content": words}
            try:
                (rendered,) = renderer.render([[asked]], **switches)
            except TemplateError:
                continue
            tags = learn_tags(template, renderer, asked)
            reasons = tags is not None and options.thinking != "off"
            return _TemplateFacts(reasons, opens(rendered, tags), switches, tags)
    finally:
        renderer.close()
    return _TemplateFacts(switches=switches)


def _read_completion(completion: ChatCompletion, prompt_id: str, facts: _TemplateFacts, key: str | None) -> Answer:
    """Return the answer of a completion, without the key. Raises InvalidCompletionError for a malformed one."""
    try:
        if not completion.choices and not completion.usage:
            raise InvalidCompletionError("neither choices nor usage")
        answer = _parse_completion(completion, prompt_id, facts)
    except MALFORMED as error:
        raise InvalidCompletionError(f"{type(error).__name__} in the completion") from None
    return replace(answer, model=without_key(answer.model, key)) if answer.model else answer


def _count(value: Any) -> int:
    """Return a server's count of tokens. What is not a count is 0."""
    return value if type(value) is int and 0 <= value <= MAX_TOKENS_COUNTED else 0


def without_key(text: str, key: str | None) -> str:
    """Return a server's words without the key, also if it repeats a part of it."""
    if not key:
        return text
    text = text.replace(key, "***")
    covered = [False] * len(text)
    for start in range(len(text) - KEY_PIECE + 1):
        if text[start : start + KEY_PIECE] in key:
            covered[start : start + KEY_PIECE] = [True] * KEY_PIECE
    return "".join("*" if hidden else letter for letter, hidden in zip(text, covered, strict=True))


def _parse_completion(completion: ChatCompletion, prompt_id: str, facts: _TemplateFacts) -> Answer:
    """Return answer and reasoning of a completion: as the server separates them, else by the tags in its text."""
    usage = completion.usage
    used: dict[str, Any] = {
        "prompt_tokens": _count(usage.prompt_tokens) if usage else None,
        "tokens": _count(usage.completion_tokens) if usage else None,
        "model": f"{completion.model} {completion.system_fingerprint or ''}".strip()[:100]
        if isinstance(completion.model, str) and completion.model
        else None,
    }
    if not completion.choices:  # the question is blocked
        return Answer(prompt_id, "", "refused", 0.0, **used)
    choice = completion.choices[0]
    whole, thought = _parts(choice.message.content)
    whole = whole.encode(errors="replace").decode()  # some servers cut characters in half
    reasoning = thought or reasoning_of(choice.message.model_extra or {})
    if reasoning is not None:
        raw: str | None = f"{reasoning}\n{whole}"
        text = unmarked(whole)
    else:
        reasoning, text = strip_reasoning(whole, facts.tags, opened=facts.opened)
        raw = whole if reasoning is not None else None
    status: AnswerStatus = "ok" if text else "empty"
    if choice.message.refusal or str(choice.finish_reason).startswith("content_filter"):
        raw, status = raw or choice.message.refusal, "refused"
    elif choice.finish_reason == "length":
        status = "truncated"
    details = usage and usage.completion_tokens_details
    spent = _count(details.reasoning_tokens) if details else 0
    if reasoning is None and not spent:
        reasoned = None
    else:  # if the server counts nothing, by the share of the text
        share = len(reasoning or "") / max(1, len(reasoning or "") + len(text))
        reasoned = spent or round(share * (used["tokens"] or 0))
    return Answer(
        prompt_id,
        text,
        status,
        0.0,
        raw=raw,
        reasoning_tokens=reasoned,
        **used,
    )


def _parts(content: Any) -> tuple[str, str | None]:
    """The text of a message, and the reasoning that stands in parts of its own."""
    if not isinstance(content, list):
        return str(content or ""), None
    texts = [str(part.get("text") or "") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    thoughts = [
        _parts(part.get("thinking"))[0] for part in content if isinstance(part, dict) and part.get("type") == "thinking"
    ]
    return "".join(texts), "".join(thoughts) or None


def _reason(error: openai.APIStatusError, key: str | None) -> str:
    """What the server says, without the key, which some repeat."""
    said = " ".join(str(error.message).split())
    return without_key(said, key)[:200]


class Budget:
    """A hard limit: no request goes out that could exceed it. Until the server says, each byte counts as a token."""

    def __init__(self, options: ApiOptions, spent: tuple[int, int] = (0, 0)) -> None:
        self._options = options
        self._requests = 0
        self._prompt, self._completion = spent

    def reserve(self, prompt: int, completion: int) -> None:
        """Tokens of one question. Raises EvaluationError where they are not left."""
        self._prompt += prompt
        self._completion += completion
        options = self._options
        cost = (self._prompt * options.prices[0] + self._completion * options.prices[1]) / 1e6
        if options.max_tokens is not None and self._prompt + self._completion > options.max_tokens:
            raise EvaluationError(
                FailureCode.BUDGET_SPENT, f"the next question could exceed the budget of {options.max_tokens} tokens"
            )
        if options.max_cost is not None and cost > options.max_cost:
            raise EvaluationError(
                FailureCode.BUDGET_SPENT, f"the next question could exceed the budget of {options.max_cost:g}"
            )

    def settle(self, reserved: tuple[int, int], used: tuple[int, int]) -> None:
        """Put what a question took in the place of what was reserved for it."""
        self._prompt += used[0] - reserved[0]
        self._completion += used[1] - reserved[1]

    def count_request(self) -> None:
        """Raises EvaluationError where no further request may be made."""
        if self._options.max_requests is not None and self._requests >= self._options.max_requests:
            raise EvaluationError(
                FailureCode.BUDGET_SPENT, f"the budget of {self._options.max_requests} requests is spent"
            )
        self._requests += 1


def _urls(prompt: Prompt, links: bool, max_pixels: int) -> tuple[list[str], float | None]:
    """The images' public links where wanted, else data URLs, and the factor of the most reduced of those.

    They are sent as stored unless over the pixel budget.
    """
    urls, factors = list(prompt.links) if links else [], []
    for path in prompt.images[len(urls) :]:
        width, height, factor = fitted_size(path, max_pixels)
        image = load_image(path, (width, height))  # decoded here, so that a broken file never reaches the server
        if factor == 1.0:
            kind, content = mimetypes.guess_type(path.name)[0] or "image/png", path.read_bytes()
        else:
            scaled = io.BytesIO()
            image.save(scaled, "PNG")
            kind, content = "image/png", scaled.getvalue()
        urls.append(f"data:{kind};base64,{base64.b64encode(content).decode()}")
        factors.append(factor)
    return urls, min(factors, default=None)
