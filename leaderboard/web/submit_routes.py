"""Routes of the submission form. It works without JavaScript; with it, only the outcome is replaced.

`GET /submit` shows the form, filled in from the parameters of a link. `POST /submit` checks the model and, if the button was
"submit", queues it (`submissions/checks/submit.py`); the answer is the same page with the outcome
(`leaderboard/pages/submit.py`).
"""

import logging
import time
from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple
from urllib.parse import quote

import anyio
from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from leaderboard.data.live_board import LiveBoard
from leaderboard.pages.submit import Line, SignIn, outcome_lines, refusal_line, report_line, submit_page
from leaderboard.views.location import LANGUAGE_FOLDERS, Location
from leaderboard.views.texts import Language, text
from leaderboard.web.auth import CHECKS_AT_ONCE, Visitors
from leaderboard.web.page_routes import location_of
from leaderboard.web.responses import HTML
from submissions.checks.submission import Submission
from submissions.checks.submit import SubmissionService
from submissions.config.sign_in import SIGN_IN_PATH
from submissions.queue.quota import Submitter
from submissions.records.check import Check
from submissions.texts.errors import StoreError
from submissions.texts.refusals import RefusalCode

log = logging.getLogger(__name__)

MAX_FIELDS = 200  # of a form


class Result(NamedTuple):
    """What the page shows after a check or a submission."""

    lines: list[Line]
    checks: tuple[Check, ...] = ()


def submit_routes(board: LiveBoard, service: SubmissionService, visitors: Visitors) -> APIRouter:
    router = APIRouter()
    slots = anyio.CapacityLimiter(CHECKS_AT_ONCE)  # requests that wait for a slot occupy no thread

    def sign_in(request: Request, here: Location) -> SignIn:
        """Return who is signed in, and the link to sign in or out that leads back to the form."""
        # Without sign-in, `visitors.submitter` returns ANYONE, who must not be shown as signed in.
        submitter = visitors.submitter(_claims(request)) if visitors.sign_in else None
        path = "/logout" if submitter else SIGN_IN_PATH
        link = f"{path}?_target_url={quote(here.link('submit'))}"
        return SignIn(visitors.sign_in, submitter.name if submitter else None, link)

    def check(submission: Submission, submitter: Submitter | None, here: Location) -> Result:
        try:
            report = service.check(submission, submitter)
        except StoreError as error:
            log.warning("%s", error)
            return Result([Line(accepted=False, message=text("store_busy", here.language))])
        return Result([report_line(report, here)], tuple(report.checks))

    def submit(submission: Submission, submitter: Submitter | None, here: Location) -> Result:
        if submitter is None:
            return Result([refusal_line(RefusalCode.SIGN_IN, here)])
        outcomes, report = service.submit(submission, submitter)  # a failure of the store is one of the outcomes
        board.expect_change()
        return Result(outcome_lines(outcomes, here), tuple(report.checks) if report else ())

    def add_routes(language: Language, folder: str) -> None:
        @router.get(f"/{folder}submit")
        def form(request: Request) -> Response:
            here = location_of(request, language, "submit")
            html = submit_page(board, here, sign_in(request, here), _prefilled(request))
            return Response(html, media_type=HTML, headers={"Cache-Control": "no-store"})

        @router.post(f"/{folder}submit")
        async def answer(request: Request) -> Response:
            here = location_of(request, language, "submit")
            try:
                fields = await request.form(max_files=0, max_fields=MAX_FIELDS)
            except HTTPException as error:  # 400, or 413 or 408 from `SecurityMiddleware`
                line = Line(accepted=False, message=text("form_invalid", language))
                html = submit_page(board, here, sign_in(request, here), lines=[line])
                return Response(html, error.status_code, media_type=HTML)
            submission = Submission.parse(
                fields.get("model"),
                fields.getlist("benchmarks"),
                revision=fields.get("revision"),
                precision=fields.get("precision"),
                thinking=fields.get("thinking"),
                share=fields.get("share"),
            )
            submitter = visitors.submitter(_claims(request))
            action = submit if fields.get("action") == "submit" else check
            if not visitors.within_rate_limit(request.client, submitter):
                result = Result([refusal_line(RefusalCode.TOO_OFTEN, here)])
            else:
                async with visitors.form_lock(request.client):  # so that no visitor takes the slots of all others
                    result = await anyio.to_thread.run_sync(action, submission, submitter, here, limiter=slots)
            html = submit_page(board, here, sign_in(request, here), submission, result.lines, result.checks)
            return Response(html, media_type=HTML, headers={"Cache-Control": "no-store"})

    for language, folder in LANGUAGE_FOLDERS.items():
        add_routes(language, folder)
    return router


def _prefilled(request: Request) -> Submission:
    """Return what a link to the form has filled in. Nothing is checked or queued until the visitor sends the form.

    A link cannot set `share`, the offer of the result to the model's repository: only a visitor can tick it.
    """
    given = request.query_params
    return Submission.parse(
        given.get("model"),
        given.getlist("benchmarks"),
        revision=given.get("revision"),
        precision=given.get("precision"),
        thinking=given.get("thinking"),
    )


def _claims(request: Request) -> Mapping[str, Any] | None:
    """Return the Hub's OpenID Connect userinfo about the visitor who is signed in, or None if nobody is.

    Gradio keeps it in the signed session cookie.
    """
    info = request.scope.get("session", {}).get("oauth_info")
    return info["userinfo"] if info and info.get("expires_at", inf) > time.time() else None
