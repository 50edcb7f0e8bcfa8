"""The data of a model's page: its results, each with the best and the median score of its board."""

from dataclasses import dataclass, field
from statistics import median

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.breakdown import Part, parts_of
from leaderboard.data.comparison import BaseDifference, base_difference
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.models import ModelRow
from leaderboard.data.ranking import RankedRow
from leaderboard.data.reproductions import Reproduction, reproductions
from leaderboard.data.view import View
from submissions.records.index_rows import QueueRow
from submissions.records.request import Status
from submissions.records.result import EvalResult


@dataclass(frozen=True)
class BucketComparison:
    bucket: str
    part: Part
    best: float  # percent
    median: float  # percent


@dataclass(frozen=True)
class Detail:
    """A result with its full record."""

    ranked: RankedRow
    record: EvalResult
    parts: dict[str, list[BucketComparison]]  # by axis
    base: BaseDifference | None = None  # None if the base model was not measured under the same conditions
    reproductions: list[Reproduction] = field(default_factory=list)  # those that this result is part of
    signed: bool = False  # whether its signed statement is published


@dataclass(frozen=True)
class ModelPage:
    model: ModelRow
    details: list[Detail] = field(default_factory=list)  # the newest of each benchmark, split and mode
    history: list[RankedRow] = field(default_factory=list)  # all results, newest first
    requests: list[QueueRow] = field(default_factory=list)  # requests without a result


def model_page(board: LiveBoard, name: str) -> ModelPage | None:
    """Return the data of a model's page, or None if the model has neither a result nor a request."""
    view = board.view()
    rows = [r for rows in view.boards.values() for r in rows if r.row.model == name]
    requests = [r for r in view.queue if r.model_id == name and r.status != Status.FINISHED]
    if not rows and not requests:
        return None
    history = sorted(rows, key=lambda r: -(r.row.date or 0.0))
    newest: dict[tuple[str | None, ...], RankedRow] = {}
    for r in history:
        newest.setdefault((r.row.benchmark, r.row.split, r.row.thinking, r.row.decoding), r)
    shown = sorted(newest.values(), key=lambda r: (list(BENCHMARKS).index(r.row.benchmark), r.rank is None))
    summary = next((m for m in view.models if m.model == name), None)
    if summary is None:  # a human or baseline row, or a model without a result
        first = rows[0].row if rows else None
        summary = ModelRow(name, first.organisation if first else None, requests[0].params if requests else None)
    details = [detail for r in shown if (detail := _detail(board, view, r))]
    return ModelPage(summary, details, history, requests)


def _detail(board: LiveBoard, view: View, ranked: RankedRow) -> Detail | None:
    content = board.result_json(ranked.row.key)
    if content is None:  # removed since the view was read
        return None
    others = view.parts(ranked.row.benchmark, ranked.row.split, ranked.row.headline)
    parts: dict[str, list[BucketComparison]] = {}
    for key, part in parts_of(ranked.row).items():
        parts.setdefault(key.axis, []).append(BucketComparison(key.bucket, part, others[key][-1], median(others[key])))
    base = base_difference(ranked, view.boards[ranked.row.benchmark])
    rows = [r.row for r in view.boards[ranked.row.benchmark] if r.row.model == ranked.row.model]
    involved = [one for one in reproductions(rows) if ranked.row.key in (one.reported.key, one.measured.key)]
    signed = EvalResult.statement_path_of(ranked.row.key) in view.snapshot.files
    return Detail(ranked, EvalResult.model_validate_json(content), parts, base, involved, signed)
