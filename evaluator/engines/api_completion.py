"""Read a server's chat completion: the answer, the reasoning before it, and the token counts.

A remote server is not trusted. A completion may have any form, and may repeat the API key.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2
import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion

from evaluator.core.data_types import Answer, AnswerStatus
from evaluator.engines.api_http import collect
from evaluator.engines.output import Output, before_stop_text, read_text
from evaluator.engines.server_pool import InvalidCompletionError
from submissions.hub_models.reasoning import ANY_TAGS, Tags, reasoning_of

MAX_TOKEN_COUNT = 10**9  # a larger count reported by a server is ignored as invalid
# Raised while a completion is read that does not have the documented form.
MALFORMED_ERRORS = (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError)
TEXT_PARTS = ("text", "output_text")  # types of the parts of a message's content
REASONING_PARTS = ("thinking", "reasoning")
SECRET_PART_CHARS = 8  # any part of the API key of this length is removed from server messages


@dataclass(frozen=True)
class OutputFormat:
    """How to read a server's outputs. Of a remote server's model only `writes_reasoning` is known."""

    writes_reasoning: bool | None = None  # None: unknown
    opened: bool = False  # whether rendered prompts end inside the reasoning, which the model then continues
    switches: dict[str, Any] = field(default_factory=dict)  # template variables, sent to the server
    tags: Tags | None = ANY_TAGS  # the text around the reasoning
    special_tokens: tuple[str, ...] = ()  # removed from answers
    stop_tokens: tuple[str, ...] = ()  # special tokens that end an answer
    # Reads the ids of the tokens, if the server sends them. Returns None if they are not ids of this model.
    read_tokens: Callable[[Sequence[int]], Output | None] | None = None
    has_special_tags: bool = False  # whether servers leave out the tags of reasoning unless they are asked for them

    @property
    def shows_reasoning(self) -> bool:
        """Whether outputs contain all reasoning. Providers of closed models report only its number of tokens."""
        return self.tags is not ANY_TAGS


async def read_response(response: Any) -> ChatCompletion:
    """Return the completion in a response, streamed or not. Raises InvalidCompletionError if there is none."""
    try:
        if "text/event-stream" in response.headers.get("Content-Type", ""):
            return await collect(response.parse())
        return ChatCompletion.construct(**json.loads(await response.http_response.aread()))
    except (httpx2.HTTPError, *MALFORMED_ERRORS) as error:
        raise InvalidCompletionError(f"{type(error).__name__} while the completion was read") from None


def answer_in(completion: ChatCompletion, prompt_id: str, form: OutputFormat, secret: str | None) -> Answer:
    """Return the answer in a completion, without measured time.

    The API key `secret` is removed from the model's name, which is published. Raises InvalidCompletionError if the
    completion is malformed.
    """
    try:
        if not completion.choices and not completion.usage:
            raise InvalidCompletionError("neither choices nor usage")
        answer = _parse_completion(completion, prompt_id, form)
    except MALFORMED_ERRORS as error:
        raise InvalidCompletionError(f"{type(error).__name__} in the completion") from None
    return replace(answer, model=without_secret(answer.model, secret)) if answer.model else answer


def _parse_completion(completion: ChatCompletion, prompt_id: str, form: OutputFormat) -> Answer:
    """Return the answer in a completion."""
    usage = completion.usage
    reported: dict[str, Any] = {
        "prompt_tokens": _token_count(usage.prompt_tokens) if usage else None,
        "tokens": _token_count(usage.completion_tokens) if usage else None,
    }
    if isinstance(completion.model, str) and completion.model:
        reported["model"] = f"{completion.model} {completion.system_fingerprint or ''}".strip()[:100]
    # Some servers return usage but no choices for a question that their filter blocks.
    if not completion.choices:
        return Answer(prompt_id, "", "refused", 0.0, **reported)
    choice = completion.choices[0]
    output = _read_tokens(choice, form) or _read_message(choice, form)
    raw = output.raw
    status: AnswerStatus = "ok" if output.answer else "empty"
    if choice.message.refusal or str(choice.finish_reason).startswith("content_filter"):
        raw = raw or choice.message.refusal
        status = "refused"
    elif choice.finish_reason == "length":
        status = "truncated"
    return Answer(
        prompt_id,
        output.answer,
        status,
        0.0,
        raw=raw,
        reasoning_tokens=_reasoning_tokens(usage, output, form),
        **reported,
    )


def _read_tokens(choice: Any, form: OutputFormat) -> Output | None:
    """Read the output from the ids of its tokens, or return None if the server does not send them."""
    tokens = (choice.model_extra or {}).get("token_ids")
    if form.read_tokens is None or not isinstance(tokens, list) or not tokens:
        return None
    if not all(type(token) is int and token >= 0 for token in tokens):
        return None
    return form.read_tokens(tokens)


def _read_message(choice: Any, form: OutputFormat) -> Output:
    """Read the output from the message's text.

    The server may return the reasoning in a field of its own. Otherwise it is split off the text by its tags.
    """
    content, reasoning = _split_content(choice.message.content)
    content = content.encode(errors="replace").decode()  # some servers cut characters in half
    reasoning = reasoning or reasoning_of(choice.message.model_extra or {})
    if reasoning is not None and not content and form.writes_reasoning is False:
        # A reasoning parser takes everything before a closing tag for reasoning, and this model writes no such tag.
        content = reasoning
        reasoning = None
    content = before_stop_text(content, form.stop_tokens)
    if reasoning is None:
        return read_text(content, form.tags, form.special_tokens, opened=form.opened)
    rest = read_text(content, form.tags, form.special_tokens, opened=False)  # a parser may leave tags behind
    return Output(rest.answer, f"{reasoning}{rest.reasoning or ''}", f"{reasoning}\n{content}")


def _reasoning_tokens(usage: CompletionUsage | None, output: Output, form: OutputFormat) -> int | None:
    """Return the number of reasoning tokens: as counted, as the server reports, or by their share of the text.

    Return None if the model did not reason.
    """
    if output.reasoning_tokens is not None:
        return output.reasoning_tokens
    if output.reasoning is None and form.shows_reasoning:
        return None  # reported by parsers also for models that do not reason
    details = usage and usage.completion_tokens_details
    reported = _token_count(details.reasoning_tokens) if details else 0
    if reported or output.reasoning is None:
        return reported or None
    share = len(output.reasoning) / max(1, len(output.reasoning) + len(output.answer))
    return round(share * (_token_count(usage.completion_tokens) if usage else 0))


def _token_count(value: Any) -> int:
    """Return a token count reported by a server, or 0 if it is not a plausible count."""
    return value if type(value) is int and 0 <= value <= MAX_TOKEN_COUNT else 0


def _split_content(content: Any) -> tuple[str, str | None]:
    """Return the text of a message's content, and its reasoning if that is in parts of type "thinking"."""
    if not isinstance(content, list):
        return str(content or ""), None
    texts = [
        str(part.get("text") or "") for part in content if isinstance(part, dict) and part.get("type") in TEXT_PARTS
    ]
    thoughts = [
        _split_content(part.get("thinking") or part.get("reasoning") or part.get("text"))[0]
        for part in content
        if isinstance(part, dict) and part.get("type") in REASONING_PARTS
    ]
    return "".join(texts), "".join(thoughts) or None


def complaint_of(error: openai.APIStatusError) -> str:
    """Return everything that a server says about an error. Servers without OpenAI's form of errors have it in the body."""
    return f"{error.status_code}: {error.body}" if error.body else str(error.message)


def server_message(error: openai.APIStatusError, secret: str | None) -> str:
    """Return the server's error message without the API key, which some servers repeat."""
    described = error.body.get("message") if isinstance(error.body, dict) else None
    message = str(described or error.body or error.message)
    return without_secret(" ".join(message.split()), secret)[:200]


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
