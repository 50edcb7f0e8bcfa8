"""Compare sets of quantities, in which those that agree are the same."""

from collections.abc import Sequence
from decimal import Decimal

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


def has_any(text: str, wanted: Sequence[Quantity]) -> bool:
    """Return whether a text that `plain` has returned has one of the wanted quantities."""
    return any(is_among(stated.quantity, wanted) for stated in scan(text))


def has_unit_of(unit: str, wanted: Sequence[Quantity]) -> bool:
    """Return whether a unit agrees with that of a wanted quantity, as no unit does with any."""
    return not unit or any(Quantity(1, unit).agrees(Quantity(1, other.unit)) for other in wanted)


def is_rounding(quantity: Quantity, wanted: Sequence[Quantity]) -> bool:
    """Return whether a quantity repeats a wanted one with fewer or more digits, as in 20.5% (20.4994%)."""
    return any(
        (not quantity.unit or not other.unit or quantity.unit == other.unit)
        and few
        and float(f"{float(many):.{digits(few) - 1}e}") == float(few)
        for other in wanted
        for few, many in ((quantity.value, other.value), (other.value, quantity.value))
    )


def digits(value: int | Decimal) -> int:
    """Return how many significant digits a number is written with."""
    return max(1, len(str(abs(value)).replace(".", "").strip("0")))
