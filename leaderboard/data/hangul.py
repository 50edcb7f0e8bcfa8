"""Korean text search by whole syllables, by partly typed syllables, or by initial consonants only.

Texts are compared letter by letter (코인 as ㅋㅗㅇㅣㄴ), because a partly typed word can end in another syllable: 콩 is typed
on the way to 코이. Letters are Unicode's conjoining jamo, and final consonants are written as initial ones (choseong).
"""

import unicodedata
from functools import cache

_FIRST_CHOSEONG, _LAST_CHOSEONG = 0x1100, 0x1112  # modern initial consonants


def to_jamo(text: str) -> str:
    """Return the text with case and width folded and Korean syllables split into letters."""
    if text.isascii():
        return text.casefold()
    return "".join(map(_as_choseong, unicodedata.normalize("NFKD", text.casefold())))


def choseong(text: str) -> str:
    """Replace each Korean syllable by its initial consonant and keep other characters."""
    if text.isascii():
        return text.casefold()
    return "".join(
        unicodedata.normalize("NFD", character)[0] if "가" <= character <= "힣" else character
        for character in unicodedata.normalize("NFKC", text.casefold())
    )


def is_choseong(word: str) -> bool:
    """Return whether all Korean letters of a word are consonants, and it has one. The word is a result of `to_jamo`."""
    korean = [c for c in word if 0x1100 <= ord(c) <= 0x11FF]
    return bool(korean) and all(_FIRST_CHOSEONG <= ord(c) <= _LAST_CHOSEONG for c in korean)


@cache
def _as_choseong(letter: str) -> str:
    """Return a consonant or consonant cluster as the initial consonants it is made of. Other letters are unchanged."""
    kind, _, consonants = unicodedata.name(letter, "").rpartition(" ")
    if kind not in ("HANGUL JONGSEONG", "HANGUL CHOSEONG"):
        return letter
    return "".join(unicodedata.lookup(f"HANGUL CHOSEONG {part}") for part in consonants.split("-"))
