"""Messages about the outcome of a submission, for the form and for Gradio's API."""

from leaderboard.views.render import minutes
from leaderboard.views.texts import Language, text, translate
from submissions.checks.submission import Outcome
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
        return next((translate(REFUSALS[c.refusal], language) for c in outcome.refusals if c.refusal), "")
    text_keys = {"no_benchmark": "no_benchmark", "store_unavailable": "store_busy"}
    return text(text_keys[outcome.code], language)
