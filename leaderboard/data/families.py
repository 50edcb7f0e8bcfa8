"""Families of models: a model and all models made from it, directly or indirectly, as their cards name the base model.

Families are counted once in overall scores (`models.share_behind`) and can be listed once (`?family=1`).
"""

from collections.abc import Iterable, Mapping

from leaderboard.data.ranking import Boards


def base_models(boards: Boards) -> dict[str, str]:
    """Return the base model of each model that has one. If the rows of a model name several, the first one counts."""
    bases: dict[str, str] = {}
    for rows in boards.values():
        for row in (ranked.row for ranked in rows):
            if row.base_model:
                bases.setdefault(row.model, row.base_model)
    return bases


def families(boards: Boards) -> dict[str, str]:
    """Return the family of each model that has a base model, which is the name of its oldest known ancestor.

    Models that are not in the result are a family of their own. If c was made from b, and b from a, the result is
    {"b": "a", "c": "a"}. Cards may name each other as base models: the family is then the first of their names.
    """
    bases = base_models(boards)
    family_of: dict[str, str] = {}
    for model in bases:
        ancestors = [model]
        while (base := bases.get(ancestors[-1])) and base not in ancestors:
            ancestors.append(base)
        circle = ancestors[ancestors.index(base) :] if base else []
        family_of[model] = min(circle, default=ancestors[-1])
    return family_of


def first_of_families(listed: Iterable[tuple[str, str]], family_of: Mapping[str, str]) -> set[str]:
    """Return the key of the first entry of each family.

    `listed` are pairs of a model's name and a key, in the order of the list. The key of a row is that of its result, that of a
    model in the overview its name.
    """
    first_key: dict[str, str] = {}
    for model, key in listed:
        first_key.setdefault(family_of.get(model, model), key)
    return set(first_key.values())
