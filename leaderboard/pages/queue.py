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

MAX_ROWS = 100
DEFAULTS = {"request": ""}


def queue_tab(board: LiveBoard, language: Language) -> TabView:
    chosen = gr.Textbox("", visible=False)
    html = gr.HTML(elem_id="queue", js_on_load=REFRESH_JS, apply_default_css=False)

    def read(params: Mapping[str, str]) -> list[Any]:
        return [params.get("request", "")[:64]]

    def show(key: str | None) -> str:
        view, version = board.view(), board.queue_version
        own = next((row for row in view.queue if row.key == key), None)
        if key and own is None:  # the view may be older than the request
            view = board.fresh_view()
            own = next((row for row in view.queue if row.key == key), None)
        counts = Counter(row.status for row in view.queue)
        return render(
            "queue.html",
            language,
            asked=key,
            own=own,
            rows=view.queue[:MAX_ROWS],
            counts={status.value: counts[status] for status in Status if counts[status]},
            failures={code.value: message for code, message in FAILURES.items()},
            ours={code.value: code.is_infrastructure for code in FAILURES},
            published=view.paths,
            waits=waits(view.queue, datetime.now(UTC)),
            progress={key: lease.progress for key, lease in board.workers.leases.items() if lease.progress},
            silent_since=board.workers.silent_since,
            pauses=board.workers.pauses,
            unattended_since=board.workers.unattended_since,
            version=version,
        )

    return TabView("queue", DEFAULTS, [chosen], html, read, show)
