"""What the first screen of a model's page, its print and its preview picture show."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leaderboard.data.models import ModelRow
from leaderboard.data.standing import Standing
from leaderboard.data.unseen import UnseenChange
from submissions.records.options import Inputs, ResultKind


@dataclass(frozen=True)
class OverallPlace:
    """A model's overall rank, with the range of ranks that the ranges of its benchmarks allow."""

    rank: int
    best: int
    worst: int
    of: int  # models of the same kind with an overall score
    benchmarks: int  # that the score is an average over
    inputs: Inputs
    kind: ResultKind


@dataclass(frozen=True)
class Profile:
    """The standing of a model in short."""

    model: ModelRow
    overall: OverallPlace | None = None
    standings: Sequence[Standing] = ()  # one for each benchmark on which it has a rank
    unseen: Sequence[UnseenChange] = ()
    usd_per_1000: tuple[float, float] | None = None  # lowest and highest cost of 1,000 questions over the benchmarks

    @property
    def leads(self) -> list[str]:
        """The benchmarks on which no model that was measured is significantly ahead, unless nobody is told from anybody."""
        return [one.ranked.row.benchmark for one in self.standings if _leads(one)]

    @property
    def surprises(self) -> list[UnseenChange]:
        """The comparisons of unseen and public sets in which the model is known to rise or fall."""
        return [change for change in self.unseen if change.direction in ("falls", "rises")]


def profile(
    model: ModelRow,
    places: Mapping[str, Mapping[Inputs, OverallPlace]],
    standings: Sequence[Standing],
    unseen: Sequence[UnseenChange],
) -> Profile:
    own = places.get(model.model, {})
    costs = [one.ranked.row.usd_per_1000 for one in standings if one.ranked.row.usd_per_1000 is not None]
    return Profile(
        model,
        overall=own.get("image") or own.get("page"),
        standings=standings,
        unseen=unseen,
        usd_per_1000=(min(costs), max(costs)) if costs else None,
    )


def _leads(standing: Standing) -> bool:
    ranked = standing.ranked
    if ranked.row.kind != "verified" or not ranked.row.score:
        return False
    if ranked.tie is None or ranked.tie.rows == 1:
        return ranked.rank == 1
    return ranked.tie.first == 1 and ranked.tie.rows < standing.of


@dataclass
class _Group:
    """The models that share an overall ranking."""

    names: list[str] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    lows: list[float] = field(default_factory=list)  # shares of models that a model is ahead of, at worst
    highs: list[float] = field(default_factory=list)  # at best


def overall_places(
    models: Sequence[ModelRow],
    shared: Mapping[ResultKind, Mapping[Inputs, Sequence[str]]],
    counts: Mapping[tuple[str, ResultKind], int],
) -> dict[str, dict[Inputs, OverallPlace]]:
    """Return the places of all models with an overall score.

    `shared` are the benchmarks that overall scores are averaged over, `counts` the ranked rows of each benchmark and kind.
    """
    groups: dict[tuple[ResultKind, Inputs], _Group] = {}
    for model in models:
        for inputs, overall in model.overall.items():
            group = groups.setdefault((overall.kind, inputs), _Group())
            down, up = _slack(model, shared[overall.kind][inputs], counts)
            group.names.append(model.model)
            group.ranks.append(overall.rank)
            group.lows.append(overall.score / 100 - down)
            group.highs.append(overall.score / 100 + up)
    found: dict[str, dict[Inputs, OverallPlace]] = {}
    for (kind, inputs), group in groups.items():
        lows = sorted(group.lows)
        highs = sorted(group.highs)
        of = len(group.names)
        for name, rank, low, high in zip(group.names, group.ranks, group.lows, group.highs, strict=True):
            best = 1 + of - bisect_right(lows, high)
            worst = of - bisect_left(highs, low)
            place = OverallPlace(rank, min(best, rank), max(worst, rank), of, len(shared[kind][inputs]), inputs, kind)
            found.setdefault(name, {})[inputs] = place
    return found


def _slack(
    model: ModelRow, benchmarks: Sequence[str], counts: Mapping[tuple[str, ResultKind], int]
) -> tuple[float, float]:
    """Return by how much a model's overall share may be lower and higher, if all its ranks are worst or best."""
    down = up = 0.0
    for name in benchmarks:
        cell = model.cells[name]
        others = counts[name, cell.row.kind] - 1
        if cell.rank and cell.best and cell.worst and others > 0:
            down += (cell.worst - cell.rank) / others
            up += (cell.rank - cell.best) / others
    return down / len(benchmarks), up / len(benchmarks)
