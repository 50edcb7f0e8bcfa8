"""Named endpoints for programs: through gradio_client, plain HTTP, and for what only reads as tools of agents (MCP).

What comes in is checked here: over HTTP nothing holds a caller to the types.
"""

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import gradio as gr
from gradio.events import api
from mcp.types import ImageContent, TextContent
from pydantic import TypeAdapter

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.export import flat
from leaderboard.data.live_board import Board
from leaderboard.data.query import PAGE, Query, select
from leaderboard.pages.submit import Form, submit_model
from leaderboard.web.auth import Visitors
from submissions.checks.submit import Admission
from submissions.messages import FAILURES
from submissions.queue.queue import Queue
from submissions.queue.wait_time import Wait, waits
from submissions.records import QueueRow

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
HIDDEN = {"path", "blob", "submitted_by", "organisation"}  # of a request: what only the board needs
MOST = 1000  # rows an answer has


def add_endpoints(board: Board, queue: Queue, admission: Admission, visitors: Visitors) -> None:
    """The endpoints of a page, to be called while it is built."""

    def leaderboard(
        benchmark: str, search: str = "", verified: bool = False, limit: int = PAGE
    ) -> list[dict[str, Any]]:
        """The ranked table of a benchmark, best first. Scores are percentages, latencies milliseconds a question.

        Args:
            benchmark: ko-vqa, ko-vdc, korquad-2 or infochartqa
            search: words in the names of model or maker; org:NAME, license:NAME or hardware:NAME look there only
            verified: only results evaluated by this leaderboard
            limit: how many rows, 1000 at most
        """
        boards = board.view().boards
        if benchmark not in boards:
            raise _refusal(f"no benchmark {benchmark!r}: one of {', '.join(boards)}")
        if not isinstance(limit, int) or not 1 <= limit <= MOST:
            raise _refusal(f"limit must be a whole number from 1 to {MOST}")
        found = select(boards[benchmark], Query(words=str(search)[:100], verified=bool(verified)))
        return [flat(row) for row in found[:limit]]

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
            benchmarks: of ko-vqa, ko-vdc, korquad-2, infochartqa
            revision: branch, tag or commit; empty for the newest
            precision: auto, float32, bfloat16 or float16
            share: offer the result to the model's repository as a pull request
            thinking: auto, on or off, for a model whose chat template can turn its reasoning on and off
        """
        if not isinstance(benchmarks, list):
            raise _refusal("benchmarks must be a list")
        submitter = visitors.submitter(profile) or visitors.bearer(_token(request))
        if not visitors.may_ask(request.client.host if request and request.client else "", submitter):
            raise _refusal("too many submissions; try again in a minute")
        named = [str(b) for b in benchmarks]
        form = Form(str(model), named, str(revision), str(precision), bool(share), str(thinking))
        lines, _ = submit_model(queue, admission, submitter, "en", form)
        names = {b.card.title: name for name, b in BENCHMARKS.items()}
        return [
            {
                "accepted": line.accepted,
                "benchmark": names.get(line.benchmark),
                "message": line.message,
                "request": line.request or None,
            }
            for line in lines
        ]

    reading: dict[str, Callable[..., Any]] = {"leaderboard": leaderboard, "result": result, "request": request}
    for name, function in {**reading, "queue": queue_}.items():
        # Not by way of the queue: as a tool, Gradio would call itself at whatever address its first caller names.
        api(_safe(function, name), api_name=name, queue=False)
    api(_safe(submit, "submit"), api_name="submit", concurrency_limit=4)


def limit_tools(page: gr.Blocks) -> None:
    """Only what reads is a tool, and its answers are JSON. To be called once the page is mounted."""
    server = page.mcp_server_obj
    assert server is not None, getattr(page, "mcp_error", None)
    server.tool_to_endpoint = {t: e for t, e in server.tool_to_endpoint.items() if e != "/submit"}

    def as_json(data: Any, root_url: str) -> list[TextContent | ImageContent]:
        return [TextContent(type="text", text=json.dumps(value, ensure_ascii=False)) for value in data]

    server.postprocess_output_data = as_json  # type: ignore[method-assign]  # else Python's own notation


def queue_json(board: Board) -> list[dict[str, Any]]:
    view = board.view()
    waiting = waits(view.queue, datetime.now(UTC))
    return [_told(board, row, waiting.get(row.key)) for row in view.queue[:MOST]]


def request_json(board: Board, key: str) -> dict[str, Any] | None:
    view = board.view()
    row = next((row for row in view.queue if row.key == key), None)
    return _told(board, row, waits(view.queue, datetime.now(UTC)).get(key)) if row else None


def _told(board: Board, row: QueueRow, wait: Wait | None) -> dict[str, Any]:
    """A request as others may see it."""
    told = TypeAdapter(QueueRow).dump_python(row, mode="json", exclude=HIDDEN)
    lease = board.leases().get(row.key)
    told["progress"] = lease.progress.model_dump(mode="json") if lease and lease.progress else None
    told["place"] = wait.place if wait else None
    told["ready_in_minutes"] = round(wait.ready_in.total_seconds() / 60) if wait and wait.ready_in else None
    failure = next((code for code in FAILURES if code == row.failure_code), None)
    told["failure"] = (
        {"stage": row.failure_stage, "code": failure, "ours": failure.ours, "message": FAILURES[failure].en}
        if failure
        else None
    )
    told["result"] = f"/results/{row.key}.json" if row.key in board.view().paths else None
    return {name: value for name, value in told.items() if not name.startswith("failure_")}


def _token(request: gr.Request | None) -> str | None:
    """The Hub token that a program sends along: gradio_client in a header of its own, as the Hub reads the usual one."""
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
