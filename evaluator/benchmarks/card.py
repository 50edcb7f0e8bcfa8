"""Define the card of a benchmark: what the board, exports and docs show about it, and what decides its ranking.

A benchmark declares one as `card`; docs/benchmark-reference.md has a table of the fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from submissions.texts.text import Text

ITEMS = Text("문항", "items")
Skill = Literal["tables", "charts", "documents", "transcription"]  # columns of the overview


@dataclass(frozen=True)
class Axis:
    """An axis to break scores down by. It is a column of the data and a key of the result's breakdown."""

    name: str
    title: Text
    buckets: Mapping[str, Text] = field(default_factory=dict)  # titles of buckets whose names are not readable
    is_closed: bool = False  # whether an import refuses rows with another bucket


@dataclass(frozen=True)
class ScoreColumn:
    """A column of the board that shows the headline score of one bucket of the breakdown."""

    title: Text
    axis: str
    bucket: str


@dataclass(frozen=True)
class Baseline:
    """A score that no model earned, measured by this project.

    `make bench PARTS=fresh` prints those of ko-fresh, and `python -m evaluator strategies` those of kind "constant".
    """

    # people; rules that read the picture; rules that do not see it; one output for all items, or the question repeated
    kind: Literal["human", "baseline", "blind", "constant"]
    title: Text
    score: float  # percent


def constant_answer(score: float) -> Baseline:
    """Return the baseline for one fixed output, such as A, a list of all numbers, or the question itself.

    `score` is the most that any of them earns on the sample set, in percent, as `python -m evaluator strategies` prints it.
    """
    return Baseline("constant", Text("늘 같은 답(샘플 문항)", "One answer to all items (sample items)"), score)


@dataclass(frozen=True)
class Card:
    """The description of a benchmark that the board shows."""

    title: str
    split: str  # the split that published numbers were measured on; only its rows are ranked
    n: int  # questions in that split, or other items
    axes: tuple[Axis, ...]
    summary: Text
    source_url: str | None  # the makers' page; None if this board made the benchmark
    hub_task: str  # prefix of the task ids on the Hub's model pages, before the metric
    unit: Text = ITEMS  # what `n` counts
    headline: str = "em"  # the metric that ranks
    reported_headline: str | None = None  # the metric that ranks reported rows, if they lack the headline
    ranking_note: Text | None = None  # why reported rows are ranked by another metric
    chance: float | None = None  # percent right by guessing, if there are only a few possible answers
    columns: tuple[ScoreColumn, ...] = ()
    # skill → the parts of the set that need it, as (axis, bucket), or None for the whole set. The overview ranks models by
    # skill.
    skills: Mapping[Skill, tuple[tuple[str, str] | None, ...]] = field(default_factory=dict)
    baselines: tuple[Baseline, ...] = ()
    ladder: str | None = None  # axis whose first bucket is clean and whose others are degraded copies of the same items
    histogram: Axis | None = None  # counts of each answer, if only a few are possible; its title is the chart's
    histogram_note: Text | None = None  # how to read that chart
    data_terms: Text | None = None  # who owns the test set, and what they allow
    access: Text | None = None  # who made and holds the test set, and who may have seen it or trained on it
    samples_are_public: bool = True  # whether the sample items may be shown with their answers; test sets never are
    is_public: bool = False  # whether anybody can download the test set
    # Set if the test set is private and its answers are so short that candidates can be tried: metric → the step in points
    # to which it is rounded. Of the other metrics, only the headline and those that need no gold answers are published
    # (docs/security.md).
    coarse: Mapping[str, float] | None = None
    data_stays: bool = False  # whether `data_terms` forbid taking the data abroad

    @property
    def task(self) -> Text:
        """What is asked: the first sentence of the summary, in both languages."""
        return Text(*(f"{summary.partition('. ')[0].rstrip('.')}." for summary in self.summary))

    def bucket_title(self, bucket: str) -> Text:
        """Return the title of a bucket of any axis, by default its name."""
        titles = (axis.buckets[bucket] for axis in self.axes if bucket in axis.buckets)
        return next(titles, Text(bucket, bucket))

    def axis_title(self, name: str) -> Text:
        """Return the title of a breakdown axis or of the histogram, by default its name."""
        axes = [*self.axes, self.histogram] if self.histogram else self.axes
        return next((axis.title for axis in axes if axis.name == name), Text(name, name))
