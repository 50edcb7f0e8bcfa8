"""The queue: what is pending, running, finished or failed, and why; and a request's own card."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import gradio as gr

from leaderboard.data.live_board import LiveBoard
from leaderboard.pages.tab import LIVE, TabView
from leaderboard.views.render import render
from leaderboard.views.texts import Language
from submissions.queue.wait_time import waits
from submissions.records.request import Status
from submissions.texts.failures import FAILURES

SHOWN = 100
DEFAULTS = {"request": ""}


def queue_tab(board: LiveBoard, language: Language) -> TabView:
    chosen = gr.Textbox("", visible=False)
    html = gr.HTML(elem_id="queue", js_on_load=LIVE, apply_default_css=False)

    def read(params: Mapping[str, str]) -> list[Any]:
        return [params.get("request", "")[:64]]

    def show(key: str | None) -> str:
        view, version = board.view(), board.queue_version
        own = next((row for row in view.queue if row.key == key), None)
        if key and own is None:  # submitted a moment ago
            view = board.fresh_view()
            own = next((row for row in view.queue if row.key == key), None)
        counts = Counter(row.status for row in view.queue)
        return render(
            "queue.html",
            language,
            asked=key,
            own=own,
            rows=view.queue[:SHOWN],
            counts={status.value: counts[status] for status in Status if counts[status]},
            failures={code.value: message for code, message in FAILURES.items()},
            ours={code.value: code.ours for code in FAILURES},
            published=view.paths,
            waits=waits(view.queue, datetime.now(UTC)),
            progress={key: lease.progress for key, lease in board.leases().items() if lease.progress},
            silent_since=board.silent_since(),
            pauses=board.pauses(),
            unattended_since=board.unattended_since,
            version=version,
        )

    return TabView("queue", DEFAULTS, [chosen], html, read, show)
