"""What a figure of ko-fresh prints, as a perfect reader of text and tables would return it."""

from dataclasses import dataclass
from decimal import Decimal
from itertools import product

from evaluator.fresh.facts import TABLES, Cell, Facts
from evaluator.fresh.pages import growth


@dataclass(frozen=True)
class Printed:
    """The words of a figure and its printed values. A cell without a value shows …."""

    facts: Facts
    years: tuple[str, ...]  # without those that an axis leaves out
    cells: dict[Cell, Decimal | None]
    growth: dict[str, Decimal]  # by row, in percent


def printed_on(facts: Facts) -> Printed:
    """Return what a figure prints. Charts print the names of their rows and years, but no values.

    A map prints the values of some districts.
    """
    measures = {"page": (0,), "cards": (0,), "map": (0,)}.get(facts.layout, (0, 1) if facts.layout in TABLES else ())
    groups = [group for group in facts.groups if facts.layout != "map" or group in facts.labelled]
    cells = product(groups, facts.rows, facts.years, measures)
    changes = {row: growth(facts, row) for row in facts.rows} if facts.layout == "cards" else {}
    return Printed(facts, facts.marked_years, {cell: facts.value(*cell) for cell in cells}, changes)
