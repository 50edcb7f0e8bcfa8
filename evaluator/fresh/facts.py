"""Generate the invented statistics of a figure, and of its twin with other numbers."""

import hashlib
import hmac
import random
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from evaluator.fresh.topics import BODIES, FOOTNOTES, ROUNDING, SOURCES, TOPICS, Topic

Layout = Literal["table", "merged", "bar", "grouped", "stacked", "line", "pie", "pictogram", "cards", "page"]
LAYOUTS: tuple[Layout, ...] = (
    *("table", "merged", "bar", "grouped", "stacked"),
    *("line", "pie", "pictogram", "cards", "page"),
)
ONE_PERIOD: tuple[Layout, ...] = ("bar", "pie", "pictogram", "cards")  # they show a single year
WITH_TOTAL: tuple[Layout, ...] = ("table", "page")
ICONS = 10  # maximum in a row of a pictogram


@dataclass(frozen=True)
class Facts:
    """A statistic of a public body. `values` has the shape (rows, years)."""

    number: int
    layout: Layout
    topic: Topic
    body: str
    source: str
    footnote: str | None
    rows: tuple[str, ...]
    years: tuple[str, ...]
    values: tuple[tuple[Decimal, ...], ...]
    scanned: bool
    style: int  # index of colours and markers

    @property
    def title(self) -> str:
        return f"{self.body} {self.topic.subject}"

    def value(self, row: str, year: str) -> Decimal:
        return self.values[self.rows.index(row)][self.years.index(year)]

    def column(self, year: str) -> dict[str, Decimal]:
        return {row: self.value(row, year) for row in self.rows}

    def series(self, row: str) -> dict[str, Decimal]:
        return {year: self.value(row, year) for year in self.years}

    def total(self, year: str) -> Decimal:
        return sum(self.column(year).values(), Decimal())


def random_of(seed: str, *path: object) -> random.Random:
    """Return a random generator for one purpose. Numbers drawn for other purposes do not affect it."""
    message = "/".join(map(str, path)).encode()
    return random.Random(hmac.new(seed.encode(), message, hashlib.sha256).hexdigest())


def facts_of(seed: str, number: int, variant: str) -> Facts:
    """Return the statistic of figure `number`. Variants of the same number differ only in their values."""
    shape = random_of(seed, number, "shape")
    layout = LAYOUTS[number % len(LAYOUTS)]
    topic = shape.choice(TOPICS)
    body = shape.choice(BODIES)
    most = 4 if layout in ("stacked", "grouped", "line") else 5
    drawn = shape.sample(topic.rows, min(len(topic.rows), shape.randint(4 if layout in ONE_PERIOD else 3, most)))
    rows = tuple(sorted(drawn, key=topic.rows.index))  # ages and schools have a natural order
    if layout == "line":
        rows = rows[:3]
    first = shape.randint(2014, 2021)
    years = 1 if layout in ONE_PERIOD else shape.randint(3, 5)
    notes = (*FOOTNOTES, ROUNDING) if layout in WITH_TOTAL else FOOTNOTES
    footnote = shape.choice(notes) if shape.random() < 0.4 else None
    source = shape.choice(SOURCES).format(body=body)
    return Facts(
        number=number,
        layout=layout,
        topic=topic,
        body=body,
        source=source,
        footnote=footnote,
        rows=rows,
        years=tuple(f"{first + n}년" for n in range(years)),
        values=_values(random_of(seed, number, "values", variant), topic, len(rows), years, layout),
        scanned=shape.random() < 0.25,
        style=shape.randrange(4),
    )


def _values(
    numbers: random.Random, topic: Topic, rows: int, years: int, layout: Layout
) -> tuple[tuple[Decimal, ...], ...]:
    """Return distinct values of similar size that change by up to a fifth from year to year, shape (rows, years)."""
    step = Decimal(1).scaleb(-topic.decimals)
    largest = numbers.uniform(topic.low * 4, topic.high) if topic.high > topic.low * 4 else topic.high
    if layout == "pictogram":
        return tuple((Decimal(n),) for n in numbers.sample(range(2, ICONS + 1), rows))
    seen: set[Decimal] = set()
    found = []
    for _ in range(rows):
        level = numbers.uniform(0.25, 1.0) * largest
        series = []
        for _ in range(years):
            while (value := Decimal(level).quantize(step)) in seen:
                level *= 1.013
            seen.add(value)
            series.append(value)
            level = max(topic.low, level * numbers.uniform(0.82, 1.19))
        found.append(tuple(series))
    return tuple(found)


def format_value(value: Decimal) -> str:
    """Return a value as a document prints it, such as 1,234.5."""
    return f"{value:,}"
