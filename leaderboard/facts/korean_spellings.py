"""Korean spellings of model and maker names, so that 젬마 finds Gemma.

A search by initial consonants, such as ㄱㅂ for Gukbap, reads the same text (`data/query.py`).
"""

import json
import re
from functools import cache, lru_cache

from submissions.config.paths import ASSETS

SPELLINGS = ASSETS / "korean_names.json"  # maps a piece of a name, in lower case, to its Korean spellings
_LETTERS = re.compile("[A-Za-z]+")  # "Qwen2.5-VL" -> Qwen, VL
_CAMEL_CASE = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+")  # "InternVLChat" -> Intern, VL and Chat


@lru_cache(maxsize=100_000)
def searchable(model: str, organisation: str | None) -> str:
    """Return the text that a search looks in: the names of the model and its maker, and their Korean spellings.

    ("google/gemma-3-4b-it", "Google") -> "google/gemma-3-4b-it Google 구글 젬마".
    """
    names = f"{model} {organisation or ''}".rstrip()
    words = _LETTERS.findall(names)
    pieces = [piece for word in words for piece in (word, *_CAMEL_CASE.findall(word))]
    spellings = _spellings()
    korean = dict.fromkeys(spelling for piece in pieces for spelling in spellings.get(piece.lower(), ()))
    return " ".join([names, *korean])


@cache
def _spellings() -> dict[str, list[str]]:
    """Return the Korean spellings by piece of a name, in lower case: {"gemma": ["젬마"]}."""
    known: dict[str, list[str]] = json.loads(SPELLINGS.read_text(encoding="utf-8"))
    return known
