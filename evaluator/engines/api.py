"""The engine for OpenAI-compatible servers: closed models, vLLM, SGLang, `transformers serve`.

Requests are sent concurrently: more while the server keeps up, half as many after it reports overload. A request that
still fails after all retries has the status `infra_error` and is not counted as an answer of the model.
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
    REFUSAL_STATUSES,
    InvalidCompletionError,
    ServerLoad,
    ServerPool,
    is_quota,
    is_retryable,
)
from submissions.config.api_options import API_KEY, ApiOptions
from submissions.hub_models.model_facts import QUESTION, folder_template
from submissions.hub_models.reasoning import (
    ANY_TAGS,
    EFFORT,
    Tags,
    learn_tags,
    opens,
    reasoning_of,
    strip_reasoning,
    unmarked,
    values_of,
)
from submissions.hub_models.template_renderer import TemplateRenderer
from submissions.records.options import EFFORTS
from submissions.store.retry_after import wait_retry_after
from submissions.texts.errors import RefusedError, TemplateError
from submissions.texts.failure_codes import FailureCode

ATTEMPTS = 8
MAX_REFUSALS = 8  # questions refused, none answered, after which the evaluation fails
MAX_TOKEN_COUNT = 10**9  # larger counts are ignored as invalid
CONCURRENCY = 32  # maximum number of concurrent requests to a server
LONGEST_WAIT = 300.0  # seconds between two attempts, even if the server asks for more
IMAGE_TOKENS = 2048  # reserved in the budget for an image until the server reports its usage
# Raised while a completion is read that does not have the documented form.
MALFORMED = (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError)
KEY_PART_CHARS = 8  # a part of the API key of this length is removed from server messages
_END = object()


class ApiEngine:
    """Asks a model through one or several OpenAI-compatible servers."""

    params = None

    @staticmethod
    def environment(options: EngineOptions) -> dict[str, str | float]:
        """Return the environment of this machine if the server runs here too, else an empty dict."""
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
        # Streaming detects stalls of a remote server. A spawned server does not stream, because some cut off half a
        # character at the end of a stream.
        if options.remote:
            self._parameters |= {"stream": True, "stream_options": {"include_usage": True}}
        if options.remote and options.thinking in EFFORTS:
            self._parameters[EFFORT] = options.thinking
        self._reached = self._answered = False  # whether the server has ever sent a response, an answer
        self._refusals = 0  # number of questions that the server refused
        self._server = Server(options.api.spawn, options) if options.api.spawn else None
        base_url = self._server.base_url if self._server else options.api.base_url
        self._base_urls = (base_url, *options.api.replicas)
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
        # Retries are made here and not by the client, to respect Retry-After and to slow down all requests to a server.
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
                    spent.append(error)  # let requests in flight finish, as they are paid for

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
            images, resize = await asyncio.to_thread(
                _image_urls, prompt, self._api.image_links, self._options.max_pixels
            )
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
        """Raise EvaluationError if this error means that all other questions would fail, too."""
        if not self._reached and isinstance(error, openai.APIConnectionError):
            raise EvaluationError(FailureCode.SERVER_FAILED, "the server cannot be reached") from None
        if not isinstance(error, openai.APIStatusError):
            return
        self._refusals += not is_retryable(error)
        refuses_all = not self._answered and self._refusals >= MAX_REFUSALS
        if error.status_code in REFUSAL_STATUSES or is_quota(error) or refuses_all:
            message = _server_message(error, self._key)
            raise EvaluationError(
                FailureCode.API_REFUSED, f"the server answers {error.status_code}: {message}"
            ) from None

    async def _complete(
        self, servers: ServerPool, prompt_id: str, content: list[Any], reserved: tuple[int, int]
    ) -> Answer:
        """Send one question, with retries, and return its answer."""
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
        raise AssertionError("the last attempt either returns or raises")

    async def _create(self, client: openai.AsyncOpenAI, content: list[Any]) -> Any:
        """Send one request for greedy decoding and return its completion. A stalled stream is a timeout.

        A parameter that the server rejects is left out or renamed, here and in all later requests: reasoning models
        accept no temperature and expect `max_completion_tokens` instead of `max_tokens`.
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
                complaint = f"{error.param} {error.message}"
                if "stream" in parameters and "stream" in complaint:
                    self._parameters.pop("stream_options", None)
                    if "stream_options" not in parameters:
                        self._parameters.pop("stream", None)
                elif "max_tokens" in parameters and "max_tokens" in complaint:
                    self._parameters.pop("max_tokens", None)
                    self._parameters["max_completion_tokens"] = self._max_tokens
                elif "temperature" in parameters and "temperature" in complaint:
                    self._parameters.pop("temperature", None)
                else:
                    raise
            except openai.APIStatusError:
                self._reached = True
                raise
            except TimeoutError:
                raise openai.APITimeoutError(httpx2.Request("POST", str(client.base_url))) from None


async def _read_body(response: Any) -> ChatCompletion:
    """Return the completion in a response, streamed or not. Raises InvalidCompletionError if there is none."""
    try:
        if "text/event-stream" in response.headers.get("Content-Type", ""):
            return await collect(response.parse())
        return ChatCompletion.construct(**json.loads(await response.http_response.aread()))
    except (httpx2.HTTPError, *MALFORMED) as error:
        raise InvalidCompletionError(f"{type(error).__name__} while the completion was read") from None


@dataclass(frozen=True)
class _TemplateFacts:
    """Facts about the chat template of a server's model. For a remote server only `reasons` is known."""

    reasons: bool = False
    opened: bool = False  # whether rendered prompts end inside the reasoning
    switches: dict[str, Any] = field(default_factory=dict)  # template variables, sent to the server
    tags: Tags | None = ANY_TAGS  # reasoning tags


def _template_facts(options: EngineOptions) -> _TemplateFacts:
    """Return the facts about the template in a local model folder, by the same rules as the chat engine."""
    try:
        template, tokens = folder_template(options.model)
    except RefusedError:
        return _TemplateFacts()
    if not template:
        return _TemplateFacts()
    switches = values_of(template, options.thinking)
    renderer = TemplateRenderer(template, tokens)
    try:
        for content in ([{"type": "text", "text": QUESTION}], QUESTION):
            message = {"role": "user", "content": content}
            try:
                (rendered,) = renderer.render([[message]], **switches)
            except TemplateError:
                continue
            tags = learn_tags(template, renderer, message)
            reasons = tags is not None and options.thinking != "off"
            return _TemplateFacts(reasons, opens(rendered, tags), switches, tags)
    finally:
        renderer.close()
    return _TemplateFacts(switches=switches)


def _read_completion(completion: ChatCompletion, prompt_id: str, facts: _TemplateFacts, key: str | None) -> Answer:
    """Return the answer in a completion, with the API key removed. Raises InvalidCompletionError if it is malformed."""
    try:
        if not completion.choices and not completion.usage:
            raise InvalidCompletionError("neither choices nor usage")
        answer = _parse_completion(completion, prompt_id, facts)
    except MALFORMED as error:
        raise InvalidCompletionError(f"{type(error).__name__} in the completion") from None
    return replace(answer, model=without_key(answer.model, key)) if answer.model else answer


def _count(value: Any) -> int:
    """Return a token count reported by a server, or 0 if it is not a plausible count."""
    return value if type(value) is int and 0 <= value <= MAX_TOKEN_COUNT else 0


def without_key(text: str, key: str | None) -> str:
    """Return a server's message with the API key, and parts of it, replaced by asterisks."""
    if not key:
        return text
    text = text.replace(key, "***")
    covered = [False] * len(text)
    for start in range(len(text) - KEY_PART_CHARS + 1):
        if text[start : start + KEY_PART_CHARS] in key:
            covered[start : start + KEY_PART_CHARS] = [True] * KEY_PART_CHARS
    return "".join("*" if hidden else letter for letter, hidden in zip(text, covered, strict=True))


def _parse_completion(completion: ChatCompletion, prompt_id: str, facts: _TemplateFacts) -> Answer:
    """Return the answer in a completion. Reasoning is in a field of its own, or else found by the tags in the text."""
    usage = completion.usage
    reported: dict[str, Any] = {
        "prompt_tokens": _count(usage.prompt_tokens) if usage else None,
        "tokens": _count(usage.completion_tokens) if usage else None,
        "model": f"{completion.model} {completion.system_fingerprint or ''}".strip()[:100]
        if isinstance(completion.model, str) and completion.model
        else None,
    }
    if not completion.choices:  # the server blocked the question
        return Answer(prompt_id, "", "refused", 0.0, **reported)
    choice = completion.choices[0]
    content, thinking = _split_content(choice.message.content)
    content = content.encode(errors="replace").decode()  # some servers cut characters in half
    reasoning = thinking or reasoning_of(choice.message.model_extra or {})
    if reasoning is not None:
        raw: str | None = f"{reasoning}\n{content}"
        text = unmarked(content)
    else:
        reasoning, text = strip_reasoning(content, facts.tags, opened=facts.opened)
        raw = content if reasoning is not None else None
    status: AnswerStatus = "ok" if text else "empty"
    if choice.message.refusal or str(choice.finish_reason).startswith("content_filter"):
        raw, status = raw or choice.message.refusal, "refused"
    elif choice.finish_reason == "length":
        status = "truncated"
    details = usage and usage.completion_tokens_details
    counted = _count(details.reasoning_tokens) if details else 0
    if reasoning is None and not counted:
        reasoning_tokens = None
    else:  # without a count from the server, estimated from the share of the text
        share = len(reasoning or "") / max(1, len(reasoning or "") + len(text))
        reasoning_tokens = counted or round(share * (reported["tokens"] or 0))
    return Answer(
        prompt_id,
        text,
        status,
        0.0,
        raw=raw,
        reasoning_tokens=reasoning_tokens,
        **reported,
    )


def _split_content(content: Any) -> tuple[str, str | None]:
    """Return the text of a message's content, and its reasoning if that is in parts of type "thinking"."""
    if not isinstance(content, list):
        return str(content or ""), None
    texts = [str(part.get("text") or "") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    thoughts = [
        _split_content(part.get("thinking"))[0]
        for part in content
        if isinstance(part, dict) and part.get("type") == "thinking"
    ]
    return "".join(texts), "".join(thoughts) or None


def _server_message(error: openai.APIStatusError, key: str | None) -> str:
    """Return the server's error message without the API key, which some servers repeat."""
    message = " ".join(str(error.message).split())
    return without_key(message, key)[:200]


class Budget:
    """Hard limits on tokens, cost and requests: a request that could exceed one is not sent.

    Until the server reports its usage, each byte of a prompt counts as a token.
    """

    def __init__(self, options: ApiOptions, spent: tuple[int, int] = (0, 0)) -> None:
        self._options = options
        self._requests = 0
        self._prompt, self._completion = spent

    def reserve(self, prompt: int, completion: int) -> None:
        """Reserve tokens for one question. Raises EvaluationError if they exceed the budget."""
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
        """Replace the tokens reserved for a question by those that it used. Both are (prompt, completion)."""
        self._prompt += used[0] - reserved[0]
        self._completion += used[1] - reserved[1]

    def count_request(self) -> None:
        """Count one request. Raises EvaluationError if no further request is allowed."""
        if self._options.max_requests is not None and self._requests >= self._options.max_requests:
            raise EvaluationError(
                FailureCode.BUDGET_SPENT, f"the budget of {self._options.max_requests} requests is spent"
            )
        self._requests += 1


def _image_urls(prompt: Prompt, use_links: bool, max_pixels: int) -> tuple[list[str], float | None]:
    """Return the URLs of the images, and the scale of the most reduced one (None if all are links).

    They are public links if `use_links`, else data URLs. Image files are sent unchanged unless they exceed the pixel
    budget.
    """
    urls, factors = list(prompt.links) if use_links else [], []
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
