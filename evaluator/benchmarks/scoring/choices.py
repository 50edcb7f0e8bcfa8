"""Questions with four choices: at which letter each choice stands, and which letter an answer asserts."""

import hashlib
import hmac
import json
import re
import unicodedata
from dataclasses import replace

from evaluator.benchmarks.base import Row, checked_text
from evaluator.benchmarks.scoring.thinking import after_thinking
from evaluator.core.data_types import Item

LETTERS = "ABCD"
ORDER_KEY = "order_key"  # of an item's extra
# Ways to assert a letter, the surest first: after a marker, at the start, in brackets or bold, anywhere.
_ALONE = r"(?<![A-Za-z])([A-D])(?![A-Za-z])"
_ASSERTIONS = [
    re.compile(
        rf"(?:정답|답변|답|(?:final )?answer|(?<![가-힣])따라서|therefore)(?:은|는|이|:|\s|is|옵션|선택지)*+[\s(\[*\"']*+{_ALONE}",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:따라서|그러므로|결론|가장 적절한|\b(?:therefore|thus|hence|so)\b)[^A-D\n]{0,30}?(?<![A-Za-z])([A-D])(?![A-Za-z])",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?<![A-Za-z])([A-D])(?![A-Za-z])[)\]*\"']*(?:번)?(?:은|는|이|가)?[\s:]*(?:is\s)?"
        r"(?:the\s)?(?:correct|true\b|참(?![가-힣]*지)|맞(?!지|을)|옳(?!지|을)|정답|[✅⭕✓]|가장 적절|matches)",
        re.IGNORECASE,
    ),
    re.compile(r"\A[\s(\[*#\"'<>]*([A-Da-d])(?=[\s)\].:*\"'번은는이가를도,]|\Z)"),
    re.compile(r"(?:\(|\[|\*\*)([A-D])(?:\)|\]|\*\*)"),
    re.compile(_ALONE),
]
# A hedge: what follows a letter if it is one of several candidates, as in "A 또는 B", "A, B", "A B C D".
_CLOSED = r"[)\]*\"']*(?:\.|번)?"
_HEDGE = re.compile(
    rf"{_CLOSED}\s*(?:(?:또는|혹은|아니면|내지|이?나|및|와|과|—|[,/~|·&-]|or\b|and\b)\s*)+[(\[*\"']*[A-D](?![A-Za-z])(?!{_CLOSED}\s*중)"
    r"|\)\s*\([A-D]\)"
    rf"|{_CLOSED}(?:\s+[(\[*\"']*[A-D](?![A-Za-z]){_CLOSED})+\s*(?:\Z|\n)",
    re.IGNORECASE,
)
# What follows or precedes a letter that is not asserted.
_DENIED = re.compile(
    r"[)\]*\"']*(?:번)?(?:이|가|은|는|를|을)?\s*(?:아니(?!면)|아닙|아님|(?:(?:is|are)\s*)?(?:not\b|incorrect|wrong|false)|틀[리렸린립]|오답|거짓"
    r"|제외|외의|고르면|[❌✗]|인지|\?|(?:맞|옳)(?:지\s*않|을까))",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|except|but|isn't)\s+[(\[*\"']*$", re.IGNORECASE)
# The choices repeated, one a line; a letter alone in the first line is an answer.
ECHO = re.compile(r"\s*+A[.:)](?=[^\n]*\w)[^\n]*+\n++(?:[^\n]++\n++)*?[^\S\n]*+B[.:)]")
MAX_LETTERS = 50  # looked at; more are a dump


def choices_in(row: Row) -> tuple[str, ...]:
    """Its four descriptions, the right one first. Raises KeyError or ValueError."""
    choices = row["choices"]
    if not isinstance(choices, list) or not len(choices) == len(set(map(str, choices))) == len(LETTERS):
        raise ValueError("column 'choices' needs four different descriptions")
    return tuple(checked_text("choices", choice) for choice in choices)


def with_order_key(items: list[Item]) -> list[Item]:
    """The items with the key of the order of their choices: a hash over the set, which nobody has who is asked."""
    whole = json.dumps([(item.id, item.choices) for item in items])
    key = hashlib.sha256(whole.encode()).hexdigest()
    return [replace(item, extra={ORDER_KEY: key}) for item in items]


def order(item: Item, rotation: int) -> list[int]:
    """Which choice stands at each letter: a shuffle by the set's key and the item's id, turned by `rotation` places."""
    digest = hmac.new(item.extra[ORDER_KEY].encode(), item.id.encode(), hashlib.sha256).digest()
    shuffled = sorted(range(len(LETTERS)), key=lambda choice: digest[choice * 4 : choice * 4 + 4])
    return shuffled[rotation:] + shuffled[:rotation]


def asserted_letter(output: str) -> str | None:
    """Return the letter an answer asserts: `정답은 B`, `(B)`, `**B**`, after `</think>`. None if several or none are."""
    text = after_thinking(unicodedata.normalize("NFKC", output))
    for number, pattern in enumerate(_ASSERTIONS):
        found = [
            match
            for match in pattern.finditer(text)
            if not _DENIED.match(text, match.end(1))
            and not _NOT.search(text, max(0, match.start(1) - 12), match.start(1))
        ]
        if number and ECHO.match(text):
            return None
        if not found:
            continue
        letters = {match[1].upper() for match in found}
        if len(letters) > 1 or len(found) > MAX_LETTERS:
            return None
        return None if any(_HEDGE.match(text, match.end(1)) for match in found) else letters.pop()
    return None
