"""Questions about printed values: tables, cards, pictograms and the text of reports.

A question is worded from a figure (`facts`) and answered for it and for its twin (`own`). The two have the same groups, rows
and years, and differ in values. A footnote of a table may exclude one row from the subtotals (`Facts.excluded`).
"""

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations, pairwise, product

from evaluator.fresh.facts import Facts
from evaluator.fresh.korean import (
    UNANSWERABLE,
    and_marker,
    base_unit,
    multiplier,
    object_marker,
    spoken,
    subject_marker,
    topic_marker,
)
from evaluator.fresh.pages import growth as printed_growth
from evaluator.fresh.pages import punctual_share
from evaluator.fresh.question import (
    Kind,
    Question,
    about,
    how_many,
    in_words,
    named,
    percent,
    place_of,
)


def lookups(facts: Facts) -> Iterator[Question]:
    """Ask for a printed value."""
    measures = (0,) if facts.layout in ("page", "cards", "pictogram") else (0, 1)
    for group, row, year, measure in product(facts.groups, facts.rows, facts.years, measures):

        def answer(own: Facts, group: str = group, row: str = row, year: str = year, measure: int = measure) -> str:
            value = own.value(group, row, year, measure)
            return UNANSWERABLE if value is None else spoken(value, own.topic.measures[measure].unit)

        yield Question("lookup", how_many(facts, named(facts, group, row, year, measure), measure), answer)


def ranks(facts: Facts) -> Iterator[Question]:
    """Ask for the largest, the smallest or the second largest row of a group, by name."""
    if len(facts.rows) <= 2:
        return
    head = facts.topic.head
    asked: list[tuple[Kind, str, int]] = [("largest", "가장 많은", 0), ("largest", "가장 적은", -1)]
    if facts.layout != "area":
        asked.append(("rank", "두 번째로 많은", 1))
    for group, year, (kind, words, place) in product(facts.groups, facts.years, asked):

        def answer(own: Facts, group: str = group, year: str = year, place: int = place) -> str | None:
            column = own.column(group, year)
            if not column:
                return None
            counted = {row: value for row, value in column.items() if row != own.excluded}
            found = place_of(own, column, place)
            # It is not clear whether the excluded row counts. None if the answer depends on it.
            return found if found == place_of(own, counted, place) else None

        where = facts.where(group, "에서")
        name = facts.topic.measures[0].name
        text = f"{year} {where}{name}{subject_marker(name)} {words} {head}{topic_marker(head)} 무엇입니까?"
        yield Question(kind, text, answer)


def sums(facts: Facts) -> Iterator[Question]:
    """Ask for the sum of two rows of the first group."""
    for year, (a, b) in product(facts.years, combinations(facts.rows, 2)):
        group = facts.groups[0]

        def answer(own: Facts, year: str = year, a: str = a, b: str = b, group: str = group) -> str:
            return in_words(own, [own.value(group, a, year), own.value(group, b, year)], lambda pair: pair[0] + pair[1])

        where = facts.where(group)
        measure = facts.topic.measures[0]
        first = facts.topic.said(a)
        text = f"{year} {where}{first}{and_marker(first)} {facts.topic.said(b)}의 {measure.name}{object_marker(measure.name)} 합하면 몇 {base_unit(measure.unit)}입니까?"
        yield Question("sum", text, answer)


def differences(facts: Facts) -> Iterator[Question]:
    """Ask for differences: between districts in tables, between rows elsewhere."""
    measure = facts.topic.measures[0]

    def between(a: tuple[str, str, str], b: tuple[str, str, str], text: str) -> Question:
        def answer(own: Facts) -> str:
            return in_words(own, [own.value(*a), own.value(*b)], lambda pair: abs(pair[0] - pair[1]))

        return Question("difference", f"{text} 몇 {base_unit(measure.unit)} 차이가 납니까?", answer)

    for year, row in product(facts.years, facts.rows):
        for a, b in combinations(facts.groups, 2):
            name = f"{year} {facts.topic.said(row)}의 {measure.name}"
            yield between((a, row, year), (b, row, year), f"{name}{topic_marker(name)} {a}{and_marker(a)} {b} 사이에")
    if len(facts.groups) == 1:
        for year, (a, b) in product(facts.years, combinations(facts.rows, 2)):
            group = facts.groups[0]
            first = facts.topic.said(a)
            yield between(
                (group, a, year),
                (group, b, year),
                f"{year} {first}{and_marker(first)} {facts.topic.said(b)}의 {measure.name}{topic_marker(measure.name)}",
            )


def growths(facts: Facts) -> Iterator[Question]:
    """Ask by how many percent a row has risen from one year to the next."""
    measure = facts.topic.measures[0].name
    for group, row in product(facts.groups, facts.rows):
        for before, after in pairwise(facts.years):

            def answer(
                own: Facts, group: str = group, row: str = row, before: str = before, after: str = after
            ) -> str | None:
                old = own.value(group, row, before)
                new = own.value(group, row, after)
                if old is None or new is None:
                    return UNANSWERABLE
                if new <= old * Decimal("1.005"):
                    return None  # the words ask how much it rose
                return percent(100 * (new - old) / old)

            where = facts.where(group)
            text = f"{where}{facts.topic.said(row)}의 {measure}{topic_marker(measure)} {before}에 비해 {after}에 몇 % 늘었습니까? 소수점 아래 첫째 자리까지 반올림하십시오."
            yield Question("growth", text, answer)


def per(facts: Facts) -> Iterator[Question]:
    """Ask how much of one measure there is for one unit of the other, or which share of it if the units are the same."""
    little_index, big_index = sorted((0, 1), key=facts.topic.base_size)
    little = facts.topic.measures[little_index]
    big = facts.topic.measures[big_index]
    is_share = base_unit(little.unit) == base_unit(big.unit)
    for group, row, year in product(facts.groups, facts.rows, facts.years):

        def answer(own: Facts, group: str = group, row: str = row, year: str = year) -> str | None:
            little_value = own.value(group, row, year, little_index)
            big_value = own.value(group, row, year, big_index)
            if little_value is None or big_value is None:
                return UNANSWERABLE
            if is_share:
                return percent(100 * little_value * multiplier(little.unit) / (big_value * multiplier(big.unit)))
            ratio = big_value * multiplier(big.unit) / (little_value * multiplier(little.unit))
            close = abs(ratio * 10 % 1 - Decimal("0.5")) < Decimal("0.02")
            return None if close else f"{ratio.quantize(Decimal('0.1'), ROUND_HALF_UP):,}{base_unit(big.unit)}"

        where = f"{year} {facts.where(group)}"
        if is_share:
            text = f"{where}{facts.topic.said(row)}의 {little.name}{topic_marker(little.name)} {big.name}의 몇 %입니까?"
        else:
            unit = f"{little.name.removesuffix(' 수')} 1{base_unit(little.unit)}당"
            text = f"{where}{facts.topic.said(row)}의 {unit} {big.name}{topic_marker(big.name)} 몇 {base_unit(big.unit)}입니까?"
        yield Question("per", f"{text} 소수점 아래 첫째 자리까지 반올림하십시오.", answer)


def shares(facts: Facts) -> Iterator[Question]:
    """Ask for the share of a row in the subtotal of its group, which the row must be a part of."""
    for group, row, year in product(facts.groups, facts.rows, facts.years):
        if row == facts.excluded:
            continue

        def answer(own: Facts, group: str = group, row: str = row, year: str = year) -> str | None:
            value = own.value(group, row, year)
            total = own.subtotal(group, year)
            return UNANSWERABLE if value is None or total is None else percent(100 * value / total)

        measure = facts.topic.measures[0].name
        said = facts.topic.said(row)
        text = f"{year} {group} {measure} 소계에서 {said}{subject_marker(said)} 차지하는 비율은 몇 %입니까? 소수점 아래 첫째 자리까지 반올림하십시오."
        yield Question("share", text, answer)


def counts(facts: Facts) -> Iterator[Question]:
    """Ask in how many districts one row exceeds another, which needs the whole table."""
    measure = facts.topic.measures[0].name
    for year, (a, b) in product(facts.years, combinations(facts.rows, 2)):

        def answer(own: Facts, year: str = year, a: str = a, b: str = b) -> str | None:
            pairs = [(own.value(group, a, year), own.value(group, b, year)) for group in own.groups]
            known = [(x, y) for x, y in pairs if x is not None and y is not None]
            return f"{sum(x > y for x, y in known)}곳" if len(known) == len(pairs) else None

        yield Question(
            "count",
            f"{year}에 {facts.topic.said(a)}의 {measure}{subject_marker(measure)} {facts.topic.said(b)}의 {measure}보다 많은 구·군은 모두 몇 곳입니까?",
            answer,
        )


def footnotes(facts: Facts) -> Iterator[Question]:
    """Ask for the sum of a group with the row that the footnote excludes from its subtotal."""
    if not facts.excluded:
        return
    measure = facts.topic.measures[0]
    for group, year in product(facts.groups, facts.years):

        def answer(own: Facts, group: str = group, year: str = year) -> str | None:
            assert own.excluded
            return in_words(
                own, [own.subtotal(group, year), own.value(group, own.excluded, year)], lambda both: both[0] + both[1]
            )

        text = f"주석에 따라 소계에서 제외된 항목까지 모두 더하면, {year} {group}의 {measure.name}{topic_marker(measure.name)} 몇 {base_unit(measure.unit)}입니까?"
        yield Question("footnote", text, answer)


def text_facts(facts: Facts) -> Iterator[Question]:
    """Ask for the percentage that only the text of a report gives."""
    yield Question("lookup", "기한 내 자료를 제출한 부서는 몇 %입니까?", lambda own: f"{punctual_share(own)}%")


def years_before(facts: Facts) -> Iterator[Question]:
    """Ask for the value of the year before, from a value and its change."""
    measure = facts.topic.measures[0]
    for row in facts.rows:

        def answer(own: Facts, row: str = row) -> str | None:
            before = own.values[own.groups[0], row, own.years[0], 0] / (1 + printed_growth(own, row) / 100)
            # 0.6 % is allowed, ten times what rounding the change to 0.1 % can move the result.
            return about(before, before * Decimal("0.006"), measure)

        text = f"{facts.topic.said(row)}의 전년도 {measure.name}{topic_marker(measure.name)} 약 몇 {base_unit(measure.unit)}입니까? 전년 대비 증감률로 계산하십시오."
        yield Question("growth", text, answer)
