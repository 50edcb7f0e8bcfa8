"""The ranked rows of one benchmark, with what many pages need to know of them."""

from functools import cached_property
from itertools import chain

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.breakdown import BucketKey, parts_of
from leaderboard.data.chart_data import Kind, axes_in, charts_of, has_data
from leaderboard.data.columns import filled
from leaderboard.data.query import sort_rows
from leaderboard.data.ranking import RankedRow
from submissions.store.base import blob_id


class Table:
    """The ranked rows of a benchmark. All else is computed from them once, when it is first needed.

    A table stays the same object until one of its rows changes, so that a result of one benchmark costs nothing for the others.
    """

    def __init__(self, benchmark: str, rows: list[RankedRow]) -> None:
        self.benchmark = benchmark
        self.rows = rows
        self._sorted: dict[str, list[RankedRow]] = {}
        self._parts: dict[tuple[str, str], dict[BucketKey, list[float]]] = {}
        self._bests: dict[tuple[str, str], str] = {}

    @cached_property
    def filled_columns(self) -> frozenset[str]:
        """The keys of the columns that have a value in some row."""
        return filled(self.benchmark, self.rows)

    @cached_property
    def axes(self) -> list[str]:
        """The axes that the rows have scores on."""
        return axes_in(self.rows)

    @cached_property
    def charts(self) -> list[Kind]:
        """The charts that have data, if no row is filtered out."""
        return [kind for kind in charts_of(self.benchmark) if has_data(kind, self.rows)]

    def sorted(self, sort: str) -> list[RankedRow]:
        """Return the rows in the order of a sort key."""
        if sort not in self._sorted:
            self._sorted[sort] = sort_rows(self.rows, sort)
        return self._sorted[sort]

    def parts(self, split: str, headline: str) -> dict[BucketKey, list[float]]:
        """Return the scores of all rows of a split by part of the questions, sorted."""
        key = split, headline
        if key not in self._parts:
            found: dict[BucketKey, list[float]] = {}
            for row in (r.row for r in self.rows):
                if (row.split, row.headline) == key:
                    for part, own in parts_of(row).items():
                        found.setdefault(part, []).append(own.score)
            self._parts[key] = {part: sorted(own) for part, own in found.items()}
        return self._parts[key]

    def best_of_parts(self, split: str, headline: str) -> str:
        """Return a text that changes with the best score of any part of the questions."""
        key = split, headline
        if key not in self._bests:
            bests = {part: scores[-1] for part, scores in self.parts(split, headline).items()}
            self._bests[key] = blob_id(repr(sorted(bests.items())).encode())
        return self._bests[key]

    def part_scores(self, part: BucketKey) -> dict[str, float]:
        """Return the scores on a part of the questions that needs a skill, by the keys of the rows with a rank and a score."""
        return self._part_scores.get(part, {})

    @cached_property
    def _part_scores(self) -> dict[BucketKey, dict[str, float]]:
        """The scores on the parts that need a skill, by part and key of the row. Reading a breakdown takes long, so each is read once."""
        needed = chain.from_iterable(BENCHMARKS[self.benchmark].card.skills.values())
        parts = {BucketKey(*part) for part in needed if part}
        found: dict[BucketKey, dict[str, float]] = {part: {} for part in parts}
        if not parts:
            return found
        for r in self.rows:
            scored = parts_of(r.row) if r.rank else {}
            for part in parts & scored.keys():
                found[part][r.row.key] = scored[part].score
        return found
