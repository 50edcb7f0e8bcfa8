"""What the first screen of a model's page, its print and its preview picture show: the standing of a model in short.

`View.profile` makes the profile of a model. `overall_places`, which `View` computes once for all models, adds to the overall
rank of `models.py` the range of ranks that the intervals of the scores allow.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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

    A result that is not tied must have rank 1. Nobody leads with a score of 0, or if all results of the benchmark are tied.
    """
    ranked = standing.ranked
    if ranked.row.kind != "verified" or not ranked.row.score:
        return False
    if ranked.tie is None or ranked.tie.rows == 1:
        return ranked.rank == 1
    return ranked.tie.first == 1 and ranked.tie.rows < standing.of


@dataclass(frozen=True)
class _Bounds:
    """The lowest and highest overall score of a model: with its worst and its best rank on each benchmark."""

    name: str
    rank: int
    low: float  # 0 to 1, like the score
    high: float  # 0 to 1, but it may be higher if the model has a better relative, see `_bounds_of`


def overall_places(
    models: Sequence[ModelRow],
    shared: Mapping[ResultKind, Mapping[Inputs, Sequence[str]]],
    family_of: Mapping[str, str],
) -> dict[str, dict[Inputs, OverallPlace]]:
    """Return the overall places of all models with an overall score, by model and group of benchmarks.

    `shared` are the benchmarks that overall scores are averaged over, and `family_of` the families of `families.py`. For the
    best rank of a model, only those whose lowest overall score is above its highest are ahead of it. For its worst rank, all
    are ahead except those whose highest score is below its lowest.
    """
    compared: dict[tuple[ResultKind, Inputs], list[ModelRow]] = {}
    for model in models:
        for inputs, overall in model.overall.items():
            compared.setdefault((overall.kind, inputs), []).append(model)
    places: dict[str, dict[Inputs, OverallPlace]] = {}
    for (kind, inputs), group in compared.items():
        benchmarks = shared[kind][inputs]
        bounds = _bounds_of(group, inputs, benchmarks, family_of)
        lows = sorted(one.low for one in bounds)
        highs = sorted(one.high for one in bounds)
        for own in bounds:
            surely_ahead = len(lows) - bisect_right(lows, own.high)
            surely_behind = bisect_left(highs, own.low)
            places.setdefault(own.name, {})[inputs] = OverallPlace(
                rank=own.rank,
                best=1 + surely_ahead,
                worst=len(bounds) - surely_behind,
                of=len(bounds),
                benchmarks=len(benchmarks),
                inputs=inputs,
                kind=kind,
            )
    return places


def _bounds_of(
    group: Sequence[ModelRow], inputs: Inputs, benchmarks: Sequence[str], family_of: Mapping[str, str]
) -> list[_Bounds]:
    """Return the bounds of the overall scores of models that are compared with each other.

    The overall score of a model is the mean, over benchmarks, of the share of other families that it is ahead of
    (`models.share_behind`). A family ranks where its best model ranks.

    For example, there are 10 other families, and the model has rank 3. It is ahead of 8 of them, so its share is 0.8. If its
    worst rank is 5, the families with ranks 4 and 5 may pass it, so its share may be 0.6. If its best rank is 2, it may pass
    the family with rank 2, so its share may be 0.9. A result without an interval has no range of ranks, and changes nothing.

    A model may have a better relative in its own family. The relative is counted as if it were of another family. Otherwise two
    models with the same score, one of which has a better relative, would have different bounds. The highest score may then be
    above 1.
    """
    share_it_may_lose = dict.fromkeys((model.model for model in group), 0.0)  # summed over the benchmarks
    share_it_may_gain = dict(share_it_may_lose)
    for benchmark in benchmarks:
        cells = {model.model: model.cells[benchmark] for model in group}
        best_ranks: dict[str, int] = {}  # by family
        for name, cell in cells.items():
            if cell.rank:
                family = family_of.get(name, name)
                best_ranks[family] = min(best_ranks.get(family, cell.rank), cell.rank)
        ranks = sorted(best_ranks.values())
        other_families = max(1, len(ranks) - 1)
        for name, cell in cells.items():
            if cell.rank and cell.best and cell.worst:
                families_that_may_pass = bisect_right(ranks, cell.worst) - bisect_right(ranks, cell.rank)
                families_it_may_pass = bisect_left(ranks, cell.rank) - bisect_left(ranks, cell.best)
                share_it_may_lose[name] += families_that_may_pass / other_families
                share_it_may_gain[name] += families_it_may_pass / other_families
    bounds = []
    for model in group:
        overall = model.overall[inputs]
        low = overall.score / 100 - share_it_may_lose[model.model] / len(benchmarks)
        high = overall.score / 100 + share_it_may_gain[model.model] / len(benchmarks)
        bounds.append(_Bounds(model.model, overall.rank, low, high))
    return bounds
