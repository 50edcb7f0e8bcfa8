"""Search, filter and sort the models of the overview, as the parameters of a URL ask for.

This is for models what `query.py` is for the rows of one benchmark: `Finder.from_params` reads the parameters, and
`find_models` applies them. Example: `?sort=tables&weights=open&size=4-8` lists open models of 4 to 8 billion parameters, those
that read tables best first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.card import Skill
from leaderboard.data.families import first_of_families
from leaderboard.data.memory import GpuMemory
from leaderboard.data.models import ModelRow
from leaderboard.data.query import SIZES, Weights, clean_words, find, fits_model, known_values
from leaderboard.data.ranking import rank_text
from leaderboard.data.skills import SKILLS, skill_kind
from leaderboard.data.view import View
from leaderboard.facts.licences import Commercial
from leaderboard.facts.lineage import Encoder, Origin
from submissions.records.options import ResultKind

OVERALL = "overall"  # the order of `View.models`


@dataclass(frozen=True)
class Finder:
    """Which models to list, and in which order. An empty filter lets all models pass."""

    words: str = ""
    order: str = OVERALL  # or the name of a benchmark, or a skill
    weights: tuple[Weights, ...] = ()
    commercial: tuple[Commercial, ...] = ()  # whether the licence allows commercial use
    sizes: tuple[str, ...] = ()  # keys of SIZES
    family: bool = False  # only the first model of each family in this order
    memory: tuple[GpuMemory, ...] = ()  # only models that fit one of these GPUs
    language_model: tuple[Origin, ...] = ()  # what it was initialised from
    vision_encoder: tuple[Encoder, ...] = ()  # whose it is

    @classmethod
    def from_params(cls, params: Mapping[str, str]) -> "Finder":
        """Build a finder from the untrusted parameters of a URL. Unknown values are ignored."""
        order = params.get("sort", OVERALL)
        return cls(
            words=clean_words(params.get("q")),
            order=order if order in (*BENCHMARKS, *SKILLS) else OVERALL,
            weights=known_values(params.get("weights"), get_args(Weights)),
            commercial=known_values(params.get("commercial"), get_args(Commercial)),
            memory=known_values(params.get("memory"), get_args(GpuMemory)),
            language_model=known_values(params.get("language_model"), get_args(Origin)),
            vision_encoder=known_values(params.get("vision_encoder"), get_args(Encoder)),
            sizes=known_values(params.get("size"), tuple(SIZES)),
            family=params.get("family") == "1",
        )

    def filters(self) -> dict[str, str]:
        """Return the filters as parameters of a URL, which the tables and charts of benchmarks understand too."""
        given = {
            "q": self.words,
            "weights": ",".join(self.weights),
            "commercial": ",".join(self.commercial),
            "memory": ",".join(self.memory),
            "language_model": ",".join(self.language_model),
            "vision_encoder": ",".join(self.vision_encoder),
            "size": ",".join(self.sizes),
            "family": "1" if self.family else "",
        }
        return {name: value for name, value in given.items() if value}

    def params(self) -> dict[str, str]:
        """Return the filters and the order as parameters of a URL."""
        return self.filters() | ({"sort": self.order} if self.order != OVERALL else {})

    @property
    def skill(self) -> Skill | None:
        """The skill that the models are sorted by, or None if they are sorted by something else."""
        return next((skill for skill in SKILLS if skill == self.order), None)


_SMALL = tuple(size for size, (_, high) in SIZES.items() if high <= 9e9)  # models named "8B" and smaller ones
# Questions that visitors ask often, which the overview offers as links.
PRESETS = {
    "small": Finder(weights=("open",), sizes=_SMALL),
    "small_tables": Finder(order="tables", weights=("open",), commercial=("yes",), sizes=_SMALL),
    "commercial": Finder(weights=("open",), commercial=("yes",)),
    "charts": Finder(order="charts"),
    "documents": Finder(order="documents"),
    "family": Finder(family=True),
}


def find_models(view: View, finder: Finder) -> list[ModelRow]:
    """Return the models that the finder describes, best first."""
    found = [model for model in find(view.models, finder.words) if fits_model(model, finder)]
    if finder.order in BENCHMARKS:
        found.sort(key=lambda model: _benchmark_order(model, finder.order))
    elif finder.skill:
        scores = view.skill_scores(finder.skill)
        found.sort(key=lambda model: -scores.get(model.model, -1.0))  # models without a score come last
    if finder.family:
        first_names = first_of_families(((model.model, model.model) for model in found), view.families)
        found = [model for model in found if model.model in first_names]
    return found


def shown_ranks(view: View, finder: Finder, models: Sequence[ModelRow]) -> dict[str, str]:
    """Return the rank of each model in the finder's order, as it is shown, by model.

    In the overall order, it is the first entry of `ModelRow.overall`. There, `rank_models` puts ranks among measured models
    before those among reported ones, and ranks on images before those on pages.
    """
    if finder.skill:
        skill_ranks = view.skill_ranks[finder.skill]
        kind_of_skill = skill_kind(view.models, finder.skill)
        return {model.model: rank_text(skill_ranks.get(model.model), kind_of_skill) for model in models}
    ranks: dict[str, str] = {}
    for model in models:
        rank: int | None = None
        kind: ResultKind = "verified"
        if finder.order == OVERALL:
            overall = next(iter(model.overall.values()), None)
            if overall:
                rank = overall.rank
                kind = overall.kind
        elif cell := model.cells.get(finder.order):
            rank = cell.rank
            kind = cell.row.kind
        ranks[model.model] = rank_text(rank, kind)
    return ranks


def _benchmark_order(model: ModelRow, benchmark: str) -> tuple[bool, bool, int]:
    """Return the sort key of a model on a benchmark: measured ones by rank, then reported ones by rank, then the others."""
    cell = model.cells.get(benchmark)
    if cell is None or cell.rank is None:
        return True, True, 0
    return False, cell.row.kind == "reported", cell.rank
