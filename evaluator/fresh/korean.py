"""Korean wording: particles that depend on the word before them, and numbers as people say them."""

import re
from decimal import Decimal
from functools import cache

UNANSWERABLE = "알 수 없음"  # the answer to a question that a figure cannot answer
MULTIPLIERS = {"천": 1000, "백만": 10**6, "억": 10**8}  # of printed units, such as 천 명
_LARGE = (("조", 10**12), ("억", 10**8), ("만", 10**4))


def topic_marker(word: str) -> str:
    """Return 은 or 는, which depends on the last sound of the word."""
    return "은" if ends_in_consonant(word) else "는"


def subject_marker(word: str) -> str:
    """Return 이 or 가."""
    return "이" if ends_in_consonant(word) else "가"


def and_marker(word: str) -> str:
    """Return 과 or 와."""
    return "과" if ends_in_consonant(word) else "와"


def object_marker(word: str) -> str:
    """Return 을 or 를."""
    return "을" if ends_in_consonant(word) else "를"


def was(word: str) -> str:
    """Return 이었다 or 였다."""
    return "이었다" if ends_in_consonant(word) else "였다"


@cache
def ends_in_consonant(word: str) -> bool:
    """Return whether a word ends in a consonant. Digits and Latin letters count as they are pronounced in Korean."""
    last = word.rstrip(")")[-1]
    if "가" <= last <= "힣":
        return (ord(last) - ord("가")) % 28 > 0
    return last in "013678lmnrLMNR"


def base_unit(unit: str) -> str:
    """Return a printed unit without its multiplier: 명 of 천 명."""
    return unit.rpartition(" ")[2]


def multiplier(unit: str) -> int:
    """Return how many base units one printed unit has: 1000 for 천 명."""
    return MULTIPLIERS[unit.partition(" ")[0]] if " " in unit else 1


def printed(value: Decimal) -> str:
    """Return a value as a document prints it: 1,234.5."""
    return f"{value:,}"


def amount(text: str) -> Decimal | None:
    """Return the number in a text that `spoken` has written, or None if it has none: 342100 for 34만 2,100명."""
    sizes = dict(_LARGE)
    parts = re.findall(r"([\d,.]+)([조억만]?)", text)
    return sum((Decimal(n.replace(",", "")) * sizes.get(word, 1) for n, word in parts), Decimal()) if parts else None


def spoken(value: Decimal, unit: str) -> str:
    """Return a value in a printed unit as people say it: 342.1 천 명 is 34만 2,100명."""
    total = value * multiplier(unit)
    if total != int(total):
        return f"{total.normalize():,f}{base_unit(unit)}"
    left = int(total)
    words = []
    for word, size in _LARGE:
        if left >= size:
            words.append(f"{left // size:,}{word}")
            left %= size
    if left or not words:
        words.append(f"{left:,}")
    said = " ".join(words)
    return f"{said} {base_unit(unit)}" if said[-1] in "만억조" else said + base_unit(unit)
