"""Check, before anything is published, that it contains no piece of a private test set."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from evaluator.core.data_types import Item
from evaluator.core.errors import LeakError

# A shared text of this many characters without white space, about 20 with it, is a leak and not a coincidence.
MIN_LEAK_LENGTH = 15
CANARY = "canary.txt"  # a file beside the items with a line that occurs nowhere else


def check_public(records: Iterable[bytes], items: Iterable[Item], data: Path) -> None:
    """Raise LeakError if a JSON record contains the canary or a piece of an item's question, answer, choices or extra."""
    texts = [folded(text) for record in records for text in _strings(json.loads(record))]
    pieces = {text[i : i + MIN_LEAK_LENGTH] for text in texts for i in range(len(text) - MIN_LEAK_LENGTH + 1)}
    canary = data / CANARY
    if canary.is_file() and any(folded(canary.read_text(encoding="utf-8")) in text for text in texts):
        raise LeakError("the canary of the test set")
    for item in items:
        for private in (item.question, item.answer, *item.choices, *_strings(list(item.extra.values()))):
            text = folded(private)
            if any(text[i : i + MIN_LEAK_LENGTH] in pieces for i in range(len(text) - MIN_LEAK_LENGTH + 1)):
                raise LeakError(f"a piece of item {item.id}")


def _strings(value: Any) -> Iterator[str]:
    """Yield every string in a JSON value, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)
    elif isinstance(value, dict):
        for part in (*value, *value.values()):
            yield from _strings(part)


def folded(text: str) -> str:
    """Return a text without case and white space, so that a line break cannot hide a leak."""
    return "".join(text.split()).casefold()
