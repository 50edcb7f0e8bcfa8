"""Korean text search by whole syllables (젬마), by partly typed syllables (젬ㅁ), or by initial consonants only (ㅈㅁ).

A Korean syllable is one character that is made of letters (jamo): 젬 is ㅈㅔㅁ. Texts are compared letter by letter, because a
partly typed word can end in another syllable: 콩 is typed on the way to 코이. For that, final consonants are written as initial
ones (choseong). Letters are Unicode's conjoining jamo, U+1100 to U+11FF.

`query.py` searches with this.
"""

import unicodedata
from functools import cache

_JAMO = range(0x1100, 0x1200)
_CHOSEONG = range(0x1100, 0x1113)  # modern initial consonants


def to_jamo(text: str) -> str:
    """Return the text with case and width folded and Korean syllables split into letters: "Gemma 젬마" -> "gemma ㅈㅔㅁㅁㅏ"."""
    if text.isascii():
        return text.casefold()
    return "".join(map(_as_choseong, unicodedata.normalize("NFKD", text).casefold()))


def choseong(text: str) -> str:
    """Return the text with each Korean syllable replaced by its initial consonant: "Gemma 젬마" -> "gemma ㅈㅁ"."""
    if text.isascii():
        return text.casefold()
    return "".join(
        unicodedata.normalize("NFD", character)[0] if "가" <= character <= "힣" else character
        for character in unicodedata.normalize("NFKC", text).casefold()
    )


def is_choseong(word: str) -> bool:
    """Return whether the Korean letters of a word are all consonants, and there is at least one.

    The word is a result of `to_jamo`.
    """
    korean = [ord(letter) for letter in word if ord(letter) in _JAMO]
    return bool(korean) and all(letter in _CHOSEONG for letter in korean)


@cache
def _as_choseong(letter: str) -> str:
    """Return a consonant or consonant cluster as the initial consonants it is made of. Other letters are unchanged.

    The final consonant ㄺ, "HANGUL JONGSEONG RIEUL-KIYEOK", becomes the initial consonants ㄹ and ㄱ. Some consonants of old
    Korean, such as the final ㅁㅁ, have no initial form, and are unchanged too.
    """
    kind, _, consonants = unicodedata.name(letter, "").rpartition(" ")
    if kind not in ("HANGUL JONGSEONG", "HANGUL CHOSEONG"):
        return letter
    try:
        return "".join(unicodedata.lookup(f"HANGUL CHOSEONG {part}") for part in consonants.split("-"))
    except KeyError:
        return letter
