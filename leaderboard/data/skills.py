"""What models are good at."""

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
MAX_SEARCHED = 200  # models


def skill_benchmarks(models: Sequence[ModelRow], skill: Skill) -> tuple[str, ...]:
    """Return the benchmarks that a skill is measured on: those with parts that need it, which most models were asked."""
    names = [name for name, benchmark in BENCHMARKS.items() if benchmark.card.skills.get(skill)]
    kind = _kind(models)
    return most_shared((model.ranked_on(kind).intersection(names) for model in models), names, at_least=1)


def skill_scores(
    models: Sequence[ModelRow], tables: Mapping[str, Table], family_of: Mapping[str, str], skill: Skill
) -> dict[str, float]:
    """Return the share of other model families, in percent, that each model is ahead of in a skill.

    The share is averaged over the parts of `skill_benchmarks` that need the skill (`Card.skills`). Models that were not
    asked all of them have no score. Measured models are compared, or reported ones if fewer than two were measured.
    """
    kind = _kind(models)
    scores: list[dict[str, float]] = []
    for name in skill_benchmarks(models, skill):
        asked = [model for model in models if model.rank_by(name, kind)]
        for part in BENCHMARKS[name].card.skills[skill]:
            known = _part_scores(asked, tables[name], part)
            if known:
                scores.append(known)
    if not scores:
        return {}
    compared = set.intersection(*map(set, scores))
    shares: dict[str, list[float]] = {model: [] for model in compared}
    for known in scores:
        for model, share in share_behind({model: known[model] for model in compared}, family_of).items():
            shares[model].append(100 * share)
    return {model: fmean(each) for model, each in shares.items()}


def known_skills(models: Sequence[ModelRow], tables: Mapping[str, Table]) -> list[Skill]:
    """Return the skills in which some of the first models have a score."""
    searched = models[:MAX_SEARCHED]
    return [skill for skill in SKILLS if _is_known(skill, searched, tables)]


def _is_known(skill: Skill, models: Sequence[ModelRow], tables: Mapping[str, Table]) -> bool:
    """Return whether some of the models have a score in a skill."""
    for name, benchmark in BENCHMARKS.items():
        asked = [model for model in models if name in model.cells and model.cells[name].rank]
        if any(_part_scores(asked, tables[name], part) for part in benchmark.card.skills.get(skill, ())):
            return True
    return False


def _kind(models: Sequence[ModelRow]) -> ResultKind:
    """Return the kind of results to compare: measured ones, unless fewer than two models have any."""
    measured = (model for model in models if model.ranked_on("verified"))
    return "verified" if len(list(islice(measured, 2))) > 1 else "reported"


def _part_scores(models: Sequence[ModelRow], table: Table, part: tuple[str, str] | None) -> dict[str, float]:
    """Return the scores of models on a benchmark that all of them have a rank on, or on one of its parts, by model."""
    rows = {model.model: model.cells[table.benchmark].row for model in models}
    if part is None:
        return {model: row.score for model, row in rows.items() if row.score is not None}
    scores = table.part_scores(BucketKey(*part))
    return {model: scores[row.key] for model, row in rows.items() if row.key in scores}
