"""The last look before anything becomes public: no piece of a private test set may be in it."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from evaluator.core.data_types import Item
from evaluator.core.errors import LeakError

PIECE = 15  # characters of a question or an answer, white space aside, that nobody writes by chance: about 20 with it
CANARY = "canary.txt"  # beside the items: a line that stands nowhere else


def check_public(records: Iterable[bytes], items: Iterable[Item], data: Path) -> None:
    """Raises LeakError where a piece of a question, an answer, a choice or the canary is in any of the JSON records."""
    texts = [_plain(text) for record in records for text in _strings(json.loads(record))]
    pieces = {text[i : i + PIECE] for text in texts for i in range(len(text) - PIECE + 1)}
    canary = data / CANARY
    if canary.is_file() and any(_plain(canary.read_text(encoding="utf-8")) in text for text in texts):
        raise LeakError("the canary of the test set")
    for item in items:
        for private in (item.question, item.answer, *item.choices, *_strings(list(item.extra.values()))):
            text = _plain(private)
            if any(text[i : i + PIECE] in pieces for i in range(len(text) - PIECE + 1)):
                raise LeakError(f"a piece of item {item.id}")


def _strings(value: Any) -> Iterator[str]:
    """Every text of a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    for part in value if isinstance(value, list) else [*value, *value.values()] if isinstance(value, dict) else []:
        yield from _strings(part)


def _plain(text: str) -> str:
    """Without case and white space, so that no line break hides a piece."""
    return "".join(text.split()).casefold()
