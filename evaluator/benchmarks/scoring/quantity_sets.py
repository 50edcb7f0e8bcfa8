"""Compare lists of quantities as sets, in which quantities that agree (`Quantity.agrees`) are the same.

`set` cannot be used, because agreeing is not transitive: 5 agrees with 5건 and with 5명.
"""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from evaluator.benchmarks.scoring.quantities import Quantity, scan
from evaluator.benchmarks.scoring.units import units_agree


def without(some: Sequence[Quantity], others: Sequence[Quantity]) -> list[Quantity]:
    """Return the quantities that agree with none of the others."""
    return [quantity for quantity in some if not is_among(quantity, others)]


def distinct(stated: Sequence[Quantity]) -> list[Quantity]:
    """Return the quantities without those that agree with an earlier one."""
    found: list[Quantity] = []
    for quantity in stated:
        if not is_among(quantity, found):
            found.append(quantity)
    return found


def same_quantities(some: Sequence[Quantity], others: Sequence[Quantity]) -> bool:
    """Return whether each quantity agrees with one of the others, and the reverse."""
    return all(is_among(q, others) for q in some) and all(is_among(q, some) for q in others)


def is_among(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    """Return whether a quantity agrees with one of the others."""
    for other in others:  # noqa: SIM110 - three times as fast as any() of a generator
        if quantity.agrees(other):
            return True
    return False


def has_any(text: str, some: Sequence[Quantity]) -> bool:
    """Return whether a text that `plain` has returned has one of these quantities."""
    return any(is_among(mention.quantity, some) for mention in scan(text))


def has_unit_of(unit: str, others: Sequence[Quantity]) -> bool:
    """Return whether one of the others may be given in a unit: 12,400 m for 12.4 km. "" may stand for any unit."""
    return not unit or any(units_agree(unit, other.unit) for other in others)


def is_rounding(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    """Return whether a quantity repeats one of the others with fewer or more digits, as in 20.5% (20.4994%)."""
    for other in others:
        has_same_unit = not quantity.unit or not other.unit or quantity.unit == other.unit
        if has_same_unit and (_rounds(quantity.value, other.value) or _rounds(other.value, quantity.value)):
            return True
    return False


def _rounds(rounded: int | Decimal, exact: int | Decimal) -> bool:
    """Return whether a number is another one rounded to as many significant digits as it has: 20.5 is 20.4994.

    A half is rounded up, as people do: 13 is 12.5. A number that is rounded to tens, hundreds or more must be right in the
    first two digits of the exact one, because its zeros may be exact: 300 is 297, but 20 is not 15. Zero rounds no number.
    """
    if not rounded or not exact:
        return False
    first_place = Decimal(exact).adjusted()  # 20.4994 begins with tens, which are place 1
    last_place = first_place - digits(rounded) + 1
    if last_place > 0:  # not coarser than the second digit
        last_place = min(last_place, first_place - 1)
    step = Decimal(1).scaleb(last_place)  # 20.4994 rounded to three digits goes in steps of 0.1
    return (Decimal(exact) / step).to_integral_value(ROUND_HALF_UP) * step == rounded


def digits(value: int | Decimal) -> int:
    """Return how many significant digits a number has without zeros at either end: 0.025 and 2500 have 2."""
    return max(1, len(f"{abs(value):f}".replace(".", "").strip("0")))
