"""Parameters of which only some run with `make test`, and all with `make test-slow`."""

from collections.abc import Iterable
from typing import Any

import pytest


def every_nth(values: Iterable[Any], n: int) -> list[Any]:
    """Return parameters of a test. The first of each `n` values runs with `make test`; the others are slow."""
    return [
        value if number % n == 0 else pytest.param(value, marks=pytest.mark.slow) for number, value in enumerate(values)
    ]
