"""Check, before anything is published, that it contains no piece of a private test set.

`check_public` is called with results, requests and errata before they are written to the public store. A model with custom
code could otherwise place questions in fields that it decides.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from evaluator.core.data_types import Item
from evaluator.core.errors import LeakError

# A shared text of this many characters after `folded`, about 20 with white space, is a leak and not a coincidence.
MIN_LEAK_LENGTH = 15
CANARY = "canary.txt"  # a file beside the items with a line that occurs nowhere else


def check_public(records: Iterable[bytes], items: Iterable[Item], data: Path) -> None:
    """Raise LeakError if a JSON record contains the canary or a piece of an item's question, answer, choices or extra.

    Args:
        records: the records to publish, each as JSON
        items: the items of the test set
        data: the folder of the test set, which may have a canary
    """
    public_texts = [folded(text) for record in records for text in _strings(json.loads(record))]
    public_pieces = {piece for text in public_texts for piece in _pieces(text)}
    canary = data / CANARY
    if canary.is_file():
        line = folded(canary.read_text(encoding="utf-8"))
        if line and any(line in text for text in public_texts):
            raise LeakError("the canary of the test set")
    for item in items:
        for private_text in (item.question, item.answer, *item.choices, *_strings(list(item.extra.values()))):
            if not public_pieces.isdisjoint(_pieces(folded(private_text))):
                raise LeakError(f"a piece of item {item.id}")


def _pieces(text: str) -> Iterator[str]:
    """Yield each run of MIN_LEAK_LENGTH characters in a text; none if it is shorter."""
    for start in range(len(text) - MIN_LEAK_LENGTH + 1):
        yield text[start : start + MIN_LEAK_LENGTH]


def _strings(value: Any) -> Iterator[str]:
    """Yield every string in a JSON value or in nested tuples, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for element in value:
            yield from _strings(element)
    elif isinstance(value, dict):
        for key_or_value in (*value, *value.values()):
            yield from _strings(key_or_value)


def folded(text: str) -> str:
    """Return a text without case and white space, so that a line break cannot hide a leak."""
    return "".join(text.split()).casefold()
