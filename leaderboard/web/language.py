"""Choose between the Korean and the English pages."""

import re

from leaderboard.views.texts import Language

# One entry of an Accept-Language header: "ko", "ko-KR", "en;q=0.8".
_CHOICE = re.compile(r"\s*([A-Za-z]{1,8})(?:-[A-Za-z0-9-]*)?\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?")

MAX_HEADER = 500  # characters that are read


def preferred_language(accepted: str) -> Language:
    """Return Korean or English, whichever an Accept-Language header (RFC 9110, 12.5.4) ranks higher.

    Korean wins ties and is the answer for an empty header. English is the answer if only other languages are named, or Korean
    is refused: `"ko-KR,ko;q=0.9,en;q=0.8" -> "ko"`, `"de,en;q=0.5" -> "en"`, `"de" -> "en"`, `"ko;q=0" -> "en"`, `"" -> "ko"`.
    """
    weights: dict[str, float] = {}
    for choice in accepted[:MAX_HEADER].split(","):
        if match := _CHOICE.fullmatch(choice):
            name = match[1].lower()
            weights[name] = max(weights.get(name, 0.0), float(match[2] or 1))
    korean = weights.get("ko", 0.0)
    english = weights.get("en", 0.0)
    if korean or english:
        return "ko" if korean >= english else "en"
    is_korean_refused = "ko" in weights  # ko;q=0
    names_others = any(weights.values())
    return "en" if is_korean_refused or names_others else "ko"
