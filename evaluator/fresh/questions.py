"""Generate the questions about a figure: for a number with its unit, a name, a year, or 알 수 없음.

A question is asked about both variants of a figure in the same words, but with different answers. A model that memorised
the wording gains nothing. The exception are questions that neither figure can answer.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations, pairwise, product
from typing import Literal

from evaluator.benchmarks.scoring.readings import UNANSWERABLE
from evaluator.fresh.charts import class_bounds
from evaluator.fresh.facts import TABLES, Facts, axis_of
from evaluator.fresh.korean import (
    and_marker,
    base_unit,
    multiplier,
    object_marker,
    spoken,
    subject_marker,
    topic_marker,
)
from evaluator.fresh.pages import growth, punctual_share
from evaluator.fresh.topics import Measure

Kind = Literal[
    "lookup", "estimate", "largest", "rank", "sum", "difference", "growth", "per", "share", "count", "trend", "cross",
    "footnote", "unanswerable", "description",
]  # fmt: skip
# What a person can read from a chart, in steps of the labelled ticks, or as a share of the value or of the whole.
READABLE_STEP, READABLE_LOG, READABLE_PIE = Decimal("0.2"), Decimal("0.12"), Decimal("0.02")
EXACT = {*TABLES, "page", "cards", "pictogram"}  # layouts whose first measure is read exactly


@dataclass(frozen=True)
class Question:
    kind: Kind
    text: str
    answer: Callable[[Facts], str | None]  # None if the figure has no single answer


def questions(facts: Facts) -> list[Question]:
    """Return all questions about figures with these districts, rows and years."""
    return [question for generate in _GENERATORS[facts.layout] for question in generate(facts)] + list(_absent(facts))


def tolerance(facts: Facts, value: Decimal, measure: int = 0) -> Decimal:
    """Return how far a reading may be from a value of a chart, in printed units."""
    if facts.layout == "log":
        return READABLE_LOG * value
    if facts.layout == "pie":
        return READABLE_PIE * sum(facts.values[facts.groups[0], row, facts.years[0], 0] for row in facts.rows)
    factor = Decimal("1.5") if facts.layout in ("stacked", "area") else Decimal(1)  # two edges are read
    return READABLE_STEP * factor * axis_of(facts, measure).step


def differ(facts: Facts, a: Decimal, b: Decimal, measure: int = 0) -> bool:
    """Return whether two values can be told apart in the figure."""
    if facts.layout in EXACT and (facts.layout != "page" or measure == 0):
        return a != b
    return abs(a - b) > tolerance(facts, max(a, b), measure) / 2


def _about(value: Decimal, margin: Decimal, measure: Measure) -> str:
    """Return an answer with a tolerance, both rounded to what can be read."""
    size = max(Decimal(1).scaleb(margin.adjusted() - 1), Decimal(1).scaleb(-measure.decimals))
    rounded, allowed = ((x / size).quantize(Decimal(1), ROUND_HALF_UP) * size for x in (value, margin))
    return f"{spoken(rounded, measure.unit)} (±{spoken(allowed, measure.unit)})"


def _percent(value: Decimal) -> str | None:
    """Return a percentage with one decimal, or None if it is close to where rounding goes the other way."""
    near_half = abs(abs(value) * 10 % 1 - Decimal("0.5")) < Decimal("0.02")
    return None if near_half else f"{value.quantize(Decimal('0.1'), ROUND_HALF_UP)}%"


def _named(facts: Facts, group: str, row: str, year: str, measure: int) -> str:
    where = f"{group} " if len(facts.groups) > 1 else ""
    return f"{year} {where}{row}의 {facts.topic.measures[measure].name}"


def _how_many(facts: Facts, name: str, measure: int, ending: str = "입니까?") -> str:
    return f"{name}{topic_marker(name)} 몇 {base_unit(facts.topic.measures[measure].unit)}{ending}"


# --- tables ---


def _lookups(facts: Facts) -> Iterator[Question]:
    measures = (0,) if facts.layout in ("page", "cards", "pictogram") else (0, 1)
    for group, row, year, measure in product(facts.groups, facts.rows, facts.years, measures):

        def answer(
            own: Facts, group: str = group, row: str = row, year: str = year, measure: int = measure
        ) -> str | None:
            value = own.value(group, row, year, measure)
            return None if value is None else spoken(value, own.topic.measures[measure].unit)

        yield Question("lookup", _how_many(facts, _named(facts, group, row, year, measure), measure), answer)


def _unknown(facts: Facts) -> Iterator[Question]:
    """Ask for cells that show … here. The twin usually shows a value there."""
    for group, row, year, measure in sorted(facts.blanks):

        def answer(own: Facts, group: str = group, row: str = row, year: str = year, measure: int = measure) -> str:
            value = own.value(group, row, year, measure)
            return UNANSWERABLE if value is None else spoken(value, own.topic.measures[measure].unit)

        yield Question("unanswerable", _how_many(facts, _named(facts, group, row, year, measure), measure), answer)


def _ranks(facts: Facts) -> Iterator[Question]:
    """Ask for the largest, the smallest or the second largest row of a group, by name."""
    head = facts.topic.head
    asked: tuple[tuple[Kind, str, int], ...] = (
        ("largest", "가장 많은", 0),
        ("largest", "가장 적은", -1),
        ("rank", "두 번째로 많은", 1),
    )
    for group, year, (kind, words, place) in product(facts.groups, facts.years, asked):

        def answer(own: Facts, group: str = group, year: str = year, place: int = place) -> str | None:
            column = own.column(group, year)
            return _place(own, column, place) if column else None

        where = f"{group}에서 " if len(facts.groups) > 1 else ""
        when = "" if facts.layout in ("bar", "log", "pie", "pictogram", "cards") else f"{year} "
        name = facts.topic.measures[0].name
        text = f"{when}{where}{name}{subject_marker(name)} {words} {head}{topic_marker(head)} 무엇입니까?"
        if len(facts.rows) > 2 and (kind == "largest" or facts.layout != "area"):
            yield Question(kind, text, answer)


def _place(facts: Facts, column: dict[str, Decimal], place: int, measure: int = 0) -> str | None:
    """Return the name at a place in descending order, or None if a neighbour is too close to tell."""
    order = sorted(column, key=lambda name: -column[name])
    chosen = order[place]
    others = [other for other in order if other != chosen]
    return chosen if all(differ(facts, column[chosen], column[other], measure) for other in others) else None


def _sums(facts: Facts) -> Iterator[Question]:
    for year, (a, b) in product(facts.years, combinations(facts.rows, 2)):
        group = facts.groups[0]
        when = f"{year} " if len(facts.years) > 1 else ""

        def answer(own: Facts, year: str = year, a: str = a, b: str = b, group: str = group) -> str | None:
            return _in_words(
                own, [own.value(group, a, year), own.value(group, b, year)], lambda pair: pair[0] + pair[1]
            )

        where = f"{group} " if len(facts.groups) > 1 else ""
        measure = facts.topic.measures[0]
        text = f"{when}{where}{a}{and_marker(a)} {b}의 {measure.name}{object_marker(measure.name)} 합하면 몇 {base_unit(measure.unit)}입니까?"
        yield Question("sum", text, answer)


def _in_words(facts: Facts, values: list[Decimal | None], combine: Callable[[list[Decimal]], Decimal]) -> str | None:
    known = [value for value in values if value is not None]
    return spoken(combine(known), facts.topic.measures[0].unit) if len(known) == len(values) else None


def _differences(facts: Facts) -> Iterator[Question]:
    """Ask for differences: between districts in tables, between rows elsewhere."""
    measure = facts.topic.measures[0]

    def between(a: tuple[str, str, str], b: tuple[str, str, str], text: str) -> Question:
        def answer(own: Facts) -> str | None:
            return _in_words(own, [own.value(*a), own.value(*b)], lambda pair: abs(pair[0] - pair[1]))

        return Question("difference", f"{text} 몇 {base_unit(measure.unit)} 차이가 납니까?", answer)

    for year, row in product(facts.years, facts.rows):
        for a, b in combinations(facts.groups, 2):
            name = f"{year} {row}의 {measure.name}"
            yield between((a, row, year), (b, row, year), f"{name}{topic_marker(name)} {a}{and_marker(a)} {b} 사이에")
    if len(facts.groups) == 1:
        for year, (a, b) in product(facts.years, combinations(facts.rows, 2)):
            when = f"{year} " if len(facts.years) > 1 else ""
            where = facts.groups[0]
            yield between(
                (where, a, year),
                (where, b, year),
                f"{when}{a}{and_marker(a)} {b}의 {measure.name}{topic_marker(measure.name)}",
            )


def _growths(facts: Facts) -> Iterator[Question]:
    measure = facts.topic.measures[0].name
    for group, row in product(facts.groups, facts.rows):
        for before, after in pairwise(facts.years):

            def answer(
                own: Facts, group: str = group, row: str = row, before: str = before, after: str = after
            ) -> str | None:
                old, new = own.value(group, row, before), own.value(group, row, after)
                return _percent(100 * (new - old) / old) if old and new and new > old * Decimal("1.005") else None

            where = f"{group} " if len(facts.groups) > 1 else ""
            text = f"{where}{row}의 {measure}{topic_marker(measure)} {before}에 비해 {after}에 몇 % 늘었습니까? 소수점 아래 첫째 자리까지 반올림하십시오."
            yield Question("growth", text, answer)


def _per(facts: Facts) -> Iterator[Question]:
    """Ask how much of one measure there is for one unit of the other."""
    small, large = sorted((0, 1), key=lambda index: facts.topic.base_size(index))
    little, big = (facts.topic.measures[index] for index in (small, large))
    for group, row, year in product(facts.groups, facts.rows, facts.years):

        def answer(own: Facts, group: str = group, row: str = row, year: str = year) -> str | None:
            a, b = own.value(group, row, year, large), own.value(group, row, year, small)
            if not a or not b:
                return None
            ratio = a * multiplier(big.unit) / (b * multiplier(little.unit))
            close = abs(ratio * 10 % 1 - Decimal("0.5")) < Decimal("0.02")
            return None if close else f"{ratio.quantize(Decimal('0.1'), ROUND_HALF_UP):,}{base_unit(big.unit)}"

        where = f"{group} " if len(facts.groups) > 1 else ""
        text = (
            f"{year} {where}{row}의 {little.name} 1{base_unit(little.unit)}당 {big.name}{topic_marker(big.name)} 몇 {base_unit(big.unit)}입니까? "
            "소수점 아래 첫째 자리까지 반올림하십시오."
        )
        yield Question("per", text, answer)


def _shares(facts: Facts) -> Iterator[Question]:
    for group, row, year in product(facts.groups, facts.rows, facts.years):
        if row == facts.excluded:
            continue

        def answer(own: Facts, group: str = group, row: str = row, year: str = year) -> str | None:
            value, total = own.value(group, row, year), own.subtotal(group, year)
            return _percent(100 * value / total) if value and total else None

        measure = facts.topic.measures[0].name
        text = f"{year} {group} {measure} 소계에서 {row}{subject_marker(row)} 차지하는 비율은 몇 %입니까? 소수점 아래 첫째 자리까지 반올림하십시오."
        yield Question("share", text, answer)


def _counts(facts: Facts) -> Iterator[Question]:
    """Ask in how many districts one row exceeds another, which needs the whole table."""
    measure = facts.topic.measures[0].name
    for year, (a, b) in product(facts.years, combinations(facts.rows, 2)):

        def answer(own: Facts, year: str = year, a: str = a, b: str = b) -> str | None:
            pairs = [(own.value(group, a, year), own.value(group, b, year)) for group in own.groups]
            known = [(x, y) for x, y in pairs if x is not None and y is not None]
            return f"{sum(x > y for x, y in known)}곳" if len(known) == len(pairs) else None

        yield Question(
            "count", f"{year}에 {a}의 {measure}{subject_marker(measure)} {b}보다 많은 구·군은 모두 몇 곳입니까?", answer
        )


def _footnotes(facts: Facts) -> Iterator[Question]:
    if not facts.excluded:
        return
    measure = facts.topic.measures[0]
    for group, year in product(facts.groups, facts.years):

        def answer(own: Facts, group: str = group, year: str = year) -> str | None:
            assert own.excluded
            total, left_out = own.subtotal(group, year), own.value(group, own.excluded, year)
            return spoken(total + left_out, measure.unit) if total and left_out else None

        text = f"주석에 따라 소계에서 제외된 항목까지 모두 더하면, {year} {group}의 {measure.name}{topic_marker(measure.name)} 몇 {base_unit(measure.unit)}입니까?"
        yield Question("footnote", text, answer)


# --- charts ---


def _estimates(facts: Facts) -> Iterator[Question]:
    measures = (0, 1) if facts.layout == "dual" else (1,) if facts.layout == "page" else (0,)
    for row, year, measure in product(facts.rows, facts.years, measures):

        def answer(own: Facts, row: str = row, year: str = year, measure: int = measure) -> str:
            value = own.values[own.groups[0], row, year, measure]
            return _about(value, tolerance(own, value, measure), own.topic.measures[measure])

        name = f"{row}의 {facts.topic.measures[measure].name}"
        when = f"{year} " if len(facts.years) > 1 else ""
        yield Question(
            "estimate",
            f"{when}{name}{topic_marker(name)} 약 몇 {base_unit(facts.topic.measures[measure].unit)}입니까?",
            answer,
        )


def _totals(facts: Facts) -> Iterator[Question]:
    """Ask for the height of a whole stack."""
    measure = facts.topic.measures[0]
    for year in facts.years:

        def answer(own: Facts, year: str = year) -> str:
            total = sum((own.values[own.groups[0], row, year, 0] for row in own.rows), Decimal())
            return _about(total, tolerance(own, total), measure)

        text = f"{year} 모든 {facts.topic.head}의 {measure.name}{object_marker(measure.name)} 합하면 약 몇 {base_unit(measure.unit)}입니까?"
        yield Question("sum", text, answer)


def _gaps(facts: Facts) -> Iterator[Question]:
    measure = facts.topic.measures[0]
    for year, (a, b) in product(facts.years, combinations(facts.rows, 2)):

        def answer(own: Facts, year: str = year, a: str = a, b: str = b) -> str | None:
            x, y = (own.values[own.groups[0], row, year, 0] for row in (a, b))
            margin = tolerance(own, max(x, y)) * Decimal("1.5")
            return _about(abs(x - y), margin, measure) if abs(x - y) > 2 * margin else None

        when = f"{year} " if len(facts.years) > 1 else ""
        text = f"{when}{a}{and_marker(a)} {b}의 {measure.name}{topic_marker(measure.name)} 약 몇 {base_unit(measure.unit)} 차이가 납니까?"
        yield Question("difference", text, answer)


def _chart_shares(facts: Facts) -> Iterator[Question]:
    for row in facts.rows:

        def answer(own: Facts, row: str = row) -> str | None:
            column = own.column(own.groups[0], own.years[0]) or {}
            share = 100 * column[row] / sum(column.values())
            return f"{round(share)}% (±3%)" if share > 6 else None

        name = facts.topic.measures[0].name
        yield Question("share", f"전체 {name}에서 {row}{subject_marker(row)} 차지하는 비율은 약 몇 %입니까?", answer)


def _trends(facts: Facts) -> Iterator[Question]:
    """Ask for the year of an extreme, or in how many years a value fell."""
    measure = facts.topic.measures[0].name
    for row in facts.rows:
        for words, place in (("많았던", 0), ("적었던", -1)):

            def year_of(own: Facts, row: str = row, place: int = place) -> str | None:
                series = own.series(own.groups[0], row)
                return _place(own, series, place) if series else None

            yield Question(
                "trend", f"{row}의 {measure}{subject_marker(measure)} 가장 {words} 해는 몇 년입니까?", year_of
            )
        if len(facts.years) >= 5 and facts.layout in ("line", "dual"):

            def falls(own: Facts, row: str = row) -> str | None:
                series = own.series(own.groups[0], row)
                steps = list(pairwise(series.values())) if series else []
                clear = all(differ(own, a, b) for a, b in steps)
                return f"{sum(b < a for a, b in steps)}개" if clear else None

            yield Question(
                "trend",
                f"{facts.years[1]}부터 {facts.years[-1]}까지 {row}의 {measure}{subject_marker(measure)} 전년보다 줄어든 해는 모두 몇 개입니까?",
                falls,
            )


def _crosses(facts: Facts) -> Iterator[Question]:
    """Ask for the value in one figure of the row that another figure singles out."""
    first, second = facts.topic.measures
    for year, (word, place) in product(facts.years, (("많은", 0), ("적은", -1))):

        def from_chart(own: Facts, year: str = year, place: int = place) -> str | None:
            column = own.column(own.groups[0], year, 1)
            row = _place(own, column, place, 1) if column else None
            value = own.value(own.groups[0], row, year, 0) if row else None
            return spoken(value, first.unit) if value is not None else None

        text = f"{year}에 {second.name}{subject_marker(second.name)} 가장 {word} {facts.topic.head}의 같은 해 {first.name}{topic_marker(first.name)} 몇 {base_unit(first.unit)}입니까?"
        yield Question("cross", text, from_chart)


def _axes(facts: Facts) -> Iterator[Question]:
    """Ask for one measure in the year that the other singles out."""
    first, second = facts.topic.measures
    (row,), (group,) = facts.rows, facts.groups
    for word, place in (("많았던", 0), ("적었던", -1)):

        def answer(own: Facts, place: int = place) -> str | None:
            series = own.series(group, row, 1)
            year = _place(own, series, place, 1) if series else None
            if year is None:
                return None
            value = own.values[group, row, year, 0]
            return _about(value, tolerance(own, value), first)

        text = f"{second.name}{subject_marker(second.name)} 가장 {word} 해의 {first.name}{topic_marker(first.name)} 약 몇 {base_unit(first.unit)}입니까?"
        yield Question("cross", text, answer)


def _text_facts(facts: Facts) -> Iterator[Question]:
    yield Question("lookup", "기한 내 자료를 제출한 부서는 몇 %입니까?", lambda own: f"{punctual_share(own)}%")


def _years_before(facts: Facts) -> Iterator[Question]:
    """Ask for the value of the year before, from a value and its change."""
    measure = facts.topic.measures[0]
    for row in facts.rows:

        def answer(own: Facts, row: str = row) -> str:
            value = own.values[own.groups[0], row, own.years[0], 0] / (1 + growth(own, row) / 100)
            return _about(value, value * Decimal("0.006"), measure)

        text = f"{row}의 전년도 {measure.name}{topic_marker(measure.name)} 약 몇 {base_unit(measure.unit)}입니까? 전년 대비 증감률로 계산하십시오."
        yield Question("growth", text, answer)


def _classes(facts: Facts) -> Iterator[Question]:
    """Ask how many districts of a map are in a class, or in a class and above."""
    for number, place in enumerate(("가장 낮은", "두 번째로 낮은", "가운데", "두 번째로 높은", "가장 높은")):

        def inside(own: Facts, number: int = number) -> str | None:
            n = sum(class_of(own, group) == number for group in own.groups)
            return f"{n}곳" if n else None  # "the highest" could also mean the highest one that occurs

        yield Question("count", f"{place} 구간에 속하는 구·군은 모두 몇 곳입니까?", inside)
    for a, b in combinations(facts.groups, 2):

        def higher(own: Facts, a: str = a, b: str = b) -> str | None:
            first, second = class_of(own, a), class_of(own, b)
            return None if first == second else a if first > second else b

        name = facts.topic.measures[0].name
        yield Question(
            "largest",
            f"{a}{and_marker(a)} {b} 가운데 {name}{subject_marker(name)} 더 많은 구간에 속하는 곳은 어디입니까?",
            higher,
        )


def class_of(facts: Facts, group: str) -> int:
    value = facts.values[group, facts.rows[0], facts.years[0], 0]
    return sum(value >= bound for bound in class_bounds(facts))


# --- unanswerable ---


def _absent(facts: Facts) -> Iterator[Question]:
    """Ask for what the figure does not show: another row, another year, an exact value on a map."""
    row, year = facts.absent
    measure = facts.topic.measures[0]
    group = facts.groups[0]
    asked = [(facts.rows[0], year), (row, facts.years[-1])]
    if facts.layout == "map":
        asked.append((facts.rows[0], facts.years[0]))
    about = "" if facts.layout in EXACT else "약 "
    for one, when in asked:
        name = f"{when} {group} {one}의 {measure.name}" if len(facts.groups) > 1 else f"{when} {one}의 {measure.name}"
        text = f"{name}{topic_marker(name)} {about}몇 {base_unit(measure.unit)}입니까?"
        yield Question("unanswerable", text, lambda own: UNANSWERABLE)


_GENERATORS: dict[str, tuple[Callable[[Facts], Iterator[Question]], ...]] = {
    "table": (_lookups, _unknown, _ranks, _differences, _growths, _per, _shares, _counts, _footnotes),
    "two_pages": (_lookups, _unknown, _differences, _growths, _per, _shares, _counts, _footnotes),
    "page": (_lookups, _text_facts, _estimates, _growths, _crosses, _trends),
    "cards": (_lookups, _ranks, _sums, _differences, _years_before),
    "bar": (_estimates, _ranks, _gaps),
    "log": (_estimates, _ranks),
    "grouped": (_estimates, _ranks, _gaps, _trends),
    "stacked": (_estimates, _ranks, _totals),
    "area": (_estimates, _totals, _ranks),
    "line": (_estimates, _ranks, _gaps, _trends),
    "dual": (_estimates, _trends, _axes),
    "pie": (_chart_shares, _ranks, _estimates),
    "pictogram": (_lookups, _ranks, _sums, _differences),
    "map": (_classes,),
}


def choose_questions(facts: Facts, twin: Facts, chooser: random.Random, count: int) -> list[tuple[Question, str, str]]:
    """Return up to `count` questions of different kinds, each with its answers for both variants.

    The answers differ, unless neither figure can answer the question.
    """
    by_kind: dict[str, list[Question]] = {}
    for question in questions(facts):
        by_kind.setdefault(question.kind, []).append(question)
    kinds = sorted(by_kind, key=lambda kind: chooser.random() + (0.35 if kind == "unanswerable" else 0))
    chosen: list[tuple[Question, str, str]] = []
    for kind in kinds:
        chooser.shuffle(by_kind[kind])
        for question in by_kind[kind]:
            answers = question.answer(facts), question.answer(twin)
            if all(answers) and (answers[0] != answers[1] or answers[0] == UNANSWERABLE):
                chosen.append((question, str(answers[0]), str(answers[1])))
                break
        if len(chosen) == count:
            break
    return chosen
