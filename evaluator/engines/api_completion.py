"""Read a server's chat completion: the answer, the reasoning before it, and the token counts.

A remote server is not trusted. A completion may have any form, and may repeat the API key.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2  # the HTTP client of openai
import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion

from evaluator.core.data_types import Answer, AnswerStatus
from evaluator.engines.api_http import collect
from evaluator.engines.output import Output, before_stop_text, read_text
from evaluator.engines.server_pool import InvalidCompletionError
from submissions.hub_models.reasoning import ANY_TAGS, Tags, reasoning_of

MAX_MODEL_NAME = 100  # characters of the model's name, as the server reports it, that are recorded
MAX_TOKEN_COUNT = 10**9  # a larger count reported by a server is ignored as invalid
# Exceptions that reading a completion raises if it does not have the documented form.
MALFORMED_ERRORS = (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError)
TEXT_PARTS = ("text", "output_text")  # types of the parts of a message's content
REASONING_PARTS = ("thinking", "reasoning")
MAX_SERVER_MESSAGE = 200  # characters
SECRET_PART_CHARS = 8  # parts of the API key that have at least this length are removed from server messages


@dataclass(frozen=True)
class OutputFormat:
    """How to read the outputs of a server's model.

    `served_model.py` finds it out for a spawned server. Of a remote server's model only `writes_reasoning` is known, and
    the other fields have their defaults.
    """

    # Whether this model reasons in this evaluation. False: its template has no tags, or reasoning is switched off. None: unknown.
    writes_reasoning: bool | None = None
    # Whether rendered prompts end inside the reasoning, which the model then continues.
    begins_in_reasoning: bool = False
    switches: dict[str, Any] = field(default_factory=dict)  # template variables, sent to the server
    # The text around the reasoning. None: the model writes none. ANY_TAGS: its template is unknown, as of a remote server.
    tags: Tags | None = ANY_TAGS
    special_tokens: tuple[str, ...] = ()  # removed from answers
    stop_tokens: tuple[str, ...] = ()  # special tokens that end an answer
    # Reads the ids of the tokens, if the server sends them. Returns None if they are not ids of this model.
    read_tokens: Callable[[Sequence[int]], Output | None] | None = None
    # Whether the closing tag of reasoning is a special token, which servers leave out unless asked.
    closes_with_special_token: bool = False

    @property
    def is_template_known(self) -> bool:
        """Whether the model's chat template was read. An output without reasoning then proves that the model did not reason.

        Of a remote model it proves nothing, because providers of closed models leave the reasoning out of the output, and
        report only how many tokens it had.
        """
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
    """Return the answer in a completion. Raises one of MALFORMED_ERRORS if it is malformed."""
    usage = completion.usage
    # What the server reports apart from the text, as fields of Answer.
    reported: dict[str, Any] = {
        "prompt_tokens": _token_count(usage.prompt_tokens) if usage else None,
        "tokens": _token_count(usage.completion_tokens) if usage else None,
    }
    if isinstance(completion.model, str) and completion.model:
        reported["model"] = _text(f"{completion.model} {completion.system_fingerprint or ''}").strip()[:MAX_MODEL_NAME]
    # Some servers return usage but no choices for a question that their filter blocks.
    if not completion.choices:
        return Answer(prompt_id, "", "refused", 0.0, **reported)
    choice = completion.choices[0]
    output = _read_token_ids(choice, form) or _read_message(choice, form)
    raw = output.raw
    status: AnswerStatus = "ok" if output.answer else "empty"
    if choice.message.refusal or str(choice.finish_reason).startswith("content_filter"):
        raw = raw or _text(choice.message.refusal) or None  # kept in the private details
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


def _read_token_ids(choice: Any, form: OutputFormat) -> Output | None:
    """Read the output from the ids of its tokens, or return None if the server does not send them.

    vLLM returns them in the field `token_ids` of a choice if a request has `return_token_ids`.
    """
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
    reasoning = reasoning or reasoning_of(choice.message.model_extra or {})
    if reasoning is not None and not content and form.writes_reasoning is False:
        # The server calls the whole output reasoning, but this model does not reason. The server's parser takes everything
        # before a closing tag for reasoning, and this model writes no such tag. So the text is the answer.
        content = reasoning
        reasoning = None
    content = before_stop_text(content, form.stop_tokens)
    if reasoning is None:
        return read_text(content, form.tags, form.special_tokens, begins_in_reasoning=form.begins_in_reasoning)
    # The server's parser may have left reasoning behind.
    rest = read_text(content, form.tags, form.special_tokens, begins_in_reasoning=False)
    return Output(
        answer=rest.answer,
        reasoning=f"{reasoning}{rest.reasoning or ''}",
        raw=f"{reasoning}\n{content}",
    )


def _reasoning_tokens(usage: CompletionUsage | None, output: Output, form: OutputFormat) -> int | None:
    """Return the number of reasoning tokens: as counted, as the server reports, or estimated from the length of the text.

    Return None if the model did not reason, or if it is unknown whether it did. Return 0 if it did, but the server reports no
    number of tokens at all.
    """
    if output.reasoning_tokens is not None:  # counted from the ids of the tokens
        return output.reasoning_tokens
    if output.reasoning is None and form.is_template_known:
        return None  # it did not reason, even if the server reports a number, as some parsers do
    details = usage.completion_tokens_details if usage else None
    reported = _token_count(details.reasoning_tokens) if details else None
    if reported:  # 0 may mean that the server does not count them
        return reported
    if output.reasoning is None:
        return None
    generated = _token_count(usage.completion_tokens) if usage else None
    if generated is None:
        return 0
    share = len(output.reasoning) / max(1, len(output.reasoning) + len(output.answer))
    return round(share * generated)


def _token_count(value: Any) -> int | None:
    """Return a token count reported by a server, or None if there is none or it is not a plausible count.

    If there is none, `api_budget.Budget` charges the question with the upper bound that it has reserved for it.
    """
    return value if type(value) is int and 0 <= value <= MAX_TOKEN_COUNT else None


def _split_content(content: Any) -> tuple[str, str | None]:
    """Return the text of a message's content, and its reasoning if that is in parts of its own.

    `[{"type": "thinking", "thinking": "2 + 2"}, {"type": "text", "text": "4"}]` -> `("4", "2 + 2")`
    """
    if isinstance(content, dict):  # one part without the list
        content = [content]
    if not isinstance(content, list):
        return _text(content), None
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(_text(part))
        elif isinstance(part, dict) and part.get("type") in TEXT_PARTS:
            texts.append(_text(part.get("text")))
    # A thought may be a list of text parts itself, as Mistral's API sends it.
    thoughts = [
        _split_content(part.get("thinking") or part.get("reasoning") or part.get("text"))[0]
        for part in content
        if isinstance(part, dict) and part.get("type") in REASONING_PARTS
    ]
    return "".join(texts), "".join(thoughts) or None


def _text(value: Any) -> str:
    """Return a text of a server in valid Unicode. Some return half of a surrogate pair, or something else than a text."""
    return str(value or "").encode(errors="replace").decode()


def complaint_of(error: openai.APIStatusError) -> str:
    """Return all that a server reports about an error, to find the name of a parameter in it.

    The message of the client's exception has only the field `message` of the body. Some servers have the name elsewhere:
    `{"detail": [{"loc": ["body", "max_tokens"], …}]}`.
    """
    return f"{error.status_code}: {error.body}" if error.body else str(error.message)


def server_message(error: openai.APIStatusError, secret: str | None) -> str:
    """Return the server's error message, shortened to one line, without the API key, which some servers repeat."""
    described = error.body.get("message") if isinstance(error.body, dict) else None
    message = str(described or error.body or error.message)
    return without_secret(" ".join(message.split()), secret)[:MAX_SERVER_MESSAGE]


def without_secret(text: str, secret: str | None) -> str:
    """Return a server's text with the API key replaced by asterisks, and also each part of it.

    Servers often show the beginning and the end of a key that they reject: "Incorrect API key: sk-abcde…".
    """
    if not secret:
        return text
    text = text.replace(secret, "***")
    is_secret = [False] * len(text)  # for each character
    for start in range(len(text) - SECRET_PART_CHARS + 1):
        if text[start : start + SECRET_PART_CHARS] in secret:
            is_secret[start : start + SECRET_PART_CHARS] = [True] * SECRET_PART_CHARS
    return "".join("*" if hidden else character for character, hidden in zip(text, is_secret, strict=True))
