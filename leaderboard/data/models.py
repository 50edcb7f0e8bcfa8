"""One row per model, with its headline score on every benchmark."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal, get_args

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.ranking import Boards, RankedRow
from submissions.records.options import Inputs

ReferenceKind = Literal["human", "baseline", "blind", "constant", "chance"]
BINS = 25  # bins of a benchmark's small histogram, 4 points each


@dataclass(slots=True)
class ModelRow:
    """A model's best result on each benchmark, on another split if it has none on the ranked one."""

    model: str
    organisation: str | None = None
    params: int | None = None
    weights: str | None = None
    license: str | None = None
    cells: dict[str, RankedRow] = field(default_factory=dict)
    overall: dict[Inputs, float] = field(default_factory=dict)  # in percent, see `model_rows`


@dataclass(frozen=True)
class Reference:
    kind: ReferenceKind
    label: str  # display name; empty for chance and what the card declares
    score: float  # percent


@dataclass(frozen=True)
class Summary:
    """The leader, score distribution and reference scores of a benchmark."""

    leader: RankedRow | None
    distribution: list[int]  # ranked models per bin
    references: list[Reference]


def summary(rows: Sequence[RankedRow], benchmark: str) -> Summary:
    return Summary(next((r for r in rows if r.rank), None), distribution(rows), references(rows, benchmark))


def model_rows(boards: Boards) -> list[ModelRow]:
    """Return the models sorted by overall score, on image benchmarks first, then on page benchmarks, then by name.

    The overall score is a Borda count (Colombo et al., arXiv:2202.03799): the share of other model families that a model is
    ahead of, averaged over `shared_benchmarks`. Models without a rank on all of these have no overall score.
    """
    models: dict[str, ModelRow] = {}
    for name, rows in boards.items():
        for ranked in rows:
            row = ranked.row
            if row.role != "model" or row.retired:
                continue
            model = models.setdefault(row.model, ModelRow(row.model))
            model.organisation = model.organisation or row.organisation
            model.params = model.params or row.params
            model.weights = model.weights or row.weights
            model.license = model.license or row.license
            known = model.cells.get(name)
            if known is None or (known.rank is None and ranked.rank is not None):
                model.cells[name] = ranked
    families = _families(boards)
    for group, shared in shared_benchmarks(list(models.values())).items():
        compared = [m for m in models.values() if all(name in m.cells and m.cells[name].rank for name in shared)]
        for name in shared:
            beaten = _beaten({model.model: model.cells[name].row.score or 0.0 for model in compared}, families)
            for model in compared:
                model.overall[group] = model.overall.get(group, 0.0) + 100 * beaten[model.model] / len(shared)
    return sorted(models.values(), key=overall_order)


def overall_order(model: ModelRow) -> tuple[object, ...]:
    """Return the sort key of a model: overall score on images, then on pages, then the name."""
    scores = [model.overall.get(group) for group in get_args(Inputs)]
    return *((score is None, -(score or 0.0)) for score in scores), model.model.casefold()


def shared_benchmarks(models: Sequence[ModelRow]) -> dict[Inputs, tuple[str, ...]]:
    """Return the benchmarks that the overall score of each group is averaged over.

    These are the two or more benchmarks for which (number of models ranked on all of them) × (number of benchmarks) is largest.
    Groups in which fewer than two models share benchmarks are left out.
    """
    found: dict[Inputs, tuple[str, ...]] = {}
    ranked = Counter(frozenset(name for name, cell in model.cells.items() if cell.rank) for model in models)
    for group in get_args(Inputs):
        names = [name for name, benchmark in BENCHMARKS.items() if benchmark.inputs == group]
        sets = [chosen for size in range(2, len(names) + 1) for chosen in combinations(names, size)]
        counts = {chosen: sum(n for held, n in ranked.items() if held.issuperset(chosen)) for chosen in sets}
        best = max(sets, key=lambda chosen: (counts[chosen] * len(chosen), len(chosen)), default=None)
        if best and counts[best] > 1:
            found[group] = best
    return found


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


def distribution(rows: Sequence[RankedRow]) -> list[int]:
    """Return the number of ranked models in each bin from 0 to 100 percent."""
    counts = [0] * BINS
    for ranked in rows:
        if ranked.rank is not None:
            counts[min(BINS - 1, int((ranked.row.score or 0.0) * BINS / 100))] += 1
    return counts


def _families(boards: Boards) -> dict[str, str]:
    """Return the first known ancestor of each model that has a base model."""
    bases = {r.row.model: r.row.base_model for rows in boards.values() for r in rows if r.row.base_model}
    found = {}
    for model in bases:
        root, seen = model, {model}
        while (base := bases.get(root)) and base not in seen:
            root = base
            seen.add(root)
        found[model] = root
    return found


def _beaten(scores: Mapping[str, float], families: Mapping[str, str]) -> dict[str, float]:
    """Return the share, from 0 to 1, of other families whose best score is below each model's. A tie counts half.

    A model and all models made from it are one family, so that entering many variants does not lower rivals.
    """
    best: dict[str, float] = {}
    for model, score in scores.items():
        family = families.get(model, model)
        best[family] = max(best.get(family, 0.0), score)
    bests, others = sorted(best.values()), max(1, len(best) - 1)
    found = {}
    for model, score in scores.items():
        family_best = best[families.get(model, model)]
        behind = bisect_left(bests, score)
        tied = bisect_right(bests, score) - bisect_left(bests, score) - (family_best == score)
        found[model] = (behind + tied / 2) / others
    return found
