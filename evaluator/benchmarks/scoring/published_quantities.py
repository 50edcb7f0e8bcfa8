"""Quantities as KO-VQA's published script reads them: a number and the one unit character behind it."""

import re
from functools import lru_cache
from typing import NamedTuple

NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_UNITS = "조억백천민"  # 민 is the published rule's own slip for 만

MAX_DIGITS = 4000  # of a whole number; Python's int() takes no more than 4,300

Quantity = str | int | float


class Quantities(NamedTuple):
    """The numbers of a text, each with the unit character after its first occurrence: `"61.5조"`, or a bare number.

    `collapsed` has whole floats as ints, which the published rule does on the answer's side only: a gold `5.0조` is
    never matched.
    """

    written: tuple[Quantity, ...]
    collapsed: tuple[Quantity, ...]


@lru_cache(maxsize=8)  # EM and F1 of an item read the same texts
def quantities(text: str) -> Quantities:
    """Every number of a text, as the published rule reads them."""
    written: list[Quantity] = []
    collapsed: list[Quantity] = []
    units: dict[str, str] = {}  # of each literal, behind its first occurrence
    for literal in NUMBER.findall(text):
        if literal not in units:
            end = text.find(literal) + len(literal)
            unit = text[end : end + 1]
            units[literal] = unit if unit and unit in _UNITS else ""
        unit, plain = units[literal], literal.replace(",", "")
        value: int | float | str = float(plain) if "." in plain else int(plain) if len(plain) < MAX_DIGITS else plain
        written.append(f"{value}{unit}" if unit else value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        collapsed.append(f"{value}{unit}" if unit else value)
    return Quantities(tuple(written), tuple(collapsed))


def quantity_f1(question: str, gold: str, output: str) -> float:
    """F1 of the set of quantities stated against those in gold, those copied from the question left out.

    Naming every number in sight is punished by precision, unlike under the reference rule. From 0 to 1.
    """
    wanted = set(quantities(gold).collapsed)
    stated = set(quantities(output).collapsed)
    if stated - wanted:
        stated -= set(quantities(question).collapsed) - wanted
    shared = len(wanted & stated)
    return 2 * shared / (len(wanted) + len(stated)) if shared else 0.0
