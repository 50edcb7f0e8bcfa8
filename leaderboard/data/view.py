"""What the board shows of the store at one commit."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import get_args

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.card import Skill
from leaderboard.data.attempts import PrivateCounts
from leaderboard.data.column_heads import Heads
from leaderboard.data.families import families, first_of_families
from leaderboard.data.models import ModelRow, Summary, shared_benchmarks
from leaderboard.data.profile import OverallPlace, Profile, overall_places, profile
from leaderboard.data.query import Query, select
from leaderboard.data.ranking import Boards, RankedRow
from leaderboard.data.skills import skill_benchmarks, skill_scores
from leaderboard.data.standing import Standings
from leaderboard.data.table import Table
from leaderboard.data.unseen import UnseenChange
from submissions.records.errata import Erratum
from submissions.records.index_rows import BoardRow, QueueRow
from submissions.records.operator import Commitment, Retirement
from submissions.records.options import Inputs, ResultKind
from submissions.store.base import Snapshot
from submissions.store.index import Unreadable

# What many pages show, and what takes long to compute: of a table, and of all.
SHOWN = ("filled_columns", "axes", "charts")
SHARED = (
    "boards",
    "families",
    "skill_benchmarks",
    "shared_benchmarks",
    "counted_models",
    "heads",
    "models_by_name",
    "rows_by_model",
    "standings",
    "skill_ranks",
    "unseen_by_model",
    "overall_places",
)


@dataclass(frozen=True, eq=False)
class View:
    """The rows of the store at one commit, ranked."""

    snapshot: Snapshot
    rows: dict[str, list[BoardRow]] = field(default_factory=dict)  # by benchmark, as they were read
    tables: dict[str, Table] = field(default_factory=dict)  # by benchmark
    version: str = ""  # of the boards: changes with the rows of the store and the published ones
    summaries: dict[str, Summary] = field(default_factory=dict)  # by benchmark
    models: list[ModelRow] = field(default_factory=list)
    unseen: list[UnseenChange] = field(default_factory=list)  # ranks on unseen questions minus ranks on public sets
    queue: list[QueueRow] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    paths: dict[str, str] = field(default_factory=dict)  # result key → path in the store
    retired: list[Retirement] = field(default_factory=list)
    commitments: list[Commitment] = field(default_factory=list)  # by quarter
    errata: list[Erratum] = field(default_factory=list)  # by benchmark, split and number
    private_attempts: PrivateCounts = field(default_factory=dict)
    _skills: dict[Skill, dict[str, float]] = field(default_factory=dict)

    def select(self, benchmark: str, query: Query) -> list[RankedRow]:
        """Return the rows that match a query, in its order. Ignores `query.shown`."""
        found = select(self.tables[benchmark].sorted(query.sort), query)
        if not query.family:
            return found
        in_order = ((r.row.model, r.row.key) for r in select(self.boards[benchmark], query))
        best = first_of_families(in_order, self.families)
        return [r for r in found if r.row.key in best]

    def errata_of(self, benchmark: str) -> list[Erratum]:
        """Return the errata of a benchmark's ranked test set, oldest first."""
        split = BENCHMARKS[benchmark].card.split
        return [one for one in self.errata if (one.benchmark, one.split) == (benchmark, split)]

    def request(self, key: str) -> QueueRow | None:
        """Return the open or recent request with a key, or None if there is none."""
        return next((row for row in self.queue if row.key == key), None)

    def skill_scores(self, skill: Skill) -> dict[str, float]:
        """Return the share of other models, in percent, that each model is ahead of in a skill; computed once."""
        if skill not in self._skills:
            self._skills[skill] = skill_scores(self.models, self.tables, self.families, skill)
        return self._skills[skill]

    @cached_property
    def skill_ranks(self) -> dict[Skill, dict[str, int]]:
        """The ranks of the models that have a score in a skill."""
        return {skill: _ranks(self.skill_scores(skill)) for skill in get_args(Skill)}

    @cached_property
    def skill_benchmarks(self) -> dict[Skill, tuple[str, ...]]:
        """The benchmarks that each skill is measured on."""
        return {skill: skill_benchmarks(self.models, skill) for skill in get_args(Skill)}

    @cached_property
    def heads(self) -> Heads:
        return Heads(self.models)

    def prepare(self) -> None:
        """Compute what many pages share, so that no visitor waits for it. All of it is computed once for a view."""
        for table in self.tables.values():
            for shown in SHOWN:
                getattr(table, shown)
        for shared in SHARED:
            getattr(self, shared)

    def take_over(self, earlier: "View") -> None:
        """Take over what was computed for an earlier view of the same tables: only the queue, for example, has changed."""
        for shared in SHARED:
            if shared in vars(earlier):
                vars(self)[shared] = vars(earlier)[shared]
        self._skills.update(earlier._skills)

    @cached_property
    def boards(self) -> Boards:
        """The ranked rows by benchmark, best first."""
        return {name: table.rows for name, table in self.tables.items()}

    @cached_property
    def rows_by_model(self) -> dict[str, list[RankedRow]]:
        """The rows of all boards by model, in the order of the boards."""
        found: dict[str, list[RankedRow]] = {}
        for rows in self.boards.values():
            for ranked in rows:
                found.setdefault(ranked.row.model, []).append(ranked)
        return found

    @cached_property
    def counted_models(self) -> dict[ResultKind, int]:
        """The numbers of models that were measured on a benchmark's test set, and of those with reported scores only."""
        measured = sum(model.is_measured for model in self.models)
        reported = sum(model.is_reported and not model.is_measured for model in self.models)
        return {"verified": measured, "reported": reported}

    @cached_property
    def unseen_by_model(self) -> dict[str, list[UnseenChange]]:
        found: dict[str, list[UnseenChange]] = {}
        for change in self.unseen:
            found.setdefault(change.model, []).append(change)
        return found

    @cached_property
    def overall_places(self) -> dict[str, dict[Inputs, OverallPlace]]:
        """The overall ranks of models with their ranges."""
        counts: Counter[tuple[str, ResultKind]] = Counter()
        for name, rows in self.boards.items():
            counts.update((name, r.row.kind) for r in rows if r.rank)
        return overall_places(self.models, self.shared_benchmarks, counts)

    def profile(self, name: str) -> Profile | None:
        """Return what the first screen of a model's page shows, or None if no result stands for the model."""
        model = self.models_by_name.get(name)
        if model is None:
            return None
        standings = [self.standings.of(cell) for cell in model.cells.values() if cell.rank]
        return profile(model, self.overall_places, standings, self.unseen_by_model.get(name, []))

    @cached_property
    def families(self) -> dict[str, str]:
        """The first ancestor of each model that has a base model."""
        return families(self.boards)

    @cached_property
    def standings(self) -> Standings:
        return Standings(self.boards, self.models)

    @cached_property
    def models_by_name(self) -> dict[str, ModelRow]:
        return {model.model: model for model in self.models}

    @cached_property
    def shared_benchmarks(self) -> dict[ResultKind, dict[Inputs, tuple[str, ...]]]:
        """The benchmarks of the overall scores, for measured and for reported results."""
        found = {}
        for kind in get_args(ResultKind):
            found[kind] = shared_benchmarks(model.ranked_on(kind) for model in self.models)
        return found

    @cached_property
    def counts(self) -> dict[str, int]:
        """The numbers of measured and of reported results of models, without sample runs."""
        rows = (r.row for rows in self.boards.values() for r in rows)
        kinds = Counter(
            row.kind for row in rows if row.role == "model" and not row.is_sample and row.outcome == "scored"
        )
        return {"verified": kinds["verified"], "reported": kinds["reported"]}


def _ranks(scores: Mapping[str, float]) -> dict[str, int]:
    losses = sorted(-score for score in scores.values())
    return {name: bisect_left(losses, -score) + 1 for name, score in scores.items()}
