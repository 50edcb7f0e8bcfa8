"""The breakdown of a result: its scores by axis and bucket."""

import json
from functools import lru_cache
from typing import NamedTuple

LETTERS = "letter"  # the axis that counts what was answered; it has no scores
Place = tuple[str, str]  # axis, bucket


class Part(NamedTuple):
    em: float | None  # percent, as f1
    f1: float | None
    n: int | None

    @property
    def score(self) -> float:
        """EM, or where only that is known F1."""
        return self.f1 or 0.0 if self.em is None else self.em


@lru_cache(maxsize=2000)
def parts_of(breakdown: str) -> dict[Place, Part]:
    """The parts of a row's breakdown that have a score."""
    return {
        (axis, bucket): Part(own["em"], own["f1"], own["n"])
        for axis, buckets in json.loads(breakdown).items()
        if axis != LETTERS
        for bucket, own in buckets.items()
        if own["em"] is not None or own["f1"] is not None
    }


def letters_of(breakdown: str) -> dict[str, int]:
    """How often each letter was answered; empty where answers are not letters."""
    return {letter: own["n"] or 0 for letter, own in json.loads(breakdown).get(LETTERS, {}).items()}
