"""What the first screen of a model's page, its print and its preview picture show: the standing of a model in short.

`View.profile` makes the profile of a model. `overall_places`, which `View` computes once for all models, adds to the overall
rank of `models.py` the range of ranks that the intervals of the scores allow.
"""

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
    of: int  # number of models of the same kind with an overall score
    benchmarks: int  # number of benchmarks that the score is averaged over
    inputs: Inputs
    kind: ResultKind


@dataclass(frozen=True)
class Profile:
    """The standing of a model in short."""

    model: ModelRow
    overall: OverallPlace | None = None
    standings: Sequence[Standing] = ()  # one for each benchmark on which it has a rank
    unseen: Sequence[UnseenChange] = ()  # its ranks on unseen sets compared with those on public ones
    usd_per_1000: tuple[float, float] | None = None  # lowest and highest cost of 1,000 questions over the benchmarks

    @property
    def leads(self) -> list[str]:
        """The benchmarks on which the model leads, alone or tied with others."""
        return [standing.ranked.row.benchmark for standing in self.standings if _leads(standing)]

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
    """Return the profile of a model.

    `places` are the overall places of all models. That on image benchmarks is shown, or else that on page benchmarks.
    """
    own_places = places.get(model.model, {})
    rows = [standing.ranked.row for standing in standings]
    costs = [row.usd_per_1000 for row in rows if row.usd_per_1000 is not None]
    return Profile(
        model,
        overall=own_places.get("image") or own_places.get("page"),
        standings=standings,
        unseen=unseen,
        usd_per_1000=(min(costs), max(costs)) if costs else None,
    )


def _leads(standing: Standing) -> bool:
    """Return whether a result leads its benchmark: it was measured, and no measured result is significantly ahead.

    Nobody leads if all results of the benchmark are tied.
    """
    ranked = standing.ranked
    if ranked.row.kind != "verified" or not ranked.row.score:
        return False
    if ranked.tie is None or ranked.tie.rows == 1:
        return ranked.rank == 1
    return ranked.tie.first == 1 and ranked.tie.rows < standing.of


@dataclass
class _Group:
    """The models of an overall ranking. All lists have one entry for each model."""

    names: list[str] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    lows: list[float] = field(default_factory=list)  # overall score from 0 to 1, if the model has its worst ranks
    highs: list[float] = field(default_factory=list)  # the same with its best ranks


def overall_places(
    models: Sequence[ModelRow],
    shared: Mapping[ResultKind, Mapping[Inputs, Sequence[str]]],
    counts: Mapping[tuple[str, ResultKind], int],
) -> dict[str, dict[Inputs, OverallPlace]]:
    """Return the overall places of all models with an overall score, by model and group of benchmarks.

    `shared` are the benchmarks that overall scores are averaged over, `counts` the numbers of ranked rows by benchmark and
    kind. A model's best rank counts only models whose overall score is higher even if they have their worst ranks and this
    model has its best ones; its worst rank the other way round.
    """
    groups: dict[tuple[ResultKind, Inputs], _Group] = {}
    for model in models:
        for inputs, overall in model.overall.items():
            group = groups.setdefault((overall.kind, inputs), _Group())
            down, up = _possible_change(model, shared[overall.kind][inputs], counts)
            group.names.append(model.model)
            group.ranks.append(overall.rank)
            group.lows.append(overall.score / 100 - down)
            group.highs.append(overall.score / 100 + up)
    places: dict[str, dict[Inputs, OverallPlace]] = {}
    for (kind, inputs), group in groups.items():
        lows = sorted(group.lows)
        highs = sorted(group.highs)
        of = len(group.names)
        for name, rank, low, high in zip(group.names, group.ranks, group.lows, group.highs, strict=True):
            best = 1 + of - bisect_right(lows, high)
            worst = of - bisect_left(highs, low)
            place = OverallPlace(rank, min(best, rank), max(worst, rank), of, len(shared[kind][inputs]), inputs, kind)
            places.setdefault(name, {})[inputs] = place
    return places


def _possible_change(
    model: ModelRow, benchmarks: Sequence[str], counts: Mapping[tuple[str, ResultKind], int]
) -> tuple[float, float]:
    """Return by how much a model's overall score, from 0 to 1, is lower with its worst ranks and higher with its best ones.

    A place on a benchmark with n other ranked models is worth 1/n there: with 10 others, rank 3 and a worst rank of 5 lower
    the share of models that it is ahead of by 0.2.
    """
    down = up = 0.0
    for name in benchmarks:
        cell = model.cells[name]
        others = counts[name, cell.row.kind] - 1
        if cell.rank and cell.best and cell.worst and others > 0:
            down += (cell.worst - cell.rank) / others
            up += (cell.rank - cell.best) / others
    return down / len(benchmarks), up / len(benchmarks)
