"""Every model once, with its headline of every benchmark side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.ranking import Boards, RankedRow, score_of

ReferenceKind = Literal["human", "baseline", "blind", "chance"]
BINS = 25  # of a benchmark's small chart: 4 points each


@dataclass(slots=True)
class ModelRow:
    """A model's best result on each benchmark; where none was measured on the ranked split, another one's."""

    model: str
    organisation: str | None = None
    params: int | None = None
    weights: str | None = None
    cells: dict[str, RankedRow] = field(default_factory=dict)
    borda: float = 0.0  # mean share, in percent, of the ranked models it beats; 0 for a benchmark it has no rank on


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
    """Models by Borda count over all benchmarks that rank anybody, as voting theory has it (Colombo et al., arXiv:2202.03799)."""
    models: dict[str, ModelRow] = {}
    ranked_boards = sum(any(r.rank for r in rows) for rows in boards.values())
    for name, rows in boards.items():
        beaten = _beaten(rows)
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
                model.borda += beaten.get(row.key, 0.0) * 100 / ranked_boards
    return sorted(models.values(), key=lambda m: (-m.borda, -len(m.cells), m.model.casefold()))


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


def _beaten(rows: Sequence[RankedRow]) -> dict[str, float]:
    """The share of other ranked rows that stand behind each, from 0 to 1; half of one that shares its rank."""
    ranks = [r.rank for r in rows if r.rank is not None]
    ties: dict[int, int] = {}
    for rank in ranks:
        ties[rank] = ties.get(rank, 0) + 1
    others = len(ranks) - 1
    return {
        r.row.key: (len(ranks) - r.rank - (ties[r.rank] - 1) / 2) / others if others else 1.0
        for r in rows
        if r.rank is not None
    }
