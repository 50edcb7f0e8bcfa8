"""One row per model, with its headline score on every benchmark."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal, get_args

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.families import families
from leaderboard.data.ranking import Boards, RankedRow, representative_row, without_superseded_claims
from submissions.records.options import Inputs, ResultKind

ReferenceKind = Literal["human", "baseline", "blind", "constant", "chance"]


@dataclass(frozen=True, slots=True)
class Overall:
    """A model's overall score among the models that were measured, or among those of which makers report scores."""

    score: float  # in percent, see `model_rows`
    kind: ResultKind
    rank: int  # among the models of this kind


@dataclass(slots=True)
class ModelRow:
    """The result that stands for a model on each benchmark, on another split if it has none on the ranked one."""

    model: str
    organisation: str | None = None
    params: int | None = None
    weights: str | None = None
    license: str | None = None
    base_model: str | None = None
    gpu_memory_gb: float | None = None  # the largest peak measured on any benchmark, see Latency
    cells: dict[str, RankedRow] = field(default_factory=dict)
    overall: dict[Inputs, Overall] = field(default_factory=dict)

    @property
    def is_measured(self) -> bool:
        """Whether the model was measured on the test set of at least one benchmark."""
        return any(cell.row.kind == "verified" and not cell.row.is_sample for cell in self.cells.values())

    @property
    def is_reported(self) -> bool:
        """Whether a reported score stands for the model on some benchmark."""
        return any(cell.row.kind == "reported" for cell in self.cells.values())

    def ranked_on(self, kind: ResultKind) -> frozenset[str]:
        """Return the benchmarks on which a row of this kind stands for the model and has a rank."""
        return frozenset(name for name in self.cells if self.rank_by(name, kind))

    def rank_by(self, benchmark: str, kind: ResultKind) -> int | None:
        """Return the model's rank on a benchmark if the row that stands for it is of this kind."""
        cell = self.cells.get(benchmark)
        return cell.rank if cell and cell.row.kind == kind else None


@dataclass(frozen=True)
class Reference:
    kind: ReferenceKind
    label: str  # display name; empty for chance and what the card declares
    score: float  # percent


@dataclass(frozen=True)
class Summary:
    """The leader and the reference scores of a benchmark, and how many models have a rank on it."""

    leader: RankedRow | None
    references: list[Reference]
    models: dict[ResultKind, int]  # ranked models that were measured, and those with reported scores only
    updated: float | None  # date of the newest result, in seconds since 1970


def summary(rows: Sequence[RankedRow], benchmark: str) -> Summary:
    leader = next((r for r in rows if r.rank), None)
    with_rank = {r.row.model: r.row.kind for r in without_superseded_claims(rows) if r.rank}
    models: dict[ResultKind, int] = {kind: list(with_rank.values()).count(kind) for kind in get_args(ResultKind)}
    updated = max((r.row.date for r in rows if r.row.date), default=None)
    return Summary(leader, references(rows, benchmark), models, updated)


def model_rows(boards: Boards) -> list[ModelRow]:
    """Return the models sorted by overall score, on image benchmarks first, then on page benchmarks, then by name.

    The overall score is a Borda count (Colombo et al., arXiv:2202.03799): the share of other model families that a model is
    ahead of, averaged over `shared_benchmarks`. Models without a rank on all of these have no overall score. Measured and
    reported scores follow different rules, so they are never compared; a model that was measured comes first.
    """
    models: dict[str, ModelRow] = {}
    for name, rows in boards.items():
        by_model: dict[str, list[RankedRow]] = {}
        for ranked in rows:
            if ranked.row.role == "model" and not ranked.row.retired:
                by_model.setdefault(ranked.row.model, []).append(ranked)
        for model_name, own in by_model.items():
            model = models.setdefault(model_name, ModelRow(model_name))
            for row in (ranked.row for ranked in own):
                model.organisation = model.organisation or row.organisation
                model.params = model.params or row.params
                model.weights = model.weights or row.weights
                model.license = model.license or row.license
                model.base_model = model.base_model or row.base_model
                if row.gpu_memory_gb:
                    model.gpu_memory_gb = max(model.gpu_memory_gb or 0.0, row.gpu_memory_gb)
            model.cells[name] = representative_row(own) if len(own) > 1 else own[0]
    family_of = families(boards)
    for kind in get_args(ResultKind):
        for group, shared in shared_benchmarks(model.ranked_on(kind) for model in models.values()).items():
            compared = [model for model in models.values() if model.ranked_on(kind).issuperset(shared)]
            totals = dict.fromkeys((model.model for model in compared), 0.0)
            for name in shared:
                scores = {model.model: model.cells[name].row.score or 0.0 for model in compared}
                for beaten_by, share in share_behind(scores, family_of).items():
                    totals[beaten_by] += share
            losses = sorted(-total for total in totals.values())
            for model in compared:
                total = totals[model.model]
                rank = bisect_left(losses, -total) + 1
                model.overall[group] = Overall(100 * total / len(shared), kind, rank)
    return sorted(models.values(), key=overall_order)


def overall_order(model: ModelRow) -> tuple[object, ...]:
    """Return the sort key of a model: what was measured first, by overall score on images, then on pages.

    Models with the same overall score, such as those of one family, are sorted by their mean score, then by name.
    """
    key: list[object] = []
    for group in get_args(Inputs):
        overall = model.overall.get(group)
        if overall:
            place = 0 if overall.kind == "verified" else 2
        else:
            names = (name for name, benchmark in BENCHMARKS.items() if benchmark.inputs == group)
            place = 1 if any(model.rank_by(name, "verified") for name in names) else 3
        key += [place, -overall.score if overall else 0.0]
    scores = [cell.row.score or 0.0 for cell in model.cells.values() if cell.rank]
    return *key, -sum(scores) / max(1, len(scores)), model.model.casefold()


def shared_benchmarks(ranked_on: Iterable[frozenset[str]]) -> dict[Inputs, tuple[str, ...]]:
    """Return the benchmarks that the overall score of each group is averaged over.

    `ranked_on` are the benchmarks on which each model has a rank, for measured or for reported results. Those chosen are the two or more benchmarks for which (number of models ranked on all of them) × (number of benchmarks) is largest.
    Groups in which fewer than two models share benchmarks are left out.
    """
    found: dict[Inputs, tuple[str, ...]] = {}
    held = list(ranked_on)
    for group in get_args(Inputs):
        names = [name for name, benchmark in BENCHMARKS.items() if benchmark.inputs == group]
        shared = most_shared(held, names, at_least=2)
        if shared:
            found[group] = shared
    return found


def most_shared(held: Iterable[frozenset[str]], names: Sequence[str], at_least: int) -> tuple[str, ...]:
    """Return the names, at least so many, for which (number of sets that hold all of them) × (number of names) is largest.

    Return none if fewer than two sets hold all of the names.
    """
    counted = Counter(held)
    choices = [chosen for size in range(at_least, len(names) + 1) for chosen in combinations(names, size)]
    counts = Counter[tuple[str, ...]]()
    for chosen in choices:
        counts[chosen] = sum(n for one, n in counted.items() if one.issuperset(chosen))
    best = max(choices, key=lambda chosen: (counts[chosen] * len(chosen), len(chosen)), default=())
    return best if best and counts[best] > 1 else ()


def references(rows: Sequence[RankedRow], benchmark: str) -> list[Reference]:
    """Return the reference scores: humans, the makers' baseline, a model asked without images, and chance, best first."""
    card = BENCHMARKS[benchmark].card
    best: dict[ReferenceKind, Reference] = {}
    for row in (ranked.row for ranked in rows):
        score = row.score
        kind: ReferenceKind | None = None
        if row.split == f"{card.split}/blind":
            kind = "blind"
        elif row.split == card.split and row.role in ("human", "baseline"):
            kind = "human" if row.role == "human" else "baseline"
        if kind and score is not None:
            best.setdefault(kind, Reference(kind, row.model, score))  # rows are sorted best first
    for known in card.baselines:
        best.setdefault(known.kind, Reference(known.kind, "", known.score))
    if card.chance is not None:
        best["chance"] = Reference("chance", "", card.chance)
    return sorted(best.values(), key=lambda reference: -reference.score)


def share_behind(scores: Mapping[str, float], family_of: Mapping[str, str]) -> dict[str, float]:
    """Return the share, from 0 to 1, of other families whose best score is below each model's. A tie counts half.

    A model and all models made from it are one family, so that entering many variants does not lower rivals. Models with
    the same score get the same share, whatever their families.
    """
    best: dict[str, float] = {}
    for model, score in scores.items():
        family = family_of.get(model, model)
        best[family] = max(best.get(family, 0.0), score)
    bests = sorted(best.values())
    others = max(1, len(best) - 1)
    found: dict[str, float] = {}
    for model, score in scores.items():
        behind = bisect_left(bests, score)
        tied = max(0, bisect_right(bests, score) - behind - 1)  # without one, which may be its own family
        found[model] = (behind + tied / 2) / others
    return found
