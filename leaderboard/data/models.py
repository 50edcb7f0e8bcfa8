"""Every model once, with its headline of every benchmark side by side."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.ranking import Boards, RankedRow, score_of
from submissions.catalog import Inputs

ReferenceKind = Literal["human", "baseline", "blind", "chance"]
BINS = 25  # of a benchmark's small chart: 4 points each


@dataclass(slots=True)
class Overall:
    """The mean share of other families that a model beats, over the benchmarks of one group that it has a rank on."""

    share: float  # percent
    benchmarks: int


@dataclass(slots=True)
class ModelRow:
    """A model's best result on each benchmark; where none was measured on the ranked split, another one's."""

    model: str
    organisation: str | None = None
    params: int | None = None
    weights: str | None = None
    cells: dict[str, RankedRow] = field(default_factory=dict)
    overall: dict[Inputs, Overall] = field(default_factory=dict)  # by what benchmarks ask about


@dataclass(frozen=True)
class Reference:
    kind: ReferenceKind
    label: str  # whose score, as printed; empty for chance
    score: float  # percent


@dataclass(frozen=True)
class Summary:
    """A benchmark at a glance."""

    leader: RankedRow | None
    distribution: list[int]  # of ranked models, see BINS
    references: list[Reference]


def summary(rows: Sequence[RankedRow], benchmark: str) -> Summary:
    return Summary(next((r for r in rows if r.rank), None), distribution(rows), references(rows, benchmark))


def model_rows(boards: Boards) -> list[ModelRow]:
    """Return models by their overall share: of images first, then of pages; equals by name.

    A Borda count (Colombo et al., arXiv:2202.03799) over the benchmarks that a model has a rank on, so that only models
    measured on the same benchmark are compared.
    """
    models: dict[str, ModelRow] = {}
    families = _families(boards)
    for name, rows in boards.items():
        beaten, group = _beaten(rows, families), BENCHMARKS[name].inputs
        for ranked in rows:
            row = ranked.row
            if row.role != "model" or row.retired:
                continue
            model = models.setdefault(row.model, ModelRow(row.model))
            model.organisation = model.organisation or row.organisation
            model.params = model.params or row.params
            model.weights = model.weights or row.weights
            known = model.cells.get(name)
            if known is None or (known.rank is None and ranked.rank is not None):
                model.cells[name] = ranked
                if row.key in beaten:
                    own = model.overall.setdefault(group, Overall(0.0, 0))
                    own.benchmarks += 1
                    own.share += (100 * beaten[row.key] - own.share) / own.benchmarks
    return sorted(models.values(), key=overall_order)


def overall_order(model: ModelRow, groups: Sequence[Inputs] = ("image", "page")) -> tuple[object, ...]:
    """Return what models are sorted by: their share in the first group, then in the others; those of one benchmark last."""
    places = [model.overall.get(group) for group in groups]
    return *((own.benchmarks < 2, -own.share) if own else (True, 1.0) for own in places), model.model.casefold()


def references(rows: Sequence[RankedRow], benchmark: str) -> list[Reference]:
    """What a score is to be seen against: people, the makers' baseline, a model that sees nothing, guessing."""
    card = BENCHMARKS[benchmark].card
    best: dict[ReferenceKind, Reference] = {}
    for row in (ranked.row for ranked in rows):
        score = score_of(row)
        kind: ReferenceKind | None = None
        if row.split == f"{card.split}/blind":
            kind = "blind"
        elif row.split == card.split and row.role in ("human", "baseline"):
            kind = "human" if row.role == "human" else "baseline"
        if kind and score is not None:
            best.setdefault(kind, Reference(kind, row.model, score))  # rows stand best first
    if card.chance is not None:
        best["chance"] = Reference("chance", "", card.chance)
    return sorted(best.values(), key=lambda reference: -reference.score)


def distribution(rows: Sequence[RankedRow]) -> list[int]:
    """How many ranked models score within each of the bins from 0 to 100 percent."""
    counts = [0] * BINS
    for ranked in rows:
        if ranked.rank is not None:
            counts[min(BINS - 1, int((score_of(ranked.row) or 0.0) * BINS / 100))] += 1
    return counts


def group_sizes(boards: Boards) -> dict[Inputs, int]:
    """Return how many benchmarks of each group rank anybody, for groups of more than one."""
    counts = Counter(BENCHMARKS[name].inputs for name, rows in boards.items() if any(r.rank for r in rows))
    return {group: count for group, count in counts.items() if count > 1}


def _families(boards: Boards) -> dict[str, str]:
    """Return the base model, if it is known, of each model that was made from another, through all steps."""
    bases = {r.row.model: r.row.base_model for rows in boards.values() for r in rows if r.row.base_model}
    found = {}
    for model in bases:
        root, seen = model, {model}
        while (base := bases.get(root)) and base not in seen:
            root = base
            seen.add(root)
        found[model] = root
    return found


def _beaten(rows: Sequence[RankedRow], families: Mapping[str, str]) -> dict[str, float]:
    """Return the share of other families whose best row each row is ahead of, from 0 to 1; half of one at its rank.

    A model, its modes and what is made from it are one family: entering many variants costs rivals nothing. Rows without
    another family to be compared with are left out.
    """
    best: dict[str, int] = {}  # rank by family
    family = {r.row.key: families.get(r.row.model, r.row.model) for r in rows if r.rank is not None}
    for r in rows:
        if r.rank is not None:
            best.setdefault(family[r.row.key], r.rank)  # rows are best first
    ranks = sorted(best.values())
    found = {}
    for r in rows:
        if r.rank is None or len(ranks) < 2:
            continue
        own = best[family[r.row.key]]
        behind = len(ranks) - bisect_right(ranks, r.rank)
        tied = bisect_right(ranks, r.rank) - bisect_left(ranks, r.rank) - (own == r.rank)
        found[r.row.key] = (behind + tied / 2) / (len(ranks) - 1)
    return found
