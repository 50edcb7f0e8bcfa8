"""Compare lists of quantities as sets, in which quantities that agree (`Quantity.agrees`) are the same.

`set` cannot be used, because agreeing is not transitive: 5 agrees with 5건 and with 5명.
"""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from evaluator.benchmarks.scoring.quantities import Quantity, scan


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
    """Return whether a unit agrees with that of one of the others. "" agrees with any."""
    return not unit or any(Quantity(1, unit).agrees(Quantity(1, other.unit)) for other in others)


def is_rounding(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    """Return whether a quantity repeats one of the others with fewer or more digits, as in 20.5% (20.4994%)."""
    for other in others:
        has_same_unit = not quantity.unit or not other.unit or quantity.unit == other.unit
        if has_same_unit and (_rounds(quantity.value, other.value) or _rounds(other.value, quantity.value)):
            return True
    return False


def _rounds(rounded: int | Decimal, exact: int | Decimal) -> bool:
    """Return whether a number that is not zero is another one rounded to its significant digits: 20.5 is 20.4994.

    A half is rounded up, as people do: 13 is 12.5.
    """
    if not rounded or not exact:
        return False
    last_digit = Decimal(1).scaleb(Decimal(exact).adjusted() - digits(rounded) + 1)
    return (Decimal(exact) / last_digit).to_integral_value(ROUND_HALF_UP) * last_digit == rounded


def digits(value: int | Decimal) -> int:
    """Return how many significant digits a number has without zeros at its end: 0.025 and 2500 have 2."""
    return max(1, len(f"{abs(value):f}".replace(".", "").strip("0")))
