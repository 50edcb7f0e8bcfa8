"""Find the quantities of a Korean or English text and read them as a person would.

`"2,434만 7천 명"` and `"24,347천 명"` are both `Quantity(24347000, "명")`, and `"△5.2%"` is `Quantity(Decimal("-5.2"), "%")`.
A quantity has a value and, if its unit is in `UNITS`, a unit. A multiplier (십 백 천 만 억 조) belongs to the value.

`plain` brings a text into one notation, and `scan` finds the quantities in it with their positions; `quantities` does both.
All strict rules about numbers read texts through these three. Which quantities of an answer count is decided elsewhere:
in `sentence_values`, `final_answer` and `chart_values`.
"""

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from evaluator.benchmarks.scoring.number_words import MULTIPLIERS, MYRIADS, in_digits
from evaluator.core.data_types import MAX_ANSWER


class Quantity(NamedTuple):
    """A number with its unit, such as 7,131건. Compare quantities with `agrees`, not with `==`."""

    value: int | Decimal
    unit: str  # canonical, a value of UNITS; "" if none is written
    sense: str = ""  # "-" for a decrease, "+" for an increase, or a bound (이상, 이하, 미만, 초과), if a word says so

    def agrees(self, other: "Quantity") -> bool:
        """Return whether the values are equal, and neither their units nor their senses contradict each other.

        A missing unit agrees with any other. The counter 개 agrees with its compounds: 187개 agrees with 187개소.
        A decrease of 5.2 % is −5.2 %.
        """
        if self.value != other.value and not self._is_opposite(other):
            return self._is_same_measure(other)
        if self.value == other.value and self.sense and other.sense and self.sense != other.sense:
            return False
        return _are_interchangeable(self.unit, other.unit)

    def in_unit(self, unit: str) -> "Quantity":
        """Return the same length, weight, area or volume in another unit, or the quantity itself if that is not possible."""
        own = MEASURES.get(self.unit)
        target = MEASURES.get(unit)
        if own is None or target is None or own.measure != target.measure:
            return self
        return self._replace(value=Decimal(self.value) * own.factor / target.factor, unit=unit)

    def _is_same_measure(self, other: "Quantity") -> bool:
        """Return whether two quantities are the same, for example a length, in different units: 12.4 km, 12,400 m."""
        if self.unit == other.unit or not _have_same_measure(self.unit, other.unit):
            return False
        return self.value * MEASURES[self.unit].factor == other.value * MEASURES[other.unit].factor

    def _is_opposite(self, other: "Quantity") -> bool:
        """Return whether one is negative and the other a decrease by as much: -5.2% and 5.2% 감소."""
        lower, higher = sorted((self, other), key=lambda quantity: quantity.value)
        return lower.value == -higher.value and lower.value < 0 and higher.sense == "-"


class Mention(NamedTuple):
    """A quantity and where it is in a text: `text[start:end]` has its sign, number, multipliers and unit."""

    quantity: Quantity
    start: int
    end: int


class Scale(NamedTuple):
    """What a unit measures, and how many of the smallest unit of that measure it has: a km has 10**6 mm."""

    measure: str
    factor: int


# Units that are used for each other, so that quantities agree in either.
TIMES = {"회", "번", "건"}  # of events
AGES = {"세", "년"}  # a life expectancy of 83.5세 is 83.5년
HOUSEHOLDS = {"호", "가구", "세대"}  # 50,722호 of farmers are 50,722가구
_GENERAL_COUNTERS = {"개", "개소"}  # may count any of the following: 47곳 is 47개교
_COUNTERS_OF_THINGS = {"개", "개소", "개국", "개사", "개교", "병상", "종"}

# Spelling → canonical unit. The pattern tries longer spellings first.
UNITS = {
    "퍼센트포인트": "%p", "%포인트": "%p", "%p": "%p", "퍼센트": "%", "프로": "%", "%": "%", "‰": "‰", "퍼밀": "‰",
    "원": "원", "달러": "달러", "불": "달러", "유로": "유로", "엔": "엔",
    "명": "명", "인": "명", "사람": "명", "가구": "가구", "세대": "세대", "쌍": "쌍",
    "개소": "개소", "개국": "개국", "개원": "개소", "개관": "개소", "개동": "개소", "개점": "개소", "개역": "개소", "개항": "개소", "개월": "개월", "개사": "개사", "개교": "개교", "개": "개", "곳": "개소", "건": "건", "회": "회", "차례": "회", "번": "번",
    "대": "대", "척": "척", "권": "권", "편": "편", "장": "장", "종": "종", "호": "호", "동": "동", "필지": "필지", "마리": "마리", "그루": "그루",
    "년": "년", "월": "월", "일": "일", "시간": "시간", "분": "분", "초": "초", "세": "세", "살": "세", "주": "주",
    "점": "점", "위": "위", "번째": "위", "배": "배", "등급": "등급", "단계": "단계", "학점": "학점", "병상": "병상",
    "제곱킬로미터": "km제곱", "제곱미터": "m제곱", "세제곱미터": "m세제곱", "km제곱": "km제곱", "m제곱": "m제곱", "m세제곱": "m세제곱",
    "갤런": "갤런", "온스": "온스", "배럴": "배럴", "oz": "온스", "feet": "피트", "ft": "피트", "inches": "인치", "inch": "인치", "miles": "마일", "pounds": "파운드", "lbs": "파운드", "킬로미터": "km", "센티미터": "cm", "밀리미터": "mm", "미터": "m", "km": "km", "cm": "cm", "mm": "mm", "m": "m",
    "헥타르": "ha", "ha": "ha", "킬로그램": "kg", "밀리그램": "mg", "그램": "g", "톤": "톤", "kg": "kg", "mg/l": "mg/l", "밀리그램/리터": "mg/l", "mg": "mg",
    "μg/m세제곱": "μg/m세제곱", "마이크로그램/세제곱미터": "μg/m세제곱", "마이크로그램/리터": "μg/l", "μg/l": "μg/l", "μg": "μg", "g": "g", "t": "톤", "리터": "l", "ml": "ml", "l": "l", "teu": "teu", "kl": "kl", "kcal": "kcal", "ppm": "ppm", "db": "db",
    "wh": "wh", "kwh": "kwh", "mwh": "mwh", "gwh": "gwh", "twh": "twh", "kw": "kw", "mw": "mw", "gw": "gw", "tw": "tw",
    "kj": "kj", "mj": "mj", "gj": "gj", "tj": "tj", "pa": "pa", "hpa": "hpa", "kpa": "kpa", "mpa": "mpa", "bar": "bar", "mbar": "hpa",
    "kv": "kv", "ma": "ma", "mah": "mah", "hz": "hz", "khz": "khz", "mhz": "mhz", "ghz": "ghz", "km/h": "km/h", "m/s": "m/s",
    "kb": "kb", "mb": "mb", "gb": "gb", "tb": "tb", "℃": "도", "°c": "도", "도": "도", "℉": "화씨", "°f": "화씨", "계단": "계단", "포인트": "포인트",
}  # fmt: skip

MEASURES = {
    "mm": Scale("length", 1), "cm": Scale("length", 10), "m": Scale("length", 1000), "km": Scale("length", 10**6),
    "m제곱": Scale("area", 1), "ha": Scale("area", 10**4), "km제곱": Scale("area", 10**6),
    "mg": Scale("weight", 1), "g": Scale("weight", 1000), "kg": Scale("weight", 10**6), "톤": Scale("weight", 10**9),
    "ml": Scale("volume", 1), "l": Scale("volume", 1000), "kl": Scale("volume", 10**6), "m세제곱": Scale("volume", 10**6),
    "W": Scale("power", 1), "kw": Scale("power", 1000), "mw": Scale("power", 10**6), "gw": Scale("power", 10**9), "tw": Scale("power", 10**12),
    "J": Scale("energy", 1), "kj": Scale("energy", 1000), "mj": Scale("energy", 10**6), "gj": Scale("energy", 10**9), "tj": Scale("energy", 10**12),
    "wh": Scale("energy", 3600), "kwh": Scale("energy", 3600 * 10**3), "mwh": Scale("energy", 3600 * 10**6), "gwh": Scale("energy", 3600 * 10**9),
    "twh": Scale("energy", 3600 * 10**12), "pa": Scale("pressure", 1), "hpa": Scale("pressure", 100), "kpa": Scale("pressure", 1000),
    "bar": Scale("pressure", 10**5), "mpa": Scale("pressure", 10**6), "V": Scale("voltage", 1), "kv": Scale("voltage", 1000), "ma": Scale("current", 1), "A": Scale("current", 1000),
    "hz": Scale("frequency", 1), "khz": Scale("frequency", 1000), "mhz": Scale("frequency", 10**6), "ghz": Scale("frequency", 10**9), "초": Scale("time", 1), "분": Scale("time", 60), "시간": Scale("time", 3600),
}  # fmt: skip
MAX_DIGITS = 30  # a longer number is not a quantity: nobody states one, and computing with it takes long
_SENSE_REACH = 20  # characters before a quantity in which a word such as 감소 gives it a sense

# The pieces of a quantity: sign, number, multipliers, unit.
_DIGIT = re.compile(r"\d")  # a quick check before _SIGNED_NUMBER, which is slow if it does not match
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+"  # 1,234.5 or 1234 or .5
# The following three strings are parts of verbose patterns, in which white space and comments do not count.
_MULTIPLIER = r"""
(?: 십 | 억                              # 3억
  | 백 (?!분|제|화|신)                   # 3백, but not 백분율, 백제, 백화점, 백신
  | 천 (?!안)                            # 3천, but not 천안
  | 만 (?!큼)                            # 3만, but not 만큼
  | 조 (?!각|사|항|직)                   # 3조, but not 조각, 조사, 조항, 조직
)
"""
_SIGNED_NUMBER = re.compile(
    rf"""
    (?P<sign> (?<![\w)%\]~.-]) [-+] )?          # -3.5, but not after a word or a number: 10-15, B-2
    (?<![A-Za-z\d])
    (?P<number>{_NUMBER})
    (?P<words> (?:\s?{_MULTIPLIER}){{0,6}} )    # 3.5천만
    """,
    re.VERBOSE,
)
_EXPONENT = re.compile(r"e[+-]?\d", re.IGNORECASE)  # of 1e400, which `plain` has left because it is too large
_SPELLINGS = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
# Single letters that are also words or names of choices are units only as capitals.
_LETTER_UNITS = {"W": "W", "J": "J", "V": "V", "A": "A"}
_UNIT_FORM = rf"""
(?: (?:{_SPELLINGS}) (?:(?<![A-Za-z])|(?![A-Za-z]))   # 350 t, but not 350 total; 350명 before any letter
  | (?-i:[WJV]) (?![A-Za-z])                          # 350 W
  | (?<=\d) (?-i:A) (?![A-Za-z])                      # 350A, but not 350 A
)
"""
_UNIT = re.compile(rf"\s?({_UNIT_FORM})", re.IGNORECASE | re.VERBOSE)
RATIO = ":"  # the unit of a ratio such as 7:3, whose value is 7/3
_RATIO = re.compile(
    rf"""
    (?<![\d:.,])
    (\d{{1,3}}(?:\.\d{{1,3}})?)
    (?: : | \s:\s | \s대\s )                         # 7:3, 7 : 3, 7 대 3
    ([1-9]\d{{0,2}}(?:\.\d{{1,3}})?)
    (?! \d | : | [,.]\d                              # not 12:30:00
      | %                                            # not 7:3%
      | \s?{_UNIT_FORM}                              # not 12:30분
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BRACKETED_UNIT = re.compile(  # 603(천 명), 603 (단위: 천 명)
    rf"""
    (?<=\d) \s? \( \s? (?:단위\s?:\s?)?
    (?P<unit> (?:{_MULTIPLIER}){{0,3}} \s? {_UNIT_FORM} )
    \s? \)
    """,
    re.VERBOSE,
)

# Other notations, which `plain` replaces.
_LATEX = re.compile(r"\\(?:text|mathrm|mathbf|boxed)\s*\{([^{}]*)\}")  # \text{명}
_NEEDS_CLEANING = re.compile(r"[\\{}$*_`^△▲▽▼−–—‑]|m[23]")  # a quick check whether there is markup to replace
_HOURS = re.compile(r"(?<=[\d\s(])([kMGT]?W)\s?[·⋅∙.\s]\s?h(?![A-Za-z])", re.IGNORECASE)  # kW·h, kW h
_PER_SECOND = re.compile(r"초속\s?(약\s?)?(\d[\d,.]*)\s?(?:m|미터)(?![A-Za-z/])")  # 초속 43.2m is 43.2 m/s
_PER_HOUR = re.compile(r"시속\s?(약\s?)?(\d[\d,.]*)\s?(?:km|킬로미터)(?![A-Za-z/])")
_POINT_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3}){2,5}(?![\d.,]*\d)")  # 1.352.338
_SPACED_POWER = re.compile(r"(제곱)\s(?=(?:킬로)?미터)")  # 세제곱 미터
_PER_WORD = re.compile(r"\s?퍼\s?(?=리터|세제곱)")  # 밀리그램 퍼 리터
_POWER_OF_TEN = re.compile(  # 1.2×10^5, 1.2 × 10⁵, 1.2 \times 10^{5}
    r"(?<![\d.,])(\d{1,3}(?:\.\d{1,6})?)\s?(?:[×xX*]|\\times)\s?10(?:\^\{?(\d{1,2})\}?|([⁰¹²³⁴-⁹]{1,2}))"
)
_LATIN_FACTOR = re.compile(r"(?<=\d)([KMB])(?=\s?[명건원개대톤])")  # 120K명
_FACTORS = {"K": "천", "M": "백만", "B": "십억"}
_SCIENTIFIC = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d{1,6})?)e\+?(\d{1,2})(?![A-Za-z\d.])", re.IGNORECASE)  # 1e3
_POWER = re.compile(r"(?<![A-Za-z])(k?m)\^?\{?([23])\}?(?!\d)")  # m2, km^2, m^{3}
_TRIANGLE = re.compile(r"[△▲▽▼]\s*(?=[\d.])")  # a minus sign in Korean statistics: △5.2
# A triangle before a value that is said to rise is an arrow and not a minus sign.
_RISING_TRIANGLE = re.compile(
    r"""
    [△▲]\s*
    (?=
        [\d.,]+ \s? [^\s\d]{0,4} \s?
        (?: 상승 | 증가 | 성장 | 확대    # ▲5.2% 상승
          | 늘 | 올라 | 오른 | 높아      # ▲5.2% 올라
        )
    )
    """,
    re.VERBOSE,
)
_MINUS = re.compile(r"[−–—‑](?=[\d.])")  # −5.2
_LATEX_WORDS = (
    ("\\(", ""),
    ("\\)", ""),
    ("\\[", ""),
    ("\\]", ""),
    ("\\mu", "μ"),
    ("^\\circ", "°"),
    ("^{\\circ}", "°"),
    ("\\ ", " "),
    ("\\%", "%"),
    ("\\,", ""),
    ("{,}", ","),
    ("μ g", "μg"),
)
# The unit in the line after a number: "603\n(단위: 천 명)".
_LINE_OF_UNIT = re.compile(r"(?<=\d)\s{0,3}\n\s{0,3}[(\[]?단위\s?[:：]\s?")
# Words that give a quantity its sense: 5.2% 감소. A quantity with 로 or 으로 is the level that was reached and has none:
# 5.2%로 감소. They are parts of _SENSE_AFTER, which is verbose.
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
    \s?(?:가량|정도|만큼|씩)?(?:이|가|나)?\s?(?:더\s)?      # 5.2%만큼 더 감소
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
# English multipliers and units, translated: "204.4 thousand people" is 204.4천 명.
_ENGLISH = {
    "thousand": "천", "million": "백만", "billion": "십억", "trillion": "조", "won": "원", "people": "명", "persons": "명",
    "minutes": "분", "minute": "분", "mins": "분", "hours": "시간", "hour": "시간", "seconds": "초", "days": "일", "months": "개월",
    "percentage points": "%p", "kilometres": "km", "kilometers": "km", "metres": "m", "meters": "m", "kilograms": "kg", "grams": "g",
    "litres": "l", "liters": "l", "hectares": "ha", "percent": "%", "households": "가구", "cases": "건", "times": "회", "weeks": "주", "gallons": "갤런", "gallon": "갤런", "ounces": "온스", "barrels": "배럴", "tonnes": "톤", "tons": "톤", "usd": "달러", "dollars": "달러",
}  # fmt: skip
_ENGLISH_WORD = re.compile(rf"(?<=[\d천만억조])\s?({'|'.join(_ENGLISH)})\b", re.IGNORECASE)  # 204.4 thousand
_ENGLISH_UNIT = re.compile(  # 603 (unit: million won), 603 (in thousands)
    r"""
    \( \s? (?:in|units?) \s?:?\s?
    (?P<factor> thousand | million | billion | trillion )? s?\s?(?:of\s)?
    (?P<unit> won | dollars | usd | people | persons | households | cases | tons | tonnes )?
    \s? \)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_UNIT_BEFORE = re.compile(  # 피해액(백만 원): 5,830
    rf"""
    \( (?P<unit> (?:{_MULTIPLIER}){{1,3}} \s? (?:{_UNIT_FORM})? ) \)
    \s?[:은는]\s?
    (?P<number>{_NUMBER})
    (?! \s? (?:{_MULTIPLIER}|[가-힣%]) )                    # but not before a unit of its own: (천 명): 5,830건
    """,
    re.VERBOSE,
)
_MARKUP = re.compile(r"[*_`$\\]")
# Numbers of list items, which are not quantities.
_CIRCLED_NUMBER = re.compile(r"^[^\S\n]*[①-⑳][^\S\n]*(?=\S)", re.MULTILINE)  # ① 음식점: …
_LIST_NUMBER = re.compile(r"^[^\S\n]*\d{1,2}[.)]\s+", re.MULTILINE)  # 1. 음식점


def units_agree(unit: str, other: str) -> bool:
    """Return whether a quantity in one unit may agree with one in another: in 회 and 건, in km and m, or without a unit."""
    return _are_interchangeable(unit, other) or _have_same_measure(unit, other)


def _are_interchangeable(unit: str, other: str) -> bool:
    """Return whether equal values in two units are the same quantity: 5회 is 5건, but 5 km is not 5 m."""
    units = {unit, other}
    if len(units) == 1 or "" in units:
        return True
    if units <= _COUNTERS_OF_THINGS and units & _GENERAL_COUNTERS:
        return True
    return units <= TIMES or units == AGES or units <= HOUSEHOLDS


def _have_same_measure(unit: str, other: str) -> bool:
    """Return whether two units measure the same, for example lengths: km and m."""
    own = MEASURES.get(unit)
    its = MEASURES.get(other)
    return own is not None and its is not None and own.measure == its.measure


def quantities(text: str) -> list[Quantity]:
    """Return all quantities of a text in order: `"3만 명, 5%"` has `Quantity(30000, "명")` and `Quantity(5, "%")`."""
    return [mention.quantity for mention in scan(plain(text))]


@lru_cache(maxsize=32)  # the strict rules scan the same passages repeatedly
def scan(text: str) -> tuple[Mention, ...]:
    """Return all quantities, with their positions, of a text that `plain` has returned.

    Of "약 1조 2,000억 원", return `Mention(Quantity(1200000000000, "원"), 2, 13)`: 2,000억 belongs to 1조, because it is smaller.
    A ratio is looked for where a number was found, and before a unit, because its first number has none.
    """
    found: list[Mention] = []
    position = 0
    while _DIGIT.search(text, position) and (match := _SIGNED_NUMBER.search(text, position)):
        sign, number, multipliers = match.groups()
        position = match.end()
        if len(number) > MAX_DIGITS or _EXPONENT.match(text, match.end("number")):
            continue
        value, last_myriad = _parse_value(number, multipliers)
        # 1조 2,000억: a smaller number after 만, 억 or 조 belongs to the same quantity.
        while last_myriad:
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
        if ratio := _RATIO.match(text, match.start()):
            found.append(Mention(Quantity(Decimal(ratio[1]) / Decimal(ratio[2]), RATIO), ratio.start(), ratio.end()))
            position = ratio.end()
            continue
        if unit := _UNIT.match(text, position):
            position = unit.end()
        sense = _sense(text, match.start(), position)
        quantity = Quantity(-value if sign == "-" else value, _canonical(unit[1]) if unit else "", sense)
        found.append(Mention(quantity, match.start(), position))
    return tuple(found)


def _canonical(unit: str) -> str:
    """Return the canonical form of a unit that _UNIT has matched: 퍼센트 → %, KM → km."""
    return UNITS.get(unit.lower()) or _LETTER_UNITS[unit]


def _sense(text: str, start: int, end: int) -> str:
    """Return the sense that words beside the quantity at `text[start:end]` give it, or ""."""
    if after := _SENSE_AFTER.match(text, end):
        return list(_SENSES)[(after.lastindex or 1) - 1]  # one group for each sense
    before = _SENSE_BEFORE.search(text, max(0, start - _SENSE_REACH), start)
    if before is None:
        return ""
    return "-" if before["less"] or before["fell"] else "+"


@lru_cache(maxsize=8)
def plain(text: str) -> str:
    """Return a text in the notation that `scan` reads.

    Markdown and LaTeX are removed, and characters, minus signs, squares and cubes have one form. Numbers in words become
    digits, a unit in brackets moves behind its number, and English multipliers and units are translated:
    `"**△5.2** thousand won"` becomes `" -5.2천원"`.

    The order matters: what NFKC would destroy (①, ², ㎡) is written out before it; signs come before the markup around them
    is removed; and English units in brackets are translated before units in brackets are moved.
    """
    if "10" in text:
        text = _POWER_OF_TEN.sub(_without_power, text)
    if not unicodedata.is_normalized("NFKC", text):
        text = _CIRCLED_NUMBER.sub("", text)
        for square, spelled in (("㎡", "m제곱"), ("㎥", "m세제곱"), ("㎢", "km제곱"), ("²", "제곱"), ("³", "세제곱")):
            text = text.replace(square, spelled)
        text = unicodedata.normalize("NFKC", text)[:MAX_ANSWER]  # one character may become eighteen
    text = in_digits(text)
    if _NEEDS_CLEANING.search(text):
        text = _LATEX.sub(r"\1", text)
        for latex, word in _LATEX_WORDS:
            text = text.replace(latex, word)
        text = _POWER.sub(lambda m: f"{m[1]}{'제곱' if m[2] == '2' else '세제곱'}", text)
        text = _MINUS.sub("-", _TRIANGLE.sub(" -", _RISING_TRIANGLE.sub("", text)))
        text = _MARKUP.sub("", text)
    text = _LINE_OF_UNIT.sub(" ", text)
    text = _HOURS.sub(r"\1h", text)
    if "속" in text:
        text = _PER_HOUR.sub(r"\2 km/h", _PER_SECOND.sub(r"\2 m/s", text))
    text = _SPACED_POWER.sub(r"\1", text)
    text = _PER_WORD.sub("/", text)
    text = _LATIN_FACTOR.sub(lambda match: _FACTORS[match[1]], text)
    text = _POINT_GROUPED.sub(lambda match: match[0].replace(".", ","), text)
    text = _SCIENTIFIC.sub(lambda match: f"{Decimal(match[1]).scaleb(int(match[2])):f}", text)
    if "(" in text:
        text = _ENGLISH_UNIT.sub(_korean_unit, text)
        text = _BRACKETED_UNIT.sub(r"\g<unit>", text)
        text = _UNIT_BEFORE.sub(r"\g<number>\g<unit>", text)
    for _ in range(2):  # first a multiplier, then a unit
        text = _ENGLISH_WORD.sub(lambda match: _ENGLISH[match[1].lower()], text)
    return _LIST_NUMBER.sub("", text) if "." in text or ")" in text else text


def _without_power(match: re.Match[str]) -> str:
    """Return `120000` for a match of `1.2×10^5`."""
    exponent = match[2] or unicodedata.normalize("NFKC", match[3])
    return f"{Decimal(match[1]).scaleb(int(exponent)):f}"


def _korean_unit(match: re.Match[str]) -> str:
    """Return `(백만 원)` for a match of `(unit: million won)`."""
    words = (_ENGLISH[word.lower()] for word in match.group("factor", "unit") if word)
    return f"({' '.join(words)})"


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
