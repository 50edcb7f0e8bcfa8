"""Define public records of errata: items of a test set whose answer was corrected, or that were withdrawn."""

from typing import Annotated

from pydantic import Field

from submissions.records.base import Key, Label, Metric, Name, PublicText, Record, Time

MARK = "+"  # between the version of a benchmark and the number of errata of its set

# Part of the path of a record. A set with another name can have no errata.
SplitName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")]


class Moved(Record):
    """A result whose score or rank an erratum changed. Scores are in percent, by the metric that ranks the result.

    Ranks are those among all results on the set that were scored again; None if the result has no rank.
    """

    key: Key
    model: Label
    before: Metric
    after: Metric
    rank_before: int | None = Field(default=None, ge=1)
    rank_after: int | None = Field(default=None, ge=1)


class Erratum(Record):
    """An erratum of one item of a test set, stored at `errata/`.

    The item is named by its id. Its content is not public, and neither is the corrected answer.
    """

    benchmark: Name
    split: SplitName
    number: int = Field(ge=1)  # within the set
    correction: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]  # the name of the private file with the right answer
    item: PublicText
    withdrawn: bool  # otherwise its answer was corrected
    reason: PublicText
    since: Time
    version: Label  # of the benchmark, since this erratum
    rescored: int = Field(default=0, ge=0)  # results that were scored again
    not_rescored: int = Field(default=0, ge=0)  # results of an earlier version, mostly without stored answers
    moved: list[Moved] = Field(default_factory=list)

    @property
    def path(self) -> str:
        return f"{self.folder_of(self.benchmark, self.split)}{self.number:04}.json"

    @staticmethod
    def folder_of(benchmark: str, split: str) -> str:
        return f"errata/{benchmark}/{split}/"


def version_with(version: str, errata: int) -> str:
    """Return the version of a benchmark whose set has this many errata: ("3", 2) -> "3+2", ("3", 0) -> "3"."""
    return f"{version}{MARK}{errata}" if errata else version


def version_without(version: str) -> str:
    """Return the version of the prompt and the scoring rule, without the errata of the set: "3+2" -> "3"."""
    return version.partition(MARK)[0]


def errata_in(version: str) -> int:
    """Return how many errata a version counts: "3+2" -> 2, "3" -> 0. Raises ValueError if it is not such a version."""
    return int(version.partition(MARK)[2] or 0)
