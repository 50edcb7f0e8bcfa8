"""Which GPUs a model fits, by the peak memory that was measured while it answered one question at a time."""

from typing import Literal, get_args

Card = Literal["24", "48", "80"]  # GB of a GPU's memory; makers of cards count 2^30 bytes
SPARE_GB = 1.0  # for the driver, and for longer questions


def cards_that_fit(gpu_memory_gb: float | None) -> tuple[Card, ...]:
    """Return the cards that are large enough for a measured peak; none if it was not measured."""
    if gpu_memory_gb is None:
        return ()
    return tuple(card for card in get_args(Card) if gpu_memory_gb + SPARE_GB <= float(card))
