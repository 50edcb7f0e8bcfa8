"""Write the value of a spreadsheet cell as the spreadsheet shows it, following the cell's number format.

source: number format codes of ECMA-376 part 1, section 18.8.31. Only what shows the same text on every computer is
followed: fixed decimals, thousands, percent, currency signs, words and plain dates. Everything else is refused.
"""

import re
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Decimal

Value = bool | int | float | date | datetime | time

GENERAL = "General"
GENERAL_DIGITS = 10  # significant digits that the format General shows
# Built-in formats that show another currency or order of day and month in each language.
OF_LANGUAGE = frozenset({*range(5, 9), 14, 22, *range(27, 37), 42, 44, *range(50, 59)})

_TOKEN = re.compile(
    r"""
      "(?P<quoted>[^"]*)" | \\(?P<escaped>.) | \[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]
    | (?P<nothing>_.|\*.|\[(?:black|blue|cyan|green|magenta|red|white|yellow|color\ ?\d+)\])
    | (?P<general>general) | (?P<digits>(?:[0#][0#,]*(?:\.[0#]*)?|\.[0#]+),*) | (?P<percent>%) | (?P<text>@)
    | (?P<date>y+|m+|d+|h+|s+)
    | (?P<plain>[-+/():!^&'~{}<>=$.\ ]|[^\x00-\x7f])
    """,
    re.VERBOSE | re.IGNORECASE,
)

WORDS = ("quoted", "escaped", "currency", "plain")  # kinds of tokens whose text is shown as it is
_Token = tuple[str, str]  # kind ("word" for WORDS) and text


def shown_value(value: Value, code: str) -> str:
    """Return a number, truth value, date or time as the format code shows it. Raises ValueError if it is not followed."""
    if isinstance(value, bool):
        return str(value).upper()
    sections = _sections(code)
    if isinstance(value, date | time):
        return _shown_date(value, sections[0], code)
    return _shown_number(Decimal(repr(value)), sections, code)


def shown_text(text: str, code: str) -> str:
    """Return a text as the format code shows it, for example with a unit behind it. Raises ValueError as `shown_value`."""
    if "@" not in code:
        return text
    section = _sections(code)[-1]
    return "".join(text if kind == "text" else word for kind, word in section).strip()


def _sections(code: str) -> list[list[_Token]]:
    """Split a format code into its sections, for positive numbers, negative numbers, zero and text."""
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
        return "word", text
    if kind == "nothing":  # a colour, or a space as wide as a character
        return kind, ""
    return kind, text.lower()


def _refusal(code: str) -> str:
    return f"has the number format {code!r}, whose text depends on the program that shows it: write it as text"


def _shown_number(value: Decimal, sections: Sequence[Sequence[_Token]], code: str) -> str:
    numeric = [section for section in sections if "text" not in dict(section)]
    if not numeric:
        numeric = [[("general", "general")]]
    positive = _filled(abs(value), numeric[0], code)
    if value == 0 and len(numeric) > 2:
        return _filled(value, numeric[2], code)
    if value >= 0:
        return positive
    if len(numeric) == 1:
        return f"-{positive}" if re.search("[1-9]", positive) else positive
    negative = _filled(abs(value), numeric[1], code)
    if negative == positive:
        raise ValueError("is negative, but only its colour says so: write it as text")
    return negative


def _filled(value: Decimal, section: Sequence[_Token], code: str) -> str:
    """Return a section's text with a number that is not negative at the place of its digits."""
    kinds = [kind for kind, _ in section]
    if "date" in kinds or kinds.count("digits") + kinds.count("general") > 1:
        raise ValueError(_refusal(code))
    shifted = value.scaleb(2 * kinds.count("percent"))
    written = {"digits": _fixed, "general": _general}
    return "".join(written[kind](shifted, text) if kind in written else text for kind, text in section).strip()


def _general(value: Decimal, _: str) -> str:
    whole = value.to_integral_value()
    if whole == value:
        return f"{whole:f}"
    places = max(0, GENERAL_DIGITS - 1 - max(value.adjusted(), 0))
    return f"{round(value, places):f}".rstrip("0").rstrip(".")


def _fixed(value: Decimal, pattern: str) -> str:
    """Return a number with the decimals and thousands of a pattern such as `#,##0.0`. Commas at its end divide it by 1,000."""
    digits = pattern.rstrip(",")
    whole, _, decimals = digits.partition(".")
    scaled = value.scaleb(-3 * (len(pattern) - len(digits)))
    rounded = scaled.quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP)
    before, _, after = f"{rounded:,f}".partition(".")
    if "," not in whole:
        before = before.replace(",", "").zfill(whole.count("0"))
    if before == "0" and "0" not in whole:
        before = ""
    optional = len(decimals) - len(decimals.rstrip("#"))
    after = after[: len(after) - optional] + after[len(after) - optional :].rstrip("0")
    return f"{before}.{after}" if after else before


def _shown_date(value: date | time, section: Sequence[_Token], code: str) -> str:
    if any(kind not in ("date", "word", "nothing") for kind, _ in section) or not section:
        raise ValueError(_refusal(code))
    letters = [text[0] for kind, text in section if kind == "date"]
    shown, place = [], 0
    for kind, text in section:
        if kind != "date":
            shown.append(text)
            continue
        is_minute = text[0] == "m" and ("h" in letters[max(0, place - 1) : place] or letters[place + 1 :][:1] == ["s"])
        shown.append(_date_part(value, "minute" if is_minute else text[0], len(text), code))
        place += 1
    return "".join(shown).strip()


_PARTS = {"m": "month", "d": "day", "h": "hour", "s": "second", "minute": "minute"}


def _date_part(value: date | time, letter: str, width: int, code: str) -> str:
    if letter == "y" and isinstance(value, date):
        return f"{value.year:04}" if width > 2 else f"{value.year % 100:02}"
    part = getattr(value, _PARTS.get(letter, ""), None)
    if part is None or width > 2:  # names of months and weekdays, which are in the reader's language
        raise ValueError(_refusal(code))
    return f"{part:0{width}}"
