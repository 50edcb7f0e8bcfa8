"""Named endpoints for programs: through gradio_client, plain HTTP, and for what only reads as tools of agents (MCP).

What comes in is checked here: over HTTP nothing holds a caller to the types.
"""

import json
import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import gradio as gr
from gradio.events import api
from mcp.types import ImageContent, TextContent

from leaderboard.data.export import flat
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import PAGE, Query, clean_words, select
from leaderboard.data.requests import MAX_ROWS, queue_json, request_json
from leaderboard.views.outcomes import outcome_message
from leaderboard.web.auth import CHECKS_AT_ONCE, Visitors
from submissions.checks.submit import Submission, SubmissionService
from submissions.texts.refusals import REFUSALS, RefusalCode

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")


def add_endpoints(board: LiveBoard, service: SubmissionService, visitors: Visitors) -> None:
    """The endpoints of a page, to be called while it is built."""

    def leaderboard(
        benchmark: str, search: str = "", verified: bool = False, limit: int = PAGE
    ) -> list[dict[str, Any]]:
        """The ranked table of a benchmark, best first. Scores are percentages, latencies milliseconds a question.

        Args:
            benchmark: its name, ko-vqa say; an unknown one is answered with all names
            search: words in the names of model or maker; org:NAME, license:NAME or hardware:NAME look there only
            verified: only results evaluated by this leaderboard
            limit: how many rows, 1000 at most
        """
        boards = board.fresh_view().boards
        if benchmark not in boards:
            raise _refusal(f"no benchmark {benchmark!r}: one of {', '.join(boards)}")
        if not isinstance(limit, int) or not 1 <= limit <= MAX_ROWS:
            raise _refusal(f"limit must be a whole number from 1 to {MAX_ROWS}")
        found = select(boards[benchmark], Query(words=clean_words(search), verified=bool(verified)))
        return flat(found[:limit])

    def result(key: str) -> dict[str, Any]:
        """One result's whole record: scores, intervals, breakdown, latency, environment, provenance.

        Args:
            key: the result's key, 32 hex digits, as the leaderboard's rows have it
        """
        content = board.result_json(str(key))
        if content is None:
            raise _refusal("no such result")
        record: dict[str, Any] = json.loads(content)
        return record

    def request(key: str) -> dict[str, Any]:
        """How a submitted evaluation is going: status, place in the queue, stage and progress, or why it failed.

        Args:
            key: the request's key, 32 hex digits, as submitting gave it
        """
        found = request_json(board, str(key))
        if found is None:
            raise _refusal("no such request")
        return found

    def queue_() -> list[dict[str, Any]]:
        """All open and recent evaluations, newest first."""
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
        """Check a Hub model and queue its evaluation; a line for each benchmark, with the request's key.

        Args:
            model: its ID on the Hub, owner/name
            benchmarks: their names, ko-vqa say
            revision: branch, tag or commit; empty for the newest
            precision: auto, float32, bfloat16 or float16
            share: offer the result to the model's repository as a pull request
            thinking: auto, on or off, for a model whose chat template can turn its reasoning on and off
        """
        if not isinstance(benchmarks, list):
            raise _refusal("benchmarks must be a list")
        submitter = visitors.submitter(profile)
        if not visitors.within_rate_limit(request, submitter):
            raise _refusal(REFUSALS[RefusalCode.TOO_OFTEN].en)
        if submitter is None:  # the Hub is asked within the limit of the address only
            submitter = visitors.bearer(_token(request))
            if submitter and not visitors.within_rate_limit(None, submitter):
                raise _refusal(REFUSALS[RefusalCode.TOO_OFTEN].en)
        if submitter is None:
            return [_answer(False, REFUSALS[RefusalCode.SIGN_IN].en)]
        outcomes, _ = service.submit(
            Submission.parse(model, benchmarks, revision, precision, thinking, share), submitter
        )
        board.expect_change()
        return [_answer(one.code == "accepted", outcome_message(one, "en"), one.benchmark, one.key) for one in outcomes]

    reading: dict[str, Callable[..., Any]] = {"leaderboard": leaderboard, "result": result, "request": request}
    for name, function in {**reading, "queue": queue_}.items():
        # Not by way of the queue: as a tool, Gradio would call itself at whatever address its first caller names.
        api(_safe(function, name), api_name=name, queue=False)
    api(_safe(submit, "submit"), api_name="submit", **CHECKS_AT_ONCE)


def _answer(accepted: bool, message: str, benchmark: str | None = None, key: str | None = None) -> dict[str, Any]:
    return {"accepted": accepted, "benchmark": benchmark, "message": message, "request": key}


def limit_tools(page: gr.Blocks) -> None:
    """Only what reads is a tool, and its answers are JSON. To be called once the page is mounted."""
    server = page.mcp_server_obj
    assert server is not None, getattr(page, "mcp_error", None)
    server.tool_to_endpoint = {t: e for t, e in server.tool_to_endpoint.items() if e != "/submit"}

    def as_json(data: Any, root_url: str) -> list[TextContent | ImageContent]:
        return [TextContent(type="text", text=json.dumps(value, ensure_ascii=False)) for value in data]

    server.postprocess_output_data = as_json  # type: ignore[method-assign]  # else Python's own notation


def _token(request: gr.Request | None) -> str | None:
    """The Hub token that a program sends along: gradio_client in a header of its own, as the Hub reads the defaults one."""
    headers = request.headers if request else {}
    given = headers.get("x-hf-authorization") or headers.get("authorization") or ""
    return given.removeprefix("Bearer ").strip() or None


def _refusal(message: str) -> gr.Error:
    return gr.Error(message, print_exception=False)


def _safe(function: Callable[P, T], name: str) -> Callable[P, T]:
    """The function under its endpoint's name, its own faults told to the log alone."""

    @wraps(function)
    def inner(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except gr.Error:
            raise
        except Exception:
            log.exception("endpoint %s", name)
            raise _refusal("internal error; nothing was changed") from None

    inner.__name__ = name
    return inner
