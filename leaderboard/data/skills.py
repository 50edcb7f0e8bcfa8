"""Rank models by a skill, such as reading tables, on the parts of benchmarks that need it.

A benchmark's card declares which of its parts need a skill (`Card.skills`), and `Skill` lists the skills. The overview sorts
models by these scores (`?sort=tables`); `View` computes them once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import get_args

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.card import Skill
from leaderboard.data.breakdown import BucketKey
from leaderboard.data.models import ModelRow, most_shared, share_behind
from leaderboard.data.table import Table
from submissions.records.options import ResultKind

SKILLS = get_args(Skill)
# Models in which `known_skills` looks for scores, so that a large board is not searched for each page.
MAX_SEARCHED = 200


def skill_benchmarks(models: Sequence[ModelRow], skill: Skill) -> tuple[str, ...]:
    """Return the benchmarks that the score of a skill is averaged over.

    They are chosen by `most_shared` among those with parts that need the skill, so that many models have a score.
    """
    names = _benchmarks_with(skill)
    kind = skill_kind(models, skill)
    benchmarks_of_models = (model.ranked_on(kind).intersection(names) for model in models)
    return most_shared(benchmarks_of_models, names, at_least=1)


def skill_scores(
    models: Sequence[ModelRow], tables: Mapping[str, Table], family_of: Mapping[str, str], skill: Skill
) -> dict[str, float]:
    """Return the share of other model families, in percent, that each model is ahead of in a skill.

    The share is averaged over the parts of `skill_benchmarks` that need the skill. Models that have no score on one of these
    parts have no score here. Results of one kind are compared, see `skill_kind`.
    """
    shares: dict[str, list[float]] = {}
    for scores in _scores_by_part(models, tables, skill):
        for model, share in share_behind(scores, family_of).items():
            shares.setdefault(model, []).append(100 * share)
    # Rounded, so that equal sums of different shares are equal scores, as in `models`.
    return {model: round(fmean(shares_of_model), 9) for model, shares_of_model in shares.items()}


def known_skills(models: Sequence[ModelRow], tables: Mapping[str, Table]) -> list[Skill]:
    """Return the skills in which some of the first models have a score."""
    searched = models[:MAX_SEARCHED]
    return [skill for skill in SKILLS if any(_scores_by_part(searched, tables, skill))]


def _scores_by_part(models: Sequence[ModelRow], tables: Mapping[str, Table], skill: Skill) -> list[dict[str, float]]:
    """Return the scores by model on each part that needs a skill, of the models that have a score on all of these parts.

    A part on which no model has a score is left out, because no model would have a score on all parts.
    """
    kind = skill_kind(models, skill)
    by_part: list[dict[str, float]] = []
    for name in skill_benchmarks(models, skill):
        ranked_models = [model for model in models if model.rank_by(name, kind)]
        for part in BENCHMARKS[name].card.skills[skill]:
            if scores := _part_scores(ranked_models, tables[name], part):
                by_part.append(scores)
    compared = set.intersection(*map(set, by_part)) if by_part else set()
    return [{model: score for model, score in scores.items() if model in compared} for scores in by_part]


def _benchmarks_with(skill: Skill) -> list[str]:
    """Return the benchmarks that have parts that need a skill."""
    return [name for name, benchmark in BENCHMARKS.items() if benchmark.card.skills.get(skill)]


def skill_kind(models: Sequence[ModelRow], skill: Skill) -> ResultKind:
    """Return the kind of results that are compared in a skill.

    They are measured ones if at least two models were measured on the same benchmark with parts that need the skill,
    otherwise reported ones.
    """
    names = _benchmarks_with(skill)
    measured = Counter(name for model in models for name in model.ranked_on("verified").intersection(names))
    return "verified" if max(measured.values(), default=0) > 1 else "reported"


def _part_scores(models: Sequence[ModelRow], table: Table, part: tuple[str, str] | None) -> dict[str, float]:
    """Return the scores of models on a part of a table's benchmark, by model.

    A part is an axis and a bucket, or None for the whole benchmark, as in `Card.skills`. All models must have a rank on the
    benchmark. Models without a score on the part are left out.
    """
    rows = {model.model: model.cells[table.benchmark].row for model in models}
    if part is None:
        return {model: row.score for model, row in rows.items() if row.score is not None}
    scores = table.skill_scores(BucketKey(*part))
    return {model: scores[row.key] for model, row in rows.items() if row.key in scores}
