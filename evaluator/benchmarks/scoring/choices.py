"""Assign four choices to letters."""

import hashlib
import hmac
import json
from dataclasses import replace

from evaluator.benchmarks.base import Row, checked_text
from evaluator.core.data_types import Item

LETTERS = "ABCD"
ORDER_KEY = "order_key"  # key in an item's extra


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
