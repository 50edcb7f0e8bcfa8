"""What the board shows about a benchmark."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from submissions.texts.text import Text


@dataclass(frozen=True)
class Axis:
    """What scores are broken down by: a column of the data, and a key of the result's breakdown."""

    name: str
    title: Text
    buckets: Mapping[str, Text] = field(default_factory=dict)  # titles of those whose names are no words to read


@dataclass(frozen=True)
class ScoreColumn:
    """A column of the board with the headline score of one bucket of the breakdown."""

    title: Text
    axis: str
    bucket: str


@dataclass(frozen=True)
class Card:
    """What the board shows about a benchmark."""

    title: str
    split: str  # the split its published numbers were measured on: only rows of it are ranked
    n: int  # questions in that split
    axes: tuple[Axis, ...]
    summary: Text
    source_url: str | None  # of its makers; None: it is this board's own
    hub_task: str  # the id under which its scores are on the Hub's model pages, without the metric
    headline: str = "em"  # the metric that ranks
    reported_headline: str | None = None  # the one that ranks reported rows, if their makers do not have the headline
    ranking_note: Text | None = None  # why reported rows are ranked by another metric
    chance: float | None = None  # percent right by guessing, where answers are of a few kinds
    columns: tuple[ScoreColumn, ...] = ()
    histogram: Axis | None = None  # counts of answers, where those are of a few kinds; its title is the chart's
    histogram_note: Text | None = None  # how to read that chart
    data_terms: Text | None = None  # whose its test set is, and what may be done with it
    access: Text | None = None  # who made and holds it, and who may have seen or trained on it
    data_stays: bool = False  # whether those terms keep it in the country

    def bucket_title(self, bucket: str) -> Text:
        """Return the title of a bucket of any axis, by default its name."""
        known = (axis.buckets[bucket] for axis in self.axes if bucket in axis.buckets)
        return next(known, Text(bucket, bucket))

    def axis_title(self, name: str) -> Text:
        """Return the title of a breakdown axis, by default its name."""
        known = (*self.axes, *((self.histogram,) if self.histogram else ()))
        return next((axis.title for axis in known if axis.name == name), Text(name, name))
