"""The breakdown of a result: its scores by axis and bucket."""

import json
from functools import lru_cache
from typing import NamedTuple

from leaderboard.data.ranking import headline_of
from submissions.records.index_rows import BoardRow


class BucketKey(NamedTuple):
    axis: str
    bucket: str


class BucketScore(NamedTuple):
    score: float  # of the benchmark's headline metric, in percent
    n: int | None


def bucket_scores(row: BoardRow) -> dict[BucketKey, BucketScore]:
    """The buckets of a row's breakdown whose score is known."""
    return parse_scores(row.breakdown, headline_of(row))


@lru_cache(maxsize=2000)
def parse_scores(breakdown: str, headline: str) -> dict[BucketKey, BucketScore]:
    """The same of a breakdown in JSON. A bucket has the headline as `score` where that is neither EM nor F1."""
    return {
        BucketKey(axis, bucket): BucketScore(score, own.get("n"))
        for axis, buckets in json.loads(breakdown).items()
        for bucket, own in buckets.items()
        if (score := own.get(headline if headline in ("em", "f1") else "score")) is not None
    }


def answer_counts(breakdown: str, axis: str) -> dict[str, int]:
    """How often each kind of answer was given, by the axis of a histogram; empty where none was counted."""
    return {kind: own.get("n") or 0 for kind, own in json.loads(breakdown).get(axis, {}).items()}
