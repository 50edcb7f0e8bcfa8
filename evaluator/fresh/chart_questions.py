"""Questions about charts, whose values are read from axes and areas.

Each function yields questions that are worded from a figure (`facts`). `answer(own)` gives the answer for one figure, the same
one or its twin (`own`). The two have the same groups, rows and years, and differ in values. UNANSWERABLE is the answer if the
figure does not show the value. None means that a reader could not be sure of one answer, for example if two values are too
close: the question is not asked.
"""

from collections.abc import Iterator
from decimal import Decimal
from itertools import combinations, pairwise, product

from evaluator.fresh.charts import class_of
from evaluator.fresh.facts import Facts
from evaluator.fresh.korean import (
    UNANSWERABLE,
    and_marker,
    base_unit,
    object_marker,
    spoken,
    subject_marker,
    topic_marker,
)
from evaluator.fresh.question import (
    READABLE_PIE,
    WIDEST,
    Question,
    about,
    differ,
    estimated,
    how_many,
    named,
    place_of,
    tolerance,
)

PIE_SHARE = round(100 * READABLE_PIE)  # percentage points that the reading of a sector may be off


def estimates(facts: Facts) -> Iterator[Question]:
    """Ask for a value that a chart shows. The chart of a page shows the second measure, one with two axes both."""
    measures: tuple[int, ...]
    if facts.layout == "dual":
        measures = (0, 1)
    elif facts.layout == "page":
        measures = (1,)
    else:
        measures = (0,)
    for row, year, measure in product(facts.rows, facts.years, measures):

        def answer(own: Facts, row: str = row, year: str = year, measure: int = measure) -> str | None:
            return estimated(own, own.value(own.groups[0], row, year, measure), measure)

        name = f"{facts.topic.said(row)}의 {facts.topic.measures[measure].name}"
        text = f"{year} {name}{topic_marker(name)} 약 몇 {base_unit(facts.topic.measures[measure].unit)}입니까?"
        yield Question("estimate", text, answer)


def totals(facts: Facts) -> Iterator[Question]:
    """Ask for the height of a whole stack."""
    measure = facts.topic.measures[0]
    for year in facts.years:

        def answer(own: Facts, year: str = year) -> str | None:
            total = sum((own.values[own.groups[0], row, year, 0] for row in own.rows), Decimal())
            return about(total, tolerance(own, total), measure)

        text = f"{year} 모든 {facts.topic.head}의 {measure.name}{object_marker(measure.name)} 합하면 약 몇 {base_unit(measure.unit)}입니까?"
        yield Question("sum", text, answer)


def gaps(facts: Facts) -> Iterator[Question]:
    """Ask for the difference between two rows."""
    measure = facts.topic.measures[0]
    for year, (a, b) in product(facts.years, combinations(facts.rows, 2)):

        def answer(own: Facts, year: str = year, a: str = a, b: str = b) -> str | None:
            x, y = (own.value(own.groups[0], row, year) for row in (a, b))
            if x is None or y is None:
                return UNANSWERABLE
            margin = tolerance(own, max(x, y)) * Decimal("1.5")  # two values are read
            return about(abs(x - y), margin, measure)

        first = facts.topic.said(a)
        text = f"{year} {first}{and_marker(first)} {facts.topic.said(b)}의 {measure.name}{topic_marker(measure.name)} 약 몇 {base_unit(measure.unit)} 차이가 납니까?"
        yield Question("difference", text, answer)


def chart_shares(facts: Facts) -> Iterator[Question]:
    """Ask for the share of a row in a pie. A share is not asked for if PIE_SHARE is more than a tenth of it (WIDEST)."""
    for row in facts.rows:

        def answer(own: Facts, row: str = row) -> str | None:
            column = own.column(own.groups[0], own.years[0]) or {}  # never empty: a pie has no unknown values
            share = 100 * column[row] / sum(column.values())
            return f"{round(share)}% (±{PIE_SHARE}%)" if share * WIDEST >= PIE_SHARE else None

        name = facts.topic.measures[0].name
        said = facts.topic.said(row)
        yield Question("share", f"전체 {name}에서 {said}{subject_marker(said)} 차지하는 비율은 약 몇 %입니까?", answer)


def trends(facts: Facts) -> Iterator[Question]:
    """Ask for the year of an extreme, or in how many years a value fell."""
    measure = facts.topic.measures[0].name
    for row in facts.rows:
        said = facts.topic.said(row)
        for words, place in (("많았던", 0), ("적었던", -1)):

            def year_of(own: Facts, row: str = row, place: int = place) -> str | None:
                series = own.series(own.groups[0], row)
                return place_of(own, series, place) if series else None

            yield Question(
                "trend", f"{said}의 {measure}{subject_marker(measure)} 가장 {words} 해는 몇 년입니까?", year_of
            )
        # These have five to seven years. Other charts with trends have three or four, of which a number is easily guessed.
        if facts.layout in ("line", "dual"):

            def falls(own: Facts, row: str = row) -> str | None:
                series = own.series(own.groups[0], row)
                steps = list(pairwise(series.values())) if series else []
                clear = all(differ(own, a, b) for a, b in steps)
                return f"{sum(b < a for a, b in steps)}해" if clear and steps else None

            yield Question(
                "trend",
                f"{facts.years[1]}부터 {facts.years[-1]}까지 {said}의 {measure}{subject_marker(measure)} 전년보다 줄어든 해는 모두 몇 해입니까?",
                falls,
            )


def crosses(facts: Facts) -> Iterator[Question]:
    """Find the largest or smallest row in a page's chart (second measure), and ask for its value in the table (first)."""
    first, second = facts.topic.measures
    for year, (word, place) in product(facts.years, (("많은", 0), ("적은", -1))):

        def answer(own: Facts, year: str = year, place: int = place) -> str | None:
            column = own.column(own.groups[0], year, 1)
            row = place_of(own, column, place, 1) if column else None
            value = own.value(own.groups[0], row, year, 0) if row else None
            return spoken(value, first.unit) if value is not None else None

        text = f"{year}에 {second.name}{subject_marker(second.name)} 가장 {word} {facts.topic.head}의 같은 해 {first.name}{topic_marker(first.name)} 몇 {base_unit(first.unit)}입니까?"
        yield Question("cross", text, answer)


def axes(facts: Facts) -> Iterator[Question]:
    """Ask for one measure in the year that the other singles out."""
    first, second = facts.topic.measures
    (row,) = facts.rows
    (group,) = facts.groups
    for word, place in (("많았던", 0), ("적었던", -1)):

        def answer(own: Facts, place: int = place) -> str | None:
            series = own.series(group, row, 1)
            year = place_of(own, series, place, 1) if series else None
            if year is None:
                return None
            return estimated(own, own.value(group, row, year))

        text = f"{second.name}{subject_marker(second.name)} 가장 {word} 해의 {first.name}{topic_marker(first.name)} 약 몇 {base_unit(first.unit)}입니까?"
        yield Question("cross", text, answer)


def labels(facts: Facts) -> Iterator[Question]:
    """Ask for the value of a district of a map. Some are printed, of the others only the class is shown."""
    row = facts.rows[0]
    for group, year in product(facts.groups, facts.years):

        def answer(own: Facts, group: str = group, year: str = year) -> str:
            value = own.value(group, row, year) if group in own.labelled else None
            return UNANSWERABLE if value is None else spoken(value, own.topic.measures[0].unit)

        yield Question("lookup", how_many(facts, named(facts, group, row, year, 0), 0), answer)


def classes(facts: Facts) -> Iterator[Question]:
    """Ask how many districts of a map are in a class, and which of two is in a higher one."""
    for number, place in enumerate(("가장 낮은", "두 번째로 낮은", "가운데", "두 번째로 높은", "가장 높은")):

        def inside(own: Facts, number: int = number) -> str | None:
            n = sum(class_of(own, group) == number for group in own.groups)  # without those that have no data
            return f"{n}곳" if n else None  # "the highest" could also mean the highest one that occurs

        yield Question("count", f"{place} 구간에 속하는 구·군은 모두 몇 곳입니까?", inside)
    for a, b in combinations(facts.groups, 2):

        def higher(own: Facts, a: str = a, b: str = b) -> str | None:
            first = class_of(own, a)
            second = class_of(own, b)
            if first is None or second is None:
                return UNANSWERABLE
            if first == second:
                return None
            return a if first > second else b

        name = facts.topic.measures[0].name
        yield Question(
            "largest",
            f"{a}{and_marker(a)} {b} 가운데 {name}{subject_marker(name)} 더 많은 구간에 속하는 곳은 어디입니까?",
            higher,
        )
