"""The queue: pending, running, finished and failed requests; and the page of one request."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.view import View
from leaderboard.pages.page import Page, render_page
from leaderboard.views.location import Location
from leaderboard.views.texts import text
from submissions.queue.wait_time import waits
from submissions.records.request import Status
from submissions.texts.failures import FAILURES

FOLDER = "requests/"  # of the pages of requests
MAX_ROWS = 100  # of the table


def queue(board: LiveBoard, here: Location, version: str) -> str:
    """Write the page of the queue, with open and recent requests."""
    view = board.view()
    counts = Counter(row.status for row in view.queue)
    return render_page(
        board,
        here,
        version,
        "queue.html",
        title=text("queue", here.language),
        description=text("queue_description", here.language),
        rows=view.queue[:MAX_ROWS],
        by_status={status.value: counts[status] for status in Status if counts[status]},
        **_request_state(board, view),
    )


def request(board: LiveBoard, here: Location, version: str) -> str | None:
    """Write the page of the request that the path names, requests/KEY, or return None if there is none."""
    key = here.path.removeprefix(FOLDER)
    view = board.view()
    if (row := view.request(key)) is None:  # the view may be older than the request
        view = board.fresh_view()
        row = view.request(key)
    if row is None:
        return None
    return render_page(
        board,
        here,
        version,
        "request.html",
        title=f"{row.model_id} · {BENCHMARKS[row.benchmark].card.title}",
        description=text(row.status, here.language),
        row=row,
        **_request_state(board, view),
    )


def _request_state(board: LiveBoard, view: View) -> dict[str, Any]:
    """Return what `request_state.html` needs to describe the states of requests."""
    progress = {key: lease.progress for key, lease in board.workers.leases.items() if lease.progress}
    is_running = any(row.status == Status.RUNNING for row in view.queue)
    pauses = [] if is_running else board.workers.pauses  # if one worker goes on, evaluation is not paused
    return {
        "failures": {code.value: message for code, message in FAILURES.items()},
        "infrastructure_failures": {code.value for code in FAILURES if code.is_infrastructure},
        "result_paths": view.paths,
        "waits": waits(view.queue, datetime.now(UTC)),
        "progress": progress,
        "last_heartbeat_of_silent": board.workers.silent_since,
        "pauses": pauses,
        "no_worker_since": board.workers.unattended_since,
    }


QUEUE = Page(queue, refreshed_by="queue")
REQUEST = Page(request, refreshed_by="queue")
