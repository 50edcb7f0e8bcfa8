"""Parameters of tests of which only some run with `make test`, and the others with `make test-slow`."""

from collections.abc import Iterable
from typing import Any

import pytest


def only_first(values: Iterable[Any]) -> list[Any]:
    """Return parameters of which the first runs with `make test`. The others are slow."""
    first, *others = values
    return [first, *(pytest.param(value, marks=pytest.mark.slow) for value in others)]


def every_nth(values: Iterable[Any], n: int) -> list[Any]:
    """Return parameters of which the first of each `n` runs with `make test`. The others are slow."""
    params = []
    for number, value in enumerate(values):
        marks = () if number % n == 0 else pytest.mark.slow
        params.append(pytest.param(value, marks=marks))
    return params
