"""Read quantities as KO-VQA's published script does: a number and the one unit character after it.

`kinds/quantity.py` calls `quantity_f1`, and `ko_vqa` calls `quantities` for its published match. "61.5조 원" is `"61.5조"`,
and "350만 명" is 350, because the script does not know the unit 만.
"""

import re
from functools import lru_cache
from typing import NamedTuple

NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")  # -1,234.5
_UNITS = "조억백천민"  # 민 is a typo for 만 in the published rule

MAX_DIGITS = 4000  # of a whole number; Python's int() accepts at most 4,300

Quantity = str | int | float


class Quantities(NamedTuple):
    """The quantities of a text. Each is a string with its unit, such as `"61.5조"`, or a number without a unit.

    The unit is the character after the first occurrence of the number, even inside of another one: "15조 5명" has "15조" and
    "5조". In `collapsed` whole floats are ints. The published rule converts them in the model's output only, so a gold
    `5.0조` never matches.
    """

    written: tuple[Quantity, ...]
    collapsed: tuple[Quantity, ...]


@lru_cache(maxsize=8)  # EM and F1 of an item parse the same texts
def quantities(text: str) -> Quantities:
    """Return all quantities of a text as the published rule reads them.

    "5.0조와 5명" → written ("5.0조", 5), collapsed ("5조", 5)
    """
    written: list[Quantity] = []
    collapsed: list[Quantity] = []
    units: dict[str, str] = {}  # literal → unit after its first occurrence
    for literal in NUMBER.findall(text):
        if literal not in units:
            end = text.find(literal) + len(literal)
            unit = text[end : end + 1]
            units[literal] = unit if unit and unit in _UNITS else ""
        unit = units[literal]
        digits = literal.replace(",", "")
        value: int | float | str
        if "." in digits:
            value = float(digits)
        elif len(digits) < MAX_DIGITS:
            value = int(digits)
        else:
            value = digits
        written.append(f"{value}{unit}" if unit else value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        collapsed.append(f"{value}{unit}" if unit else value)
    return Quantities(tuple(written), tuple(collapsed))


def quantity_f1(question: str, gold: str, output: str) -> float:
    """Return the F1, from 0 to 1, of the quantities in the output against those in gold.

    Quantities copied from the question are ignored. Whole floats are ints in gold too, unlike in the published rule. An
    output that lists every number has low precision, although the published rule accepts it.
    """
    wanted = set(quantities(gold).collapsed)
    stated = set(quantities(output).collapsed)
    if stated - wanted:  # else there is nothing to ignore, and the question need not be read
        stated -= set(quantities(question).collapsed) - wanted
    shared = len(wanted & stated)
    return 2 * shared / (len(wanted) + len(stated)) if shared else 0.0
