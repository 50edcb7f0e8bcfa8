"""Korean spellings of model and maker names, so that 젬마 finds Gemma and ㄱㅂ finds Gukbap."""

import json
import re
from functools import cache, lru_cache

from submissions.config.paths import ASSETS

# Maps a piece of a name, in lower case, to its Korean spellings.
SPELLINGS = ASSETS / "korean_names.json"
_SEGMENT = re.compile("[A-Za-z]+")
_CAMEL = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@lru_cache(maxsize=100_000)
def searchable(model: str, organisation: str | None) -> str:
    """Return the text that a search looks in: the names of the model and its maker, and their Korean spellings."""
    named = f"{model} {organisation or ''}".rstrip()
    pieces = [piece for segment in _SEGMENT.findall(named) for piece in (segment, *_CAMEL.findall(segment))]
    spellings = _spellings()
    korean = dict.fromkeys(word for piece in pieces for word in spellings.get(piece.lower(), ()))
    return " ".join([named, *korean])


@cache
def _spellings() -> dict[str, list[str]]:
    known: dict[str, list[str]] = json.loads(SPELLINGS.read_text(encoding="utf-8"))
    return known
