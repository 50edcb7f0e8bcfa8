"""Search as Korean is typed: by whole syllables, by half a syllable, or by first consonants alone.

A text is compared letter by letter (코인 is ㅋㅗㅇㅣㄴ), for what is typed on the way is no whole syllable: 콩 comes before
코이. Letters are Unicode's conjoining jamo, finals written as the choseong they sound from.
"""

import unicodedata
from functools import cache

_FIRST, _LAST = 0x1100, 0x1112  # initial consonants


def to_jamo(text: str) -> str:
    """The text without case and width, Korean in letters."""
    return "".join(map(_initial, unicodedata.normalize("NFKD", text.casefold())))


def choseong(text: str) -> str:
    """The first consonant of each Korean syllable, other characters as they are."""
    return "".join(
        unicodedata.normalize("NFD", character)[0] if "가" <= character <= "힣" else character
        for character in unicodedata.normalize("NFKC", text.casefold())
    )


def is_choseong(word: str) -> bool:
    """Whether a word, in to_jamo, has consonants only, at least one of them Korean, and so may stand for syllables."""
    korean = [c for c in word if 0x1100 <= ord(c) <= 0x11FF]
    return bool(korean) and all(_FIRST <= ord(c) <= _LAST for c in korean)


@cache
def _initial(letter: str) -> str:
    """A final consonant, or several in one, as the initial ones it is made of; anything else as it is."""
    kind, _, consonants = unicodedata.name(letter, "").rpartition(" ")
    if kind not in ("HANGUL JONGSEONG", "HANGUL CHOSEONG"):
        return letter
    return "".join(unicodedata.lookup(f"HANGUL CHOSEONG {part}") for part in consonants.split("-"))
