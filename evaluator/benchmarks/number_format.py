"""Write the value of a spreadsheet cell as the spreadsheet shows it, following the cell's number format.

A test set may be published as a workbook whose gold answers are what its author sees: the cell 0.205 with the format
`0.0%` is the answer `20.5%`. `workbook.py` calls `shown_value` for numbers and dates, `shown_text` for texts.

source: number format codes of ECMA-376 part 1, section 18.8.31. Only what shows the same text on every computer is
followed: fixed decimals, thousands, percent, currency signs, words and plain dates. Everything else is refused.
"""

import re
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

Value = bool | int | float | date | datetime | time

GENERAL = "General"
GENERAL_DIGITS = 10  # digits that the format General shows, with the 0 before the point
SMALLEST_GENERAL = -4  # as a power of ten: 0.0001. Some programs show smaller numbers in that format as 1E-05
MAX_DIGITS = 15  # before the point; programs show other digits of larger numbers
# Ids of built-in formats (ECMA-376, 18.8.30) that show another currency or order of day and month in each language: currency
# (5 to 8, 42, 44), dates (14, 22) and formats of East Asian languages (27 to 36, 50 to 58).
OF_LANGUAGE = frozenset({*range(5, 9), 14, 22, *range(27, 37), 42, 44, *range(50, 59)})

# One token of a format code. The name of the group that matched is the token's kind.
_TOKEN = re.compile(
    r"""
      "(?P<quoted>[^"]*)"                                       # "백만 원"
    | \\(?P<escaped>.)                                          # \- shows -
    | \[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]                   # [$₩-412] shows ₩; 412 is the language
    | (?P<nothing>_.|\*.                                        # _) a space as wide as ), *- a cell filled with -
        |\[(?:black|blue|cyan|green|magenta|red|white|yellow|color\ ?\d+)\])  # [Red]
    | (?P<general>general)
    | (?P<digits>(?:[0#][0#,]*(?:\.[0#]*)?|\.[0#]+),*)          # #,##0.0 and .00; commas at the end divide by 1,000
    | (?P<percent>%)
    | (?P<text>@)                                               # the place of a text
    | (?P<date>y+|m+|d+|h+|s+)                                  # yyyy, m
    | (?P<plain>[-+/():!^&'~{}<>=$.\ ]|[^\x00-\x7f])            # characters that need no quotation marks
    """,
    re.VERBOSE | re.IGNORECASE,
)

TEXT_SECTION = 3  # place of the section for texts; a code with fewer sections may have it as its last one
_THOUSANDS = re.compile(r"(?<=\d)(?=(?:\d{3})+$)")  # between the groups of a whole number
WORDS = ("quoted", "escaped", "currency", "plain")  # kinds of tokens whose text is shown as it is


class _Token(NamedTuple):
    """A token of a format code."""

    kind: str  # the name of a group of _TOKEN, or "word" for one of WORDS
    text: str


def shown_value(value: Value, code: str) -> str:
    """Return a number, truth value, date or time as the format code shows it: (0.205, "0.0%") -> "20.5%".

    Raises ValueError if the code is not followed, with a message that continues the address of the cell.
    """
    if isinstance(value, bool):
        return str(value).upper()
    sections = _sections(code)
    if isinstance(value, date | time):
        return _shown_date(value, sections[0], code)
    number = Decimal(repr(value))
    if not number.is_finite():
        raise ValueError(f"is not a number: {value}")
    return _shown_number(number, sections, code)


def shown_text(text: str, code: str) -> str:
    """Return a text as the format code shows it: ("15", '@"명"') -> "15명". Raises ValueError as `shown_value` does."""
    if "@" not in code and code.count(";") < TEXT_SECTION:
        return text  # no section is for texts, so a code that is not followed does not matter
    sections = _sections(code)
    if len(sections) > TEXT_SECTION:
        section = sections[TEXT_SECTION]
    elif _is_for_text(sections[-1]):
        section = sections[-1]
    else:
        return text
    return "".join(text if token.kind in ("text", "general") else token.text for token in section).strip()


def _sections(code: str) -> list[list[_Token]]:
    """Split a format code into its sections, which are for positive numbers, negative numbers, zero and text.

    `#,##0;△#,##0` has two sections: the token `digits`; the tokens `word` and `digits`.
    """
    sections: list[list[_Token]] = [[]]
    position = 0
    while position < len(code):
        if code[position] == ";":
            sections.append([])
            position += 1
            continue
        found = _TOKEN.match(code, position)
        if found is None:
            raise ValueError(_refusal(code))
        sections[-1].append(_token(found))
        position = found.end()
    return sections


def _token(found: re.Match[str]) -> _Token:
    kind = str(found.lastgroup)
    text = found[kind]
    if kind in WORDS:
        return _Token("word", text)
    if kind == "nothing":
        return _Token(kind, "")
    return _Token(kind, text.lower())


def _refusal(code: str) -> str:
    """Return the message for a format that is not followed. It continues the address of a cell."""
    return f"has the number format {code!r}, whose text depends on the program that shows it: write it as text"


def _is_for_text(section: Sequence[_Token]) -> bool:
    """Return whether a section is for cells with text."""
    return any(token.kind == "text" for token in section)


def _shown_number(value: Decimal, sections: Sequence[Sequence[_Token]], code: str) -> str:
    """Return a number as the section for its sign shows it. With one section, a minus sign is written before it.

    Raises ValueError if the format is not followed, or shows a negative number like a positive one.
    """
    numeric = [section for section in sections if not _is_for_text(section)]
    if not numeric:
        numeric = [[_Token("general", "general")]]
    positive = _filled(abs(value), numeric[0], code)  # also to refuse a code whose first section is not followed
    if value == 0 and len(numeric) > 2:
        return _filled(abs(value), numeric[2], code)  # without the sign of -0.0
    if value >= 0:
        return positive
    if len(numeric) == 1:
        is_rounded_to_zero = positive == _filled(Decimal(), numeric[0], code)
        return positive if is_rounded_to_zero else f"-{positive}"
    negative = _filled(abs(value), numeric[1], code)
    if negative == positive:
        raise ValueError("is negative, but only its colour says so: write it as text")
    return negative


def _filled(value: Decimal, section: Sequence[_Token], code: str) -> str:
    """Return a section's text with a number that is not negative at the place of its digits.

    Raises ValueError if the section is for dates or has several places for digits, as in `000-0000`, or if the number is too
    large.
    """
    kinds = [token.kind for token in section]
    shifted = value.scaleb(2 * kinds.count("percent"))  # each % multiplies by 100
    if "date" in kinds or kinds.count("digits") + kinds.count("general") > 1 or shifted.adjusted() >= MAX_DIGITS:
        raise ValueError(_refusal(code))
    shown = []
    for token in section:
        if token.kind == "digits":
            shown.append(_fixed(shifted, token.text))
        elif token.kind == "general":
            shown.append(_general(shifted))
        else:
            shown.append(token.text)
    return "".join(shown).strip()


def _general(value: Decimal) -> str:
    """Return a number as the format General shows it: 15 -> "15", 0.30000000000000004 -> "0.3".

    Raises ValueError for a number that some programs show in scientific notation, such as 1E-10.
    """
    whole = value.to_integral_value()
    if whole == value:
        return f"{whole:f}"
    if value.adjusted() < SMALLEST_GENERAL:
        raise ValueError(_refusal(GENERAL))
    digits_before_point = max(value.adjusted(), 0) + 1
    places = max(0, GENERAL_DIGITS - digits_before_point)
    rounded = f"{_rounded(value, places):f}"
    return rounded.rstrip("0").rstrip(".") if "." in rounded else rounded


def _fixed(value: Decimal, pattern: str) -> str:
    """Return a number in a pattern of digits: (1402886, "#,##0.0,") -> "1,402.9".

    In a pattern, `0` is a digit that is always shown, `#` one that is shown if it is not a leading or trailing zero. A comma
    among the digits before the point groups thousands, and each one after them or at the end divides the number by 1,000.
    A point behind which no digit is shown is left out: (5, "0.##") -> "5", although spreadsheets show "5.".
    """
    whole, _, decimals = pattern.partition(".")
    whole_digits = whole.rstrip(",")
    decimal_digits = decimals.rstrip(",")
    scale_commas = (len(whole) - len(whole_digits)) + (len(decimals) - len(decimal_digits))
    rounded = _rounded(value.scaleb(-3 * scale_commas), len(decimal_digits))
    before, _, after = f"{rounded:f}".partition(".")
    before = "" if before == "0" else before  # the pattern decides whether a leading 0 is shown: .00 shows 0.5 as .50
    before = before.zfill(whole_digits.count("0"))
    if "," in whole_digits:
        before = _THOUSANDS.sub(",", before)
    required = len(decimal_digits.rstrip("#"))
    after = after[:required] + after[required:].rstrip("0")
    return f"{before}.{after}" if after else before


def _rounded(value: Decimal, places: int) -> Decimal:
    """Return a number with so many digits after the point. A half is rounded up, as spreadsheets do."""
    return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _shown_date(value: date | time, section: Sequence[_Token], code: str) -> str:
    """Return a date or time as a section shows it: (2021-03-02, 'm"월" d"일"') -> "3월 2일".

    Raises ValueError if the section is empty or has anything but parts of dates and words.
    """
    if not section or any(token.kind not in ("date", "word", "nothing") for token in section):
        raise ValueError(_refusal(code))
    letters = [token.text[0] for token in section if token.kind == "date"]
    shown: list[str] = []
    place = 0  # of a token among those with letters
    for token in section:
        if token.kind == "date":
            shown.append(_date_part(value, _attribute(letters, place), len(token.text), code))
            place += 1
        else:
            shown.append(token.text)
    return "".join(shown).strip()


_ATTRIBUTES = {"y": "year", "m": "month", "d": "day", "h": "hour", "s": "second"}


def _attribute(letters: Sequence[str], place: int) -> str:
    """Return what the letter at a place stands for. The letter m is the minute after an hour or before a second."""
    if letters[place] == "m":
        follows_hour = place > 0 and letters[place - 1] == "h"
        precedes_second = letters[place + 1 : place + 2] == ["s"]
        if follows_hour or precedes_second:
            return "minute"
    return _ATTRIBUTES[letters[place]]


def _date_part(value: date | time, attribute: str, width: int, code: str) -> str:
    """Return a part of a date or time in `width` digits. Raises ValueError if the value does not have it."""
    part = getattr(value, attribute, None)
    if part is None:  # the hour of a date, or the year of a time
        raise ValueError(_refusal(code))
    if attribute == "year":
        return f"{part:04}" if width > 2 else f"{part % 100:02}"
    if width > 2:  # names of months and weekdays, which are in the reader's language
        raise ValueError(_refusal(code))
    return f"{part:0{width}}"
