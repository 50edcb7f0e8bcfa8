"""The engine for OpenAI-compatible servers: closed models, vLLM, SGLang, `transformers serve`.

Requests are sent concurrently: more while the server keeps up, half as many after it reports overload. A request that
still fails after all retries has the status `infra_error` and is not counted as an answer of the model.
"""

import asyncio
import json
import os
import queue
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import httpx2
import openai
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from evaluator.core.data_types import Answer, Prompt
from evaluator.core.errors import EvaluationError
from evaluator.engines.api_budget import Budget
from evaluator.engines.api_completion import (
    TemplateFacts,
    answer_in,
    read_response,
    read_template_facts,
    server_message,
)
from evaluator.engines.api_http import make_client, time_limits
from evaluator.engines.hardware import torch_environment
from evaluator.engines.images import image_urls
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
from submissions.hub_models.reasoning import EFFORT_PARAMETER
from submissions.records.options import EFFORTS
from submissions.store.retry_wait import wait_retry_after
from submissions.texts.failure_codes import FailureCode

ATTEMPTS = 8  # for each question
MAX_REFUSALS = 8  # if the server has refused this many questions and answered none, the evaluation fails
CONCURRENCY = 32  # maximum number of concurrent requests to a server
LONGEST_WAIT = 300.0  # seconds between two attempts, even if the server asks for more
IMAGE_TOKENS = 2048  # reserved in the budget for an image until the server reports its usage
_END = object()  # put into the queue of results after the last one


class ApiEngine:
    """Asks the questions of a model through one or several OpenAI-compatible servers."""

    params = None

    @staticmethod
    def environment(options: EngineOptions) -> dict[str, str | float]:
        """Return the environment of this machine if the server runs here too, else an empty dict."""
        return {} if options.api is None or options.remote else torch_environment(options)

    def __init__(self, options: EngineOptions) -> None:
        if options.api is None:
            raise EvaluationError(FailureCode.SERVER_FAILED, "the API engine needs --base-url or --spawn")
        self._options = options
        # `api.key` names the environment variable that holds the secret. Only the default variable may be unset.
        self._secret = os.environ.get(options.api.key)
        if options.remote and not self._secret and options.api.key != API_KEY:
            raise EvaluationError(FailureCode.API_REFUSED, f"the variable {options.api.key} is not set")
        self._template = TemplateFacts(writes_reasoning=options.asks_for_reasoning)
        if options.api.spawn:
            self._template = read_template_facts(options)
        reasoning_tokens = options.max_reasoning_tokens if self._template.writes_reasoning else 0
        self._max_tokens = options.max_new_tokens + reasoning_tokens
        self._parameters: dict[str, Any] = {"max_tokens": self._max_tokens, "temperature": 0}
        # Streaming detects stalls of a remote server. A spawned server does not stream, because some cut off half a
        # character at the end of a stream.
        if options.remote:
            self._parameters |= {"stream": True, "stream_options": {"include_usage": True}}
        if options.remote and options.thinking in EFFORTS:
            self._parameters[EFFORT_PARAMETER] = options.thinking
        self._reached = False  # whether the server has ever sent a response
        self._answered = False  # whether it has ever answered a question
        self._refusals = 0  # number of questions that the server refused
        self._server = Server(options.api.spawn, options) if options.api.spawn else None
        base_url = self._server.base_url if self._server else options.api.base_url
        self._base_urls = (base_url, *options.api.replicas)
        self.batch_size = options.batch_size or CONCURRENCY
        self._loads = [ServerLoad(self.batch_size) for _ in self._base_urls]
        self._budget = Budget(options.api, options.spent)

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        # The event loop runs in a thread, because the caller takes the answers one by one and may stop at any time.
        results: queue.Queue[Any] = queue.Queue()  # answers, or the exception that ended the loop, and at last _END
        stopped = threading.Event()

        def run() -> None:
            try:
                asyncio.run(self._answer_all(iter(prompts), results, stopped))
            except BaseExceptionGroup as group:
                results.put(group.exceptions[0])
            except BaseException as error:
                results.put(error)
            results.put(_END)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            while (result := results.get()) is not _END:
                if isinstance(result, BaseException):
                    raise result
                yield result
        finally:
            stopped.set()
            thread.join()

    def close(self) -> None:
        if self._server:
            self._server.close()

    async def _answer_all(self, prompts: Iterator[Prompt], results: queue.Queue[Any], stopped: threading.Event) -> None:
        """Put the answers to all prompts into `results`, until `stopped` is set or the budget is spent."""
        # The clients do not retry: `_complete` does, to respect Retry-After and to slow down all requests to a server.
        clients = [make_client(str(url), self._secret) for url in self._base_urls]
        servers = ServerPool(clients, self._loads)
        budget_errors: list[EvaluationError] = []

        async def answer_until_done() -> None:
            for prompt in prompts:
                if stopped.is_set() or budget_errors:
                    return
                try:
                    results.put(await self._ask(servers, prompt))
                except EvaluationError as error:
                    if error.code != FailureCode.BUDGET_SPENT:
                        raise
                    budget_errors.append(error)  # let requests in flight finish, as they are paid for

        async with AsyncExitStack() as stack:
            for client in clients:
                await stack.enter_async_context(client)
            async with asyncio.TaskGroup() as group:
                for _ in range(self.batch_size * len(clients)):
                    group.create_task(answer_until_done())
        if budget_errors:
            raise budget_errors[0]

    @property
    def _api(self) -> ApiOptions:
        assert self._options.api is not None
        return self._options.api

    async def _ask(self, servers: ServerPool, prompt: Prompt) -> Answer:
        """Return the answer to one prompt, with the status `infra_error` if no server answers it.

        Raises EvaluationError if all other questions would fail, too, or the budget is spent.
        """
        room = None if self._api.page_chars is None else self._api.page_chars + len(prompt.text)
        text, windows = fit_page(prompt, room, len)
        try:
            images, resize = await asyncio.to_thread(
                image_urls, prompt, self._api.image_links, self._options.max_pixels
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
            sampled="temperature" not in self._parameters,  # a server that rejects `temperature` decodes by sampling
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
            message = server_message(error, self._secret)
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
                    return answer_in(completion, prompt_id, self._template, self._secret)
        raise AssertionError("the last attempt either returns or raises")

    async def _create(self, client: openai.AsyncOpenAI, content: list[Any]) -> Any:
        """Send one request for greedy decoding and return its completion. A stalled stream is a timeout.

        A parameter that the server rejects is left out or renamed, here and in all later requests: reasoning models
        accept no temperature and expect `max_completion_tokens` instead of `max_tokens`.
        """
        extra = {"chat_template_kwargs": self._template.switches} if self._template.switches else None
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
                    return await read_response(response)
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
