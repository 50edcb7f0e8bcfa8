"""The queue tab: pending, running, finished and failed requests, and the details of one request."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import gradio as gr

from leaderboard.data.live_board import LiveBoard
from leaderboard.pages.tab import REFRESH_JS, TabView
from leaderboard.views.render import render
from leaderboard.views.texts import Language
from submissions.queue.wait_time import waits
from submissions.records.request import Status
from submissions.texts.failures import FAILURES

MAX_ROWS = 100  # of the table
MAX_KEY_LENGTH = 64  # characters of the URL parameter; keys are shorter
DEFAULTS = {"request": ""}


def queue_tab(board: LiveBoard, language: Language) -> TabView:
    """Build the queue tab, and return its HTML and its only field: the hidden key of a request to show in detail."""
    key_field = gr.Textbox("", visible=False)
    html = gr.HTML(elem_id="queue", js_on_load=REFRESH_JS, apply_default_css=False)

    def read(params: Mapping[str, str]) -> list[Any]:
        """Return the value of the field for the parameters of a URL."""
        return [params.get("request", "")[:MAX_KEY_LENGTH]]

    def show(key: str | None) -> str:
        """Return the queue, and the details of the request with this key."""
        view, version = board.view(), board.queue_version
        requested = next((row for row in view.queue if row.key == key), None)
        if key and requested is None:  # the view may be older than the request
            view = board.fresh_view()
            requested = next((row for row in view.queue if row.key == key), None)
        counts = Counter(row.status for row in view.queue)
        return render(
            "queue.html",
            language,
            requested_key=key,
            requested=requested,
            rows=view.queue[:MAX_ROWS],
            counts={status.value: counts[status] for status in Status if counts[status]},
            failures={code.value: message for code, message in FAILURES.items()},
            infrastructure_failures={code.value for code in FAILURES if code.is_infrastructure},
            result_paths=view.paths,
            waits=waits(view.queue, datetime.now(UTC)),
            progress={key: lease.progress for key, lease in board.workers.leases.items() if lease.progress},
            last_heartbeat_of_silent=board.workers.silent_since,
            pauses=board.workers.pauses,
            no_worker_since=board.workers.unattended_since,
            version=version,
        )

    return TabView("queue", DEFAULTS, [key_field], html, read, show)
