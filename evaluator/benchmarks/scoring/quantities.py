"""Find the quantities of a Korean or English text and read them as a person would.

`"2,434만 7천 명"` and `"24,347천 명"` are both `Quantity(24347000, "명")`, and `"△5.2%"` is `Quantity(Decimal("-5.2"), "%")`.
A quantity has a value and, if `units.UNIT` matches what follows it, a unit. A multiplier (십 백 천 만 억 조) belongs to the value.

`notation.plain` brings a text into one notation, and `scan` finds the quantities in it with their positions; `quantities` does
both. All strict rules about numbers read texts through these three. Which quantities of an answer count is decided elsewhere:
in `sentence_values`, `final_answer` and `chart_values`.
"""

import re
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from evaluator.benchmarks.scoring.notation import plain
from evaluator.benchmarks.scoring.number_words import MULTIPLIERS, MYRIADS
from evaluator.benchmarks.scoring.units import (
    MEASURES,
    MULTIPLIER,
    NUMBER,
    UNIT,
    are_interchangeable,
    canonical,
    have_same_measure,
)


class Quantity(NamedTuple):
    """A number with its unit, such as 7,131건. Compare quantities with `agrees`, not with `==`."""

    value: int | Decimal
    unit: str  # as `units.canonical` returns it, or RATIO; "" if none is written
    sense: str = ""  # "-" for a decrease, "+" for an increase, or a bound (이상, 이하, 미만, 초과), if a word says so

    def agrees(self, other: "Quantity") -> bool:
        """Return whether the values are equal, and neither their units nor their senses contradict each other.

        A missing unit agrees with any other. The counter 개 agrees with its compounds: 187개 agrees with 187개소.
        A decrease of 5.2 % is −5.2 %. A direction and a bound contradict each other, too: 5% 감소 and 5% 이상.
        """
        if self.value == -other.value and _one_is_called_decrease(self, other):
            return are_interchangeable(self.unit, other.unit)
        if self.sense and other.sense and self.sense != other.sense:
            return False
        if self.value == other.value and are_interchangeable(self.unit, other.unit):
            return True
        return self.unit != other.unit and self._is_same_measure(other)

    def in_unit(self, unit: str) -> "Quantity":
        """Return the same length, weight, area or volume in another unit, or the quantity itself if that is not possible."""
        own = MEASURES.get(self.unit)
        target = MEASURES.get(unit)
        if own is None or target is None or own.measure != target.measure:
            return self
        return self._replace(value=Decimal(self.value) * own.factor / target.factor, unit=unit)

    def _is_same_measure(self, other: "Quantity") -> bool:
        """Return whether two quantities are the same, for example a length, in different units: 12.4 km, 12,400 m."""
        if not have_same_measure(self.unit, other.unit):
            return False
        return self.value * MEASURES[self.unit].factor == other.value * MEASURES[other.unit].factor


class Mention(NamedTuple):
    """A quantity and where it is in a text: `text[start:end]` has its sign, number, multipliers and unit."""

    quantity: Quantity
    start: int
    end: int


MAX_DIGITS = 30  # a longer number is not a quantity: nobody states one, and computing with it takes long
_SENSE_REACH = 20  # characters before a quantity in which a word such as 감소 gives it a sense
_DIGIT = re.compile(r"\d")  # a quick check before _SIGNED_NUMBER, which is slow if it does not match
_SIGNED_NUMBER = re.compile(
    rf"""
    (?P<sign> (?<![\w)%\]~.-]) [-+] )?          # -3.5, but not after a word or a number: 10-15, B-2
    (?<![A-Za-z\d]) (?<![A-Za-z]\d\.) (?<![A-Za-z]\d\d\.)    # not in PM10, PM2.5
    (?P<number>{NUMBER})
    (?P<words> (?:\s?{MULTIPLIER}){{0,6}} )    # 3.5천만
    """,
    re.VERBOSE,
)
_EXPONENT = re.compile(r"e[+-]?\d+", re.IGNORECASE)  # of 1e400, which `plain` has left because it is too large
_UNIT = re.compile(rf"\s?({UNIT})", re.IGNORECASE | re.VERBOSE)
_PERCENTAGE = re.compile(r"\s\d+(?:\.\d+)?\s?%")
RATIO = ":"  # the unit of a ratio such as 7:3, whose value is 7/3
_RATIO = re.compile(
    rf"""
    (?<![\d:.,])
    (\d{{1,3}}(?:\.\d{{1,3}})?)
    (?: : | \s:\s | \s?대\s?(?=\d) )                  # 7:3, 7 : 3, 7 대 3, 7대 3
    ([1-9]\d{{0,2}}(?:\.\d{{1,3}})?)
    (?! \d | : | [,.]\d                              # not 12:30:00
      | %                                            # not 7:3%
      | \s?{UNIT}                              # not 12:30분
      | \s?{MULTIPLIER}                        # not 버스 3대 1천 명
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Sense → words after a quantity that give it this sense, in verbose patterns: 5.2% 감소. A quantity with 로 or 으로 is the
# level that was reached and has no sense: 5.2%로 감소.
_SENSES = {
    "-": r"""
          감소 | 감액 | 삭감 | 하락 | 축소 | 적자 | 손실    # 5.2% 감소
        | 줄 | 떨어 | 내려 | 낮아                           # 5.2% 줄었습니다
        | 낮[습다은게] | 적[습다은게었]                     # 5.2% 낮습니다
        | decreas | declin | drop | fall | fell             # 5.2% decrease
        | shr[aiu]nk | contract(?:ed|ion) | lower\b         # 5.2% lower
    """,
    "+": r"""
          증가 | 증액 | 상승 | 확대 | 성장 | 흑자           # 5.2% 증가
        | 늘 | 올라 | 올랐 | 높아                           # 5.2% 늘었습니다
        | 높[습다은게] | 많[습다은게] | 많았                # 5.2% 높습니다
        | increas | rise | rose | grew | growth | higher\b  # 5.2% higher
    """,
    "이상": r"이상",
    "이하": r"이하",
    "미만": r"미만",
    "초과": r"초과",
}
_SENSE_AFTER = re.compile(  # one group for each sense, in the order of _SENSES
    rf"""
    \s?(?:가량|정도|만큼|씩)?(?:이|가|나|의)?\s?(?:더\s)?      # 5.2%만큼 더 감소, 71.2조 원의 적자
    (?: {"|".join(f"({words})" for words in _SENSES.values())} )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SENSE_BEFORE = re.compile(
    r"""
    (?: (?P<less> 감소 | 하락 | 손실 | 적자 )               # 감소율은 5.2%
      | (?: 증가 | 상승 | 성장 | 흑자 )                     # 증가율은 5.2%
    )
    (?:율|률|폭|량|액|분)? (?:은|는|이|가|:)? \s?(?:약|총)?\s?$
    |
    \b
    (?: (?P<fell>
            decreased | shrank | shrunk | contracted | plunged | fell | dropped | declined | down   # decreased by 5.2%
          | decrease\ of | drop\ of | decline\ of           # a decrease of about 5.2%
        )
      | (?: increased | rose | grew | up                    # increased by 5.2%
          | increase\ of | rise\ of                         # an increase of 5.2%
        )
    )
    \s(?:by\s)?(?:about\s)?$
    """,
    re.IGNORECASE | re.VERBOSE,
)


def _one_is_called_decrease(one: Quantity, opposite: Quantity) -> bool:
    """Return whether, of two quantities with opposite values, the positive one is called a decrease: -5.2% and 5.2% 감소."""
    positive = one if one.value > 0 else opposite
    return positive.value > 0 and positive.sense == "-"


def quantities(text: str) -> list[Quantity]:
    """Return all quantities of a text in order: `"3만 명, 5%"` has `Quantity(30000, "명")` and `Quantity(5, "%")`."""
    return [mention.quantity for mention in scan(plain(text))]


@lru_cache(maxsize=32)  # the strict rules scan the same passages repeatedly
def scan(text: str) -> tuple[Mention, ...]:
    """Return all quantities, with their positions, of a text that `plain` has returned.

    Of "약 1조 2,000억 원", return `Mention(Quantity(1200000000000, "원"), 2, 13)`: 2,000억 belongs to 1조, because it is smaller.
    Ratios are looked for first, because "7 대 3" would otherwise be 7대 and 3.
    """
    found: list[Mention] = []
    position = 0
    while _DIGIT.search(text, position) and (match := _SIGNED_NUMBER.search(text, position)):
        if ratio := _RATIO.match(text, match.start()):
            found.append(Mention(Quantity(Decimal(ratio[1]) / Decimal(ratio[2]), RATIO), ratio.start(), ratio.end()))
            position = ratio.end()
            continue
        sign, number, multipliers = match.groups()
        position = match.end()
        if exponent := _EXPONENT.match(text, match.end("number")):
            position = exponent.end()
            continue
        if len(number) > MAX_DIGITS:
            continue
        value, last_myriad = _parse_value(number, multipliers)
        # 1조 2,000억: a smaller number after 만, 억 or 조 belongs to the same quantity, but not the 5% of "3만 5%".
        while last_myriad and not _PERCENTAGE.match(text, position):
            is_spaced = text[position : position + 1].isspace()
            smaller = _SIGNED_NUMBER.match(text, position + 1 if is_spaced else position)
            if smaller is None or smaller["sign"] or len(smaller["number"]) > MAX_DIGITS:
                break
            smaller_value, smaller_myriad = _parse_value(smaller["number"], smaller["words"])
            if smaller_value >= last_myriad:
                break
            value = value + smaller_value
            last_myriad = smaller_myriad
            position = smaller.end()
        if unit := _UNIT.match(text, position):
            position = unit.end()
        sense = _sense(text, match.start(), position)
        quantity = Quantity(-value if sign == "-" else value, canonical(unit[1]) if unit else "", sense)
        found.append(Mention(quantity, match.start(), position))
    return tuple(found)


def _sense(text: str, start: int, end: int) -> str:
    """Return the sense that words beside the quantity at `text[start:end]` give it, or ""."""
    if after := _SENSE_AFTER.match(text, end):
        return list(_SENSES)[(after.lastindex or 1) - 1]  # one group for each sense
    before = _SENSE_BEFORE.search(text, max(0, start - _SENSE_REACH), start)
    if before is None:
        return ""
    return "-" if before["less"] or before["fell"] else "+"


def _parse_value(number: str, multipliers: str) -> tuple[int | Decimal, int]:
    """Return the value of a number with multipliers, and the last multiplier if that is 만, 억 or 조, else 0.

    `("2,434", "만")` → `(24340000, 10000)`. A number smaller than that last multiplier may continue the value.
    """
    digits = number.replace(",", "")
    value = Decimal(digits) if "." in digits else int(digits)
    last_myriad = 0
    for letter in multipliers:
        if letter in MULTIPLIERS:  # not the white space between them
            value *= MULTIPLIERS[letter]
            last_myriad = MYRIADS.get(letter, 0)
    return value, last_myriad
