"""Define the data types that all steps share: items, prompts, answers and scores. This module imports no model library.

A benchmark loads an `Item` for each question and makes its `Prompt`s. An engine gives an `Answer` to each prompt. The
benchmark compares the answers of an item with its gold answer, which gives a `Score`.
"""

import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le, MaxLen

MAX_MESSAGE = 300  # characters of a failure message
MAX_COMBINING_MARKS = 30  # on one letter, as in the Stream-Safe Text Format (UAX #15)
MIN_LENGTH_TO_CHECK_MARKS = 1000  # characters; shorter answers cannot be slow to normalise
MAX_ANSWER = 50_000  # characters of an answer; the longest gold answer, a table of KorQuAD 2.0, has 10,850
PAGE = "{page}"  # placeholder in a prompt's text; an engine replaces it with the page or with some of its windows

Count = Annotated[int, Ge(0), Le(10**9)]
Box = tuple[int, int, int, int]  # x, y, width, height in pixels
# Results can also have "provider", which cannot be requested: the server's provider decides how it samples.
RequestedDecoding = Literal["greedy", "repository"]
# "refused": the model's processor or the server did not take the question. "truncated": the answer was cut off.
# "infra_error": no answer because of an infrastructure failure, so the question is asked again.
AnswerStatus = Literal["ok", "empty", "refused", "truncated", "infra_error"]


@dataclass(frozen=True, slots=True)
class Item:
    """One question of a benchmark with its gold answer."""

    id: str
    question: str
    answer: str
    images: tuple[Path, ...] = ()
    page: str | None = None  # HTML
    links: tuple[str, ...] = ()  # public URLs of the images
    crops: tuple[Box, ...] = ()  # regions of the first image, shown after the images
    choices: tuple[str, ...] = ()  # the correct one first
    buckets: dict[str, str] = field(default_factory=dict)  # axis → bucket, for the breakdown
    cluster: str = ""  # id of the document or image that the item shares with other items
    extra: Mapping[str, Any] = field(default_factory=dict)  # further inputs of the benchmark's scoring rule


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question as a model gets it, without the gold answer."""

    id: str
    text: str  # complete for a chat model once PAGE is replaced
    images: tuple[Path, ...] = ()
    links: tuple[str, ...] = ()  # URLs in the order of the images, if those are public
    crops: tuple[Box, ...] = ()
    question: str = ""  # without instructions, for engines that take none or rank the parts of a page by it
    page: str | None = None  # HTML


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer to one prompt.

    `text` is the answer without its reasoning; `raw` is the whole output, or None if it equals `text`. `seconds`
    is the answer's share of the time spent on its batch, preprocessing included. Token counts are None if the engine
    does not know them, except `reasoning_tokens`, where None means that the model did not reason.
    """

    id: str
    text: str
    status: AnswerStatus
    seconds: Annotated[float, Ge(0), Le(10**6)]
    windows: Count | None = None  # parts of the page that were read; None if the whole page was read
    visual_tokens: Count | None = None
    resize: Annotated[float, Ge(0), Le(10**6)] | None = None  # scale of the most reduced image; 1: not reduced
    raw: str | None = None
    prompt_tokens: Count | None = None
    tokens: Count | None = None  # generated tokens, reasoning included
    reasoning_tokens: Count | None = None
    model: Annotated[str, MaxLen(200)] | None = None  # model name that the server reported
    server: Annotated[str, MaxLen(200)] | None = None  # build of the spawned server that gave the answer
    sampled: bool = False  # whether the server does not accept a temperature, so the answer may be sampled


def cleaned(answer: Answer) -> Answer:
    """Return the answer with bounded length and valid Unicode, so that it can be stored and scored.

    A vocabulary may have tokens of any length, and tokens that are half a surrogate pair.
    """
    text = _cleaned(answer.text)
    raw = None if answer.raw is None else _cleaned(answer.raw)
    if text is answer.text and raw is answer.raw:
        return answer
    status = "truncated" if len(answer.text) > MAX_ANSWER else answer.status
    return replace(answer, text=text, raw=raw, status=status)


def _cleaned(text: str) -> str:
    """Return a text of at most MAX_ANSWER characters, with `?` for half a surrogate pair.

    If it has more than MIN_LENGTH_TO_CHECK_MARKS characters, at most MAX_COMBINING_MARKS combining marks in a row are kept.
    If nothing needs to change, return the same object.
    """
    if len(text) > MAX_ANSWER:
        text = text[:MAX_ANSWER]
    if len(text) > MIN_LENGTH_TO_CHECK_MARKS and not text.isascii():
        # Looking at every MAX_COMBINING_MARKS-th character is enough to hit each run that is too long.
        sampled = set(text[::MAX_COMBINING_MARKS])
        if any(map(_is_mark, sampled)):
            text = _long_run_of_marks().sub(r"\1", text)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return text.encode(errors="replace").decode()
    return text


@cache
def _long_run_of_marks() -> re.Pattern[str]:
    """Return a pattern for more combining marks than any script puts on one letter. Its group 1 is what is kept of them.

    Unicode normalisation sorts such runs in quadratic time.
    """
    characters = map(chr, range(sys.maxunicode + 1))
    # Only these characters can be marks. Normalising all of Unicode instead would take three times as long.
    candidates = (c for c in characters if unicodedata.combining(c) or unicodedata.decomposition(c))
    marks = "".join(map(re.escape, filter(_is_mark, candidates)))
    return re.compile(f"([{marks}]{{{MAX_COMBINING_MARKS}}})[{marks}]+")


@cache
def _is_mark(character: str) -> bool:
    """Return whether a character consists of combining marks only, such as the accent U+0301, once it is decomposed."""
    return all(map(unicodedata.combining, unicodedata.normalize("NFKD", character)))


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one item."""

    id: str
    values: Mapping[str, float]  # metric name → score as a fraction; a `Metric.lowest` of -100 (percent) is -1 here
    status: AnswerStatus
    prediction: str = ""  # canonical answer (for example a letter), for metrics that are not a mean over items
    gold: str = ""  # in the form of `prediction`
    weights: Mapping[str, int] = field(default_factory=dict)  # metric name → weight of the item in its mean, if not 1


def zero_if_unanswered(score: Score, answers: Sequence[Answer]) -> Score:
    """Return an item's score, with all values zero if all of its answers are missing, see `is_missing`.

    Published scoring rules would count some empty answers as correct.
    """
    return with_zeros(score) if all(map(is_missing, answers)) else score


def with_zeros(score: Score) -> Score:
    """Return a score with all values zero."""
    return replace(score, values=dict.fromkeys(score.values, 0.0))


def is_missing(answer: Answer) -> bool:
    """Return whether an answer is empty because the model only reasoned, or its processor or a server refused the question.

    An answer that is empty for another reason is not missing: the benchmark's rule scores it.
    """
    has_reasoned = answer.reasoning_tokens is not None
    return not answer.text and (answer.status == "refused" or has_reasoned)
