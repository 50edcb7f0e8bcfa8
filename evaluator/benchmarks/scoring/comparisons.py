"""Decide whether an answer compares two things the other way round than its question: 여성이 남성보다 높다 for 남성은 여성보다.

`contradictions` calls `is_reversed`. The numbers of such an answer are right, and what it says is wrong.
"""

import re
from typing import NamedTuple

_MORE, _LESS = "more", "less"
# A is B보다 …: the two names, and the text behind them in which the adjective is.
_COMPARED = re.compile(
    r"""
    (?<![가-힣A-Za-z\d]) ([가-힣A-Za-z\d]{1,12}?)
    (?:의\s[가-힣\s]{1,12}?)? (?: 은 | 는 | 이 | 가 )\s
    ([가-힣A-Za-z\d]{1,12}?) (?:의\s[가-힣\s]{1,12}?)? (?: 보다 | 에\s비해 ) (?![가-힣])
    ((?: [^.?!\n] | \.(?=\d) )*)
    """,
    re.VERBOSE,
)
_ADJECTIVE = re.compile(
    r"""
    (?:더\s|[\d가-힣A-Za-z%]\s|^\s)                  # ^: right behind 보다
    (?!\S{1,3}지[는도]?\s?않)                          # but not 높지 않습니다, which says neither
    (?: (?P<more> 많 | 높(?!이) | 크[다게고며] | 큰 | 큽 | 길(?!이) | 긴 | 깁 | 넓(?!이) | 빠르 | 빠릅 | 무겁 )      # 더 많은가요
      | (?P<less> 적[은다고었게습] | 낮 | 작[은다고았게습] | 짧 | 좁 | 느리 | 느립 | 가볍 )        # 더 적습니다
    )
    """,
    re.VERBOSE,
)
# An adjective right behind a value: 5.2%p 더 [낮]습니다.
_ADJECTIVE_OF_VALUE = re.compile(
    rf"(?<![\d,.])\d[\d,.]*+ (?:\s?[가-힣A-Za-z%]{{1,6}}){{0,2}}? \s? {_ADJECTIVE.pattern}", re.VERBOSE
)


class _Comparison(NamedTuple):
    """Who is compared with whom, and whether the first has more or less of something."""

    first: str
    second: str
    direction: str


def is_reversed(question: str, output: str) -> bool:
    """Return whether an output says the opposite of the comparison in its question.

    To "남성은 여성보다 몇 %p 더 높은가요?", "여성이 남성보다 5.2%p 높습니다" and "5.2%p 더 낮습니다" do, and "여성이 5.2%p 낮습니다"
    does not.
    """
    asked = _comparison(question)
    if asked is None:
        return False
    said = _comparison(output)
    if said is not None:
        is_swapped = _is_same(said.first, asked.second) and _is_same(said.second, asked.first)
        is_in_order = _is_same(said.first, asked.first) and _is_same(said.second, asked.second)
        is_opposite = said.direction != asked.direction
        return (is_swapped and not is_opposite) or (is_in_order and is_opposite)
    direction = _direction_in(_ADJECTIVE_OF_VALUE.search(output))
    return direction is not None and direction != asked.direction and asked.second not in output


def _comparison(text: str) -> _Comparison | None:
    """Return the first comparison of a text, or None if it has none whose direction is known."""
    for compared in _COMPARED.finditer(text):
        if direction := _direction_in(_ADJECTIVE.search(compared[3])):
            return _Comparison(compared[1], compared[2], direction)
    return None


def _direction_in(adjective: re.Match[str] | None) -> str | None:
    """Return whether an adjective says more or less, or None if there is none."""
    if adjective is None:
        return None
    return _MORE if adjective["more"] else _LESS


def _is_same(name: str, other: str) -> bool:
    """Return whether one name is the beginning of the other: 서울, 서울시.

    남자 and 남성 are not the same here, though they are in `other_subjects`: in doubt, neither rule calls an answer wrong.
    """
    return name.startswith(other) or other.startswith(name)
