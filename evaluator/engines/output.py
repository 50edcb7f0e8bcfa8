"""Read a model's output: separate the answer from reasoning and special tokens. Imports no model library."""

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from submissions.hub_models.reasoning import Tags, split, strip_reasoning, without_answer_marks

CONTROL = re.compile(r"<[|｜].*[|｜]>", re.DOTALL)


@dataclass(frozen=True)
class Output:
    """A model's output, separated into reasoning and answer."""

    answer: str  # without reasoning and special tokens
    reasoning: str | None = None  # None if there is none
    raw: str | None = None  # the whole output; None if it contains no reasoning
    reasoning_tokens: int | None = None  # up to the end of the reasoning; None if unknown


def read_output(
    tokenizer: Any, tokens: Sequence[int], tags: Tags | None, removed: Collection[int], *, opened: bool
) -> Output:
    """Read the new tokens of one answer, without the token that ended it.

    `tags` are those of the model's template; `removed` are the ids of tokens that are not text; `opened` is whether the
    prompt ended inside the reasoning.
    """
    output = decode(tokenizer, tokens)
    parts = split(output, tags, opened=opened)
    if parts.answer_at is None:
        answer_token = len(tokens)
    elif parts.reasoned:
        answer_token = _first_answer_token(tokenizer, tokens, output[: parts.answer_at], parts.tags)
    else:
        answer_token = 0
    answer = without_answer_marks(decode(tokenizer, [token for token in tokens[answer_token:] if token not in removed]))
    if not parts.reasoned:
        return Output(answer)
    return Output(answer, output[: parts.answer_at], output, answer_token)


def decode(tokenizer: Any, tokens: Sequence[int]) -> str:
    """Return the text of tokens exactly: special tokens may be text, and spaces before punctuation are the model's."""
    return str(tokenizer.decode(tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False))


def control_tokens(tokenizer: Any, media: Collection[str], stops: Collection[int]) -> dict[int, str]:
    """Return the tokens that are not text, by id.

    They are the ends of answers, the tokens that the tokenizer has a role for (beginning, padding, images, …), and special
    tokens of the form <|…|>. All others are text, even if the maker calls them special: `<td>`, `<otsl>`.
    """
    roles = {str(token) for token in tokenizer.special_tokens_map.values() if isinstance(token, str)}
    added = getattr(tokenizer, "added_tokens_decoder", {})
    controls = {str(token) for token in added.values() if token.special and CONTROL.fullmatch(str(token))}
    ids = {tokenizer.convert_tokens_to_ids(text): text for text in {*roles, *media, *controls}}
    found = {number: text for number, text in ids.items() if number is not None}
    return found | {number: str(tokenizer.convert_ids_to_tokens(number)) for number in stops}


def _first_answer_token(tokenizer: Any, tokens: Any, reasoning: str, tags: Tags) -> int:
    """Return the number of tokens of the reasoning, its closing tag included."""
    count = reasoning.count(tags.closing)

    def closing_tags(length: int) -> int:
        return decode(tokenizer, tokens[:length]).count(tags.closing)

    return bisect_left(range(len(tokens) + 1), count, key=closing_tags)


def before_stop(tokens: Sequence[int], stops: Collection[int]) -> Sequence[int]:
    """Return the tokens before the first one that ends an answer, or all tokens if none does."""
    end = next((n for n, token in enumerate(tokens) if token in stops), None)
    return tokens if end is None else tokens[:end]


def before_stop_text(text: str, stops: Sequence[str]) -> str:
    """Return the text before the first special token that ends an answer. Some servers run on after it."""
    ends = [text.find(stop) for stop in stops if stop in text]
    return text[: min(ends)] if ends else text


def read_text(text: str, tags: Tags | None, special_tokens: Sequence[str], *, opened: bool) -> Output:
    """Read an output of which only the text is known."""
    reasoning, answer = strip_reasoning(text, tags, opened=opened)
    if reasoning is None:
        return Output(without_tokens(answer, special_tokens))
    return Output(without_tokens(answer, special_tokens), reasoning, text)


def without_tokens(text: str, tokens: Sequence[str]) -> str:
    """Return a text without special tokens and the marks around an answer."""
    for token in tokens:
        text = text.replace(token, "")
    return without_answer_marks(text)
