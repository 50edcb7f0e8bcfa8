"""Assign four choices to letters, and find the letter that an answer asserts."""

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
ORDER_KEY = "order_key"  # key in an item's extra
_LONE_LETTER = r"(?<![A-Za-z])([A-D])(?![A-Za-z])"
# Ways to assert a letter, most reliable first.
_ASSERTIONS = [
    # after "answer", as in "정답은 B"
    re.compile(
        rf"(?:정답|답변|답|(?:final )?answer|(?<![가-힣])따라서|therefore)(?:은|는|이|:|\s|is|옵션|선택지)*+[\s(\[*\"']*+{_LONE_LETTER}",
        re.IGNORECASE,
    ),
    # after a conclusion, as in "therefore the second one, B"
    re.compile(
        r"(?:따라서|그러므로|결론|가장 적절한|\b(?:therefore|thus|hence|so)\b)[^A-D\n]{0,30}?(?<![A-Za-z])([A-D])(?![A-Za-z])",
        re.IGNORECASE,
    ),
    # before an affirmation, as in "B is correct"
    re.compile(
        r"(?<![A-Za-z])([A-D])(?![A-Za-z])[)\]*\"']*(?:번)?(?:은|는|이|가)?[\s:]*(?:is\s)?"
        r"(?:the\s)?(?:correct|true\b|참(?![가-힣]*지)|맞(?!지|을)|옳(?!지|을)|정답|[✅⭕✓]|가장 적절|matches)",
        re.IGNORECASE,
    ),
    # at the start, as in "B. The largest"
    re.compile(r"\A[\s(\[*#\"'<>]*([A-Da-d])(?=[\s)\].:*\"'번은는이가를도,]|\Z)"),
    # in brackets or bold
    re.compile(r"(?:\(|\[|\*\*)([A-D])(?:\)|\]|\*\*)"),
    # anywhere
    re.compile(_LONE_LETTER),
]
_CLOSING_MARKS = r"[)\]*\"']*(?:\.|번)?"  # brackets, bold, quotes, "." or "번" after a letter
# Follows a letter that is one of several candidates, as in "A 또는 B", "A, B", "A B C D".
_ANOTHER_CANDIDATE = re.compile(
    rf"{_CLOSING_MARKS}\s*(?:(?:또는|혹은|아니면|내지|이?나|및|와|과|—|[,/~|·&-]|or\b|and\b)\s*)+[(\[*\"']*[A-D](?![A-Za-z])(?!{_CLOSING_MARKS}\s*중)"
    r"|\)\s*\([A-D]\)"
    rf"|{_CLOSING_MARKS}(?:\s+[(\[*\"']*[A-D](?![A-Za-z]){_CLOSING_MARKS})+\s*(?:\Z|\n)",
    re.IGNORECASE,
)
# Follow or precede a letter that the answer denies.
_DENIED_AFTER = re.compile(
    r"[)\]*\"']*(?:번)?(?:이|가|은|는|를|을)?\s*(?:아니(?!면)|아닙|아님|(?:(?:is|are)\s*)?(?:not\b|incorrect|wrong|false)|틀[리렸린립]|오답|거짓"
    r"|제외|외의|고르면|[❌✗]|인지|\?|(?:맞|옳)(?:지\s*않|을까))",
    re.IGNORECASE,
)
_DENIED_BEFORE = re.compile(r"\b(?:not|except|but|isn't)\s+[(\[*\"']*$", re.IGNORECASE)
# The choices repeated, one per line. A letter alone in the first line is an answer and does not match.
REPEATED_CHOICES = re.compile(r"\s*+A[.:)](?=[^\n]*\w)[^\n]*+\n++(?:[^\n]++\n++)*?[^\S\n]*+B[.:)]")
MAX_MATCHES = 50  # an answer with more matches of one pattern repeats itself and asserts nothing


def choices_in(row: Row) -> tuple[str, ...]:
    """Return the four choices of a row, the right one first.

    Raises KeyError or ValueError if they are missing or invalid.
    """
    choices = row["choices"]
    if not isinstance(choices, list) or not len(choices) == len(set(map(str, choices))) == len(LETTERS):
        raise ValueError("column 'choices' needs four different descriptions")
    return tuple(checked_text("choices", choice) for choice in choices)


def with_order_key(items: list[Item]) -> list[Item]:
    """Return the items with the key that `choice_order` shuffles with: a hash over the whole set and its right answers.

    Nobody who lacks the right answers can compute the key, and so nobody can work out the letters.
    """
    whole = json.dumps([(item.id, item.choices) for item in items])
    key = hashlib.sha256(whole.encode()).hexdigest()
    return [replace(item, extra={**item.extra, ORDER_KEY: key}) for item in items]


def choice_order(item: Item, rotation: int) -> list[int]:
    """Return the index of the choice at each letter: a shuffle by the set's key and the item's id, rotated by `rotation` places."""
    digest = hmac.new(item.extra[ORDER_KEY].encode(), item.id.encode(), hashlib.sha256).digest()
    shuffled = sorted(range(len(LETTERS)), key=lambda choice: digest[choice * 4 : choice * 4 + 4])
    return shuffled[rotation:] + shuffled[:rotation]


def asserted_letter(output: str) -> str | None:
    """Return the letter that an answer asserts, as in `정답은 B`, `(B)` or `**B**`. None if it asserts none or several.

    Only the text after the last `</think>` is read.
    """
    text = after_thinking(unicodedata.normalize("NFKC", output))
    for place, pattern in enumerate(_ASSERTIONS):
        found = [
            match
            for match in pattern.finditer(text)
            if not _DENIED_AFTER.match(text, match.end(1))
            and not _DENIED_BEFORE.search(text, max(0, match.start(1) - 12), match.start(1))
        ]
        if place > 0 and REPEATED_CHOICES.match(text):  # only "정답은 B" is an answer beside the repeated choices
            return None
        if not found:
            continue
        letters = {match[1].upper() for match in found}
        if len(letters) > 1 or len(found) > MAX_MATCHES:
            return None
        return None if any(_ANOTHER_CANDIDATE.match(text, match.end(1)) for match in found) else letters.pop()
    return None
