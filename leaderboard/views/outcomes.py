"""Messages about the outcome of a submission, for the form and for Gradio's API."""

from leaderboard.views.render import minutes
from leaderboard.views.texts import Language, text, translate
from submissions.checks.submission import Outcome
from submissions.records.check import Check
from submissions.texts.refusals import REFUSALS


def outcome_message(outcome: Outcome, language: Language) -> str:
    """Return the message for an outcome: place in the queue and expected time, or the first reason for refusal."""
    if outcome.code == "accepted":
        parts = [text("accepted", language)]
        if outcome.wait:
            parts.append(text("queue_position", language, n=outcome.wait.place))
        if outcome.wait and outcome.wait.ready_in:
            parts.append(text("ready_in", language, n=minutes(outcome.wait.ready_in)))
        return " · ".join(parts)
    if outcome.code == "refused":
        return next((_refusal(check, language) for check in outcome.refusals if check.refusal), "")
    text_keys = {"no_benchmark": "no_benchmark", "store_unavailable": "store_busy"}
    return text(text_keys[outcome.code], language)


def _refusal(check: Check, language: Language) -> str:
    reason = translate(REFUSALS[check.refusal], language) if check.refusal else ""
    return f"{reason} ({check.detail})" if check.detail else reason
