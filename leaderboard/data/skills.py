"""What models are good at."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import get_args

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.card import Skill
from leaderboard.data.breakdown import BucketKey, parts_of
from leaderboard.data.models import ModelRow, most_shared, share_behind
from submissions.records.options import ResultKind

SKILLS = get_args(Skill)
MAX_SEARCHED = 200  # models


def skill_benchmarks(models: Sequence[ModelRow], skill: Skill) -> tuple[str, ...]:
    """Return the benchmarks that a skill is measured on: those with parts that need it, which most models were asked."""
    names = [name for name, benchmark in BENCHMARKS.items() if benchmark.card.skills.get(skill)]
    kind = _kind(models)
    return most_shared((model.ranked_on(kind) & set(names) for model in models), names, at_least=1)


def skill_scores(models: Sequence[ModelRow], family_of: Mapping[str, str], skill: Skill) -> dict[str, float]:
    """Return the share of other model families, in percent, that each model is ahead of in a skill.

    The share is averaged over the parts of `skill_benchmarks` that need the skill (`Card.skills`). Models that were not
    asked all of them have no score. Measured models are compared, or reported ones if fewer than two were measured.
    """
    parts = [(name, part) for name in skill_benchmarks(models, skill) for part in BENCHMARKS[name].card.skills[skill]]
    kind = _kind(models)
    scores: dict[tuple[str, object], dict[str, float]] = {}
    for name, part in parts:
        asked = [model for model in models if model.rank_by(name, kind)]
        given = {model.model: _score(model, name, part) for model in asked}
        known = {model: score for model, score in given.items() if score is not None}
        if known:
            scores[name, part] = known
    if not scores:
        return {}
    compared = set.intersection(*(set(known) for known in scores.values()))
    shares: dict[str, list[float]] = {model: [] for model in compared}
    for known in scores.values():
        for model, share in share_behind({model: known[model] for model in compared}, family_of).items():
            shares[model].append(100 * share)
    return {model: mean(each) for model, each in shares.items()}


def known_skills(models: Sequence[ModelRow]) -> list[Skill]:
    """Return the skills in which some of the first models have a score."""
    searched = models[:MAX_SEARCHED]
    return [skill for skill in SKILLS if _is_known(skill, searched)]


def _is_known(skill: Skill, models: Sequence[ModelRow]) -> bool:
    """Return whether some of the models have a score in a skill."""
    for name, benchmark in BENCHMARKS.items():
        for part in benchmark.card.skills.get(skill, ()):
            if any(_score(model, name, part) is not None for model in models):
                return True
    return False


def _kind(models: Sequence[ModelRow]) -> ResultKind:
    """Return the kind of results to compare: measured ones, unless fewer than two models have any."""
    return "verified" if sum(bool(model.ranked_on("verified")) for model in models) > 1 else "reported"


def _score(model: ModelRow, benchmark: str, part: tuple[str, str] | None) -> float | None:
    """Return a model's ranked score on a benchmark, or on one of its parts."""
    cell = model.cells.get(benchmark)
    if cell is None or cell.rank is None:
        return None
    if part is None:
        return cell.row.score
    found = parts_of(cell.row).get(BucketKey(*part))
    return found.score if found else None
