"""The breakdown of a result: its scores by axis and bucket."""

from typing import NamedTuple

from submissions.records.index_rows import BoardRow


class BucketKey(NamedTuple):
    axis: str
    bucket: str


class Part(NamedTuple):
    """The score on some of the questions."""

    score: float  # headline score, in percent
    n: int | None


def parts_of(row: BoardRow) -> dict[BucketKey, Part]:
    """Return the parts of a row that have a score."""
    return {
        BucketKey(axis, name): Part(bucket.score, bucket.n)
        for axis, buckets in row.breakdown.items()
        for name, bucket in buckets.items()
        if bucket.score is not None
    }
