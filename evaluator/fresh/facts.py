"""Generate the invented statistics of a figure, in variants with other numbers."""

import hashlib
import hmac
import random
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import product
from math import floor, log10
from typing import Literal

from evaluator.fresh.topics import CITIES, DISTRICTS, SOURCES, TOPICS, Measure, Topic

Layout = Literal[
    "table", "two_pages", "page", "cards", "bar", "grouped", "stacked", "area", "line", "dual", "log", "pie", "pictogram", "map"
]  # fmt: skip
# The order in which figures get their layout. In the charts, values are not printed.
LAYOUTS: tuple[Layout, ...] = (
    "table",
    "bar",
    "page",
    "line",
    "two_pages",
    "stacked",
    "table",
    "dual",
    "page",
    "pie",
    "cards",
    "log",
    "stacked",
    "grouped",
    "page",
    "map",
    "line",
    "area",
    "pictogram",
)
TABLES: tuple[Layout, ...] = ("table", "two_pages")
ONE_YEAR: tuple[Layout, ...] = ("bar", "log", "pie", "pictogram", "map", "cards")
ICONS = 8  # at most in a row of a pictogram
CLASSES = 5  # of a map
DISTRICT_SHARE = 0.2  # largest value of a district, as a share of a city's
BLANKS = 0.05  # share of the cells of a table that are unknown
# Charts that show what is unknown by showing nothing: a line has a gap, a bar is missing, a district is hatched.
GAPPED: tuple[Layout, ...] = ("line", "grouped", "bar", "page", "map")
GAPS = 0.1  # share of their values that are unknown
LABELLED = 0.5  # share of a map's districts whose value is printed
UNEVEN = 0.7  # how much the usual sizes of the rows count: 0 not at all, 1 fully
LOG_SPAN = 2.4  # powers of ten that the values of a logarithmic chart spread over
Cell = tuple[str, str, str, int]  # group, row, year, index of the measure


@dataclass(frozen=True)
class Facts:
    """A statistic of a public body. Tables and maps have several districts (`groups`), other layouts the body itself."""

    number: int
    layout: Layout
    topic: Topic
    body: str
    source: str
    groups: tuple[str, ...]
    rows: tuple[str, ...]
    years: tuple[str, ...]
    values: dict[Cell, Decimal]  # of all cells, also of those that show none (see `value`)
    blanks: frozenset[Cell]  # cells that show … or nothing instead of their value
    labelled: frozenset[str]  # districts of a map whose value is printed
    excluded: str | None  # row that a footnote excludes from the subtotals
    provisional: bool  # whether a footnote calls the last year provisional
    absent: "Absent"
    style: int  # 0 to 7, for fonts, colours and arrangement

    @property
    def title(self) -> str:
        return f"{self.body} {self.topic.subject} 현황"

    def value(self, group: str, row: str, year: str, measure: int = 0) -> Decimal | None:
        """Return a value in its printed unit, or None if it is unknown."""
        cell = group, row, year, measure
        return None if cell in self.blanks else self.values[cell]

    def column(self, group: str, year: str, measure: int = 0) -> dict[str, Decimal] | None:
        """Return the values of all rows of a group, or None if one is unknown."""
        found = {row: self.value(group, row, year, measure) for row in self.rows}
        known = {row: value for row, value in found.items() if value is not None}
        return known if len(known) == len(found) else None

    def series(self, group: str, row: str, measure: int = 0) -> dict[str, Decimal] | None:
        """Return the values of all years, or None if one is unknown."""
        found = {year: self.value(group, row, year, measure) for year in self.years}
        known = {year: value for year, value in found.items() if value is not None}
        return known if len(known) == len(found) else None

    def subtotal(self, group: str, year: str, measure: int = 0) -> Decimal | None:
        """Return the printed subtotal, without the excluded row, or None if a value is unknown."""
        values = [self.value(group, row, year, measure) for row in self.rows if row != self.excluded]
        known = [value for value in values if value is not None]
        return sum(known, Decimal()) if len(known) == len(values) else None

    @cached_property
    def axes(self) -> "tuple[Axis, Axis]":
        """The scales that the two measures are drawn on. Cached, because `question.differ` needs them thousands of times."""
        return _axis(self, 0), _axis(self, 1)

    @property
    def marked_years(self) -> tuple[str, ...]:
        """Return the years that are printed. Some charts label every second year only."""
        sparse = self.layout in ("line", "area", "dual") and self.style % 2 == 1
        return self.years[::2] if sparse else self.years

    def where(self, group: str, particle: str = "") -> str:
        """Return a district, a particle and a space, or nothing if the figure has no districts."""
        return f"{group}{particle} " if len(self.groups) > 1 else ""


@dataclass(frozen=True)
class Absent:
    """A row, a year and a district that a figure does not have. Questions about them have the answer UNANSWERABLE."""

    row: str | None  # None if the figure has all rows of its topic
    year: str
    group: str | None  # None if the figure has no districts


@dataclass(frozen=True)
class Axis:
    """The scale of a chart, in printed units."""

    step: Decimal  # between two ticks, of which some charts label every second only
    low: Decimal
    high: Decimal


def random_of(seed: str, *path: object) -> random.Random:
    """Return a random generator for one purpose. Numbers drawn for other purposes do not affect it."""
    message = "/".join(map(str, path)).encode()
    return random.Random(hmac.new(seed.encode(), message, hashlib.sha256).hexdigest())


def facts_of(seed: str, number: int, variant: str) -> Facts:
    """Return the statistic of figure `number`. Variants of the same number differ only in values and unknown cells."""
    # A published set is drawn again from its seed, so the draws of `shape` and `numbers` must keep their number and order.
    shape = random_of(seed, number, "shape")
    layout = LAYOUTS[number % len(LAYOUTS)]
    of_districts = layout in (*TABLES, "map")
    topic = shape.choice([topic for topic in TOPICS if not (of_districts and topic.city_wide)])
    body = shape.choice(CITIES)
    rows = _draw_rows(shape, layout, topic)
    group_count = {"table": shape.randint(3, 5), "two_pages": shape.randint(6, 8), "map": 12}.get(layout, 0)
    first_year = shape.randint(2013, 2019)
    year_count = _draw_year_count(shape, layout)
    if layout == "map":  # it shows one number of each district
        rows = rows[:1]
    groups = tuple(shape.sample(DISTRICTS, group_count)) or (body,)
    years = tuple(f"{first_year + n}년" for n in range(year_count))
    absent_row = _draw_absent_row(shape, topic, rows)
    earlier_year = first_year - shape.randint(1, 3)
    later_year = first_year + year_count + shape.randint(0, 2)
    absent_year = f"{shape.choice((earlier_year, later_year))}년"
    absent_group = shape.choice([one for one in DISTRICTS if one not in groups]) if group_count else None
    is_table = layout in TABLES
    source = shape.choice(SOURCES).format(body=body)
    labelled = frozenset(shape.sample(groups, round(LABELLED * group_count))) if layout == "map" else frozenset()
    excluded = shape.choice(rows) if is_table and shape.random() < 0.6 else None
    provisional = year_count > 1 and shape.random() < 0.4
    style = shape.randrange(8)

    numbers = random_of(seed, number, "values", variant)
    values = _draw_values(numbers, topic, layout, groups, rows, years)
    if is_table:
        share_unknown = BLANKS
    elif layout in GAPPED:
        share_unknown = GAPS
    else:
        share_unknown = 0.0
    blanks = frozenset(cell for cell in values if numbers.random() < share_unknown)
    return Facts(
        number=number,
        layout=layout,
        topic=topic,
        body=body,
        source=source,
        groups=groups,
        rows=rows,
        years=years,
        values=values,
        blanks=blanks,
        labelled=labelled,
        excluded=excluded,
        provisional=provisional,
        absent=Absent(absent_row, absent_year, absent_group),
        style=style,
    )


def _draw_rows(shape: random.Random, layout: Layout, topic: Topic) -> tuple[str, ...]:
    """Return some rows of a topic, in the topic's order."""
    fewest = {"dual": 1, "line": 2, "area": 3, "page": 3}.get(layout, 4)
    most = {"dual": 1, "line": 3, "page": 4}.get(layout, 5)
    drawn = shape.sample(topic.rows, min(len(topic.rows), shape.randint(fewest, most)))
    return tuple(sorted(drawn, key=topic.rows.index))


def _draw_year_count(shape: random.Random, layout: Layout) -> int:
    """Return how many years a figure has."""
    if layout in ONE_YEAR:
        return 1
    if layout in TABLES:
        return shape.randint(2, 3)
    count = shape.randint(5, 7)
    if layout in ("grouped", "stacked", "page"):
        # The first draw stays, although it is not used: without it, the draws after it would give other numbers.
        count = shape.randint(3, 4)
    return count


def _draw_absent_row(shape: random.Random, topic: Topic, rows: Sequence[str]) -> str | None:
    """Return a row of a topic that a figure does not have, or None if there is none.

    A question is recognised as one about the absent row by its name, so no name may be part of the other.
    """
    absent = [row for row in topic.rows if not any(row in shown or shown in row for shown in rows)]
    return shape.choice(absent) if absent else None


def _draw_values(
    numbers: random.Random,
    topic: Topic,
    layout: Layout,
    groups: tuple[str, ...],
    rows: tuple[str, ...],
    years: tuple[str, ...],
) -> dict[Cell, Decimal]:
    """Return a value of each cell, in printed units.

    The values of the first measure are drawn: a level for each row, which then changes from year to year. They all differ,
    except in a pictogram. A value of the second measure is that of the first one times a ratio: `low` and `high` of the
    second measure are the limits of that ratio, not of its values.
    """
    main, derived = topic.measures
    share = DISTRICT_SHARE if len(groups) > 1 else 1.0
    smallest = share * (main.low / 5 if layout == "log" else main.low)  # a level below it is raised
    # The largest row begins at most at this level, which is in the upper part of the way from `low` to `high`.
    largest = share * main.low * (main.high / main.low) ** numbers.uniform(0.55, 1.0)
    jitter = (0.75, 1.33) if layout == "dual" else (0.95, 1.05)  # the two measures in one chart must not run parallel
    # From the largest to the smallest, roughly. On a logarithmic scale, rows are at about equal distances in this order.
    ranking = sorted(rows, key=lambda row: -topic.sizes[row] * numbers.uniform(0.3, 1.0))
    largest_usual_size = max(topic.sizes[row] for row in rows)
    found: dict[Cell, Decimal] = {}
    seen: set[Decimal] = set()
    for group, row in product(groups, rows):
        # How far the row is below the largest one, as a power of ten.
        if layout == "log":
            exponent = -LOG_SPAN * (ranking.index(row) + numbers.random()) / len(rows)
        else:
            exponent = log10(numbers.uniform(0.3, 1.0)) + UNEVEN * log10(topic.sizes[row] / largest_usual_size)
        level = largest * 10**exponent  # of the first year; it changes below
        usual_ratio = numbers.uniform(derived.low, derived.high)
        for year in years:
            if level < smallest:
                level = smallest * numbers.uniform(1.0, 1.8)
            value = _rounded(level, main)
            while value in seen:
                level *= numbers.uniform(1.01, 1.1)
                value = _rounded(level, main)
            seen.add(value)
            if layout == "pictogram":
                halves = max(3, round(2 * ICONS * 10**exponent))
                value = Decimal(halves) / 2 * icon_value(topic)
            found[group, row, year, 0] = value
            ratio = min(max(usual_ratio * numbers.uniform(*jitter), derived.low), derived.high)
            found[group, row, year, 1] = _rounded(float(value) * ratio, derived)
            level *= numbers.uniform(0.78, 1.27)
    return found


def _rounded(value: float, measure: Measure) -> Decimal:
    return max(Decimal(value), Decimal(1)).quantize(Decimal(1).scaleb(-measure.decimals))


def icon_value(topic: Topic) -> int:
    """Return the value of one icon of a pictogram in printed units, a round number.

    A full row of icons is at most half of the topic's largest value.
    """
    per_icon = topic.measures[0].high / ICONS / 2
    size = 10 ** max(0, floor(log10(per_icon)))
    return int(max(2, per_icon // size * size))


def _axis(facts: Facts, measure: int) -> Axis:
    """Return the scale of a measure: five to eight ticks at round numbers, up to ten in stacked charts and areas."""
    own = [value for (*_, index), value in facts.values.items() if index == measure]
    if facts.layout in ("stacked", "area"):
        top = max(sum(facts.values[facts.groups[0], row, year, measure] for row in facts.rows) for year in facts.years)
        step = _round_step(Decimal(top) / 8)
    else:
        top = max(own)
        step = _round_step(Decimal(top) / 6)
    low = Decimal()
    if facts.layout == "line" and min(own) > top * Decimal("0.5"):  # such a scale does not begin at zero
        step = _round_step((top - min(own)) / 5)
        low = min(own) // step * step - step
    # The last tick is above all values, at least by a tenth of a step.
    ticks_to_high = top // step + (2 if top % step > step * Decimal("0.9") else 1)
    return Axis(step, low, ticks_to_high * step)


def _round_step(least: Decimal) -> Decimal:
    """Return the smallest of 1, 2, 2.5 and 5 times a power of ten that is at least this large."""
    size = Decimal(1).scaleb(least.adjusted())
    return next(size * factor for factor in map(Decimal, ("1", "2", "2.5", "5", "10")) if size * factor >= least)
