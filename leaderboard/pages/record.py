"""The record tab: reported and measured scores, attempts by organisation, retired results, and seeds."""

from collections.abc import Mapping
from typing import Any

import gradio as gr

from leaderboard.data.attempts import all_attempts
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.record import retired_rows
from leaderboard.data.reproductions import all_reproductions, not_measured
from leaderboard.pages.tab import REFRESH_JS, TabView
from leaderboard.views.render import render
from leaderboard.views.texts import Language

MAX_ROWS = 100  # of each table


def record_tab(board: LiveBoard, language: Language) -> TabView:
    html = gr.HTML(elem_id="record", js_on_load=REFRESH_JS, apply_default_css=False)

    def read(params: Mapping[str, str]) -> list[Any]:
        return []

    def show() -> str:
        view, version = board.view(), board.version
        return render(
            "record.html",
            language,
            reproductions=all_reproductions(view.boards)[:MAX_ROWS],
            not_measured=not_measured(view.boards),
            attempts=all_attempts(view.boards)[:MAX_ROWS],
            retired=retired_rows(view.boards, view.retired),
            commitments=view.commitments,
            version=version,
        )

    return TabView("record", {}, [], html, read, show)
