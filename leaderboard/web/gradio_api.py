"""Named endpoints for programs, through gradio_client and plain HTTP. Endpoints that only read are also MCP tools.

Gradio turns each function in `_add_endpoints` into an endpoint of its name, and shows the function's docstring and parameter
names to programs as its documentation. Every input is checked here or by `Submission.parse`, because over HTTP a caller can
send values of any type.
An error that a caller is to see is a `gr.Error`. The application is built late, by `leaderboard/web/application.py`.
"""

import json
import logging
from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from typing import Any, ParamSpec, TypeVar

import gradio as gr
from fastapi import FastAPI
from gradio.block_function import BlockFunction
from gradio.events import api
from mcp import types as mcp_types
from mcp.types import ImageContent, TextContent

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.export import flat
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import ROWS_PER_PAGE, Query, clean_words
from leaderboard.data.requests import MAX_ROWS, queue_json, request_json
from leaderboard.views.outcomes import outcome_message
from leaderboard.web.auth import CHECKS_AT_ONCE, Visitors
from leaderboard.web.gradio_calls import CallChecks, Endpoint, Parameter
from leaderboard.web.responses import INTERNAL_ERROR
from submissions.checks.submission import Submission
from submissions.checks.submit import SubmissionService
from submissions.records.options import PRECISIONS, THINKING
from submissions.texts.refusals import REFUSALS, RefusalCode

MAX_WAITING = 200  # events in Gradio's queue
CONCURRENT = 8  # events of one endpoint that run at a time, except `submit` (CHECKS_AT_ONCE)
# What MCP clients may request. Gradio also answers requests for prompts and resources, of which there are none here: to look
# for one it connects to the host that the request names, which may be any.
MCP_REQUESTS = (mcp_types.PingRequest, mcp_types.ListToolsRequest, mcp_types.CallToolRequest)

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")


def gradio_app(board: LiveBoard, service: SubmissionService, visitors: Visitors) -> FastAPI:
    """Return the application with the endpoints, at /gradio_api, and what their clients need."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    with _Blocks(title="Hannun", analytics_enabled=False) as blocks:
        _add_endpoints(board, service, visitors)
    # The queue is short, so that every waiting event is answered soon. `api_open=False`: `submit` cannot be called past it.
    blocks.queue(max_size=MAX_WAITING, default_concurrency_limit=CONCURRENT, api_open=False)
    gr.mount_gradio_app(
        app,
        blocks,
        path="/",
        footer_links=[],
        show_error=False,
        ssr_mode=False,
        run_history=False,
        mcp_server=True,
    )
    _limit_tools(blocks)
    app.add_middleware(CallChecks, endpoints=blocks.endpoints.values())
    return app


class _Blocks(gr.Blocks):
    """Gradio's endpoints, which accept only the values that our functions read.

    Gradio calls `validate_inputs` before it reads the values of a call of any kind. Its own check prints the values to stderr,
    in which a visitor could forge lines of the log. Objects are refused, because Gradio takes one for a file and makes its
    path absolute, which an error message would show.
    """

    @cached_property
    def endpoints(self) -> dict[int, Endpoint]:
        """The endpoints as Gradio describes them to programs, by number. Must not be read before all have been added."""
        described = self.get_api_info()["named_endpoints"]
        endpoints: dict[int, Endpoint] = {}
        for number, function in self.fns.items():
            parameters = [
                Parameter(parameter["parameter_name"], required=not parameter["parameter_has_default"])
                for parameter in described[f"/{function.api_name}"]["parameters"]
            ]
            endpoints[number] = Endpoint(str(function.api_name), number, parameters)
        return endpoints

    def validate_inputs(self, block_fn: BlockFunction, inputs: list[Any]) -> None:
        """Raise gr.Error if values of a call are missing, too many, or objects."""
        endpoint = self.endpoints[block_fn._id]
        if len(inputs) != len(endpoint.parameters):
            raise _error(endpoint.usage)
        if any(_has_object(value) for value in inputs):
            raise _error(f"{endpoint.usage}; none of them is an object")


def _has_object(value: object) -> bool:
    """Return whether a value of a call is or contains a JSON object."""
    pending = [value]  # a loop, because lists may be nested very deeply
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            return True
        if isinstance(part, list):
            pending += part
    return False


def _add_endpoints(board: LiveBoard, service: SubmissionService, visitors: Visitors) -> None:
    """Add the endpoints to the current `gr.Blocks`."""

    def leaderboard(
        benchmark: str, search: str = "", verified: bool = False, limit: int = ROWS_PER_PAGE
    ) -> list[dict[str, Any]]:
        """Return the ranked table of a benchmark, best first. Scores are in percent, latencies in milliseconds per question.

        Args:
            benchmark: name of the benchmark, for example ko-vqa; for an unknown name the error lists all names
            search: words in the names of model or maker; org:NAME, license:NAME or hardware:NAME search only that field
            verified: only results evaluated by this leaderboard
            limit: number of rows, at most 1000
        """
        view = board.fresh_view()
        _check_known("benchmark", [benchmark], list(view.boards))
        if type(limit) is not int or not 1 <= limit <= MAX_ROWS:  # True is an int too
            raise _error(f"limit must be a whole number from 1 to {MAX_ROWS}")
        if type(verified) is not bool:
            raise _error("verified must be true or false")
        found = view.select(benchmark, Query(words=clean_words(search), verified=verified))
        return flat(found[:limit])

    def result(key: str) -> dict[str, Any]:
        """Return the full record of a result: scores, intervals, breakdown, latency, environment, provenance.

        Args:
            key: the result's key, 32 hex digits, from a row of the leaderboard
        """
        content = board.result_json(str(key))
        if content is None:
            raise _error("no such result")
        record: dict[str, Any] = json.loads(content)
        return record

    def request_(key: str) -> dict[str, Any]:
        """Return the state of an evaluation request: status, place in the queue, stage and progress, or why it failed.

        Args:
            key: the request's key, 32 hex digits, as returned by submit
        """
        found = request_json(board, str(key))
        if found is None:
            raise _error("no such request")
        return found

    def queue_() -> list[dict[str, Any]]:
        """Return all open and recent evaluation requests, newest first."""
        return queue_json(board)

    def submit(
        model: str,
        benchmarks: list[str],
        revision: str = "",
        precision: str = "auto",
        share: bool = False,
        thinking: str = "auto",
        request: gr.Request | None = None,
        profile: gr.OAuthProfile | None = None,
    ) -> list[dict[str, Any]]:
        """Check a Hub model and queue its evaluations. Return an entry for each benchmark, with the request's key.

        Args:
            model: ID on the Hub, owner/name
            benchmarks: names of benchmarks, for example ko-vqa
            revision: branch, tag or commit; empty for the newest
            precision: auto, float32, bfloat16 or float16
            share: offer the result to the model's repository as a pull request
            thinking: auto; on or off for a model whose chat template can turn its reasoning on and off; or the effort low,
                medium or high
        """
        if not isinstance(benchmarks, list):
            raise _error("benchmarks must be a list")
        _check_known("benchmark", benchmarks, list(BENCHMARKS))
        _check_known("precision", [precision], ["auto", *PRECISIONS])
        _check_known("thinking", [thinking], ["auto", *THINKING])
        submitter = visitors.submitter(profile)
        if not visitors.within_rate_limit(request.client if request else None, submitter):
            raise _error(REFUSALS[RefusalCode.TOO_OFTEN].en)
        if submitter is None:  # the limit per network, checked above, also bounds the requests to the Hub
            submitter = visitors.submitter_of_token(_token(request))
            # Only the submitter's own limit is left to check: the network's has counted this call already.
            if submitter and not visitors.within_rate_limit(None, submitter):
                raise _error(REFUSALS[RefusalCode.TOO_OFTEN].en)
        if submitter is None:
            # An answer and not an error, as for a submission that the checks refuse.
            return [_answer(False, REFUSALS[RefusalCode.SIGN_IN].en)]
        submission = Submission.parse(model, benchmarks, revision, precision, thinking, share)
        with visitors.program_slot(request.client if request else None) as is_free:
            if not is_free:
                raise _error("another submission from your network is being checked; try again in a minute")
            outcomes, _ = service.submit(submission, submitter)
        board.expect_change()
        return [
            _answer(outcome.code == "accepted", outcome_message(outcome, "en"), outcome.benchmark, outcome.key)
            for outcome in outcomes
        ]

    readers: dict[str, Callable[..., Any]] = {
        "leaderboard": leaderboard,
        "result": result,
        "request": request_,
        "queue": queue_,
    }
    for name, function in readers.items():
        # `queue=False` is for MCP. With `queue=True`, Gradio would run a tool by calling itself at the host that its first
        # caller named, which may be any host. Calls of gradio_client and over HTTP wait in the queue in both cases, where
        # CONCURRENT of an endpoint run at a time.
        api(_hide_errors(function, name), api_name=name, queue=False)
    api(_hide_errors(submit, "submit"), api_name="submit", concurrency_limit=CHECKS_AT_ONCE)


def _check_known(name: str, values: Sequence[object], known: Sequence[str]) -> None:
    """Raise gr.Error if a value is not one of the known ones. `name` is what they are, such as "benchmark"."""
    if unknown := [value for value in values if value not in known]:
        raise _error(f"unknown {name} {str(unknown[0])[:50]!r}; available: {', '.join(known)}")


def _answer(accepted: bool, message: str, benchmark: str | None = None, key: str | None = None) -> dict[str, Any]:
    """Return the entry of one benchmark in the answer of `submit`. `request` is the key of the new or existing request."""
    return {"accepted": accepted, "benchmark": benchmark, "message": message, "request": key}


def _limit_tools(blocks: gr.Blocks) -> None:
    """Remove everything from the MCP server but tools that only read, and make these return JSON.

    Must be called after the blocks are mounted.
    """
    server = blocks.mcp_server_obj
    assert server is not None, getattr(blocks, "mcp_error", None)
    endpoints = server.tool_to_endpoint
    server.tool_to_endpoint = {tool: endpoint for tool, endpoint in endpoints.items() if endpoint != "/submit"}
    handlers = server.mcp_server.request_handlers
    for unwanted in set(handlers) - set(MCP_REQUESTS):
        del handlers[unwanted]

    def as_json(data: Any, root_url: str) -> list[TextContent | ImageContent]:
        return [TextContent(type="text", text=json.dumps(value, ensure_ascii=False)) for value in data]

    server.postprocess_output_data = as_json  # type: ignore[method-assign]  # otherwise the text is Python's repr


def _token(request: gr.Request | None) -> str | None:
    """Return the Hub token of a request.

    gradio_client sends it in X-HF-Authorization, because the Hub's proxy reads the Authorization header itself.
    """
    headers = request.headers if request else {}
    given = headers.get("x-hf-authorization") or headers.get("authorization") or ""
    scheme, _, token = given.partition(" ")
    if scheme.casefold() == "bearer":
        return token.strip() or None
    return given.strip() or None


def _error(message: str) -> gr.Error:
    """Return an error that the caller sees and that is not logged."""
    return gr.Error(message, print_exception=False)


def _hide_errors(function: Callable[P, T], name: str) -> Callable[P, T]:
    """Wrap an endpoint so that unexpected exceptions are logged and the caller only gets "internal error"."""

    @wraps(function)
    def inner(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except gr.Error:
            raise
        except Exception:
            log.exception("endpoint %s", name)
            raise _error(INTERNAL_ERROR) from None

    inner.__name__ = name  # which Gradio gives the MCP tool; otherwise they would be "queue_" and "request_"
    return inner
