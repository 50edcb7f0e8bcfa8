"""Families of models: a model and all models made from it."""

from collections.abc import Iterable, Mapping

from leaderboard.data.ranking import Boards


def families(boards: Boards) -> dict[str, str]:
    """Return the first known ancestor of each model that has a base model. Other models are a family of their own."""
    every = (r.row for rows in boards.values() for r in rows)
    bases = {row.model: row.base_model for row in every if row.base_model}
    found: dict[str, str] = {}
    for model in bases:
        root = model
        seen = {model}
        while (base := bases.get(root)) and base not in seen:
            root = base
            seen.add(root)
        found[model] = root
    return found


def first_of_families(listed: Iterable[tuple[str, str]], family_of: Mapping[str, str]) -> set[str]:
    """Return the first of each family, from pairs of a model's name and the key of what is listed for it."""
    first: dict[str, str] = {}
    for model, key in listed:
        first.setdefault(family_of.get(model, model), key)
    return set(first.values())
