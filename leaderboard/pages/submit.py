"""The submission tab: a model is checked immediately and queued only if it passes."""

from collections.abc import Sequence
from dataclasses import dataclass

import gradio as gr

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.live_board import LiveBoard
from leaderboard.views.outcomes import outcome_message
from leaderboard.views.render import render
from leaderboard.views.texts import Language, text, translate
from leaderboard.web.auth import CHECKS_AT_ONCE, Visitors
from submissions.checks.submit import (
    MAX_ID,
    MAX_REVISION,
    Outcome,
    Submission,
    SubmissionService,
    can_be_submitted,
)
from submissions.records.check import Check
from submissions.records.options import PRECISIONS, THINKING
from submissions.texts.check_names import CHECKS
from submissions.texts.errors import StoreError
from submissions.texts.refusals import REFUSALS, RefusalCode

# On a phone the outcome is below the visible part of the page.
SHOW_OUTCOME_JS = "() => document.getElementById('outcome').scrollIntoView({block: 'nearest', behavior: 'smooth'})"


@dataclass(frozen=True)
class Line:
    """A message about the submission to one benchmark, or about the whole submission."""

    accepted: bool
    message: str
    benchmark: str | None = None
    key: str | None = None  # of the new or already existing request


def submit_tab(board: LiveBoard, service: SubmissionService, visitors: Visitors, language: Language) -> None:
    gr.Markdown(text("submit_intro", language))
    model_id = gr.Textbox(
        label=text("model_id", language),
        placeholder=text("model_id_hint", language),
        max_length=MAX_ID,
        elem_id="model-id",
    )
    chosen = gr.CheckboxGroup(
        [(b.card.title, name) for name, b in BENCHMARKS.items()],
        label=text("benchmarks", language),
        elem_id="benchmarks",
    )
    with gr.Row(elem_classes="hn-controls"):
        revision = gr.Textbox(label=text("revision", language), max_length=MAX_REVISION)
        precision = gr.Dropdown(
            [(text("precision_auto", language), "auto"), *PRECISIONS], value="auto", label=text("precision", language)
        )
        modes = [(text(f"thinking_{mode}", language), mode) for mode in ("auto", *THINKING)]
        thinking = gr.Dropdown(modes, value="auto", label=text("thinking", language))
    share = gr.Checkbox(label=text("share", language), elem_id="share")
    with gr.Row(elem_classes="hn-controls"):
        check_button = gr.Button(text("check_button", language), elem_id="check")
        submit_button = gr.Button(text("submit_button", language), variant="primary", elem_id="submit")
    gr.Markdown(text("submit_privacy", language), elem_id="submit-privacy")
    outcome = gr.HTML(elem_id="outcome", apply_default_css=False)

    def submit_form(
        model: str,
        benchmarks: list[str],
        named_revision: str,
        wanted: str,
        mode: str,
        shared: bool,
        request: gr.Request,
        profile: gr.OAuthProfile | None,
    ) -> str:
        submitter = visitors.submitter(profile)
        if not visitors.within_rate_limit(request, submitter):
            return _render([_refused(RefusalCode.TOO_OFTEN, language)], (), language)
        if submitter is None:
            return _render([_refused(RefusalCode.SIGN_IN, language)], (), language)
        submission = Submission.parse(model, benchmarks, named_revision, wanted, mode, shared)
        outcomes, report = service.submit(submission, submitter)
        board.expect_change()
        lines = [_line(one, language) for one in outcomes]
        return _render(lines, report.checks if report else (), language)

    def check_form(
        model: str,
        benchmarks: list[str],
        named_revision: str,
        wanted: str,
        mode: str,
        request: gr.Request,
        profile: gr.OAuthProfile | None,
    ) -> str:
        submitter = visitors.submitter(profile)
        if not visitors.within_rate_limit(request, submitter):
            return _render([_refused(RefusalCode.TOO_OFTEN, language)], (), language)
        submission = Submission.parse(model, benchmarks, named_revision, wanted, mode)
        try:
            report = service.check(submission, submitter)
        except StoreError:
            return _render([Line(False, text("store_busy", language))], (), language)
        passed = can_be_submitted(report, submission.benchmarks)
        failed = any(check.refusal for check in report.checks)
        message = "some_checks_fail" if not passed else "some_benchmarks_fail" if failed else "all_checks_pass"
        line = Line(passed, text(message, language))
        return _render([line], report.checks, language)

    fields = [model_id, chosen, revision, precision, thinking]
    checked = gr.on(
        [check_button.click, model_id.submit],
        check_form,
        fields,
        outcome,
        api_visibility="private",
        **CHECKS_AT_ONCE,
    )
    submitted = submit_button.click(submit_form, [*fields, share], outcome, api_visibility="private", **CHECKS_AT_ONCE)
    for event in (checked, submitted):
        event.then(None, None, None, js=SHOW_OUTCOME_JS, api_visibility="private")


def _line(outcome: Outcome, language: Language) -> Line:
    return Line(outcome.code == "accepted", outcome_message(outcome, language), outcome.benchmark, outcome.key)


def _refused(code: RefusalCode, language: Language) -> Line:
    return Line(False, translate(REFUSALS[code], language))


def _render(lines: Sequence[Line], checks: Sequence[Check], language: Language) -> str:
    return render("outcome.html", language, lines=lines, checks=checks, check_names=CHECKS, refusals=REFUSALS)
