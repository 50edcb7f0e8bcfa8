"""Summarise the boards by model: a row for each model of the overview, and a summary of each benchmark.

`ViewReader` calls `rank_models` and `summary` after ranking the rows of each benchmark. `rank_models` also computes the
overall score, which is explained there. `skills.py` computes scores of skills with `most_shared` and `share_behind`.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean
from typing import Literal, get_args

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.families import families
from leaderboard.data.ranking import Boards, RankedRow, representative_row, without_reported_if_measured
from submissions.records.index_rows import BoardRow
from submissions.records.options import Inputs, ResultKind

ReferenceKind = Literal["human", "baseline", "blind", "constant", "chance"]  # the kinds of `card.Baseline`, and chance
# The benchmarks that the overall scores of each kind are averaged over. A group without an overall score is missing.
SharedBenchmarks = dict[ResultKind, dict[Inputs, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Overall:
    """A model's overall score in a group of benchmarks (`Inputs`), among models with results of the same kind."""

    score: float  # in percent: the share of other model families that it is ahead of, see `rank_models`
    kind: ResultKind
    rank: int  # among the models of this kind


@dataclass(slots=True)
class ModelRow:
    """A model with the result that represents it on each benchmark (`representative_row`).

    A model without a result on the ranked test set of a benchmark is represented by one on another split, without a rank.
    The other fields are the first known ones among all of its results.
    """

    model: str  # Hub id, or the name under which others report its scores
    organisation: str | None = None
    params: int | None = None
    weights: str | None = None
    license: str | None = None
    base_model: str | None = None
    gpu_memory_gb: float | None = None  # the largest peak measured on any benchmark, see Latency
    cells: dict[str, RankedRow] = field(default_factory=dict)  # by benchmark
    overall: dict[Inputs, Overall] = field(default_factory=dict)  # by the inputs of the benchmarks: "image", "page"

    @property
    def is_measured(self) -> bool:
        """Whether the model was measured on the test set of at least one benchmark."""
        return any(cell.row.kind == "verified" and not cell.row.is_sample for cell in self.cells.values())

    @property
    def is_reported(self) -> bool:
        """Whether a reported score represents the model on some benchmark."""
        return any(cell.row.kind == "reported" for cell in self.cells.values())

    def add_facts(self, row: BoardRow) -> None:
        """Take from one of its results what is not known of the model yet."""
        self.organisation = self.organisation or row.organisation
        self.params = self.params or row.params
        self.weights = self.weights or row.weights
        self.license = self.license or row.license
        self.base_model = self.base_model or row.base_model
        if row.gpu_memory_gb:
            self.gpu_memory_gb = max(self.gpu_memory_gb or 0.0, row.gpu_memory_gb)

    def ranked_on(self, kind: ResultKind) -> frozenset[str]:
        """Return the benchmarks on which a row of this kind represents the model and has a rank."""
        return frozenset(name for name in self.cells if self.rank_by(name, kind))

    def competes(self, group: Inputs, kind: ResultKind) -> bool:
        """Return whether the model may have an overall score of this kind, because it has none of the other kind yet.

        `rank_models` computes measured scores first, so a measured one rules out a reported one.
        """
        overall = self.overall.get(group)
        return overall is None or overall.kind == kind

    def rank_by(self, benchmark: str, kind: ResultKind) -> int | None:
        """Return the model's rank on a benchmark, or None if it has none or is represented by a row of the other kind."""
        cell = self.cells.get(benchmark)
        return cell.rank if cell and cell.row.kind == kind else None


@dataclass(frozen=True)
class Reference:
    """A score to compare models with: of humans, of a model without images, or of guessing."""

    kind: ReferenceKind
    label: str  # name in the row that the score is from; empty if the benchmark's card declares the score
    score: float  # percent


@dataclass(frozen=True)
class Summary:
    """The leader and the reference scores of a benchmark, and how many models have a rank on it."""

    leader: RankedRow | None
    references: list[Reference]
    model_counts: dict[ResultKind, int]  # of ranked models that were measured, and of those with reported scores only
    updated: float | None  # date of the newest result, in seconds since 1970


def summary(rows: Sequence[RankedRow], benchmark: str) -> Summary:
    """Return the summary of a benchmark from its rows, best first."""
    leader = next((r for r in rows if r.rank), None)
    kind_of_model = {r.row.model: r.row.kind for r in without_reported_if_measured(rows) if r.rank}
    models: dict[ResultKind, int] = {kind: list(kind_of_model.values()).count(kind) for kind in get_args(ResultKind)}
    updated = max((r.row.date for r in rows if r.row.date), default=None)
    return Summary(leader, references(rows, benchmark), models, updated)


def rank_models(boards: Boards) -> tuple[list[ModelRow], SharedBenchmarks]:
    """Return the models in the order of the overview, and the benchmarks that their overall scores are averaged over.

    The overall score is a Borda count (Colombo et al., arXiv:2202.03799): the share of other model families that a model is
    ahead of, averaged over the benchmarks that `shared_in_group` chooses. Models without a rank on all of these have no
    overall score. Measured and reported scores follow different rules, so they are never compared. The order is that of
    `overall_order`. A model that has both has the measured one, and reported scores are compared without it.
    """
    models = _models_with_cells(boards)
    family_of = families(boards)
    shared_benchmarks: SharedBenchmarks = {}
    for kind in get_args(ResultKind):  # measured first, which has precedence
        shared_benchmarks[kind] = {}
        for group in get_args(Inputs):
            competing = [model for model in models.values() if model.competes(group, kind)]
            shared = shared_in_group(group, [model.ranked_on(kind) for model in competing])
            if not shared:
                continue
            shared_benchmarks[kind][group] = shared
            compared = [model for model in competing if model.ranked_on(kind).issuperset(shared)]
            scores = _overall_scores(compared, shared, family_of)
            ascending = sorted(scores.values())
            for model in compared:
                score = scores[model.model]
                models_above = len(ascending) - bisect_right(ascending, score)
                model.overall[group] = Overall(score, kind, rank=1 + models_above)
    return sorted(models.values(), key=overall_order), shared_benchmarks


def _overall_scores(
    models: Sequence[ModelRow], benchmarks: Sequence[str], family_of: Mapping[str, str]
) -> dict[str, float]:
    """Return the overall score of each model, in percent. All models have a rank on all of these benchmarks."""
    shares_of: dict[str, list[float]] = {model.model: [] for model in models}
    for benchmark in benchmarks:
        scores = {model.model: model.cells[benchmark].row.score or 0.0 for model in models}
        for name, share in share_behind(scores, family_of).items():
            shares_of[name].append(share)
    # Rounded, so that equal sums of different shares, such as 0.1 + 0.5 and 0.3 + 0.3, are equal scores.
    return {name: round(100 * fmean(shares), 9) for name, shares in shares_of.items()}


def _models_with_cells(boards: Boards) -> dict[str, ModelRow]:
    """Return the models of all boards by name, without overall scores. References and retired rows are left out."""
    models: dict[str, ModelRow] = {}
    for benchmark, rows in boards.items():
        rows_by_model: dict[str, list[RankedRow]] = {}
        for ranked in rows:
            if ranked.row.role == "model" and not ranked.row.retired:
                rows_by_model.setdefault(ranked.row.model, []).append(ranked)
        for name, own in rows_by_model.items():
            model = models.setdefault(name, ModelRow(name))
            for ranked in own:
                model.add_facts(ranked.row)
            model.cells[benchmark] = representative_row(own)
    return models


def overall_order(model: ModelRow) -> tuple[object, ...]:
    """Return the sort key of a model in the overview.

    First by image benchmarks, then by page benchmarks, models are sorted in this order: those with an overall score from
    measurements, best first; other measured ones; those with an overall score from reports, best first; the rest. Models that
    are equal so far, such as two of one family that are ahead of the same rivals, are sorted by their mean score, then by
    name.
    """
    key: list[object] = []
    for inputs in get_args(Inputs):
        overall = model.overall.get(inputs)
        if overall:
            place = 0 if overall.kind == "verified" else 2
        else:
            benchmarks = (name for name, benchmark in BENCHMARKS.items() if benchmark.inputs == inputs)
            is_measured = any(model.rank_by(name, "verified") for name in benchmarks)
            place = 1 if is_measured else 3
        key += [place, -overall.score if overall else 0.0]
    scores = [cell.row.score or 0.0 for cell in model.cells.values() if cell.rank]
    mean_score = sum(scores) / max(1, len(scores))
    return *key, -mean_score, model.model.casefold()


def shared_in_group(group: Inputs, ranked_on: Iterable[frozenset[str]]) -> tuple[str, ...]:
    """Return the benchmarks of a group that an overall score is averaged over, or none if no two models share two of them.

    `ranked_on` has, for each model, the benchmarks on which it has a rank. Those chosen are the two or more benchmarks for
    which (number of models ranked on all of them) × (number of benchmarks) is largest: a compromise between comparing many
    models and comparing them on much.
    """
    names = [name for name, benchmark in BENCHMARKS.items() if benchmark.inputs == group]
    return most_shared(ranked_on, names, at_least=2)


def most_shared(benchmarks_of_models: Iterable[frozenset[str]], names: Sequence[str], at_least: int) -> tuple[str, ...]:
    """Return the choice among `names` for which (number of models that have all of them) × (number of names) is largest.

    A choice has at least `at_least` names, and at least two models have all of them. If there is none, the result is empty.
    Of choices with an equal product, the one with most names is returned, then the first one in the order of `names`. With
    at_least=2, models that have {a, b}, {a, b, c} and {a, c} give ("a", "b"): 2 models × 2 names. The product of ("a", "c")
    is the same, but it comes later.
    """
    model_counts = Counter(benchmarks_of_models)  # number of models that have exactly these
    choices = [choice for size in range(at_least, len(names) + 1) for choice in combinations(names, size)]
    models_with: dict[tuple[str, ...], int] = {}  # number of models that have all names of a choice
    for choice in choices:
        models_with[choice] = sum(n for benchmarks, n in model_counts.items() if benchmarks.issuperset(choice))
    shared_by_two = [choice for choice in choices if models_with[choice] > 1]
    return max(shared_by_two, key=lambda choice: (models_with[choice] * len(choice), len(choice)), default=())


def references(rows: Sequence[RankedRow], benchmark: str) -> list[Reference]:
    """Return the reference scores of a benchmark, at most one of each kind, best first.

    They are the best rows of humans, of the makers' baseline and of a model that was asked without images (split
    "SPLIT/blind"), or else the scores that the card declares, and chance.
    """
    card = BENCHMARKS[benchmark].card
    best: dict[ReferenceKind, Reference] = {}
    for row in (ranked.row for ranked in rows if not ranked.row.retired):
        score = row.score
        kind: ReferenceKind | None = None
        if row.split == f"{card.split}/blind":
            kind = "blind"
        elif row.split == card.split and row.role in ("human", "baseline"):
            kind = "human" if row.role == "human" else "baseline"
        if kind and score is not None:
            best.setdefault(kind, Reference(kind, row.model, score))  # rows are sorted best first
    for baseline in card.baselines:
        best.setdefault(baseline.kind, Reference(baseline.kind, "", baseline.score))
    if card.chance is not None:
        best["chance"] = Reference("chance", "", card.chance)
    return sorted(best.values(), key=lambda reference: -reference.score)


def share_behind(scores: Mapping[str, float], family_of: Mapping[str, str]) -> dict[str, float]:
    """Return for each model the share of other families, from 0 to 1, whose best score is below its own score.

    A tie counts half. A model and all models made from it are one family, so that submitting many variants does not lower
    the share of rivals. Models with the same score get the same share, whatever their families.

    {"a": 90, "b": 80, "c": 80, "d": 10} -> {"a": 1.0, "b": 0.5, "c": 0.5, "d": 0.0} if each is a family of its own.
    {"a": 90, "a-tuned": 80, "b": 80, "c": 80} -> {"a": 1.0, "a-tuned": 0.25, "b": 0.25, "c": 0.25} if a-tuned was made from a.
    """
    best_of_family: dict[str, float] = {}
    for model, score in scores.items():
        family = family_of.get(model, model)
        best_of_family[family] = max(best_of_family.get(family, score), score)
    bests = sorted(best_of_family.values())
    other_families = max(1, len(bests) - 1)
    shares: dict[str, float] = {}
    for model, score in scores.items():
        behind = bisect_left(bests, score)
        tied_families = bisect_right(bests, score) - behind
        # Subtract the model's own family, with which it is not compared. If the model is the best of its family, that family
        # is among the tied ones. If it is not, one is subtracted all the same, so that models with the same score get the same
        # share.
        tied_others = max(0, tied_families - 1)
        shares[model] = (behind + tied_others / 2) / other_families
    return shares
