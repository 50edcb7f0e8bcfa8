"""The data of a model's page: its results, each with the best and the median score of its board."""

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
from submissions.records.index_rows import QueueRow
from submissions.records.request import Status
from submissions.records.result import EvalResult

MAX_NOTABLE = 3
MIN_COMPARED = 3  # models; with fewer, the median says little


@dataclass(frozen=True)
class BucketComparison:
    bucket: str
    part: Part
    best: float  # percent
    median: float  # percent
    compared: int  # models with a score on it


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
    """A part of a benchmark's questions on which a model is far from the median model."""

    benchmark: str
    bucket: str
    difference: float  # from the median score, in points


@dataclass(frozen=True)
class ModelPage:
    profile: Profile
    strengths: list[NotablePart] = field(default_factory=list)
    weaknesses: list[NotablePart] = field(default_factory=list)
    relatives: Relatives = field(default_factory=Relatives)
    listed_ancestors: list[str] = field(default_factory=list)  # those with a page
    details: list[Detail] = field(default_factory=list)  # the newest of each kind, benchmark, split and mode
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
    summary = view.models_by_name.get(name)
    standing = {cell.row.key: cell for cell in summary.cells.values()} if summary else {}
    newest: dict[tuple[str | None, ...], RankedRow] = {}
    for r in history:
        newest.setdefault((r.row.kind, r.row.benchmark, r.row.split, r.row.thinking, r.row.decoding), r)
    # The summary links to the rows that stand for the model, which may be older than others.
    sections = standing | {r.row.key: r for r in newest.values()}
    shown = sorted(sections.values(), key=_section_order)
    read = (_detail(board, view, r) for r in shown)
    details = [detail for detail in read if detail]
    shown_first = view.profile(name)
    if shown_first is None:  # a human or baseline row, or a model without a result
        first = rows[0].row if rows else None
        model = ModelRow(name, first.organisation if first else None, requests[0].params if requests else None)
        shown_first = Profile(model)
    strengths, weaknesses = _notable_parts(details)
    relatives = view.standings.relatives(name)
    return ModelPage(
        shown_first,
        strengths,
        weaknesses,
        relatives,
        [one for one in relatives.ancestors if one in view.models_by_name],
        details,
        history,
        requests,
        lineage=lineage_of(name),
        elsewhere=numbers_of_model(name),
    )


def _section_order(ranked: RankedRow) -> tuple[int, bool, bool]:
    row = ranked.row
    return list(BENCHMARKS).index(row.benchmark), row.kind == "reported", ranked.rank is None


def _median(ordered: list[float]) -> float:
    """Return the median of sorted values. `statistics.median` would sort 10,000 of them again for each part of a page."""
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _notable_parts(details: list[Detail]) -> tuple[list[NotablePart], list[NotablePart]]:
    """Return the parts on which ranked results are furthest above and below the median."""
    parts = []
    for detail in details:
        if not detail.ranked.rank:
            continue
        for part in chain.from_iterable(detail.parts.values()):
            if part.compared >= MIN_COMPARED:
                benchmark = detail.ranked.row.benchmark
                parts.append(NotablePart(benchmark, part.bucket, part.part.score - part.median))
    parts.sort(key=lambda part: -part.difference)
    best = [part for part in parts[:MAX_NOTABLE] if part.difference > 0]
    return best, [part for part in reversed(parts[-MAX_NOTABLE:]) if part.difference < 0]


def _detail(board: LiveBoard, view: View, ranked: RankedRow) -> Detail | None:
    content = board.result_json(ranked.row.key)
    if content is None:  # removed since the view was read
        return None
    others = view.tables[ranked.row.benchmark].parts(ranked.row.split, ranked.row.headline)
    parts: dict[str, list[BucketComparison]] = {}
    for key, part in parts_of(ranked.row).items():
        parts.setdefault(key.axis, []).append(
            BucketComparison(key.bucket, part, others[key][-1], _median(others[key]), len(others[key]))
        )
    of_base = view.rows_by_model.get(ranked.row.base_model or "", [])
    base = base_difference(ranked, [r for r in of_base if r.row.benchmark == ranked.row.benchmark])
    rows = [r.row for r in view.rows_by_model[ranked.row.model] if r.row.benchmark == ranked.row.benchmark]
    involved = [one for one in reproductions(rows) if ranked.row.key in (one.reported.key, one.measured.key)]
    signed = EvalResult.statement_path_of(ranked.row.key) in view.snapshot.files
    return Detail(ranked, EvalResult.from_json(content), parts, base, involved, signed)
