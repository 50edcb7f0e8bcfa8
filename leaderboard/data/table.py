"""The ranked rows of one benchmark, with what is computed from them for many pages."""

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
    """The ranked rows of a benchmark. Everything else is computed from them once, when it is first needed.

    `LiveBoard` makes a new table when a row of the benchmark changes, and keeps the others with what they have computed.
    """

    def __init__(self, benchmark: str, rows: list[RankedRow]) -> None:
        self.benchmark = benchmark
        self.rows = rows
        self._in_order: dict[str, list[RankedRow]] = {}  # by sort key
        self._scores_by_part: dict[tuple[str, str], dict[BucketKey, list[float]]] = {}  # by split and headline
        self._bests: dict[tuple[str, str], str] = {}  # by split and headline

    @cached_property
    def filled_columns(self) -> frozenset[str]:
        """The keys of the columns that have a value in some row."""
        return filled(self.benchmark, self.rows)

    @cached_property
    def axes(self) -> list[str]:
        """The axes of parts that the rows have scores on."""
        return axes_in(self.rows)

    @cached_property
    def charts(self) -> list[Kind]:
        """The charts that have data if all rows are shown."""
        return [kind for kind in charts_of(self.benchmark) if has_data(kind, self.rows)]

    def in_order(self, sort: str) -> list[RankedRow]:
        """Return the rows in the order of a sort key."""
        if sort not in self._in_order:
            self._in_order[sort] = sort_rows(self.rows, sort)
        return self._in_order[sort]

    def scores_by_part(self, split: str, headline: str) -> dict[BucketKey, list[float]]:
        """Return the scores of all rows with this split and headline metric by part of the questions, ascending."""
        key = split, headline
        if key not in self._scores_by_part:
            scores: dict[BucketKey, list[float]] = {}
            for row in (r.row for r in self.rows):
                if (row.split, row.headline) == key:
                    for bucket_key, part in parts_of(row).items():
                        scores.setdefault(bucket_key, []).append(part.score)
            self._scores_by_part[key] = {bucket_key: sorted(values) for bucket_key, values in scores.items()}
        return self._scores_by_part[key]

    def best_of_parts(self, split: str, headline: str) -> str:
        """Return a text that changes with the best score of any part of the questions.

        The static edition needs it to know whether the page of a model, which shows these scores, has to be written again.
        """
        key = split, headline
        if key not in self._bests:
            bests = {part: scores[-1] for part, scores in self.scores_by_part(split, headline).items()}
            self._bests[key] = blob_id(repr(sorted(bests.items())).encode())
        return self._bests[key]

    def skill_scores(self, part: BucketKey) -> dict[str, float]:
        """Return the scores of ranked rows on a part of the questions, by key of the row.

        Only parts that the card assigns to a skill (`Card.skills`) have scores here.
        """
        return self._skill_scores.get(part, {})

    @cached_property
    def _skill_scores(self) -> dict[BucketKey, dict[str, float]]:
        """The scores of ranked rows on the parts that need a skill, by part and key of the row.

        All parts are collected at once, because unpacking the breakdown of a row takes long.
        """
        parts_of_skills = chain.from_iterable(BENCHMARKS[self.benchmark].card.skills.values())
        wanted = {BucketKey(*part) for part in parts_of_skills if part}
        scores: dict[BucketKey, dict[str, float]] = {part: {} for part in wanted}
        if not wanted:
            return scores
        for r in self.rows:
            if not r.rank:
                continue
            parts = parts_of(r.row)
            for key in wanted & parts.keys():
                scores[key][r.row.key] = parts[key].score
        return scores
