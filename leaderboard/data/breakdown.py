"""The breakdown of a result: its scores by axis and bucket."""

from typing import NamedTuple

from submissions.records.index_rows import BoardRow


class BucketKey(NamedTuple):
    axis: str
    bucket: str


class Part(NamedTuple):
    """The score of a part of the questions."""

    score: float  # of the row's headline, in percent
    n: int | None


def parts_of(row: BoardRow) -> dict[BucketKey, Part]:
    """Return the parts of a row whose score is known."""
    return {
        BucketKey(axis, bucket): Part(own.score, own.n)
        for axis, buckets in row.breakdown.items()
        for bucket, own in buckets.items()
        if own.score is not None
    }
