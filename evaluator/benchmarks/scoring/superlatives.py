"""Read which place of a ranking a text is about: the most, the least, the second.

The rules of numbers (`final_answer`, `asides`) and of names (`given_names`) skip sentences about another place than the
question's, because the values and names in them are not the answer: to "가장 많은 지역은?", "가장 적은 지역은 제주로 12건입니다".
"""

import re
from typing import NamedTuple

ADJECTIVE_REACH = 14  # characters after 가장 or 두 번째 in which its adjective is: 가장 [화재 건수가 많]은

# The 위 of 2위, but not of a noun after a number: 제2위원회, 3위험지점, 제2위생센터, 1위안.
RANK = r"위(?!원|험|생(?!산)|탁|치|성|안|반|협|염|촉|헌|법|력|층|급)"
_WHOLE = r"(?<![\d열물른])"  # before a number that is not the end of another: 12위, 열두 번째, 스물두 번째
_TH = rf"\s?(?:번째|{RANK})"
_PLACES = {
    "2": re.compile(rf"{_WHOLE}두\s?번째|{_WHOLE}2{_TH}|다음으로"),  # 두 번째로 많은, 2위
    "3": re.compile(rf"{_WHOLE}세\s?번째|{_WHOLE}3{_TH}"),  # 세 번째로 많은, 3위
    "4": re.compile(rf"{_WHOLE}네\s?번째|{_WHOLE}4{_TH}"),
    "5": re.compile(rf"{_WHOLE}다섯\s?번째|{_WHOLE}5{_TH}"),
}
_NUMBERED_PLACE = re.compile(rf"{_WHOLE}(?P<place>[1-9]\d?){_TH}")  # 12위, 11번째
_FIRST = re.compile(rf"가장(?!자리)|제일|최[고대저소]|{_WHOLE}1\s?{RANK}")  # 가장 많은, 최고, 1위
PLACE_WORDS = "|".join(words.pattern for words in (*_PLACES.values(), _NUMBERED_PLACE, _FIRST))
_ENDS = {
    "most": re.compile(
        r"""
        많 | 높 | 넓 | 최[고대]                           # 가장 많은, 최고
        | 큰 | 크(?=[고다며]) | 긴 | 길(?=[고다])         # 가장 크고, 가장 긴
        """,
        re.VERBOSE,
    ),
    "least": re.compile(
        r"""
        낮 | 짧 | 좁 | 최[저소]                           # 가장 낮은, 최저
        | 적(?=[은다고었습]) | 작(?=[은다고았습])         # 가장 적은, but not 면적, 작물
        """,
        re.VERBOSE,
    ),
}


class Superlative(NamedTuple):
    """The place of a ranking that a text is about."""

    place: str  # "1" for 가장, "12" for 12위; "" if the text is about no place
    end: str  # from which it is counted, "most" or "least"; "" if the text does not say it


def superlative(text: str) -> Superlative:
    """Return the place of a ranking that a text is about: "가장 많은 지역" → ("1", "most"); "두 번째로 낮은" → ("2", "least")."""
    for place, words in _PLACES.items():
        if found := words.search(text):
            return Superlative(place, _end_beside(text, found))
    if numbered := _NUMBERED_PLACE.search(text):
        return Superlative(numbered["place"], _end_beside(text, numbered))
    if first := _FIRST.search(text):  # looked for last: "두 번째로 가장 많은" is the second
        return Superlative("1", _end_beside(text, first))
    return Superlative("", "")


def _end_beside(text: str, place: re.Match[str]) -> str:
    """Return from which end a text counts a place, by the adjective behind it: "most" for 가장 많은, "" if there is none."""
    beside = text[place.start() : place.end() + ADJECTIVE_REACH]
    ends = [end for end, adjectives in _ENDS.items() if adjectives.search(beside)]
    return ends[0] if len(ends) == 1 else ""


def is_about_another_place(question: str, sentence: str) -> bool:
    """Return whether a sentence is about another place of a ranking than its question: 가장 적은 for 가장 많은."""
    asked_place, asked_end = superlative(question)
    place, end = superlative(sentence)
    if not asked_place or not place:
        return False
    return place != asked_place or bool(end and asked_end and end != asked_end)
