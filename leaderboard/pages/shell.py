"""The page around the tabs, in one language."""

from pathlib import Path
from typing import Any

import gradio as gr

from evaluator.benchmarks import BENCHMARKS
from leaderboard.board import Board
from leaderboard.pages.address import NAMED, go
from leaderboard.pages.benchmark import benchmark_tab
from leaderboard.pages.queue import queue_tab
from leaderboard.pages.submit import submit_tab
from leaderboard.render import render
from leaderboard.texts import Language, text
from leaderboard.visitors import Visitors
from submissions.admission import Admission
from submissions.queue import Queue

ADDRESSES: dict[Language, str] = {"ko": "/", "en": "/en/"}
# Put into the page's head as it is: the css parameter would prefix every rule and lose some.
STYLE = (Path(__file__).parent.parent.parent / "assets/style.css").read_text(encoding="utf-8")

MAX_WAITING = 200  # events that may wait for their turn
CONCURRENT = 8  # of one kind that are worked on at a time

# Named fonts only: nothing is fetched from elsewhere.
_FONTS = ["Pretendard", "Noto Sans KR", "Noto Sans CJK KR", "Apple SD Gothic Neo", "Malgun Gothic", "sans-serif"]
THEME = gr.themes.Base(primary_hue=gr.themes.colors.blue, font=_FONTS, font_mono=["ui-monospace", "monospace"])


def build_page(board: Board, queue: Queue, admission: Admission, visitors: Visitors, language: Language) -> gr.Blocks:
    other: Language = "en" if language == "ko" else "ko"
    sign_in = _sign_in(language) if visitors.sign_in else None
    page: gr.Blocks
    with gr.Blocks(title=text("title", language), analytics_enabled=False) as page:
        gr.HTML(render("header.html", language, other=ADDRESSES[other]), apply_default_css=False)
        if sign_in:
            sign_in.render()  # type: ignore[no-untyped-call]

            def signed_in(profile: gr.OAuthProfile | None) -> gr.LoginButton:
                return _sign_in(language, profile.username if profile else None)

            page.load(signed_in, None, sign_in, show_progress="hidden", api_visibility="private")
        wanted = gr.Textbox("", visible=False)
        with gr.Tabs() as tabs:
            for name, benchmark in BENCHMARKS.items():
                with gr.Tab(benchmark.card.title, id=name) as tab:
                    benchmark_tab(board, name, language, page, tab)
            with gr.Tab(text("submit", language), id="submit") as tab:
                submit_tab(queue, admission, visitors, language)
                tab.select(None, js=go("submit"), api_visibility="private")
            with gr.Tab(text("queue", language), id="queue") as tab:
                queue_tab(board, language, tab)
                tab.select(None, js=go("queue"), api_visibility="private")

        def open_tab(name: str) -> Any:
            return gr.Tabs(selected=name) if name in (*BENCHMARKS, "submit", "queue") else gr.skip()

        # By way of a field, which changes where the address names a tab: else a visitor's first click could be undone.
        page.load(None, None, wanted, js=NAMED, api_visibility="private")
        wanted.change(open_tab, wanted, tabs, show_progress="hidden", api_visibility="private")
    page.space_id = None  # else Gradio draws the Hub's header on a Space, with fonts and pictures from elsewhere
    # No more waits than can be answered soon; nothing goes around the queue.
    page.queue(max_size=MAX_WAITING, default_concurrency_limit=CONCURRENT, api_open=False)
    return page


def _sign_in(language: Language, who: str | None = None) -> gr.LoginButton:
    """Made outside of a page, where Gradio gives it none of its own events: they lead to the Korean page from every
    other, and fail for members of organisations."""
    label = text("sign_out", language, who=who) if who else text("sign_in", language)
    way = "/logout" if who else "/login/huggingface"
    link = f"{way}?_target_url={ADDRESSES[language]}"
    return gr.LoginButton(label, link=link, link_target="_self", icon=None, size="sm", elem_id="sign-in")
