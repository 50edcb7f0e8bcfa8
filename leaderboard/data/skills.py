"""Rank models by skill, such as reading tables: on the parts of benchmarks that need it.

A benchmark's card declares which of its parts need a skill (`Card.skills`), and `Skill` lists the skills. The overview sorts
models by these scores (`?sort=tables`); `View` computes them once.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
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
    names = [name for name, benchmark in BENCHMARKS.items() if benchmark.card.skills.get(skill)]
    kind = _compared_kind(models)
    return most_shared((model.ranked_on(kind).intersection(names) for model in models), names, at_least=1)


def skill_scores(
    models: Sequence[ModelRow], tables: Mapping[str, Table], family_of: Mapping[str, str], skill: Skill
) -> dict[str, float]:
    """Return the share of other model families, in percent, that each model is ahead of in a skill.

    The share is averaged over the parts of `skill_benchmarks` that need the skill. Models that have no score on one of these
    parts have no score here. Measured models are compared, or reported ones if fewer than two were measured.
    """
    kind = _compared_kind(models)
    scores_by_part: list[dict[str, float]] = []  # for each part, the scores by model
    for name in skill_benchmarks(models, skill):
        ranked_models = [model for model in models if model.rank_by(name, kind)]
        for part in BENCHMARKS[name].card.skills[skill]:
            scores = _part_scores(ranked_models, tables[name], part)
            if scores:
                scores_by_part.append(scores)
    if not scores_by_part:
        return {}
    compared = set.intersection(*map(set, scores_by_part))  # models with a score on every part
    shares: dict[str, list[float]] = {model: [] for model in compared}
    for scores in scores_by_part:
        for model, share in share_behind({model: scores[model] for model in compared}, family_of).items():
            shares[model].append(100 * share)
    return {model: fmean(shares_of_model) for model, shares_of_model in shares.items()}


def known_skills(models: Sequence[ModelRow], tables: Mapping[str, Table]) -> list[Skill]:
    """Return the skills in which some of the first models have a score."""
    searched = models[:MAX_SEARCHED]
    return [skill for skill in SKILLS if _is_known(skill, searched, tables)]


def _is_known(skill: Skill, models: Sequence[ModelRow], tables: Mapping[str, Table]) -> bool:
    """Return whether some of the models have a score in a skill."""
    for name, benchmark in BENCHMARKS.items():
        ranked_models = [model for model in models if name in model.cells and model.cells[name].rank]
        if any(_part_scores(ranked_models, tables[name], part) for part in benchmark.card.skills.get(skill, ())):
            return True
    return False


def _compared_kind(models: Sequence[ModelRow]) -> ResultKind:
    """Return the kind of results to compare: measured ones, unless fewer than two models have any."""
    measured = (model for model in models if model.ranked_on("verified"))
    return "verified" if len(list(islice(measured, 2))) > 1 else "reported"


def _part_scores(models: Sequence[ModelRow], table: Table, part: tuple[str, str] | None) -> dict[str, float]:
    """Return the scores of models on a part (axis and bucket) of a table's benchmark, or on the whole of it if None, by model.

    All models must have a rank on the benchmark. Models without a score on the part are left out.
    """
    rows = {model.model: model.cells[table.benchmark].row for model in models}
    if part is None:
        return {model: row.score for model, row in rows.items() if row.score is not None}
    scores = table.part_scores(BucketKey(*part))
    return {model: scores[row.key] for model, row in rows.items() if row.key in scores}
