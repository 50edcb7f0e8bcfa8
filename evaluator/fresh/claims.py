"""Generate four descriptions of a figure, of which one is true.

Four variants of a figure are drawn alike: the figure, its twin, and two that are never shown. Each description is true of
exactly one of them, so anyone who sees only the descriptions is right in 25 % of the cases, as by guessing.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, product

from evaluator.fresh.charts import class_of
from evaluator.fresh.facts import Facts
from evaluator.fresh.korean import subject_marker, topic_marker, was
from evaluator.fresh.question import differ

MAX_TRIED = 400  # claims, in random order


@dataclass(frozen=True)
class Claim:
    """A sentence about a figure. `holds(variant)` is whether it is true of one variant of the figure."""

    text: str
    holds: Callable[[Facts], bool | None]  # None if the values are unknown or too close to compare by eye


def claims(facts: Facts) -> list[Claim]:
    """Return all claims, true or false, about figures with these districts, rows and years."""
    if facts.layout == "dual":  # has one row, so years are all that can be compared
        return list(_of_a_series(facts))
    if facts.layout == "map":  # has one row and one year
        return list(_between_districts(facts))
    return [*_of_a_year(facts), *_of_a_series(facts), *_of_extremes(facts)]


def _more(facts: Facts, a: Decimal | None, b: Decimal | None) -> bool | None:
    """Return whether a > b, or None if that cannot be told."""
    if a is None or b is None or not differ(facts, a, b):
        return None
    return a > b


def _in_both_orders(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each pair of names in both orders. `permutations` has another order, which would change the sets of published seeds."""
    for a, b in combinations(names, 2):
        yield a, b
        yield b, a


def _of_a_year(facts: Facts) -> Iterator[Claim]:
    measure = facts.topic.measures[0].name
    for group, year in product(facts.groups, facts.years):
        where = facts.where(group, "에서")
        for a, b in _in_both_orders(facts.rows):

            def compared(own: Facts, group: str = group, year: str = year, a: str = a, b: str = b) -> bool | None:
                return _more(own, own.value(group, a, year), own.value(group, b, year))

            first = facts.topic.said(a)
            second = facts.topic.said(b)
            text = f"{year} {where}{measure}{topic_marker(measure)} {first}{subject_marker(first)} {second}보다 많았다."
            yield Claim(text, compared)


def _of_a_series(facts: Facts) -> Iterator[Claim]:
    measure = facts.topic.measures[0].name
    for group, row in product(facts.groups, facts.rows):
        where = facts.where(group)
        for a, b in combinations(facts.years, 2):
            for word, sign in (("많았다", 1), ("적었다", -1)):

                def changed(
                    own: Facts, group: str = group, row: str = row, a: str = a, b: str = b, sign: int = sign
                ) -> bool | None:
                    grew = _more(own, own.value(group, row, b), own.value(group, row, a))
                    return None if grew is None else grew == (sign > 0)

                said = facts.topic.said(row)
                text = f"{where}{said}의 {measure}{topic_marker(measure)} {b}{subject_marker(b)} {a}보다 {word}."
                yield Claim(text, changed)


def _of_extremes(facts: Facts) -> Iterator[Claim]:
    measure = facts.topic.measures[0].name
    for group, year, row in product(facts.groups, facts.years, facts.rows):
        where = facts.where(group, "에서")
        for word, sign in (("많은", 1), ("적은", -1)):

            def is_extreme(
                own: Facts, group: str = group, year: str = year, row: str = row, sign: int = sign
            ) -> bool | None:
                # A reader may compare the row that a footnote excludes, or leave it out. No claim may depend on that.
                if row == own.excluded:
                    return None
                value = own.value(group, row, year)
                ahead = set()  # rows with more than the claim's row, or with less if it claims the least
                for other in (one for one in own.rows if one != row):
                    other_has_more = _more(own, own.value(group, other, year), value)
                    if other_has_more is None:
                        return None
                    if other_has_more == (sign > 0):
                        ahead.add(other)
                if own.excluded and ahead == {own.excluded}:
                    return None
                return not ahead

            # "가장 많았다" after the row could also mean the row's own largest year.
            head = facts.topic.head
            said = facts.topic.said(row)
            name = f"{measure}{subject_marker(measure)} 가장 {word} {head}{topic_marker(head)} {said}{was(said)}"
            yield Claim(f"{year} {where}{name}.", is_extreme)


def _between_districts(facts: Facts) -> Iterator[Claim]:
    measure = facts.topic.measures[0].name
    for a, b in _in_both_orders(facts.groups):

        def compared(own: Facts, a: str = a, b: str = b) -> bool | None:
            first = class_of(own, a)
            second = class_of(own, b)
            return None if first is None or second is None else first > second

        # "많은 구간에 속한다" could also compare the printed values of two districts in one class.
        yield Claim(f"{measure} 지도에서 {a}의 구간은 {b}의 구간보다 높다.", compared)


def choose_claims(variants: Sequence[Facts], chooser: random.Random) -> list[str] | None:
    """Return four descriptions, each true of the variant at its place only, or None if there are none.

    Variants are treated alike, so nothing about the descriptions reveals which one is true of the figure.
    """
    shuffled = claims(variants[0])
    chooser.shuffle(shuffled)
    found: dict[int, str] = {}
    for claim in shuffled[:MAX_TRIED]:
        place = _only_place(claim, variants)
        if place is not None:
            found.setdefault(place, claim.text)
        if len(found) == len(variants):
            return [found[place] for place in range(len(variants))]
    return None


def _only_place(claim: Claim, variants: Sequence[Facts]) -> int | None:
    """Return the place of the only variant that a claim is true of, or None if there is none, or if that cannot be told."""
    found: int | None = None
    for place, variant in enumerate(variants):
        holds = claim.holds(variant)
        if holds is None or (holds and found is not None):
            return None
        if holds:
            found = place
    return found
