"""The values that pass from step to step: items, prompts, answers, scores. Imports no model library."""

import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le, MaxLen

MAX_MESSAGE = 300  # characters of what is told about a failure
MARKS = 30  # combining marks on one letter, at most (UAX #15)
SHORT = 1000  # characters of an answer in which nothing is slow
MAX_ANSWER = 50_000  # characters of an answer; the longest gold answer, a table of KorQuAD 2.0, has 10,850
PAGE = "{page}"  # where a prompt's text takes its page; an engine may put fewer windows of the page there

Count = Annotated[int, Ge(0), Le(10**9)]
Box = tuple[int, int, int, int]  # x, y, width, height in pixels
RequestedDecoding = Literal["greedy", "repository"]  # what can be asked for; a provider's own a result can only tell
AnswerStatus = Literal["ok", "empty", "refused", "truncated", "infra_error"]


@dataclass(frozen=True, slots=True)
class Item:
    """One question of a benchmark with its gold answer."""

    id: str
    question: str
    answer: str
    images: tuple[Path, ...] = ()
    page: str | None = None  # HTML
    links: tuple[str, ...] = ()  # where the images are public
    crops: tuple[Box, ...] = ()  # pieces of the first image, shown after the images
    choices: tuple[str, ...] = ()  # the right one first
    buckets: dict[str, str] = field(default_factory=dict)  # axis → bucket, for the breakdown
    cluster: str = ""  # the document or image the item shares with others
    extra: Mapping[str, Any] = field(default_factory=dict)  # what else the benchmark's own scoring rule needs


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked: everything but the gold answer."""

    id: str
    text: str  # ready for a chat model, but for PAGE
    images: tuple[Path, ...] = ()
    links: tuple[str, ...] = ()  # of the images, in their order, where those are public
    crops: tuple[Box, ...] = ()
    question: str = ""  # alone, for engines that choose the parts of a page by it, or read no instruction
    page: str | None = None  # HTML


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said, without its reasoning; `raw` is all it wrote, where that is more.

    `seconds` is its share of the time spent on its batch, preprocessing included. Token counts are None where the
    engine is not told them.
    """

    id: str
    text: str
    status: AnswerStatus
    seconds: Annotated[float, Ge(0), Le(10**6)]
    windows: Count | None = None  # pieces of the page that were read; None where the page was read whole
    visual_tokens: Count | None = None  # of its images
    resize: Annotated[float, Ge(0), Le(10**6)] | None = None  # of its most reduced image, 1 for not at all
    raw: str | None = None
    prompt_tokens: Count | None = None
    tokens: Count | None = None  # new ones, reasoning included
    reasoning_tokens: Count | None = None  # None: it did not reason
    model: Annotated[str, MaxLen(200)] | None = None  # what a server says has answered
    sampled: bool = False  # by a server that takes no temperature


def cleaned(answer: Answer) -> Answer:
    """The answer as it can be kept and scored: a vocabulary may have tokens of any length, and halves of characters."""
    text, raw = _cleaned(answer.text), None if answer.raw is None else _cleaned(answer.raw)
    if text is answer.text and raw is answer.raw:
        return answer
    return replace(answer, text=text, raw=raw, status="truncated" if len(answer.text) > MAX_ANSWER else answer.status)


def _cleaned(text: str) -> str:
    text = text if len(text) <= MAX_ANSWER else text[:MAX_ANSWER]
    # Of a run that is too long, one of its marks is met at every MARKS-th character.
    if len(text) > SHORT and not text.isascii() and any(map(_is_mark, set(text[::MARKS]))):
        text = _long_run_of_marks().sub(r"\1", text)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return text.encode(errors="replace").decode()
    return text


@cache
def _long_run_of_marks() -> re.Pattern[str]:
    """More combining marks than any writing has on one letter: putting them in order takes quadratic time."""
    # Only those can be: decomposing all of Unicode takes three times as long, and an answer waits for it.
    candidates = (
        c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.combining(c) or unicodedata.decomposition(c)
    )
    marks = "".join(map(re.escape, filter(_is_mark, candidates)))
    return re.compile(f"([{marks}]{{{MARKS}}})[{marks}]+")


@cache
def _is_mark(character: str) -> bool:
    return all(map(unicodedata.combining, unicodedata.normalize("NFKD", character)))


@dataclass(frozen=True, slots=True)
class Score:
    """What one item earned, from 0 to 1, by the names of the benchmark's metrics."""

    id: str
    values: Mapping[str, float]
    status: AnswerStatus
    prediction: str = ""  # the canonical answer (a letter, say), for metrics that are not a mean over items
    gold: str = ""


def zero_if_unanswered(score: Score, answers: Sequence[Answer]) -> Score:
    """Return the score of an item, zeros if none of its prompts has an answer: reasoning that was cut off, or an image that
    the model's processor does not take. Published rules count some empty answers as right."""
    missing = all(not a.text and (a.status == "refused" or a.reasoning_tokens is not None) for a in answers)
    return replace(score, values=dict.fromkeys(score.values, 0.0)) if missing else score
