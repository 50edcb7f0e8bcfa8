"""Read a model's output: separate the answer from reasoning and special tokens. Imports no model library.

If the ids of the generated tokens are known (`chat.py`, and servers that return them), `read_output` reads them exactly. If
only a server's text is known, `read_text` does the same with what the text shows.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from submissions.hub_models.reasoning import Tags, split, strip_reasoning, without_answer_marks

# "<|im_end|>", and with the full-width bars of DeepSeek "<｜end▁of▁sentence｜>"
CONTROL = re.compile(r"<[|｜].*[|｜]>", re.DOTALL)


@dataclass(frozen=True)
class Output:
    """A model's output, separated into reasoning and answer."""

    answer: str  # without reasoning and special tokens
    reasoning: str | None = None  # None if there is none
    raw: str | None = None  # the whole output; None if it contains no reasoning
    reasoning_tokens: int | None = None  # up to the end of the reasoning; None if unknown


def read_output(
    tokenizer: Any, tokens: Sequence[int], tags: Tags | None, removed: Collection[int], *, begins_in_reasoning: bool
) -> Output:
    """Read the new tokens of one answer.

    Args:
        tokenizer: The model's tokenizer.
        tokens: The ids of the generated tokens, without the one that ended the answer.
        tags: The tags of reasoning in the model's template, or None. `split` then uses tags that the output begins with.
        removed: The ids of tokens that are not text, see `control_tokens`.
        begins_in_reasoning: Whether the prompt ended inside the reasoning.

    For example, the tokens of "<think>2 + 2</think>4" become
    Output(answer="4", reasoning="<think>2 + 2</think>", raw="<think>2 + 2</think>4", reasoning_tokens=…).
    """
    output = decode(tokenizer, tokens)
    parts = split(output, tags, begins_in_reasoning=begins_in_reasoning)
    reasoning = output[: parts.answer_at]  # all of it if there is no answer
    # The index in `tokens` at which the answer starts.
    if parts.answer_at is None:  # the reasoning never ended
        answer_start = len(tokens)
    elif parts.reasoned:
        answer_start = _count_reasoning_tokens(tokenizer, tokens, reasoning, parts.tags)
    else:
        answer_start = 0
    # One token may have the end of the closing tag and the beginning of the answer: ">(" of "</think>(A)".
    beginning = decode(tokenizer, tokens[:answer_start])[len(reasoning) :] if parts.answer_at else ""
    answer_tokens = [token for token in tokens[answer_start:] if token not in removed]
    answer = without_answer_marks(beginning + decode(tokenizer, answer_tokens))
    if not parts.reasoned:
        return Output(answer)
    return Output(answer, reasoning, raw=output, reasoning_tokens=answer_start)


def decode(tokenizer: Any, tokens: Sequence[int]) -> str:
    """Return the text of tokens exactly: special tokens may be text, and spaces before punctuation are the model's."""
    return str(tokenizer.decode(tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False))


def control_tokens(tokenizer: Any, media: Collection[str], stops: Collection[int]) -> dict[int, str]:
    """Return the tokens that are not text, by id.

    They are the ends of answers (`stops`), the placeholders of images and other media (`media`), the tokens that the
    tokenizer has a role for (beginning, padding, …), and special tokens of the form <|…|>. All others are text, even if
    the maker calls them special: `<td>`, `<otsl>`.
    """
    roles = {str(token) for token in tokenizer.special_tokens_map.values() if isinstance(token, str)}
    added = getattr(tokenizer, "added_tokens_decoder", {})
    controls = {str(token) for token in added.values() if token.special and CONTROL.fullmatch(str(token))}
    found: dict[int, str] = {}
    for text in (*roles, *media, *controls):
        token_id = tokenizer.convert_tokens_to_ids(text)
        # If the tokenizer has no such token, this is None or the id of its token for unknown text.
        if token_id is not None and tokenizer.convert_ids_to_tokens(token_id) == text:
            found[token_id] = text
    return found | {token_id: str(tokenizer.convert_ids_to_tokens(token_id)) for token_id in stops}


def _count_reasoning_tokens(tokenizer: Any, tokens: Sequence[int], reasoning: str, tags: Tags) -> int:
    """Return how many tokens the reasoning has, its closing tag included.

    That is the smallest number of tokens whose text has as many closing tags as the reasoning. It is found by binary
    search, because the tokens of a tag are not known, and decoding every prefix would be slow.
    """
    closing_tags = reasoning.count(tags.closing)

    def closing_tags_in(length: int) -> int:
        return decode(tokenizer, tokens[:length]).count(tags.closing)

    return bisect_left(range(len(tokens) + 1), closing_tags, key=closing_tags_in)


def before_stop(tokens: Sequence[int], stops: Collection[int]) -> Sequence[int]:
    """Return the tokens before the first one that ends an answer, or all tokens if none does."""
    end = next((n for n, token in enumerate(tokens) if token in stops), None)
    return tokens if end is None else tokens[:end]


def before_stop_text(text: str, stops: Sequence[str]) -> str:
    """Return the text before the first special token that ends an answer. Some servers run on after it."""
    ends = [text.find(stop) for stop in stops if stop in text]
    return text[: min(ends)] if ends else text


def read_text(text: str, tags: Tags | None, special_tokens: Sequence[str], *, begins_in_reasoning: bool) -> Output:
    """Read an output of which only the text is known. The number of its reasoning tokens is unknown then."""
    reasoning, answer = strip_reasoning(text, tags, begins_in_reasoning=begins_in_reasoning)
    answer = without_tokens(answer, special_tokens)
    if reasoning is None:
        return Output(answer)
    return Output(answer, reasoning, raw=text)


def without_tokens(text: str, tokens: Sequence[str]) -> str:
    """Return a text without special tokens and the marks around an answer.

    A token that contains another one must come before it, or a part of it would stay.
    """
    for token in tokens:
        text = text.replace(token, "")
    return without_answer_marks(text)
