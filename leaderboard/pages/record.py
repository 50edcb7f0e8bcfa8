"""The record: reported numbers beside measured ones, how often who was evaluated, results that were retired, and seeds."""

from collections.abc import Mapping
from typing import Any

import gradio as gr

from leaderboard.data.attempts import all_attempts
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.record import retired_rows
from leaderboard.data.reproductions import all_reproductions, not_measured
from leaderboard.pages.tab import LIVE, TabView
from leaderboard.views.render import render
from leaderboard.views.texts import Language

SHOWN = 100  # rows of each table


def record_tab(board: LiveBoard, language: Language) -> TabView:
    html = gr.HTML(elem_id="record", js_on_load=LIVE, apply_default_css=False)

    def read(params: Mapping[str, str]) -> list[Any]:
        return []

    def show() -> str:
        view, version = board.view(), board.version
        return render(
            "record.html",
            language,
            reproductions=all_reproductions(view.boards)[:SHOWN],
            not_measured=not_measured(view.boards),
            attempts=all_attempts(view.boards)[:SHOWN],
            retired=retired_rows(view.boards, view.retired),
            commitments=view.commitments,
            version=version,
        )

    return TabView("record", {}, [], html, read, show)
