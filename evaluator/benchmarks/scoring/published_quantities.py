"""Read quantities as KO-VQA's published script does: a number and the one unit character after it."""

import re
from functools import lru_cache
from typing import NamedTuple

NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_UNITS = "조억백천민"  # 민 is a typo for 만 in the published rule

MAX_DIGITS = 4000  # of a whole number; Python's int() accepts at most 4,300

Quantity = str | int | float


class Quantities(NamedTuple):
    """The quantities of a text. Each is a string with its unit, such as `"61.5조"`, or a number without a unit.

    The unit is the character after the first occurrence of the number. In `collapsed` whole floats are ints. The
    published rule converts them in the model's output only, so a gold `5.0조` never matches.
    """

    written: tuple[Quantity, ...]
    collapsed: tuple[Quantity, ...]


@lru_cache(maxsize=8)  # EM and F1 of an item parse the same texts
def quantities(text: str) -> Quantities:
    """Return all quantities of a text as the published rule reads them."""
    written: list[Quantity] = []
    collapsed: list[Quantity] = []
    units: dict[str, str] = {}  # literal → unit after its first occurrence
    for literal in NUMBER.findall(text):
        if literal not in units:
            end = text.find(literal) + len(literal)
            unit = text[end : end + 1]
            units[literal] = unit if unit and unit in _UNITS else ""
        unit = units[literal]
        plain = literal.replace(",", "")
        value: int | float | str
        if "." in plain:
            value = float(plain)
        elif len(plain) < MAX_DIGITS:
            value = int(plain)
        else:
            value = plain
        written.append(f"{value}{unit}" if unit else value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        collapsed.append(f"{value}{unit}" if unit else value)
    return Quantities(tuple(written), tuple(collapsed))


def quantity_f1(question: str, gold: str, output: str) -> float:
    """Return the F1, from 0 to 1, of the quantities in the output against those in gold.

    Quantities copied from the question are ignored. An output that lists every number has low precision, although the
    reference rule accepts it.
    """
    wanted = set(quantities(gold).collapsed)
    stated = set(quantities(output).collapsed)
    if stated - wanted:
        stated -= set(quantities(question).collapsed) - wanted
    shared = len(wanted & stated)
    return 2 * shared / (len(wanted) + len(stated)) if shared else 0.0
