"""Read a model's output: separate the answer from reasoning and special tokens. Imports no model library."""

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from submissions.hub_models.reasoning import Tags, split, strip_reasoning, without_answer_marks


@dataclass(frozen=True)
class Output:
    """A model's output, read from its tokens."""

    answer: str  # without reasoning and special tokens
    reasoning: str | None = None  # None if there is none
    raw: str | None = None  # the whole output; None if it contains no reasoning
    reasoning_tokens: int | None = None  # up to the end of the reasoning; None if unknown


def read_output(tokenizer: Any, tokens: Any, tags: Tags | None, *, opened: bool) -> Output:
    """Read the new tokens of one answer, without the token that ended it.

    `tags` are those of the model's template; `opened` is whether the prompt ended inside the reasoning.
    """
    output = str(tokenizer.decode(tokens, skip_special_tokens=False))
    parts = split(output, tags, opened=opened)
    if parts.answer is None:
        first = len(tokens)
    elif parts.reasoned:
        first = _first_answer_token(tokenizer, tokens, output[: parts.answer], parts.tags)
    else:
        first = 0
    answer = without_answer_marks(str(tokenizer.decode(tokens[first:], skip_special_tokens=True)))
    if not parts.reasoned:
        return Output(answer)
    return Output(answer, output[: parts.answer], output, first)


def _first_answer_token(tokenizer: Any, tokens: Any, reasoning: str, tags: Tags) -> int:
    """Return the number of tokens of the reasoning, its closing tag included."""
    count = reasoning.count(tags.closing)

    def closing_tags(length: int) -> int:
        return int(str(tokenizer.decode(tokens[:length], skip_special_tokens=False)).count(tags.closing))

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
