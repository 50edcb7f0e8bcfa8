"""Questions with four choices: at which letter each choice stands, and which letter an answer asserts."""

import hashlib
import hmac
import json
import re
import unicodedata
from dataclasses import replace

from evaluator.benchmarks.base import Row, checked_text
from evaluator.benchmarks.scoring.thinking import after_thinking
from evaluator.data_types import Item

LETTERS = "ABCD"
ORDER_KEY = "order_key"  # of an item's extra
# Ways to assert a letter, the surest first: said outright, standing first, in brackets or bold, standing anywhere.
_ALONE = r"(?<![A-Za-z])([A-D])(?![A-Za-z])"
_ASSERTIONS = [
    re.compile(rf"(?:정답|답변|답|answer)(?:은|는|이|:|\s|is)*+[\s(\[*\"']*+{_ALONE}", re.IGNORECASE),
    re.compile(
        r"\A[\s(\[*#\"'<>]*([A-Da-d])(?=[\s)\].:*\"'번은는이,]|\Z)(?!\s*(?:[—,/~-]|or|and)\s*[A-D](?![A-Za-z]))"
    ),
    re.compile(r"(?:\(|\[|\*\*)([A-D])(?:\)|\]|\*\*)"),
    re.compile(_ALONE),
]


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
    """The letter an answer asserts, wherever it stands: `정답은 B`, `(B)`, `**B**`, after `</think>`. None if unclear."""
    text = after_thinking(unicodedata.normalize("NFKC", output))
    for pattern in _ASSERTIONS:
        if letters := {letter.upper() for letter in pattern.findall(text)}:
            return letters.pop() if len(letters) == 1 else None
    return None
