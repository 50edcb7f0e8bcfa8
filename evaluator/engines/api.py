"""The engine for OpenAI-compatible servers: closed models, vLLM, SGLang, `transformers serve`.

A server is either remote (`--base-url`: its weights, hardware and context are unknown, and it may charge) or spawned by this
engine in the sandbox (`--spawn`: it runs the submitted model, and if it fails, the caller uses the built-in engine).

Requests are sent concurrently: more while the server keeps up, half as many after it reports overload. A request that
still fails after all retries has the status `infra_error` and is not counted as an answer of the model.

The steps of a question, each a method of ApiEngine:
  answer        yields answers while an event loop in a thread runs `_answer_all`
  _ask          fits the page, encodes the images, and decides what a failure means
  _complete     retries, on a server of the pool (`server_pool.py`), within the budget (`api_budget.py`)
  _create       sends one request (`api_http.py`), without the parameters that the server rejects (`api_request.py`)
  answer_in     reads the completion (`api_completion.py`)
"""

import asyncio
import json
import os
import queue
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
import openai
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from evaluator.core.data_types import Answer, Prompt
from evaluator.core.errors import EvaluationError
from evaluator.engines.api_budget import NO_TOKENS, Budget, TokenCounts
from evaluator.engines.api_completion import OutputFormat, answer_in, read_response, server_message
from evaluator.engines.api_http import make_client, time_limits
from evaluator.engines.api_request import RequestParameters
from evaluator.engines.hardware import LIBRARIES, torch_environment
from evaluator.engines.images import image_urls
from evaluator.engines.options import SERVER_LOG_PREFIX, EngineOptions
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
from submissions.config.api_options import ApiOptions, key_fault
from submissions.config.server_command import program_of
from submissions.hub_models.reasoning import EFFORT_PARAMETER
from submissions.records.options import EFFORTS
from submissions.store.retry_after import wait_retry_after
from submissions.texts.failure_codes import FailureCode

ATTEMPTS = 8  # for each question
# If a remote server has refused this many questions with images, or without, and answered none, the evaluation fails.
MAX_REFUSALS = 8
MIN_ANSWERS_TO_CHECK_TAGS = 8  # answers without any reasoning, after which a server seems to leave out the tags
MAX_MESSAGES = 100  # distinct messages of the server that are logged
DEFAULT_CONCURRENCY = 32  # maximum number of concurrent requests to a server, unless `batch_size` sets another
LONGEST_WAIT = 300.0  # seconds between two attempts, even if the server asks for more
IMAGE_TOKENS = 2048  # reserved in the budget for an image until the server reports its usage
_END = object()  # put into the queue of results after the last one


class ApiEngine:
    """Asks the questions of a model through one or several OpenAI-compatible servers."""

    params = None

    @staticmethod
    def environment(options: EngineOptions) -> dict[str, str | float]:
        """Return the environment of this machine if the server runs here too, else an empty dict.

        The versions of libraries are left out if the server has others, in an environment of its own.
        """
        if options.api is None or options.api.spawn is None:
            return {}
        environment = torch_environment(options)
        if not _shares_libraries(options.api.spawn):
            for name in ("python", *LIBRARIES):
                environment.pop(name, None)
        return environment

    def __init__(self, options: EngineOptions) -> None:
        """Start the server if it is to be spawned. Raises EvaluationError if that fails, or the API key is missing."""
        if options.api is None:
            raise EvaluationError(FailureCode.SERVER_FAILED, "the API engine needs --base-url or --spawn")
        self._options = options
        # `api.key` names the environment variable that holds the secret.
        self._secret = os.environ.get(options.api.key)
        if options.remote and (fault := key_fault(options.api.key)):
            raise EvaluationError(FailureCode.API_REFUSED, fault)
        self._server: Server | None = None
        # A ServedModel. None for a remote server, and if only the server can run the model.
        self._served_model: Any = None
        self._output_format = OutputFormat(writes_reasoning=True if options.asks_for_reasoning else None)
        if options.api.spawn:
            self._start_server(options.api.spawn)
        self._parameters = RequestParameters(self._protocol_parameters(), self._fields_of_spawned_server())
        self._max_tokens = options.max_new_tokens  # that may be generated, unless prompts are fitted to the context
        if self._output_format.writes_reasoning:
            self._max_tokens += options.max_reasoning_tokens
        # What has been seen of the server.
        self._reached = False  # whether it has ever sent a response
        self._answered = Counter[bool]()  # number of questions with images (True) and without that it has answered
        self._refused = Counter[bool]()  # number of those that it has refused
        self._last_answer = time.monotonic()  # when the last question was answered
        self._with_reasoning = 0  # number of answers after reasoning
        self._messages: set[str] = set()  # of the server, as logged
        # Where and how fast requests are sent, and within which budget.
        base_url = self._server.base_url if self._server else options.api.base_url
        self._base_urls = (base_url, *options.api.replicas)
        self.batch_size = options.batch_size or DEFAULT_CONCURRENCY
        self._loads = [ServerLoad(self.batch_size) for _ in self._base_urls]
        self._budget = Budget(options.api, TokenCounts(*options.spent))

    @property
    def server_version(self) -> str | None:
        """The version that a spawned server reports, if any."""
        return self._server.version if self._server else None

    @property
    def server_context(self) -> int | None:
        """The number of tokens to which a spawned server limits the model's context, or None if it does not."""
        return self._served_model.reduced_context if self._served_model else None

    @property
    def server_build(self) -> str | None:
        """Everything that is known of a spawned server and that answers may depend on, or None without one."""
        if self._server is None:
            return None
        return f"{self._server.name} {self._server.version}, context {self._server.context}"

    def _start_server(self, command: str) -> None:
        """Start the server, and find out how to ask its model and how to read its outputs."""
        from evaluator.engines.served_model import format_by_template, load_served_model

        self._server = Server(command, self._options)
        self._served_model = load_served_model(self._options, self._server.context)
        self._output_format = (
            self._served_model.output_format if self._served_model else format_by_template(self._options)
        )

    def _protocol_parameters(self) -> dict[str, Any]:
        """Return the parameters of requests that the OpenAI protocol has."""
        if not self._options.remote:
            return {}  # a spawned server does not stream: some cut off half a character at the end of a stream
        # In a stream, a server that stalls is noticed before the time limit of the whole request.
        parameters: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
        if self._options.thinking in EFFORTS:
            parameters[EFFORT_PARAMETER] = self._options.thinking
        return parameters

    def _fields_of_spawned_server(self) -> dict[str, Any]:
        """Return the fields of requests that the OpenAI protocol does not have. A remote server gets none."""
        if not self._server:
            return {}
        # Tags and the ends of answers may be special tokens, which servers leave out unless they are asked for them. The
        # ids of the tokens are the whole output, even if a parser of the server has taken the text apart.
        fields: dict[str, Any] = {"skip_special_tokens": False}
        if self._served_model:
            fields |= {"return_token_ids": True, "stop_token_ids": self._served_model.stops}
        if self._output_format.switches:
            fields["chat_template_kwargs"] = self._output_format.switches
        return fields

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        # The event loop runs in a thread, because the caller takes the answers one by one and may stop at any time.
        results: queue.Queue[Any] = queue.Queue()  # answers, or the exception that ended the loop, and at last _END
        stopped = threading.Event()

        def run_event_loop() -> None:
            try:
                asyncio.run(self._answer_all(iter(prompts), results, stopped))
            except BaseExceptionGroup as group:
                results.put(group.exceptions[0])
            except BaseException as error:
                results.put(error)
            results.put(_END)

        thread = threading.Thread(target=run_event_loop, daemon=True)
        last_time = time.perf_counter()
        thread.start()
        try:
            while (result := results.get()) is not _END:
                if isinstance(result, BaseException):
                    raise result
                # Requests overlap, so an answer's share of the time is the time since the one before it.
                now = time.perf_counter()
                yield replace(result, seconds=now - last_time)
                last_time = now
        finally:
            stopped.set()
            thread.join()

    def close(self) -> None:
        if self._server:
            self._server.close()
        if self._served_model:
            self._served_model.close()

    async def _answer_all(self, prompts: Iterator[Prompt], results: queue.Queue[Any], stopped: threading.Event) -> None:
        """Put the answers to all prompts into `results`, until `stopped` is set or the budget is spent.

        Several tasks take prompts from the same iterator. How many of their requests are sent at once is decided by the
        load of each server, see `server_pool.py`.
        """
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
        """Return the answer to one prompt: `infra_error` if no server answers it, or an image cannot be read.

        Raises EvaluationError if all other questions would fail, too, or the budget is spent.
        """
        fitted = await asyncio.to_thread(self._fit, prompt)
        try:
            images, resize = await asyncio.to_thread(
                image_urls, prompt, self._api.image_links, self._options.max_pixels
            )
        except OSError:
            return Answer(prompt.id, "", "infra_error", 0.0, fitted.windows)
        content = [
            *({"type": "image_url", "image_url": {"url": url}} for url in images),
            {"type": "text", "text": fitted.text},
        ]
        # A text has no more tokens than bytes: a token has at least one byte, and most have several.
        upper_bound = TokenCounts(len(fitted.text.encode()) + IMAGE_TOKENS * len(images), fitted.max_tokens)
        try:
            answer = await self._complete(servers, prompt.id, content, upper_bound)
        except (openai.OpenAIError, InvalidCompletionError, json.JSONDecodeError) as error:
            self._log_message(error)
            self._check_failure(error, with_images=bool(images))
            return Answer(prompt.id, "", "infra_error", 0.0, fitted.windows, resize=resize)
        self._answered[bool(images)] += 1
        self._last_answer = time.monotonic()
        self._check_tags(answer)
        if answer.prompt_tokens is not None and answer.tokens is not None:
            self._budget.settle(upper_bound, TokenCounts(answer.prompt_tokens, answer.tokens))
        return replace(
            answer,
            windows=fitted.windows,
            resize=resize,
            server=self.server_build,
            sampled=not self._parameters.is_greedy,
        )

    def _fit(self, prompt: Prompt) -> "_FittedPrompt":
        """Fit a prompt's page to the context of the server's model, or to the characters that the operator allows."""
        if self._served_model and self._api.page_chars is None:
            prepared = self._served_model.prepare(prompt)
            return _FittedPrompt(prepared.text, prepared.windows, self._served_model.max_tokens(prepared))
        room = None if self._api.page_chars is None else self._api.page_chars + len(prompt.text)
        text, windows = fit_page(prompt, room, len)
        return _FittedPrompt(text, windows, self._max_tokens)

    def _check_tags(self, answer: Answer) -> None:
        """Raise EvaluationError if a spawned server seems to leave out the tags of reasoning.

        Some models mark reasoning with special tokens. Each request asks the server to leave them in its text. Without them,
        the text does not show where the reasoning ends. That matters only if the server does not send the ids of the tokens,
        which show it too.

        The server seems to leave the tags out if no answer has had reasoning so far, and one of two things is true: it has
        rejected the field that asks for special tokens, or it has answered MIN_ANSWERS_TO_CHECK_TAGS questions.
        """
        if not self._output_format.closes_with_special_token:
            return
        # If there are special tags, there is a `_served_model`, because only its tokenizer knows that they are special.
        if self._served_model.has_read_ids:
            return
        if answer.reasoning_tokens is not None and answer.text:
            self._with_reasoning += 1
        has_rejected_field = not self._parameters.asks_for_special_tokens
        has_answered_enough = self._answered.total() >= MIN_ANSWERS_TO_CHECK_TAGS
        if not self._with_reasoning and (has_rejected_field or has_answered_enough):
            message = "the server leaves out the tags of reasoning, which are special tokens of this model"
            raise EvaluationError(FailureCode.SERVER_FAILED, message)

    def _log_message(self, error: Exception) -> None:
        """Write a server's message into the log of the evaluation, once."""
        message = f"{type(error).__name__}: {error}"
        if isinstance(error, openai.APIStatusError):
            message = f"{error.status_code}: {server_message(error, self._secret)}"
        if message not in self._messages and len(self._messages) < MAX_MESSAGES:
            self._messages.add(message)
            sys.stderr.write(f"{SERVER_LOG_PREFIX}{message}\n")

    def _check_failure(self, error: Exception, *, with_images: bool) -> None:
        """Raise EvaluationError unless the other questions may still be answered. A spawned server gets no second chance."""
        if self._server:
            raise self._failure_of_spawned_server(self._server, error) from None
        self._check_remote_failure(error, with_images=with_images)

    def _failure_of_spawned_server(self, server: Server, error: Exception) -> EvaluationError:
        """Return the error that ends this engine: the built-in engine may be able to answer what the server cannot."""
        # openai's class of timeouts is a subclass of that of connection errors.
        is_timeout = isinstance(error, openai.APITimeoutError)
        is_unreachable = isinstance(error, openai.APIConnectionError) and not is_timeout
        if server.exit_code is not None or (is_unreachable and server.is_ending()):
            message = f"{server.name} ended with code {server.exit_code} while it was asked"
        elif isinstance(error, openai.APIStatusError):
            message = self._status_message(error)
        else:
            message = f"the server answers no question: {error}"
        return EvaluationError(FailureCode.SERVER_FAILED, message)

    def _check_remote_failure(self, error: Exception, *, with_images: bool) -> None:
        """Raise EvaluationError if the server cannot be reached or refuses all questions.

        It refuses all if it says so by its status, if the account is out of credit, or if it has refused MAX_REFUSALS
        questions and answered none. Questions with images are counted apart, because a server may refuse images only.
        """
        if not self._reached and isinstance(error, openai.APIConnectionError):
            raise EvaluationError(FailureCode.SERVER_FAILED, "the server cannot be reached") from None
        if isinstance(error, openai.APIStatusError) and not is_retryable(error):
            self._refused[with_images] += 1
            refuses_all = not self._answered[with_images] and self._refused[with_images] >= MAX_REFUSALS
            if error.status_code in REFUSAL_STATUSES or is_quota(error) or refuses_all:
                raise EvaluationError(FailureCode.API_REFUSED, self._status_message(error)) from None

    def _status_message(self, error: openai.APIStatusError) -> str:
        return f"the server answers {error.status_code}: {server_message(error, self._secret)}"

    async def _complete(
        self, servers: ServerPool, prompt_id: str, content: list[Any], upper_bound: TokenCounts
    ) -> Answer:
        """Send one question, with retries, and return its answer.

        `content` are the parts of the user message. `upper_bound` are the most tokens that one attempt may use; its
        `completion` is the limit that the server is sent.

        Each attempt reserves these tokens. An error status costs nothing and releases them. After an attempt without a
        response, for which a provider may charge, they stay reserved. After an answer, `_ask` replaces them by the
        tokens used.

        Raises the error of the last attempt, or EvaluationError if the budget is spent.
        """
        async for attempt in AsyncRetrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=lambda state: min(LONGEST_WAIT, wait_retry_after(state)),
            retry=retry_if_exception(lambda error: servers.is_retryable(error) and not self._has_died(error)),
            reraise=True,
        ):
            with attempt:
                async with servers.slot() as client:
                    self._budget.reserve(upper_bound)
                    try:
                        completion = await self._create(client, content, upper_bound.completion)
                    except openai.APIStatusError:
                        self._budget.settle(upper_bound, NO_TOKENS)
                        raise
                    if self._server and not completion.choices:  # only providers have filters that block questions
                        raise InvalidCompletionError("the completion has no choices")
                    return answer_in(completion, prompt_id, self._output_format, self._secret)
        raise AssertionError("the last attempt either returns or raises")

    def _has_died(self, error: BaseException) -> bool:
        """Return whether the spawned server has ended, or has answered nothing for as long as one request may take."""
        if self._server is None:
            return False
        is_hanging = (
            isinstance(error, openai.APITimeoutError) and time.monotonic() - self._last_answer > self._api.timeout
        )
        return self._server.exit_code is not None or is_hanging

    async def _create(self, client: openai.AsyncOpenAI, content: list[Any], max_tokens: int) -> Any:
        """Send one request for greedy decoding and return its completion. A stalled stream is a timeout.

        If the server rejects a parameter, the request is repeated without it.
        """
        while True:
            self._budget.count_request()
            sent = self._parameters.of_request(max_tokens)
            try:
                async with asyncio.timeout(self._api.timeout):
                    response = await client.chat.completions.with_raw_response.create(
                        model=self._api.model or str(self._options.model),
                        messages=[{"role": "user", "content": content}],
                        extra_body=sent.extra or None,
                        timeout=time_limits(self._api.timeout, streams="stream" in sent.parameters),
                        **sent.parameters,
                    )
                    self._reached = True
                    return await read_response(response)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                self._reached = True
                if self._parameters.have_changed_since(sent):
                    continue  # another request has left out or renamed a parameter meanwhile
                # A server that has answered a question accepts all parameters, even if the complaint repeats their names.
                if self._answered.total() or not self._parameters.adapt_to(error):
                    raise
            except openai.APIStatusError:
                self._reached = True
                raise
            except TimeoutError:
                raise openai.APITimeoutError(httpx2.Request("POST", str(client.base_url))) from None


@dataclass(frozen=True)
class _FittedPrompt:
    """A prompt's text, with as much of its page as the server's model may read."""

    text: str
    windows: int | None  # number of page windows kept; None: the whole page
    max_tokens: int  # that may be generated


def _shares_libraries(command: str) -> bool:
    """Return whether a server's program belongs to the Python environment of this process."""
    try:
        found = shutil.which(program_of(command))
    except ValueError:
        return False
    return found is not None and Path(found).parent.resolve() == Path(sys.executable).parent.resolve()
