"""What all questions share: their type, their wording, and how exactly a person can read a figure."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from evaluator.fresh.facts import TABLES, Facts
from evaluator.fresh.korean import UNANSWERABLE, amount, base_unit, spoken, topic_marker
from evaluator.fresh.topics import Measure

Kind = Literal[
    "lookup", "estimate", "largest", "rank", "sum", "difference", "growth", "per", "share", "count", "trend", "cross",
    "footnote", "unanswerable", "description",
]  # fmt: skip
# How exactly a person can read a value from a chart.
READABLE_STEP = Decimal("0.2")  # of the step between two ticks
READABLE_LOG = Decimal("0.09")  # of the value, on a logarithmic scale
READABLE_PIE = Decimal("0.02")  # of the whole pie
WIDEST = Decimal("0.1")  # tolerance of an answer, as a share of its value
PRINTED = {*TABLES, "cards", "pictogram"}  # layouts in which every value is read exactly


@dataclass(frozen=True)
class Question:
    """A question that has the same text for a figure and its twin, and an answer for each.

    `answer` takes the facts of either one and returns the answer for it.
    """

    kind: Kind
    text: str
    # UNANSWERABLE if the figure does not show what the answer needs. None if it has no single answer; questions that search
    # a whole column or series also have None if one of its values is unknown.
    answer: Callable[[Facts], str | None]


def tolerance(facts: Facts, value: Decimal, measure: int = 0) -> Decimal:
    """Return how far a reading may be from a value of a chart, in printed units."""
    if facts.layout == "log":
        return READABLE_LOG * value
    if facts.layout == "pie":
        return READABLE_PIE * sum(facts.values[facts.groups[0], row, facts.years[0], 0] for row in facts.rows)
    factor = Decimal("1.5") if facts.layout in ("stacked", "area") else Decimal(1)  # two edges are read
    return READABLE_STEP * factor * facts.axes[measure].step


def differ(facts: Facts, a: Decimal, b: Decimal, measure: int = 0) -> bool:
    """Return whether two values can be told apart in the figure: in a chart, if more than half a tolerance apart."""
    if _is_read_exactly(facts, measure):
        return a != b
    return abs(a - b) > tolerance(facts, max(a, b), measure) / 2


def _is_read_exactly(facts: Facts, measure: int) -> bool:
    """Return whether the figure gives the exact values of a measure.

    The page of a report prints the values of the first measure and draws those of the second as a chart.
    """
    return facts.layout in PRINTED or (facts.layout == "page" and measure == 0)


def about(value: Decimal, margin: Decimal, measure: Measure) -> str | None:
    """Return an answer with a tolerance, or None if the tolerance is too wide.

    Both are rounded to the second digit of the tolerance: 34217명 and 412명 give 3만 4,220명 (±410명).
    """
    size = max(Decimal(1).scaleb(margin.adjusted() - 1), Decimal(1).scaleb(-measure.decimals))
    rounded, allowed = ((x / size).quantize(Decimal(1), ROUND_HALF_UP) * size for x in (value, margin))
    if not value or allowed > WIDEST * rounded:
        return None
    return f"{spoken(rounded, measure.unit)} (±{spoken(allowed, measure.unit)})"


def percent(value: Decimal) -> str | None:
    """Return a percentage with one decimal, or None if rounding could give either neighbour.

    12.34 gives 12.3%, and 12.349 None, because a slightly different calculation could give 12.4%.
    """
    near_half = abs(abs(value) * 10 % 1 - Decimal("0.5")) < Decimal("0.02")
    return None if near_half else f"{value.quantize(Decimal('0.1'), ROUND_HALF_UP)}%"


def estimated(facts: Facts, value: Decimal | None, measure: int = 0) -> str | None:
    """Return a value as it is read from a scale, or that it cannot be known."""
    if value is None:
        return UNANSWERABLE
    if facts.layout == "log" and value.scaleb(-value.adjusted()) < 2:
        return None  # the lines of the scale are farthest apart there
    return about(value, tolerance(facts, value, measure), facts.topic.measures[measure])


def named(facts: Facts, group: str, row: str, year: str, measure: int) -> str:
    return f"{year} {facts.where(group)}{facts.topic.said(row)}의 {facts.topic.measures[measure].name}"


def how_many(facts: Facts, name: str, measure: int) -> str:
    return f"{name}{topic_marker(name)} 몇 {base_unit(facts.topic.measures[measure].unit)}입니까?"


def answers_differ(one: str, other: str) -> bool:
    """Return whether neither of two gold answers is right for the other: 39% (±2%) and 40% (±2%) do not differ."""
    value, allowed = _reading(one)
    other_value, also_allowed = _reading(other)
    if value is None or other_value is None:
        return one != other
    return abs(value - other_value) > max(allowed, also_allowed)


def _reading(answer: str) -> tuple[Decimal | None, Decimal]:
    """Return the number of an answer, or None if it has none, and the tolerance."""
    value, _, allowed = answer.partition(" (±")
    return amount(value), amount(allowed) or Decimal()


def place_of(facts: Facts, column: dict[str, Decimal], place: int, measure: int = 0) -> str | None:
    """Return the name at a place in descending order of values, or None if another value is too close to tell.

    Place 0 is the largest, -1 the smallest.
    """
    order = sorted(column, key=lambda name: -column[name])
    chosen = order[place]
    others = [other for other in order if other != chosen]
    return chosen if all(differ(facts, column[chosen], column[other], measure) for other in others) else None


def in_words(facts: Facts, values: list[Decimal | None], combine: Callable[[list[Decimal]], Decimal]) -> str:
    """Return a number that is computed from values, or that it cannot be known if one of them is unknown."""
    known = [value for value in values if value is not None]
    return spoken(combine(known), facts.topic.measures[0].unit) if len(known) == len(values) else UNANSWERABLE
