"""Decide whether a response lists exactly the items of an answer, in any order or in theirs."""

import re
from collections.abc import Iterator, Sequence

from evaluator.benchmarks.scoring.chart_text import (
    ANSWER,
    BOXED,
    COUNTRY_NAME,
    ELSEWHERE,
    MAX_LENGTH,
    SENTENCE_END,
    american,
    folded,
    without_remarks,
)
from evaluator.benchmarks.scoring.names import NUMBERS, one_form
from evaluator.benchmarks.scoring.stated_answer import EITHER

_LIST_LEAD = re.compile(r"[^,\n:]*(?::|\b(?:are|is|was|were))\s+")
_PREDICATE = re.compile(r"\s(?:are|is|was|were|have|has|had|both|all)\b.*$", re.DOTALL)
_CONTRAST = re.compile(r",\s(?:while|whereas)\b", re.IGNORECASE)
_LIST_MARK = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+|\s\d{1,2}[.)]\s+", re.MULTILINE)
_BOLD = re.compile(r"\*\*([^*\n]+,[^*\n]+|[^*\n]+\sand\s[^*\n]+)\*\*")  # a list in bold
_BULLET = re.compile(r"^[ \t]*(?:\d+[.)]|[-*•])[ \t]+([^\n:]*)", re.MULTILINE)
_ITEM_WORD = re.compile(
    r"^\s*(?:both|first(?:ly)?|second(?:ly)?|third(?:ly)?|fourth(?:ly)?|next|then|finally|lastly|and)[\s,]+(?:by\s)?|\s*(?:순(?:입니다|이다)?)?[.。]?$|\s[–—-]\s[\d.,]+.*$",
    re.IGNORECASE,
)
_VALUE_OF_ITEM = re.compile(r"\s[–—-]\s[$€£₩]?\d[^\n]*$", re.MULTILINE)
_OTHER_ITEM = re.compile(r"(?:(?<=[a-z,;]\s)|(?<=\n)\s*)[A-Z][A-Za-z]+|\d+(?![\d%])")
_FIRST_ITEM = re.compile(r"\A\W*([A-Za-z]+)(?=,\W*,)")  # left before removed items: May, June
_EXTRA_ITEM = re.compile(
    r",\s*(?:and|&)\s+(?!finally|lastly|then)[a-z]\w*\s*(?:[.(]|$)"
)  # left when the items are removed: and basketball.
_COUNT_OF_ITEMS = re.compile(rf"\bonly\s({'|'.join(NUMBERS)})\b", re.IGNORECASE)
_EXCLUDES = re.compile(r"\b(?:not|excluded?|except|only)\b|n't\b|제외|해당하지 않", re.IGNORECASE)
_COMMA = r",(?!\d{3})"
_LIST_SEPARATORS = (
    r"\n",
    _COMMA,
    ";",
    "/",
    r"\|",
    "·",
    "<",
    ">",
    "→",
    "&",
    r"\band\b",
    r"\b(?:followed by|then|before)\b",
    r"및|그리고",
)


def same_list(question: str, answer: str, response: str, *, is_ordered: bool) -> bool:
    wanted = [folded(item) for item in answer.split(",")]
    readings = list(_lists(question, answer, response)) if len(response) <= MAX_LENGTH else []
    if is_ordered:
        return wanted in readings
    return sorted(wanted) in map(sorted, readings)


def _lists(question: str, answer: str, response: str) -> Iterator[Sequence[str]]:
    """Yield the folded items of a list, read with and without the words before and after them.

    Nothing is yielded if the response names alternatives or denies an item. What separates items in some responses may be
    part of an item of the answer, and then separates none.
    """
    response = _without_excluded(answer, response)
    for sentence in filter(ELSEWHERE.match, SENTENCE_END.split(response)[1:]):
        response = response.replace(sentence, "")
    if EITHER.search(response) or re.search(r"\b(?:not|none|neither)\b", response, re.IGNORECASE):
        return
    marked = [str(match[1]) for match in [*BOXED.finditer(response), *ANSWER.finditer(response)] if match[1].strip()]
    marked = marked or (_BOLD.findall(response) if len(_BOLD.findall(response)) == 1 else [])
    text = marked[-1] if marked else re.split(r"\n\s*\n", without_remarks(response))[-1]
    text = _LIST_MARK.sub("\n", without_remarks(text).replace("*", "")).strip()
    text = _VALUE_OF_ITEM.sub("", text)
    separators = "|".join(one for one in _LIST_SEPARATORS if one in (_COMMA, r"\n") or not re.search(one, answer))
    readings = {text, _PREDICATE.sub("", text)}
    if text.count(":") == 1:
        readings.add(text.partition(":")[2])
    if contrast := _CONTRAST.search(text):
        text = text[: contrast.start()]
        readings.update({text, _PREDICATE.sub("", text)})
    if lead := _LIST_LEAD.match(text):
        readings.add(text[lead.end() :])
    if mentioned := _in_order_of_mention(question, answer, text):
        readings.add(mentioned)
    if response.lstrip().startswith("|"):
        readings.update(_columns(response))
    if len(bullets := _BULLET.findall(without_remarks(response).replace("**", ""))) > 1:
        readings.add("\n".join(bullets))
    for reading in readings:
        items = [_ITEM_WORD.sub("", _ITEM_WORD.sub("", item)) for item in re.split(separators, reading)]
        yield [folded(item) for item in items if re.search(r"\w", item)]


def _without_excluded(answer: str, response: str) -> str:
    """Return a response without the sentences after its first that say what is not in the list."""
    first, *others = SENTENCE_END.split(response)
    items = [item.strip().casefold() for item in answer.split(",")]
    named = re.compile("|".join(map(re.escape, items)))
    kept = [one for one in others if not _EXCLUDES.search(one) or named.search(one.casefold())]
    return response if len(kept) == len(others) else " ".join([first, *kept])


def _in_order_of_mention(question: str, answer: str, text: str) -> str:
    """Return the items of an answer in the order in which a sentence names them, or "" if it names others or not all."""
    items = [item.strip() for item in american(one_form(answer).casefold()).split(",")]
    lower = american(text.casefold())
    places = [re.search(rf"(?<!\w){re.escape(item)}(?![a-z\d])", lower) for item in items]
    found = [(place.start(), item) for place, item in zip(places, items, strict=True) if place]
    rest = re.sub("|".join(map(re.escape, items)), "", text, flags=re.IGNORECASE)
    names = [*_OTHER_ITEM.findall(rest), *COUNTRY_NAME.findall(rest)]
    names += _FIRST_ITEM.findall(rest)
    if not re.search(r"\d", answer):  # numbers are values of items
        names = [name for name in names if not name.strip().isdigit()]
    others = [name for name in names if name.strip().casefold() not in one_form(question).casefold()]
    if len(found) < len(items) or others or _EXTRA_ITEM.search(rest) or _other_count(text, len(items)):
        return ""
    return ", ".join(item for _, item in sorted(found))


def _other_count(text: str, count: int) -> bool:
    """Return whether a text says that there are more or fewer items than `count`: only two brands."""
    stated = _COUNT_OF_ITEMS.search(text)
    return stated is not None and NUMBERS.index(stated[1].lower()) != count


def _columns(text: str) -> list[str]:
    """Return the columns of a table in Markdown, each with its cells on lines."""
    rows = [line.strip().strip("|").split("|") for line in text.splitlines() if line.lstrip().startswith("|")]
    cells = [row for row in rows[1:] if not set("".join(row)) <= set("-: ")]
    columns = zip(*cells, strict=False)
    return ["\n".join(map(str.strip, column)) for column in columns]
