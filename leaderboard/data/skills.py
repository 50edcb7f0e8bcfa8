"""What models are good at."""

from bisect import bisect_left
from collections.abc import Sequence
from statistics import mean
from typing import get_args

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.card import Skill
from leaderboard.data.breakdown import BucketKey, parts_of
from leaderboard.data.models import ModelRow

SKILLS = get_args(Skill)
MAX_SEARCHED = 200  # models


def skill_scores(models: Sequence[ModelRow], skill: Skill) -> dict[str, float]:
    """Return the share of other models, in percent, that each model is ahead of in a skill.

    The share is averaged over the parts of benchmarks that need the skill (`Card.skills`) and that the model was asked.
    """
    shares: dict[str, list[float]] = {}
    for name, benchmark in BENCHMARKS.items():
        for part in benchmark.card.skills.get(skill, ()):
            scores = _scores(models, name, part)
            ordered = sorted(scores.values())
            for model, score in scores.items() if len(ordered) > 1 else ():
                shares.setdefault(model, []).append(100 * bisect_left(ordered, score) / (len(ordered) - 1))
    return {model: mean(each) for model, each in shares.items()}


def known_skills(models: Sequence[ModelRow]) -> list[Skill]:
    """Return the skills in which some of the first models have a score."""
    return [
        skill
        for skill in SKILLS
        if any(
            _score(model, name, part) is not None
            for name, benchmark in BENCHMARKS.items()
            for part in benchmark.card.skills.get(skill, ())
            for model in models[:MAX_SEARCHED]
        )
    ]


def _scores(models: Sequence[ModelRow], benchmark: str, part: tuple[str, str] | None) -> dict[str, float]:
    """Return the scores of the models that were measured, or, if there are fewer than two, of those that makers report."""
    by_kind: dict[str, dict[str, float]] = {"verified": {}, "reported": {}}
    for model in models:
        score = _score(model, benchmark, part)
        if score is not None:
            by_kind[model.cells[benchmark].row.kind][model.model] = score
    return by_kind["verified"] if len(by_kind["verified"]) > 1 else by_kind["reported"]


def _score(model: ModelRow, benchmark: str, part: tuple[str, str] | None) -> float | None:
    """Return a model's ranked score on a benchmark, or on one of its parts."""
    cell = model.cells.get(benchmark)
    if cell is None or cell.rank is None:
        return None
    if part is None:
        return cell.row.score
    found = parts_of(cell.row).get(BucketKey(*part))
    return found.score if found else None
