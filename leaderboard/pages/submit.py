"""The submission form and its outcome. A model is checked immediately and queued only if it passes.

`leaderboard/web/submit_routes.py` calls these functions. The page is not in `site_map.py`, because it depends on who is
signed in.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.live_board import LiveBoard
from leaderboard.pages.page import render_page
from leaderboard.views.location import Location
from leaderboard.views.outcomes import outcome_message
from leaderboard.views.texts import text, translate
from submissions.checks.report import Report
from submissions.checks.submission import MAX_ID, Outcome, Submission
from submissions.checks.submit import can_be_submitted
from submissions.hub_models.open_repository import MAX_REVISION
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
    who: str | None = None  # username on the Hub
    link: str = ""  # to sign in, or out if somebody is signed in


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
        version="",
        template="submit.html",
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
    """Return the page that takes the form's place in the static edition: how to submit elsewhere."""
    return render_page(
        board,
        here,
        version="",
        template="how_to_submit.html",
        title=text("submit", here.language),
        description=text("submit_intro", here.language),
        benchmarks=BENCHMARKS,
    )


def refusal_line(code: RefusalCode, here: Location) -> Line:
    """Return the message that a whole submission is refused."""
    return Line(False, translate(REFUSALS[code], here.language))


def outcome_lines(outcomes: Sequence[Outcome], here: Location) -> list[Line]:
    """Return a message for each benchmark of a submission."""
    lines: list[Line] = []
    for outcome in outcomes:
        message = outcome_message(outcome, here.language)
        lines.append(Line(outcome.code == "accepted", message, outcome.benchmark, outcome.key))
    return lines


def report_line(report: Report, here: Location) -> Line:
    """Return the message for a visitor who pressed *Check*, which queues nothing even if the model passes."""
    is_accepted = can_be_submitted(report)
    has_refusal = any(check.refusal for check in report.checks)
    if is_accepted:
        key = "accepted_by_some" if has_refusal else "accepted_by_all"
    else:
        # Without a refusal, the only cause is that none of the chosen benchmarks exists.
        key = "accepted_by_none" if has_refusal else "no_benchmark"
    return Line(is_accepted, text(key, here.language))
