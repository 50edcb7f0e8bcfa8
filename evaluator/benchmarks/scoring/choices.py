"""Assign choices to letters, so that a letter reveals nothing about which choice is right.

Benchmarks with choices keep the right choice first in `Item.choices`. `choice_order` says which choice is shown at each letter.
"""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import replace

from evaluator.benchmarks.rows import Row, checked_text
from evaluator.core.data_types import Item

LETTERS = "ABCD"
ORDER_KEY = "order_key"  # key in an item's extra
MAKERS_ORDER = "makers_order"  # key in an item's extra: the index of the choice at each letter, if the makers fix it


def choices_in(row: Row) -> tuple[str, ...]:
    """Return the four choices of a row in its order. Raises KeyError or ValueError if they are missing or invalid."""
    choices = row["choices"]
    if not isinstance(choices, list) or not len(choices) == len(set(map(str, choices))) == len(LETTERS):
        raise ValueError("column 'choices' needs four different texts")
    return tuple(checked_text("choices", choice) for choice in choices)


def with_order_key(items: list[Item]) -> list[Item]:
    """Return the items with the key that `choice_order` shuffles with: a hash over the whole set and its right answers.

    Nobody who lacks the right answers can compute the key, and so nobody can work out the letters.
    """
    # The right choice is the first, so this has the answers.
    ids_and_choices = json.dumps([(item.id, item.choices) for item in items])
    key = hashlib.sha256(ids_and_choices.encode()).hexdigest()
    return [replace(item, extra={**item.extra, ORDER_KEY: key}) for item in items]


def computed_letters_note(items: Sequence[Item]) -> str | None:
    """Return a note for `python -m evaluator score` if the letters of some choices are computed, or None.

    They depend on all items and their order, because `with_order_key` hashes these.
    """
    if any(item.choices and MAKERS_ORDER not in item.extra for item in items):
        return "the letters of choices are those of an evaluation of exactly these items in this order"
    return None


def choice_order(item: Item, rotation: int) -> list[int]:
    """Return the index of the choice at each letter, rotated by `rotation` places.

    With [2, 0, 3, 1], A is `item.choices[2]`, and B is the right one, which is `item.choices[0]`. The order is the
    makers', or, if they give none, a shuffle by the set's key and the item's id.
    """
    if MAKERS_ORDER in item.extra:
        order = list(item.extra[MAKERS_ORDER])
    else:
        digest = hmac.new(item.extra[ORDER_KEY].encode(), item.id.encode(), hashlib.sha256).digest()
        # Sorted by four bytes of the digest for each choice.
        order = sorted(range(len(LETTERS)), key=lambda choice: digest[choice * 4 : choice * 4 + 4])
    return order[rotation:] + order[:rotation]
