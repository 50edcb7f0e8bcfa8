"""What the board shows of the store at one commit.

`LiveBoard` builds a `View` for each commit, and pages, charts and downloads read it. What is computed from the rows is a
cached property: it is computed once for a view, and taken over by the next view if no board has changed.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import get_args

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.card import Skill
from leaderboard.data import families, skills
from leaderboard.data import profile as profiles
from leaderboard.data.attempts import PrivateCounts
from leaderboard.data.column_heads import Heads
from leaderboard.data.models import ModelRow, SharedBenchmarks, Summary
from leaderboard.data.query import Query, matching_rows
from leaderboard.data.ranking import Boards, RankedRow
from leaderboard.data.standing import Standings
from leaderboard.data.table import Table
from leaderboard.data.unseen import UnseenChange
from submissions.records.errata import Erratum
from submissions.records.index_rows import BoardRow, QueueRow
from submissions.records.operator import Commitment, Retirement
from submissions.records.options import Inputs, ResultKind
from submissions.store.base import Snapshot
from submissions.store.index import Unreadable

# All cached properties of a table and of a view. `prepare` computes them before a visitor needs them, and `take_over` copies
# those of a view.
PREPARED_OF_TABLE = ("filled_columns", "axes", "charts")
PREPARED = (
    "boards",
    "families",
    "skill_benchmarks",
    "counted_models",
    "heads",
    "models_by_name",
    "rows_by_model",
    "standings",
    "skill_ranks",
    "unseen_by_model",
    "overall_places",
    "counts",
)


@dataclass(frozen=True, eq=False)
class View:
    """The rows of the store at one commit, ranked. The default values make an empty view, from which a board starts."""

    snapshot: Snapshot
    rows: dict[str, list[BoardRow]] = field(default_factory=dict)  # by benchmark, as they were read and without ranks
    tables: dict[str, Table] = field(default_factory=dict)  # ranked rows by benchmark
    version: str = ""  # a text that changes with the rows, for ETags; empty before anything was read
    summaries: dict[str, Summary] = field(default_factory=dict)  # by benchmark
    models: list[ModelRow] = field(default_factory=list)  # in the order of the overview
    # The benchmarks that the models' overall scores are averaged over.
    shared_benchmarks: SharedBenchmarks = field(default_factory=lambda: {kind: {} for kind in get_args(ResultKind)})
    unseen: list[UnseenChange] = field(default_factory=list)  # ranks on unseen questions minus ranks on public sets
    queue: list[QueueRow] = field(default_factory=list)  # open and recent requests, newest first
    unreadable: list[Unreadable] = field(default_factory=list)  # records that are left out
    paths: dict[str, str] = field(default_factory=dict)  # of the results' records in the store, by key
    retired: list[Retirement] = field(default_factory=list)  # including revoked retirements
    commitments: list[Commitment] = field(default_factory=list)  # by quarter
    errata: list[Erratum] = field(default_factory=list)  # by benchmark, split and number
    private_attempts: PrivateCounts = field(default_factory=dict)
    # Scores of models by skill, computed when one is needed first, and taken over like the cached properties.
    _skill_scores: dict[Skill, dict[str, float]] = field(default_factory=dict)

    def select(self, benchmark: str, query: Query) -> list[RankedRow]:
        """Return the rows that match a query, in its order. Ignores `query.shown`."""
        found = matching_rows(self.tables[benchmark].in_order(query.sort), query)
        if not query.family:
            return found
        # The best of a family is the first one in the order of the ranking, whatever the table is sorted by.
        best_first = matching_rows(self.boards[benchmark], query)
        best_keys = families.first_of_families(((r.row.model, r.row.key) for r in best_first), self.families)
        return [r for r in found if r.row.key in best_keys]

    def errata_of(self, benchmark: str) -> list[Erratum]:
        """Return the errata of a benchmark's ranked test set, oldest first."""
        split = BENCHMARKS[benchmark].card.split
        return [erratum for erratum in self.errata if (erratum.benchmark, erratum.split) == (benchmark, split)]

    def request(self, key: str) -> QueueRow | None:
        """Return the open or recent request with a key, or None if there is none."""
        return next((row for row in self.queue if row.key == key), None)

    def skill_scores(self, skill: Skill) -> dict[str, float]:
        """Return the share of other model families, in percent, that each model is ahead of in a skill."""
        if skill not in self._skill_scores:
            self._skill_scores[skill] = skills.skill_scores(self.models, self.tables, self.families, skill)
        return self._skill_scores[skill]

    @cached_property
    def skill_ranks(self) -> dict[Skill, dict[str, int]]:
        """The ranks of the models that have a score in a skill."""
        return {skill: _ranks(self.skill_scores(skill)) for skill in get_args(Skill)}

    @cached_property
    def skill_benchmarks(self) -> dict[Skill, tuple[str, ...]]:
        """The benchmarks that each skill is measured on."""
        return {skill: skills.skill_benchmarks(self.models, skill) for skill in get_args(Skill)}

    @cached_property
    def heads(self) -> Heads:
        """The counts from which the overview makes the leader and the histogram of each column, for any search."""
        return Heads(self.models)

    def prepare(self) -> None:
        """Compute what many pages read, so that no visitor waits for it. Calls after the first cost nothing."""
        for table in self.tables.values():
            for name in PREPARED_OF_TABLE:
                getattr(table, name)
        for name in PREPARED:
            getattr(self, name)

    def take_over(self, earlier: "View") -> None:
        """Take over what was computed for an earlier view with the same rows, if for example only the queue has changed."""
        for name in PREPARED:
            if name in vars(earlier):  # where a cached property keeps its value
                vars(self)[name] = vars(earlier)[name]
        self._skill_scores.update(earlier._skill_scores)

    @cached_property
    def boards(self) -> Boards:
        """The ranked rows by benchmark, best first."""
        return {name: table.rows for name, table in self.tables.items()}

    @cached_property
    def rows_by_model(self) -> dict[str, list[RankedRow]]:
        """The rows of all boards by model, in the order of the boards."""
        by_model: dict[str, list[RankedRow]] = {}
        for rows in self.boards.values():
            for ranked in rows:
                by_model.setdefault(ranked.row.model, []).append(ranked)
        return by_model

    @cached_property
    def counted_models(self) -> dict[ResultKind, int]:
        """The numbers of models that were measured on a benchmark's test set, and of those with reported scores only."""
        measured = sum(model.is_measured for model in self.models)
        reported = sum(model.is_reported and not model.is_measured for model in self.models)
        return {"verified": measured, "reported": reported}

    @cached_property
    def unseen_by_model(self) -> dict[str, list[UnseenChange]]:
        by_model: dict[str, list[UnseenChange]] = {}
        for change in self.unseen:
            by_model.setdefault(change.model, []).append(change)
        return by_model

    @cached_property
    def overall_places(self) -> dict[str, dict[Inputs, profiles.OverallPlace]]:
        """The overall ranks of models with their ranges, by model."""
        return profiles.overall_places(self.models, self.shared_benchmarks, self.families)

    def profile(self, name: str) -> profiles.Profile | None:
        """Return what the first screen of a model's page shows, or None if the model is not in the overview."""
        model = self.models_by_name.get(name)
        if model is None:
            return None
        standings = [self.standings.of(cell) for cell in model.cells.values() if cell.rank]
        return profiles.profile(model, self.overall_places, standings, self.unseen_by_model.get(name, []))

    @cached_property
    def families(self) -> dict[str, str]:
        """The oldest known ancestor of each model that has a base model."""
        return families.families(self.boards)

    @cached_property
    def standings(self) -> Standings:
        return Standings(self.boards, self.models)

    @cached_property
    def models_by_name(self) -> dict[str, ModelRow]:
        return {model.model: model for model in self.models}

    @cached_property
    def counts(self) -> dict[str, int]:
        """The numbers of measured and of reported results of models, without sample runs."""
        rows = (r.row for rows in self.boards.values() for r in rows)
        kinds = Counter(
            row.kind for row in rows if row.role == "model" and not row.is_sample and row.outcome == "scored"
        )
        return {"verified": kinds["verified"], "reported": kinds["reported"]}


def _ranks(scores: Mapping[str, float]) -> dict[str, int]:
    """Return ranks by name, best first. Equal scores share a rank: {"a": 9, "b": 5, "c": 5} -> {"a": 1, "b": 2, "c": 2}."""
    negated_scores = sorted(-score for score in scores.values())  # ascending, as bisect requires
    return {name: bisect_left(negated_scores, -score) + 1 for name, score in scores.items()}
