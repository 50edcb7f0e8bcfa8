"""Korean quantities as a reader means them: 2,434만 7천 명 is 24,347천 명, △5.2 is −5.2, `61.5 조` is 61.5조.

The strict companion of KO-VQA's published rule. A quantity is a value and, where it is one of the units known here, a
unit; a multiplier (십 백 천 만 억 조) belongs to the value.
"""

import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple


class Quantity(NamedTuple):
    value: Fraction
    unit: str  # canonical, "" where none is stated

    def agrees(self, other: "Quantity") -> bool:
        """The same value, and no two different units."""
        return self.value == other.value and (not self.unit or not other.unit or self.unit == other.unit)


MULTIPLIERS = {"십": 10, "백": 100, "천": 1000, "만": 10**4, "억": 10**8, "조": 10**12}
_LARGE = {"만", "억", "조"}  # after these a smaller number goes on: 1조 2,000억, 2만 5,000

# What is written → what is meant. Longer spellings first within the pattern.
UNITS = {
    "퍼센트포인트": "%p", "%포인트": "%p", "%p": "%p", "퍼센트": "%", "프로": "%", "%": "%",
    "원": "원", "달러": "달러", "불": "달러", "유로": "유로", "엔": "엔",
    "명": "명", "인": "명", "사람": "명", "가구": "가구", "세대": "세대", "쌍": "쌍",
    "개소": "개소", "개국": "개국", "개월": "개월", "개사": "개사", "개": "개", "곳": "개소", "건": "건", "회": "회", "차례": "회", "번": "번",
    "대": "대", "척": "척", "권": "권", "편": "편", "장": "장", "종": "종", "호": "호", "동": "동", "필지": "필지", "마리": "마리", "그루": "그루",
    "년": "년", "월": "월", "일": "일", "시간": "시간", "분": "분", "초": "초", "세": "세", "살": "세", "주": "주",
    "점": "점", "위": "위", "배": "배", "등급": "등급", "단계": "단계", "학점": "학점", "병상": "병상",
    "제곱킬로미터": "km제곱", "제곱미터": "m제곱", "세제곱미터": "m세제곱", "km제곱": "km제곱", "m제곱": "m제곱", "m세제곱": "m세제곱",
    "킬로미터": "km", "센티미터": "cm", "밀리미터": "mm", "미터": "m", "km": "km", "cm": "cm", "mm": "mm", "m": "m",
    "헥타르": "ha", "ha": "ha", "킬로그램": "kg", "밀리그램": "mg", "그램": "g", "톤": "톤", "kg": "kg", "mg/l": "mg/l", "mg": "mg",
    "μg/m세제곱": "μg/m세제곱", "μg": "μg", "g": "g", "t": "톤", "리터": "l", "ml": "ml", "l": "l", "teu": "teu", "kwh": "kwh", "mwh": "mwh",
    "gwh": "gwh", "kw": "kw", "mw": "mw", "gw": "gw", "kcal": "kcal", "ppm": "ppm", "db": "db", "℃": "도", "도": "도", "포인트": "포인트",
}  # fmt: skip

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+"
# 조 in 조각, 백 in 백분율 and the like are no multipliers.
_MULTIPLIER = r"(?:십|백(?!분|제|화|신)|천(?!안)|만(?!큼)|억|조(?!각|사|항|직))"
_PART = re.compile(
    rf"(?P<sign>(?<![\w)%\]~.-])[-+])?(?<![A-Za-z\d])(?P<number>{_NUMBER})(?P<words>(?:\s?{_MULTIPLIER})*)"
)
_UNIT = re.compile(rf"\s?({'|'.join(sorted(map(re.escape, UNITS), key=len, reverse=True))})", re.IGNORECASE)
_LATEX = re.compile(r"\\(?:text|mathrm|mathbf|boxed)\s*\{([^{}]*)\}")
_LIST_MARK = re.compile(r"^\s*\d{1,2}[.)]\s+", re.MULTILINE)


def quantities(text: str) -> list[Quantity]:
    """All quantities stated in a text, in order."""
    text = _plain(text)
    found: list[Quantity] = []
    position = 0
    while match := _PART.search(text, position):
        value, lowest, position = _value(match), _lowest(match), match.end()
        # 1조 2,000억: what follows a large multiplier and is smaller than it belongs to the same number.
        while lowest:
            part = _PART.match(text, position + text[position : position + 1].isspace())
            if part is None or part["sign"] or _value(part) >= lowest:
                break
            value, lowest, position = value + _value(part), _lowest(part), part.end()
        unit = _UNIT.match(text, position)
        if match["sign"] == "-":
            value = -value
        found.append(Quantity(value, UNITS[unit[1].lower()] if unit else ""))
        position = max(position, unit.end() if unit else position)
    return found


def strict_match(question: str, gold: str, output: str) -> bool:
    """Whether exactly the gold quantities are asserted; quantities of the question may be repeated.

    A gold answer without a number must be given as text.
    """
    asked = quantities(question)
    in_gold = quantities(gold)
    wanted = [q for q in in_gold if q not in asked] or in_gold[:1]
    output = output.rpartition("</think>")[2]
    if not wanted:
        return _words(gold) == _words(output)
    stated = [q for q in quantities(output) if not _among(q, asked) or _among(q, wanted)]
    return all(_among(q, stated) for q in wanted) and all(_among(q, wanted) for q in stated)


def _among(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    return any(quantity.agrees(other) for other in others)


def _plain(text: str) -> str:
    """One spelling of everything that is written in several: width, minus signs, squares, markdown, LaTeX."""
    for square, spelled in (("㎡", "m제곱"), ("㎥", "m세제곱"), ("㎢", "km제곱"), ("²", "제곱"), ("³", "세제곱")):
        text = text.replace(square, spelled)
    text = unicodedata.normalize("NFKC", text)
    text = _LATEX.sub(r"\1", text).replace("{,}", ",").replace("\\%", "%").replace("\\,", "")
    text = re.sub(r"(?<![A-Za-z])(k?m)\^?\{?2\}?(?!\d)", r"\1제곱", text)
    text = re.sub(r"(?<![A-Za-z])m\^?\{?3\}?(?!\d)", "m세제곱", text)
    text = re.sub(r"[△▲▽▼]\s*(?=[\d.])", " -", text)
    text = re.sub(r"[−–—‑](?=[\d.])", "-", text)
    text = re.sub(r"[*_`$\\]", "", text)
    return _LIST_MARK.sub("", text)


def _value(part: re.Match[str]) -> Fraction:
    value = Fraction(part["number"].replace(",", ""))
    for word in part["words"].replace(" ", ""):
        value *= MULTIPLIERS[word]
    return value


def _lowest(part: re.Match[str]) -> int:
    """The factor of a part that ends in 만, 억 or 조, below which a number may go on; 0 where none may."""
    words = part["words"].replace(" ", "")
    return MULTIPLIERS[words[-1]] if words and words[-1] in _LARGE else 0


def _words(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())
