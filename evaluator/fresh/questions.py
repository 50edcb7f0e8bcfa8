"""Generate the questions about a figure: some ask for a number with its unit, others which of four descriptions is true.

A question is asked about both variants of a figure in the same words, but with different answers. A model that memorised
the wording gains nothing.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations, product
from typing import Literal

from evaluator.fresh.facts import ICONS, Facts, format_value
from evaluator.fresh.topics import and_marker, direction_marker, object_marker, subject_marker, topic_marker

Kind = Literal["lookup", "largest", "sum", "difference", "year_of", "ratio", "conversion", "description"]
VISIBLE_RATIO = Decimal("1.04")  # smallest ratio of two values whose difference is visible in a figure
Difficulty = Literal["easy", "medium", "hard"]
# (true of the figure, true of its twin) → places among the four descriptions.
PLACES: dict[tuple[bool | None, bool | None], tuple[int, ...]] = {
    (True, False): (0,),
    (False, True): (1,),
    (False, False): (2, 3),
}


@dataclass(frozen=True)
class Question:
    kind: Kind
    text: str
    answer: Callable[[Facts], str | None]  # None if the figure has no single answer


@dataclass(frozen=True)
class Claim:
    text: str
    holds: Callable[[Facts], bool | None]  # None if the values are too close to compare by eye
    about: frozenset[str]  # claims with equal subjects may be opposites, so only one of them is used
    kind: str  # the four descriptions have the same kind, because some kinds are true more often than others


def difficulty(kind: Kind, facts: Facts) -> Difficulty:
    """Return the difficulty by design: steps of arithmetic, number of values in the figure, and whether it is a scan."""
    steps = {"lookup": 0, "largest": 1, "year_of": 1, "sum": 2, "description": 2}.get(kind, 3)
    crowded = facts.layout in ("merged", "page", "stacked") or len(facts.rows) * len(facts.years) > 12
    points = steps + crowded + facts.scanned
    return "easy" if points <= 1 else "medium" if points <= 2 else "hard"


def questions(facts: Facts) -> list[Question]:
    """Return all questions about figures with these rows and years."""
    return [*_lookups(facts), *_largest(facts), *_sums(facts), *_differences(facts), *_years(facts), *_ratios(facts)]


def _quantity(facts: Facts, value: Decimal) -> str:
    return f"{format_value(_in_unit(facts, value))} {facts.topic.unit}"


def _in_unit(facts: Facts, value: Decimal) -> Decimal:
    return value * icon_value(facts) if facts.layout == "pictogram" else value


def icon_value(facts: Facts) -> int:
    """Return the value of one icon of a pictogram, a round number."""
    per_icon = facts.topic.high / ICONS / 2
    size = 10 ** max(0, len(str(int(per_icon))) - 1)
    return int(max(1, int(per_icon // size)) * size)


def _lookups(facts: Facts) -> Iterator[Question]:
    topic = facts.topic
    for row, year in product(facts.rows, facts.years):
        named = f"{year} {facts.body}의 {row} {topic.measure}"

        def answer(own: Facts, row: str = row, year: str = year) -> str:
            return _quantity(own, own.value(row, year))

        yield Question("lookup", f"{named}{topic_marker(named)} 얼마입니까?", answer)
        if topic.converted:
            unit, factor = topic.converted

            def in_smaller(own: Facts, row: str = row, year: str = year, unit: str = unit, by: int = factor) -> str:
                return f"{format_value((_in_unit(own, own.value(row, year)) * by).normalize().quantize(Decimal(1)))} {unit}"

            text = f"{named}{topic_marker(named)} 몇 {unit}입니까? 단위를 {unit}{direction_marker(unit)} 바꾸어 답하십시오."
            yield Question("conversion", text, in_smaller)


def _largest(facts: Facts) -> Iterator[Question]:
    measure = facts.topic.measure
    for year, (word, choose) in product(facts.years, (("많은", max), ("적은", min))):

        def answer(own: Facts, year: str = year, choose: Callable[..., Decimal] = choose) -> str:
            return _quantity(own, choose(own.column(year).values()))

        yield Question(
            "largest",
            f"{year} {measure}{subject_marker(measure)} 가장 {word} 항목의 {measure}{topic_marker(measure)} 얼마입니까?",
            answer,
        )


def _sums(facts: Facts) -> Iterator[Question]:
    for year, (a, b) in product(facts.years, combinations(facts.rows, 2)):
        text = f"{year} {a}{and_marker(a)} {b}의 {facts.topic.measure}{topic_marker(facts.topic.measure)} 합하면 얼마입니까?"

        def answer(own: Facts, year: str = year, a: str = a, b: str = b) -> str:
            return _quantity(own, own.value(a, year) + own.value(b, year))

        yield Question("sum", text, answer)


def _differences(facts: Facts) -> Iterator[Question]:
    measure = facts.topic.measure
    for row, (a, b) in product(facts.rows, combinations(facts.years, 2)):

        def between_years(own: Facts, row: str = row, a: str = a, b: str = b) -> str:
            return _quantity(own, abs(own.value(row, a) - own.value(row, b)))

        yield Question("difference", f"{row} {measure}의 {a}과 {b} 차이는 얼마입니까?", between_years)
    for year, (a, b) in product(facts.years, combinations(facts.rows, 2)):

        def between_rows(own: Facts, year: str = year, a: str = a, b: str = b) -> str:
            return _quantity(own, abs(own.value(a, year) - own.value(b, year)))

        yield Question("difference", f"{year} {a}{and_marker(a)} {b}의 {measure} 차이는 얼마입니까?", between_rows)


def _years(facts: Facts) -> Iterator[Question]:
    if len(facts.years) < 3:
        return
    measure = facts.topic.measure
    for row, (word, choose) in product(facts.rows, (("많았던", max), ("적었던", min))):

        def answer(own: Facts, row: str = row, choose: Callable[..., str] = choose) -> str:
            series = own.series(row)
            return choose(series, key=series.__getitem__)

        yield Question("year_of", f"{row} {measure}{subject_marker(measure)} 가장 {word} 해는 몇 년입니까?", answer)


def _ratios(facts: Facts) -> Iterator[Question]:
    measure = facts.topic.measure
    for year, row in product(facts.years, facts.rows):

        def answer(own: Facts, row: str = row, year: str = year) -> str | None:
            share = 100 * own.value(row, year) / own.total(year)
            rounded = share.quantize(Decimal("0.1"), ROUND_HALF_UP)
            near_half = abs(share * 10 % 1 - Decimal("0.5")) < Decimal(
                "0.02"
            )  # rounding twice could give another digit
            return None if near_half else f"{rounded}%"

        text = (
            f"{year} 제시된 항목의 {measure}{object_marker(measure)} 모두 더한 값에서 {row}{subject_marker(row)} 차지하는 비율은 "
            "몇 %입니까? 소수점 아래 첫째 자리까지 반올림하십시오."
        )
        yield Question("ratio", text, answer)


def claims(facts: Facts) -> list[Claim]:
    """Return all claims, true or false, about figures with these rows and years."""
    return [*_claims_of_a_year(facts), *_claims_of_a_row(facts)]


def _claims_of_a_year(facts: Facts) -> Iterator[Claim]:
    measure = facts.topic.measure
    for year in facts.years:
        for row in facts.rows:
            for word, sign in (("많았다", 1), ("적었다", -1)):

                def first(own: Facts, row: str = row, year: str = year, sign: int = sign) -> bool | None:
                    values = own.column(year)
                    others = [sign * value for name, value in values.items() if name != row]
                    return _clearly_more(sign * values[row], max(others))

                text = f"{year}에는 {row}의 {measure}{subject_marker(measure)} 가장 {word}."
                yield Claim(text, first, frozenset({year, word}), word)
        for a, b in combinations(facts.rows, 2):
            for more, less in ((a, b), (b, a)):

                def compared(own: Facts, more: str = more, less: str = less, year: str = year) -> bool | None:
                    return _clearly_more(own.value(more, year), own.value(less, year))

                text = f"{year}에는 {more}의 {measure}{subject_marker(measure)} {less}보다 많았다."
                yield Claim(text, compared, frozenset({year, a, b}), "compared")


def _claims_of_a_row(facts: Facts) -> Iterator[Claim]:
    measure, years = facts.topic.measure, facts.years
    if len(years) < 3:
        return
    for row in facts.rows:
        for year in years:

            def peak(own: Facts, row: str = row, year: str = year) -> bool | None:
                series = own.series(row)
                return _clearly_more(series[year], max(v for name, v in series.items() if name != year))

            text = f"{row}의 {measure}{topic_marker(measure)} {year}에 가장 많았다."
            yield Claim(text, peak, frozenset({row}), "peak")
        for a, b in combinations(years, 2):
            for word, sign in (("늘었다", 1), ("줄었다", -1)):

                def changed(own: Facts, row: str = row, a: str = a, b: str = b, sign: int = sign) -> bool | None:
                    return _clearly_more(sign * own.value(row, b), sign * own.value(row, a))

                text = f"{row}의 {measure}{topic_marker(measure)} {a}보다 {b}에 {word}."
                yield Claim(text, changed, frozenset({row, a, b}), word)


def _clearly_more(a: Decimal, b: Decimal) -> bool | None:
    """Return whether a > b, or None if they differ too little to see. Both must have the same sign."""
    larger, smaller = max(abs(a), abs(b)), min(abs(a), abs(b))
    return None if larger < smaller * VISIBLE_RATIO else a > b


def choose_questions(facts: Facts, twin: Facts, chooser: random.Random, count: int) -> list[tuple[Question, str, str]]:
    """Return up to `count` questions of different kinds, each with its answers for both variants, which differ."""
    by_kind: dict[str, list[Question]] = {}
    for question in questions(facts):
        by_kind.setdefault(question.kind, []).append(question)
    chosen = []
    for kind in chooser.sample(sorted(by_kind), len(by_kind)):
        chooser.shuffle(by_kind[kind])
        for question in by_kind[kind]:
            answers = question.answer(facts), question.answer(twin)
            if answers[0] and answers[1] and answers[0] != answers[1]:
                chosen.append((question, answers[0], answers[1]))
                break
        if len(chosen) == count:
            break
    return chosen


def choose_claims(facts: Facts, twin: Facts, chooser: random.Random) -> list[str] | None:
    """Return four descriptions, or None if the figure and its twin allow none.

    The first is true only of the figure, the second only of its twin, the others of neither.
    """
    by_kind: dict[str, list[Claim]] = {}
    for claim in claims(facts):
        by_kind.setdefault(claim.kind, []).append(claim)
    for kind in chooser.sample(sorted(by_kind), len(by_kind)):
        chooser.shuffle(by_kind[kind])
        if four := _pick_four(facts, twin, by_kind[kind]):
            return four
    return None


def _pick_four(facts: Facts, twin: Facts, shuffled: list[Claim]) -> list[str] | None:
    """Return four claims of one kind in the order of PLACES, or None if there are not enough."""
    chosen: dict[int, Claim] = {}
    about: set[frozenset[str]] = set()
    for claim in shuffled:
        held = claim.holds(facts), claim.holds(twin)
        free = [place for place in PLACES.get(held, ()) if place not in chosen]
        if free and claim.about not in about:
            chosen[free[0]] = claim
            about.add(claim.about)
    return [chosen[place].text for place in range(4)] if len(chosen) == 4 else None
