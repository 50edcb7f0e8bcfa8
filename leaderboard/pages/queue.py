"""The queue view: what is pending, running, finished or failed, and why."""

from collections import Counter
from datetime import UTC, datetime

import gradio as gr

from evaluator.benchmarks import BENCHMARKS
from leaderboard.board import Board
from leaderboard.render import render
from leaderboard.texts import Language
from submissions.messages import FAILURES
from submissions.records import Status
from submissions.waiting import waits

SHOWN = 100
EVERY = 3.0  # seconds between looks, while the tab is open


def queue_tab(board: Board, language: Language, tab: gr.Tab) -> None:
    def table() -> str:
        view = board.view()
        counts = Counter(row.status for row in view.queue)
        return render(
            "queue.html",
            language,
            rows=view.queue[:SHOWN],
            counts={status.value: counts[status] for status in Status if counts[status]},
            titles={name: b.card.title for name, b in BENCHMARKS.items()},
            failures={code.value: getattr(message, language) for code, message in FAILURES.items()},
            ours={code.value: code.ours for code in FAILURES},
            published=view.paths,
            waits=waits(view.queue, datetime.now(UTC)),
        )

    html = gr.HTML(elem_id="queue", apply_default_css=False)
    timer = gr.Timer(EVERY, active=False)
    timer.tick(table, None, html, show_progress="hidden", api_visibility="private")
    tab.select(table, None, html, show_progress="hidden", api_visibility="private")
    tab.select(lambda: gr.Timer(active=True), None, timer, show_progress="hidden", api_visibility="private")
