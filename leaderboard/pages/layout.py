"""The layout of a page in one language: header, sign-in and tabs."""

from typing import Any
from urllib.parse import quote

import gradio as gr

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.live_board import LiveBoard
from leaderboard.pages.benchmark import benchmark_tab
from leaderboard.pages.compare import compare_tab
from leaderboard.pages.model import model_tab
from leaderboard.pages.overview import overview_tab
from leaderboard.pages.queue import queue_tab
from leaderboard.pages.record import record_tab
from leaderboard.pages.submit import submit_tab
from leaderboard.pages.tab import PRIVATE_EVENT, TabView
from leaderboard.pages.url_state import DEFAULT_TAB, OPENED_QUERY_JS, TABS, parameters, ready_js, tab_of, tab_to_url_js
from leaderboard.views.render import render
from leaderboard.views.texts import Language, text
from leaderboard.web.auth import Visitors
from leaderboard.web.gradio_api import add_endpoints
from leaderboard.web.language import language_url
from submissions.checks.submit import SubmissionService
from submissions.config.paths import ASSETS

# This goes into the page's head, because Gradio's `css` parameter prefixes every rule and drops some.
STYLE = (ASSETS / "style.css").read_text(encoding="utf-8")

# Updates the number of results and the warning that the store is out of reach. Times are in Korean time.
HEADER_JS = """
const banner = element.querySelector('.hn-warning');
const look = async () => {
  const answer = document.hidden ? null : await fetch('/version').catch(() => null);
  if (!answer?.ok) return;
  const state = await answer.json(), since = state.out_of_reach_since;
  for (const count of element.querySelectorAll('[data-count]')) count.textContent = state.counts[count.dataset.count];
  banner.hidden = !since;
  if (!since) return;
  const moment = since === 'never' ? '' : new Date(since).toLocaleString('sv', {timeZone: 'Asia/Seoul'}).slice(0, 16);
  banner.textContent = moment ? banner.dataset.since.replace('{since}', moment) : banner.dataset.never;
};
look();
setInterval(look, 10000);
"""
MAX_WAITING = 200  # events in Gradio's queue
CONCURRENT = 8  # events of one kind that run at a time

# Local fonts only, so that nothing is fetched from other sites.
_FONTS = ["Pretendard", "Noto Sans KR", "Noto Sans CJK KR", "Apple SD Gothic Neo", "Malgun Gothic", "sans-serif"]
# The theme's default blue is too pale on white. The style sheet sets another colour for dark mode.
THEME = gr.themes.Base(primary_hue=gr.themes.colors.blue, font=_FONTS, font_mono=["ui-monospace", "monospace"]).set(
    color_accent="*primary_700",
    button_primary_background_fill="*primary_700",
    button_primary_background_fill_hover="*primary_800",
    checkbox_background_color_selected="*primary_700",
    checkbox_background_color_selected_dark="*primary_600",
)


def build_page(board: LiveBoard, service: SubmissionService, visitors: Visitors, language: Language) -> gr.Blocks:
    sign_in = _sign_in(language) if visitors.sign_in else None
    page: gr.Blocks
    with gr.Blocks(title=text("title", language), analytics_enabled=False) as page:
        gr.HTML(
            render(
                "header.html",
                language,
                other=language_url("en" if language == "ko" else "ko"),
                counts=board.view().counts,
            ),
            js_on_load=HEADER_JS,
            apply_default_css=False,
        )
        if sign_in:
            sign_in.render()  # type: ignore[no-untyped-call]

            def signed_in(profile: gr.OAuthProfile | None) -> gr.LoginButton:
                return _sign_in(language, profile.username if profile else None)

            page.load(signed_in, None, sign_in, **PRIVATE_EVENT)
        views: list[TabView] = []
        with gr.Tabs() as tabs:
            with gr.Tab(text("overview", language), id="overview") as tab:
                views.append(overview_tab(board, language))
                views[-1].connect(tab)
            for name, benchmark in BENCHMARKS.items():
                with gr.Tab(benchmark.card.title, id=name) as tab:
                    views.append(benchmark_tab(board, name, language))
                    views[-1].connect(tab)
            with gr.Tab(text("model", language), id="model") as tab:
                views.append(model_tab(board, language))
                views[-1].connect(tab)
            with gr.Tab(text("compare", language), id="compare") as tab:
                views.append(compare_tab(board, language))
                views[-1].connect(tab)
            with gr.Tab(text("record", language), id="record") as tab:
                views.append(record_tab(board, language))
                views[-1].connect(tab)
            with gr.Tab(text("submit", language), id="submit") as tab:
                submit_tab(board, service, visitors, language)
                tab.select(None, js=tab_to_url_js("submit"), api_visibility="private")
            with gr.Tab(text("queue", language), id="queue") as tab:
                views.append(queue_tab(board, language))
                views[-1].connect(tab)

        def start(query: str) -> list[Any]:
            params = parameters(query)
            named = tab_of(params)
            # Without a named tab, keep the one that the visitor may have opened already.
            chosen = gr.skip() if named == DEFAULT_TAB else gr.Tabs(selected=named)
            return [chosen, *(value for view in views for value in view.start(params))]

        # One event fills the tab that the URL names. The other tabs are filled when they are opened.
        opened_query = gr.Textbox("", visible=False)
        outputs = [tabs, *(component for view in views for component in (*view.fields, view.html))]
        loaded = page.load(start, opened_query, outputs, js=OPENED_QUERY_JS, **PRIVATE_EVENT)
        redraw = [view.redraw for view in views]
        labels = {name: BENCHMARKS[name].card.title if name in BENCHMARKS else text(name, language) for name in TABS}
        loaded.then(None, None, redraw, js=ready_js([view.name for view in views], labels), api_visibility="private")
        add_endpoints(board, service, visitors)
    page.space_id = None  # otherwise Gradio adds the Hub's header on a Space, with fonts and images from other sites
    # The queue is short, so that every waiting event is answered soon. `api_open=False`: no call bypasses the queue.
    page.queue(max_size=MAX_WAITING, default_concurrency_limit=CONCURRENT, api_open=False)
    return page


def _sign_in(language: Language, who: str | None = None) -> gr.LoginButton:
    """Return a button to sign in, or to sign out if `who` is signed in.

    It must be created outside of a page. Gradio then does not attach its own events, which always redirect to the Korean
    page and fail for members of organisations.
    """
    label = text("sign_out", language, who=who) if who else text("sign_in", language)
    path = "/logout" if who else "/login/huggingface"
    link = f"{path}?_target_url={quote(language_url(language))}"
    return gr.LoginButton(label, link=link, link_target="_self", icon=None, size="sm", elem_id="sign-in")
