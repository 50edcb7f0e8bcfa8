"""The submission form: a model is checked at once, and queued only if it passes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import gradio as gr

from evaluator.benchmarks import BENCHMARKS
from leaderboard.views.render import minutes, render
from leaderboard.views.texts import Language, text
from leaderboard.web.auth import Visitors
from submissions.checks.model_checks import Check
from submissions.checks.submit import Admission
from submissions.messages import CHECKS, REFUSALS, RefusalCode
from submissions.models.model_facts import PRECISIONS
from submissions.models.reasoning import THINKING
from submissions.queue.queue import AlreadySubmitted, OptedOut, Queue, QueueError, QuotaSpent
from submissions.queue.quota import Submitter
from submissions.queue.wait_time import waits
from submissions.records import Precision, Thinking
from submissions.store.base import StoreError

HUB = "https://huggingface.co/"
# What another may have done between the check and the commit.
LATE: dict[type[QueueError], RefusalCode] = {
    AlreadySubmitted: RefusalCode.SUBMITTED,
    QuotaSpent: RefusalCode.QUOTA_SPENT,
    OptedOut: RefusalCode.OPTED_OUT,
}
MAX_ID, MAX_REVISION = 250, 100  # characters


@dataclass(frozen=True)
class Line:
    """What became of the submission to one benchmark, or of all of it."""

    accepted: bool
    benchmark: str
    message: str
    request: str = ""  # the key of what was queued, or was there before


@dataclass(frozen=True)
class Form:
    model: str
    benchmarks: Sequence[str]
    revision: str = ""
    precision: str = "auto"
    share: bool = False
    thinking: str = "auto"


Outcome = tuple[list[Line], Sequence[Check]]


def submit_tab(queue: Queue, admission: Admission, visitors: Visitors, language: Language) -> None:
    gr.Markdown(text("submit_intro", language))
    titles = [(b.card.title, name) for name, b in BENCHMARKS.items()]
    model_id = gr.Textbox(
        label=text("model_id", language),
        placeholder=text("model_id_hint", language),
        max_length=MAX_ID,
        elem_id="model-id",
    )
    chosen = gr.CheckboxGroup(titles, label=text("benchmarks", language), elem_id="benchmarks")
    with gr.Row(elem_classes="hn-controls"):
        revision = gr.Textbox(label=text("revision", language), max_length=MAX_REVISION)
        precision = gr.Dropdown(
            [(text("precision_auto", language), "auto"), *PRECISIONS], value="auto", label=text("precision", language)
        )
        thinking = gr.Dropdown(
            [
                (text("thinking_auto", language), "auto"),
                *((text(f"thinking_{mode}", language), mode) for mode in THINKING),
            ],
            value="auto",
            label=text("thinking", language),
        )
    share = gr.Checkbox(label=text("share", language), elem_id="share")
    with gr.Row(elem_classes="hn-controls"):
        check_button = gr.Button(text("check_button", language), elem_id="check")
        submit_button = gr.Button(text("submit_button", language), variant="primary", elem_id="submit")
    outcome = gr.HTML(elem_id="outcome", apply_default_css=False)

    def answer(form: Form, request: gr.Request, profile: gr.OAuthProfile | None, queue_it: bool) -> str:
        submitter = visitors.submitter(profile)
        if not visitors.may_ask(request.client.host if request.client else "", submitter):
            lines, checks = _refused(RefusalCode.TOO_OFTEN, language)
        elif queue_it:
            lines, checks = submit_model(queue, admission, submitter, language, form)
        else:
            lines, checks = check_model(admission, submitter, language, form)
        return render("outcome.html", language, lines=lines, checks=_shown(checks, language))

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
        return answer(Form(model, benchmarks, named_revision, wanted, shared, mode), request, profile, True)

    def check_form(
        model: str,
        benchmarks: list[str],
        named_revision: str,
        wanted: str,
        mode: str,
        request: gr.Request,
        profile: gr.OAuthProfile | None,
    ) -> str:
        return answer(Form(model, benchmarks, named_revision, wanted, thinking=mode), request, profile, False)

    fields = [model_id, chosen, revision, precision, thinking]
    gr.on(
        [check_button.click, model_id.submit],
        check_form,
        fields,
        outcome,
        api_visibility="private",
        concurrency_limit=4,
    )
    submit_button.click(submit_form, [*fields, share], outcome, api_visibility="private", concurrency_limit=4)


def check_model(admission: Admission, submitter: Submitter | None, language: Language, form: Form) -> Outcome:
    """Every check of what was asked for, or of all benchmarks where none was chosen; nothing is queued."""
    try:
        report = admission.check(
            _model_id(form),
            [b for b in BENCHMARKS if b in form.benchmarks] or list(BENCHMARKS),
            submitter,
            _revision(form),
            _precision(form),
            _thinking(form),
        )
    except StoreError:
        return [_busy("", language)], ()
    if form.benchmarks:
        well = not any(check.refusal for check in report.checks)
    else:  # then it is enough that one benchmark would take it
        well = any(not report.refusals(b) for b in BENCHMARKS)
    return [Line(well, "", text("all_checks_pass" if well else "some_checks_fail", language))], report.checks


def submit_model(
    queue: Queue, admission: Admission, submitter: Submitter | None, language: Language, form: Form
) -> Outcome:
    """Check and queue a model on each benchmark; a line for each, and the checks."""
    if submitter is None:
        return _refused(RefusalCode.SIGN_IN, language)
    chosen = [b for b in BENCHMARKS if b in form.benchmarks]
    if not chosen:
        return [Line(False, "", text("no_benchmark", language))], ()
    wanted, revision, mode = _precision(form), _revision(form), _thinking(form)
    lines: list[Line] = []
    try:
        report = admission.check(_model_id(form), chosen, submitter, revision, wanted, mode)
    except StoreError:
        return [_busy("", language)], ()
    if model_refusals := report.refusals():
        return [_line("", model_refusals[0].refusal, language)], report.checks
    for name in chosen:
        title = BENCHMARKS[name].card.title
        try:
            if refusals := report.refusals(name):
                lines.append(_line(title, refusals[0].refusal, language))
            elif report.facts:
                request = admission.submit(report.facts, name, submitter, revision, wanted, bool(form.share), mode)
                lines.append(Line(True, title, _accepted(queue, request.key, language), request.key))
        except (AlreadySubmitted, QuotaSpent, OptedOut) as late:
            known = late.request.key if isinstance(late, AlreadySubmitted) else ""
            lines.append(replace(_line(title, LATE[type(late)], language), request=known))
        except StoreError:
            lines.append(_busy(title, language))
    return lines, report.checks


def _accepted(queue: Queue, key: str, language: Language) -> str:
    """Where it stands and when its result is expected."""
    wait = waits(queue.rows(), datetime.now(UTC)).get(key)
    if wait is None:  # a worker has taken it already
        return text("accepted", language)
    said = [text("accepted", language), text("place", language, n=wait.place)]
    if wait.ready_in:
        said.append(text("ready_in", language, n=minutes(wait.ready_in)))
    return " · ".join(said)


def _model_id(form: Form) -> str:
    """An ID, or the address of its page on the Hub."""
    return str(form.model or "")[:MAX_ID].strip().removeprefix(HUB).rstrip("/")


def _revision(form: Form) -> str | None:
    return str(form.revision or "")[:MAX_REVISION].strip() or None


def _precision(form: Form) -> Precision | None:
    return next((p for p in PRECISIONS if p == form.precision), None)


def _thinking(form: Form) -> Thinking | None:
    return next((mode for mode in THINKING if mode == form.thinking), None)


def _busy(title: str, language: Language) -> Line:
    return Line(False, title, text("store_busy", language))


def _refused(code: RefusalCode, language: Language) -> Outcome:
    return [_line("", code, language)], ()


def _line(title: str, code: RefusalCode | None, language: Language) -> Line:
    return Line(False, title, getattr(REFUSALS[code], language) if code else "")


def _shown(checks: Sequence[Check], language: Language) -> list[dict[str, str]]:
    return [
        {
            "state": "skipped" if check.skipped else "failed" if check.refusal else "passed",
            "label": getattr(CHECKS[check.name], language),
            "benchmark": BENCHMARKS[check.benchmark].card.title if check.benchmark else "",
            "found": check.found,
            "fix": getattr(REFUSALS[check.refusal], language) if check.refusal else "",
        }
        for check in checks
    ]
