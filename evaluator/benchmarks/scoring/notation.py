"""Bring a text into the notation in which `quantities.scan` finds numbers and units.

`plain("**△5.2** thousand won")` is `" -5.2천원"`. Numbers in words are written in digits by `number_words`.
"""

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache

from evaluator.benchmarks.scoring.dates import dates_in_one_form
from evaluator.benchmarks.scoring.number_words import in_digits
from evaluator.benchmarks.scoring.units import MULTIPLIER, NUMBER, UNIT
from evaluator.core.data_types import MAX_ANSWER

_BRACKETED_UNIT = re.compile(  # 603(천 명), 603 (단위: 천 명), 603 (kWh)
    rf"""
    (?<=\d) \s? \( \s? (?:단위\s?:\s?)?
    (?! (?-i:[A-Z]) \s? \) )                                # but not a capital letter: 603 (T)
    (?P<unit> (?:{MULTIPLIER}){{0,3}} \s? {UNIT} )
    \s? \)
    """,
    re.IGNORECASE | re.VERBOSE,
)

_LATEX = re.compile(r"\\(?:text|mathrm|mathbf|boxed)\s*\{([^{}]*)\}")  # \text{명}
_DASHES = "\u2212\u2013\u2014\u2010"  # minus sign, en dash, em dash, hyphen
_NEEDS_CLEANING = re.compile(rf"[\\{{}}$*_`^△▲▽▼{_DASHES}]|m[23]")  # a quick check whether there is markup to replace
_HOURS = re.compile(r"(?<=[\d\s(])([kMGT]?W)\s?[·⋅∙.\s]\s?h(?![A-Za-z])", re.IGNORECASE)  # kW·h, kW h
_PER_SECOND = re.compile(r"초속\s?(약\s?)?(\d[\d,.]*)\s?(?:m|미터)(?![A-Za-z/])")  # 초속 43.2m is 43.2 m/s
_PER_HOUR = re.compile(r"시속\s?(약\s?)?(\d[\d,.]*)\s?(?:km|킬로미터)(?![A-Za-z/])")
_POINT_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3}){2,5}(?![\d.,]*\d)")  # 1.352.338
_SQUARES_AND_CUBES = {"㎡": "m제곱", "㎥": "m세제곱", "㎢": "km제곱", "²": "제곱", "³": "세제곱"}
_SPACED_POWER = re.compile(r"(제곱)\s(?=(?:킬로)?미터)")  # 세제곱 미터
_PER_WORD = re.compile(r"\s?퍼\s?(?=리터|세제곱)")  # 밀리그램 퍼 리터
_POWER_OF_TEN = re.compile(  # 1.2×10^5, 1.2 × 10⁵, 1.2 \times 10^{5}
    r"(?<![\d.,])(\d{1,3}(?:\.\d{1,6})?)\s?(?:[×xX*]|\\times)\s?10(?:\^\{?(\d{1,2})\}?|([⁰¹²³⁴-⁹]{1,2}))"
)
_LATIN_FACTOR = re.compile(r"(?<=\d)([KMB])(?=\s?[명건원개대톤])")  # 120K명
_FACTORS = {"K": "천", "M": "백만", "B": "십억"}
_SCIENTIFIC = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d{1,6})?)e\+?(\d{1,2})(?![A-Za-z\d]|\.\d)", re.IGNORECASE)  # 1e3
_POWER = re.compile(r"(?<![A-Za-z])(k?m)\^?\{?([23])\}?(?!\d)")  # m2, km^2, m^{3}
_TRIANGLE = re.compile(r"[△▲▽▼]\s*(?=[\d.])")  # a minus sign in Korean statistics: △5.2
# A triangle before a value that is said to rise is an arrow and not a minus sign.
_RISING_TRIANGLE = re.compile(
    r"""
    [△▲]\s*
    (?=
        \d[\d,]* (?:\.\d+)? \s? [^\s\d,]{0,4} \s?
        (?: 상승 | 증가 | 성장 | 확대    # ▲5.2% 상승, but not △5.2% 증가율 3%
          | 늘 | 올라 | 오른 | 높아      # ▲5.2% 올라
        )
        (?!률|율)
    )
    """,
    re.VERBOSE,
)
_DASH = re.compile(rf"[{_DASHES}](?=[\d.])")  # of 10–15; that of −5.2 is written by `in_digits`
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
    ("μ g", "μg"),
)
# The unit in the line after a number: "603\n(단위: 천 명)".
_LINE_OF_UNIT = re.compile(r"(?<=\d)\s{0,3}\n\s{0,3}[(\[]?단위\s?[:：]\s?")
# English multipliers and units, translated: "204.4 thousand people" is 204.4천 명.
_ENGLISH = {
    "thousand": "천", "million": "백만", "billion": "십억", "trillion": "조", "won": "원", "people": "명", "persons": "명",
    "minutes": "분", "minute": "분", "mins": "분", "hours": "시간", "hour": "시간", "seconds": "초", "days": "일", "months": "개월",
    "percentage points": "%p", "kilometres": "km", "kilometers": "km", "metres": "m", "meters": "m", "kilograms": "kg", "grams": "g",
    "litres": "l", "liters": "l", "hectares": "ha", "percent": "%", "households": "가구", "cases": "건", "times": "회", "weeks": "주", "gallons": "갤런", "gallon": "갤런", "ounces": "온스", "barrels": "배럴", "tonnes": "톤", "tons": "톤", "usd": "달러", "dollars": "달러",
}  # fmt: skip
_ENGLISH_WORD = re.compile(rf"(?<=[\d천만억조])\s?({'|'.join(_ENGLISH)})(?![A-Za-z])", re.IGNORECASE)  # 204.4 thousand
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
    \( (?P<unit> (?:{MULTIPLIER}){{1,3}} \s? (?:{UNIT})? ) \)
    \s?[:은는]\s?
    (?P<number>{NUMBER})
    (?! \s? (?:{MULTIPLIER}|[가-힣%]) )                    # but not before a unit of its own: (천 명): 5,830건
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CURRENCIES = {"$": "달러", "€": "유로", "£": "파운드"}
_CURRENCY_BEFORE = re.compile(  # US$683.9 billion, €35,000
    r"(US\s?\$|€|£)\s?(\d[\d,.]*(?:\s?(?:thousand|million|billion|trillion|[십백천만억조]{1,3}))?)", re.IGNORECASE
)
_BASEMENT = re.compile(r"지하\s?(\d{1,2})(?:개)?\s?층|(?<![A-Za-z\d])B(\d)층")  # 지하 2층, B2층
_MAXIMUM = re.compile(  # of a score; what is in [] is removed
    r"""
    \d{1,4}(?:\.\d)?점\s만점(?:에서|에|\s?중|\s?기준(?:으로)?)\s?,?\s?(?=[^\n]{0,20}\d)      # [5점 만점에 ]4.2점
    | (?<=점)\s?\(\d{1,4}(?:\.\d)?점\s만점(?:\s?기준)?\)                                   # 4.2점[(5점 만점)]
    | (?<=\d)\s?/\s?(?:4\.3|4\.5|5(?:\.0)?|10|100)(?=\s?점)                                # 85[/100]점
    | (?<=점)\s?/\s?(?:4\.3|4\.5|5(?:\.0)?|10|100)\s?점                                      # 7.8점[ / 10점]
    """,
    re.VERBOSE,
)
_MARKUP = re.compile(r"[*_`$\\]")
# Numbers of list items, which are not quantities.
_CIRCLED_NUMBER = re.compile(r"^[^\S\n]*[①-⑳][^\S\n]*(?=\S)", re.MULTILINE)  # ① 음식점: …
_LIST_NUMBER = re.compile(r"^[^\S\n]*\d{1,2}[.)][^\S\n]+(?=\S)", re.MULTILINE)  # 1. 음식점, but not a line "15."


@lru_cache(maxsize=8)
def plain(text: str) -> str:
    """Return a text in the notation that `scan` reads.

    Markdown and LaTeX are removed, and characters, minus signs, squares and cubes have one form. Numbers in words become
    digits, a unit in brackets moves behind its number, and English multipliers and units are translated:
    `"**△5.2** thousand won"` becomes `" -5.2천원"`.

    These steps depend on each other; the others may be in any order:

    - Powers, circled numbers and squares (1.2×10⁵, ①, ㎡) are read before NFKC, which turns them into ordinary digits and letters.
    - Currencies, LaTeX and m^2 are read before markup is removed, which takes away their $, \\ and ^.
    - Triangles and dashes are read after that, because markup may be between them and the number: △**5.2**.
    - English units in brackets are translated before units in brackets are moved: 603 (unit: million won).
    """
    text = _in_nfkc(text)
    text = dates_in_one_form(in_digits(text))
    text = _BASEMENT.sub(lambda match: f" -{match[1] or match[2]}층", text)
    text = _MAXIMUM.sub("", text)
    text = _CURRENCY_BEFORE.sub(lambda match: f"{match[2]} {_CURRENCIES[match[1][-1]]}", text)
    if _NEEDS_CLEANING.search(text):
        text = _without_markup(text)
        text = _RISING_TRIANGLE.sub("", text)
        text = _TRIANGLE.sub(" -", text)
        text = _DASH.sub("-", text)
    text = _with_metric_units(text)
    text = _with_factors(text)
    text = _LINE_OF_UNIT.sub(" ", text)
    if "(" in text:
        text = _ENGLISH_UNIT.sub(_korean_unit, text)
        text = _BRACKETED_UNIT.sub(r"\g<unit>", text)
        text = _UNIT_BEFORE.sub(r" \g<number>\g<unit>", text)
    for _ in range(2):  # first a multiplier, then a unit
        text = _ENGLISH_WORD.sub(lambda match: _ENGLISH[match[1].lower()], text)
    return _LIST_NUMBER.sub("", text) if "." in text or ")" in text else text


def _in_nfkc(text: str) -> str:
    """Return a text in Unicode's form NFKC, with powers of ten, squares and cubes written out and without circled numbers."""
    if "10" in text:
        text = _POWER_OF_TEN.sub(_without_power, text)
    if unicodedata.is_normalized("NFKC", text):
        return text
    text = _CIRCLED_NUMBER.sub("", text)
    for character, spelled in _SQUARES_AND_CUBES.items():
        text = text.replace(character, spelled)
    return unicodedata.normalize("NFKC", text)[:MAX_ANSWER]  # one character may become eighteen


def _without_markup(text: str) -> str:
    """Return a text without Markdown and LaTeX, and with m^2 as m제곱: `\\boxed{3{,}000}\\text{명}` is 3,000명."""
    text = text.replace("{,}", ",")
    text = _LATEX.sub(r"\1", text)
    for latex, word in _LATEX_WORDS:
        text = text.replace(latex, word)
    text = _POWER.sub(lambda match: f"{match[1]}{'제곱' if match[2] == '2' else '세제곱'}", text)
    return _MARKUP.sub("", text)


def _with_metric_units(text: str) -> str:
    """Return a text with kW·h as kWh, 시속 80 km as 80 km/h, 세제곱 미터 as 세제곱미터, and 퍼 as /."""
    text = _HOURS.sub(r"\1h", text)
    if "속" in text:
        text = _PER_SECOND.sub(r"\2 m/s", text)
        text = _PER_HOUR.sub(r"\2 km/h", text)
    text = _SPACED_POWER.sub(r"\1", text)
    return _PER_WORD.sub("/", text)


def _with_factors(text: str) -> str:
    """Return a text with 120K명 as 120천명, 1.352.338 as 1,352,338, and 1e3 as 1000."""
    text = _LATIN_FACTOR.sub(lambda match: _FACTORS[match[1]], text)
    text = _POINT_GROUPED.sub(lambda match: match[0].replace(".", ","), text)
    return _SCIENTIFIC.sub(lambda match: f"{Decimal(match[1]).scaleb(int(match[2])):f}", text)


def _without_power(match: re.Match[str]) -> str:
    """Return `120000` for a match of `1.2×10^5`."""
    exponent = match[2] or unicodedata.normalize("NFKC", match[3])
    return f"{Decimal(match[1]).scaleb(int(exponent)):f}"


def _korean_unit(match: re.Match[str]) -> str:
    """Return `(백만 원)` for a match of `(unit: million won)`."""
    words = (_ENGLISH[word.lower()] for word in match.group("factor", "unit") if word)
    return f"({' '.join(words)})"
