"""Read a server's chat completion: the answer, the reasoning before it, and the token counts.

A remote server is not trusted. A completion may have any form, and may repeat the API key.
"""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletion

from evaluator.core.data_types import Answer, AnswerStatus
from evaluator.engines.api_http import collect
from evaluator.engines.options import EngineOptions
from evaluator.engines.server_pool import InvalidCompletionError
from submissions.hub_models.model_facts import TEST_QUESTION, folder_template
from submissions.hub_models.reasoning import (
    ANY_TAGS,
    Tags,
    prompt_ends_in_reasoning,
    reasoning_of,
    reasoning_tags_of,
    strip_reasoning,
    switch_values,
    without_answer_marks,
)
from submissions.hub_models.template_renderer import TemplateRenderer
from submissions.texts.errors import RefusedError, TemplateError

MAX_TOKEN_COUNT = 10**9  # a larger count reported by a server is ignored as invalid
# Raised while a completion is read that does not have the documented form.
MALFORMED_ERRORS = (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError)
SECRET_PART_CHARS = 8  # any part of the API key of this length is removed from server messages


@dataclass(frozen=True)
class TemplateFacts:
    """Facts about the chat template of a server's model. For a remote server only `writes_reasoning` is known."""

    writes_reasoning: bool = False
    opened: bool = False  # whether rendered prompts end inside the reasoning, which the model then continues
    switches: dict[str, Any] = field(default_factory=dict)  # template variables, sent to the server
    tags: Tags | None = ANY_TAGS  # the text around the reasoning


def read_template_facts(options: EngineOptions) -> TemplateFacts:
    """Return the facts about the template in a local model folder, by the same rules as the chat engine."""
    try:
        template, tokens = folder_template(options.model)
    except RefusedError:
        return TemplateFacts()
    if not template:
        return TemplateFacts()
    switches = switch_values(template, options.thinking)
    renderer = TemplateRenderer(template, tokens)
    try:
        # Some templates accept only a list of parts, others only a string.
        for content in ([{"type": "text", "text": TEST_QUESTION}], TEST_QUESTION):
            message = {"role": "user", "content": content}
            try:
                (rendered,) = renderer.render([[message]], **switches)
            except TemplateError:
                continue
            tags = reasoning_tags_of(template, renderer, message)
            writes_reasoning = tags is not None and options.thinking != "off"
            return TemplateFacts(writes_reasoning, prompt_ends_in_reasoning(rendered, tags), switches, tags)
    finally:
        renderer.close()
    return TemplateFacts(switches=switches)


async def read_response(response: Any) -> ChatCompletion:
    """Return the completion in a response, streamed or not. Raises InvalidCompletionError if there is none."""
    try:
        if "text/event-stream" in response.headers.get("Content-Type", ""):
            return await collect(response.parse())
        return ChatCompletion.construct(**json.loads(await response.http_response.aread()))
    except (httpx2.HTTPError, *MALFORMED_ERRORS) as error:
        raise InvalidCompletionError(f"{type(error).__name__} while the completion was read") from None


def answer_in(completion: ChatCompletion, prompt_id: str, template: TemplateFacts, secret: str | None) -> Answer:
    """Return the answer in a completion, without measured time.

    The API key `secret` is removed from the model's name, which is published. Raises InvalidCompletionError if the
    completion is malformed.
    """
    try:
        if not completion.choices and not completion.usage:
            raise InvalidCompletionError("neither choices nor usage")
        answer = _parse_completion(completion, prompt_id, template)
    except MALFORMED_ERRORS as error:
        raise InvalidCompletionError(f"{type(error).__name__} in the completion") from None
    return replace(answer, model=without_secret(answer.model, secret)) if answer.model else answer


def _parse_completion(completion: ChatCompletion, prompt_id: str, template: TemplateFacts) -> Answer:
    """Return the answer in a completion.

    The server may return the reasoning in a field of its own. Otherwise it is split off the text by its tags.
    """
    usage = completion.usage
    reported: dict[str, Any] = {
        "prompt_tokens": _token_count(usage.prompt_tokens) if usage else None,
        "tokens": _token_count(usage.completion_tokens) if usage else None,
        "model": f"{completion.model} {completion.system_fingerprint or ''}".strip()[:100]
        if isinstance(completion.model, str) and completion.model
        else None,
    }
    # Some servers return usage but no choices for a question that their filter blocks.
    if not completion.choices:
        return Answer(prompt_id, "", "refused", 0.0, **reported)
    choice = completion.choices[0]
    content, reasoning = _split_content(choice.message.content)
    content = content.encode(errors="replace").decode()  # some servers cut characters in half
    reasoning = reasoning or reasoning_of(choice.message.model_extra or {})
    # `raw` is the whole output, kept only if it differs from the answer.
    if reasoning is not None:  # in a field of its own
        raw: str | None = f"{reasoning}\n{content}"
        text = without_answer_marks(content)
    else:
        reasoning, text = strip_reasoning(content, template.tags, opened=template.opened)
        raw = content if reasoning is not None else None
    status: AnswerStatus = "ok" if text else "empty"
    if choice.message.refusal or str(choice.finish_reason).startswith("content_filter"):
        raw, status = raw or choice.message.refusal, "refused"
    elif choice.finish_reason == "length":
        status = "truncated"
    details = usage and usage.completion_tokens_details
    counted = _token_count(details.reasoning_tokens) if details else 0
    if reasoning is None and not counted:
        reasoning_tokens = None
    else:  # if the server reports no count, estimate it by the reasoning's share of all characters
        share = len(reasoning or "") / max(1, len(reasoning or "") + len(text))
        reasoning_tokens = counted or round(share * (reported["tokens"] or 0))
    return Answer(
        prompt_id,
        text,
        status,
        0.0,
        raw=raw,
        reasoning_tokens=reasoning_tokens,
        **reported,
    )


def _token_count(value: Any) -> int:
    """Return a token count reported by a server, or 0 if it is not a plausible count."""
    return value if type(value) is int and 0 <= value <= MAX_TOKEN_COUNT else 0


def _split_content(content: Any) -> tuple[str, str | None]:
    """Return the text of a message's content, and its reasoning if that is in parts of type "thinking"."""
    if not isinstance(content, list):
        return str(content or ""), None
    texts = [str(part.get("text") or "") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    thoughts = [
        _split_content(part.get("thinking"))[0]
        for part in content
        if isinstance(part, dict) and part.get("type") == "thinking"
    ]
    return "".join(texts), "".join(thoughts) or None


def server_message(error: openai.APIStatusError, secret: str | None) -> str:
    """Return the server's error message without the API key, which some servers repeat."""
    message = " ".join(str(error.message).split())
    return without_secret(message, secret)[:200]


def without_secret(text: str, secret: str | None) -> str:
    """Return a server's text with the API key, and parts of it, replaced by asterisks."""
    if not secret:
        return text
    text = text.replace(secret, "***")
    covered = [False] * len(text)
    for start in range(len(text) - SECRET_PART_CHARS + 1):
        if text[start : start + SECRET_PART_CHARS] in secret:
            covered[start : start + SECRET_PART_CHARS] = [True] * SECRET_PART_CHARS
    return "".join("*" if hidden else letter for letter, hidden in zip(text, covered, strict=True))
