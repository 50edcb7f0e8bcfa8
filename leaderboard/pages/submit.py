"""The submission form and its outcome. A model is checked immediately and queued only if it passes."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.live_board import LiveBoard
from leaderboard.pages.page import render_page
from leaderboard.views.location import Location
from leaderboard.views.outcomes import outcome_message
from leaderboard.views.texts import text, translate
from submissions.checks.report import Report
from submissions.checks.submission import MAX_ID, MAX_REVISION, Outcome, Submission
from submissions.checks.submit import can_be_submitted
from submissions.records.check import Check
from submissions.texts.check_names import CHECKS
from submissions.texts.refusals import REFUSALS, RefusalCode

EMPTY = Submission("", ())


@dataclass(frozen=True)
class Line:
    """A message about the submission to one benchmark, or about the whole submission."""

    accepted: bool
    message: str
    benchmark: str | None = None
    key: str | None = None  # of the new or already existing request


@dataclass(frozen=True)
class SignIn:
    """Whether visitors must sign in before they submit, who is signed in, and where to sign in or out."""

    required: bool = False
    who: str | None = None
    link: str = ""


def submit_page(
    board: LiveBoard,
    here: Location,
    sign_in: SignIn,
    form: Submission = EMPTY,
    lines: Sequence[Line] = (),
    checks: Sequence[Check] = (),
) -> str:
    """Return the form, filled with `form`, and the outcome of a check or a submission if there is one."""
    return render_page(
        board,
        here,
        "",
        "submit.html",
        title=text("submit", here.language),
        description=text("submit_intro", here.language),
        benchmarks=BENCHMARKS,
        sign_in=sign_in,
        form=form,
        max_id=MAX_ID,
        max_revision=MAX_REVISION,
        lines=lines,
        checks=checks,
        check_names=CHECKS,
        refusals=REFUSALS,
    )


def how_to_submit(board: LiveBoard, here: Location) -> str:
    """Return the page that takes the form's place where there is no server: how to submit."""
    return render_page(
        board,
        here,
        "",
        "how_to_submit.html",
        title=text("submit", here.language),
        description=text("submit_intro", here.language),
        benchmarks=BENCHMARKS,
    )


def refused(code: RefusalCode, here: Location) -> Line:
    return Line(False, translate(REFUSALS[code], here.language))


def outcome_lines(outcomes: Sequence[Outcome], here: Location) -> list[Line]:
    """Return the messages about a submission."""
    return [
        Line(one.code == "accepted", outcome_message(one, here.language), one.benchmark, one.key) for one in outcomes
    ]


def report_line(report: Report, here: Location) -> Line:
    """Return the message about a check that queued nothing."""
    passed = can_be_submitted(report)
    failed = any(check.refusal for check in report.checks)
    if not passed:
        message = "some_checks_fail"
    elif failed:
        message = "some_benchmarks_fail"
    else:
        message = "all_checks_pass"
    return Line(passed, text(message, here.language))
