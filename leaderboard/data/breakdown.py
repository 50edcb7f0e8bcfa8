"""The breakdown of a result: its scores by axis and bucket."""

import json
from functools import lru_cache
from typing import NamedTuple


class BucketKey(NamedTuple):
    axis: str
    bucket: str


class BucketScore(NamedTuple):
    em: float | None  # percent, as f1
    f1: float | None
    n: int | None
    headline: float | None = None  # where that is neither EM nor F1

    @property
    def score(self) -> float:
        """The headline of its own, else EM, or where only that is known F1."""
        known = (value for value in (self.headline, self.em, self.f1) if value is not None)
        return next(known, 0.0)


@lru_cache(maxsize=2000)
def bucket_scores(breakdown: str) -> dict[BucketKey, BucketScore]:
    """The buckets of a row's breakdown that have a score."""
    return {
        BucketKey(axis, bucket): BucketScore(own.get("em"), own.get("f1"), own.get("n"), own.get("score"))
        for axis, buckets in json.loads(breakdown).items()
        for bucket, own in buckets.items()
        if own.get("em") is not None or own.get("f1") is not None
    }


def answer_counts(breakdown: str, axis: str) -> dict[str, int]:
    """How often each kind of answer was given, by the axis of a histogram; empty where none was counted."""
    return {kind: own.get("n") or 0 for kind, own in json.loads(breakdown).get(axis, {}).items()}
