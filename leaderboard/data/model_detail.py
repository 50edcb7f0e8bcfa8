"""The data of a model's page: its profile, strengths, relatives, and results with their full records.

`pages/model.py` calls `model_page` with a name from the address, and fills the template with the `ModelPage`. Unlike the
tables, the page reads the records of results from the store.
"""

from dataclasses import dataclass, field
from itertools import chain

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from leaderboard.data.breakdown import Part, parts_of
from leaderboard.data.comparison import BaseDifference, base_difference
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.models import ModelRow
from leaderboard.data.profile import Profile
from leaderboard.data.ranking import RankedRow
from leaderboard.data.reproductions import Reproduction, reproductions
from leaderboard.data.standing import Relatives
from leaderboard.data.view import View
from leaderboard.facts.lineage import Lineage, lineage_of
from leaderboard.facts.register import Number, numbers_of_model
from submissions.records.index_rows import BoardRow, QueueRow
from submissions.records.request import Status
from submissions.records.result import EvalResult

MAX_NOTABLE = 3  # strengths, and as many weaknesses
MIN_COMPARED = 3  # results with a score on a part; with fewer, the distance from the median means little


@dataclass(frozen=True)
class BucketComparison:
    """A result's score on a part of the questions, beside those of all results with the same split and metric."""

    bucket: str
    part: Part
    best: float  # percent
    median: float  # percent
    compared: int  # number of results with a score on it, including this one


@dataclass(frozen=True)
class Detail:
    """A result with its full record."""

    ranked: RankedRow
    record: EvalResult
    parts: dict[str, list[BucketComparison]]  # by axis
    base: BaseDifference | None = None  # None if the base model was not measured under the same conditions
    reproductions: list[Reproduction] = field(default_factory=list)  # those that this result is part of
    signed: bool = False  # whether its signed statement is published

    @property
    def benchmark(self) -> Benchmark:
        return BENCHMARKS[self.ranked.row.benchmark]


@dataclass(frozen=True)
class NotablePart:
    """A part of a benchmark's questions on which a model is far from the median result."""

    benchmark: str
    bucket: str
    difference: float  # from the median score, in points


@dataclass(frozen=True)
class ModelPage:
    """All data of a model's page."""

    profile: Profile
    strengths: list[NotablePart] = field(default_factory=list)
    weaknesses: list[NotablePart] = field(default_factory=list)
    relatives: Relatives = field(default_factory=Relatives)
    listed_ancestors: list[str] = field(default_factory=list)  # those in the overview, which the page links to
    # The newest result of each kind, benchmark, split, reasoning mode and decoding, and those that represent the model.
    details: list[Detail] = field(default_factory=list)
    history: list[RankedRow] = field(default_factory=list)  # all results, newest first
    requests: list[QueueRow] = field(default_factory=list)  # requests without a result
    lineage: Lineage | None = None
    elsewhere: list[Number] = field(default_factory=list)  # scores that others publish, see leaderboard.facts.register


def model_page(board: LiveBoard, name: str) -> ModelPage | None:
    """Return the data of a model's page, or None if the model has neither a result nor a request."""
    view = board.view()
    rows = view.rows_by_model.get(name, [])
    requests = [r for r in view.queue if r.model_id == name and r.status != Status.FINISHED]
    if not rows and not requests:
        return None
    history = sorted(rows, key=lambda r: -(r.row.date or 0.0))
    read = (_detail(board, view, r) for r in _shown_results(view, name, history))
    details = [detail for detail in read if detail]
    profile = view.profile(name)
    if profile is None:  # a human, a baseline, or a model that has no results or only retired ones
        model = ModelRow(name, params=requests[0].params if requests else None)
        for ranked in rows:
            model.add_facts(ranked.row)
        profile = Profile(model)
    representative = {cell.row.key for cell in profile.model.cells.values()}
    strengths, weaknesses = _notable_parts([detail for detail in details if detail.ranked.row.key in representative])
    relatives = view.standings.relatives(name)
    return ModelPage(
        profile=profile,
        strengths=strengths,
        weaknesses=weaknesses,
        relatives=relatives,
        listed_ancestors=[ancestor for ancestor in relatives.ancestors if ancestor in view.models_by_name],
        details=details,
        history=history,
        requests=requests,
        lineage=lineage_of(name),
        elsewhere=numbers_of_model(name),
    )


def _shown_results(view: View, name: str, history: list[RankedRow]) -> list[RankedRow]:
    """Return the results of a model that get a section of the page. `history` has all of its results, newest first."""
    newest: dict[tuple[str | None, ...], RankedRow] = {}
    for r in history:
        newest.setdefault((r.row.kind, r.row.benchmark, r.row.split, r.row.thinking, r.row.decoding), r)
    # The first screen links to the rows that represent the model, which may be older than others.
    model = view.models_by_name.get(name)
    representative = model.cells.values() if model else ()
    sections = {r.row.key: r for r in (*representative, *newest.values())}
    return sorted(sections.values(), key=_section_order)


def _section_order(ranked: RankedRow) -> tuple[int, bool, bool]:
    """Return the sort key of a section: by benchmark, then measured results first, then those with a rank."""
    row = ranked.row
    return list(BENCHMARKS).index(row.benchmark), row.kind == "reported", ranked.rank is None


def _median(ordered: list[float]) -> float:
    """Return the median of sorted values. `statistics.median` would sort 10,000 of them again for each part of a page."""
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _notable_parts(details: list[Detail]) -> tuple[list[NotablePart], list[NotablePart]]:
    """Return the strengths and weaknesses: the parts on which ranked results are furthest above and below the median.

    `details` has one result for each benchmark. With several, a part could be a strength and a weakness.
    """
    parts: list[NotablePart] = []
    for detail in details:
        if not detail.ranked.rank:
            continue
        for comparison in chain.from_iterable(detail.parts.values()):
            if comparison.compared >= MIN_COMPARED:
                difference = comparison.part.score - comparison.median
                parts.append(NotablePart(detail.ranked.row.benchmark, comparison.bucket, difference))
    parts.sort(key=lambda part: -part.difference)
    strengths = [part for part in parts[:MAX_NOTABLE] if part.difference > 0]
    weaknesses = [part for part in reversed(parts[-MAX_NOTABLE:]) if part.difference < 0]
    return strengths, weaknesses


def _detail(board: LiveBoard, view: View, ranked: RankedRow) -> Detail | None:
    """Return a result with its record, or None if it was removed since the view was read."""
    row = ranked.row
    content = board.result_json(row.key)
    if content is None:
        return None
    rows_of_model = [r.row for r in view.rows_by_model[row.model] if r.row.benchmark == row.benchmark]
    ranked_of_base = [r for r in view.rows_by_model.get(row.base_model or "", []) if r.row.benchmark == row.benchmark]
    return Detail(
        ranked=ranked,
        record=EvalResult.from_json(content),
        parts=_compared_parts(view, row),
        base=base_difference(ranked, ranked_of_base),
        reproductions=[
            reproduction
            for reproduction in reproductions(rows_of_model)
            if row.key in (reproduction.reported.key, reproduction.measured.key)
        ],
        signed=EvalResult.statement_path_of(row.key) in view.snapshot.files,
    )


def _compared_parts(view: View, row: BoardRow) -> dict[str, list[BucketComparison]]:
    """Return the parts of a row by axis, each compared with the scores of all rows of the same split and metric."""
    scores_by_part = view.tables[row.benchmark].scores_by_part(row.split, row.headline)
    parts: dict[str, list[BucketComparison]] = {}
    for key, part in parts_of(row).items():
        scores = scores_by_part[key]  # ascending
        comparison = BucketComparison(key.bucket, part, best=scores[-1], median=_median(scores), compared=len(scores))
        parts.setdefault(key.axis, []).append(comparison)
    return parts
