"""Compare sets of quantities, in which those that agree are the same."""

from collections.abc import Sequence

from evaluator.benchmarks.scoring.quantities import Quantity


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
