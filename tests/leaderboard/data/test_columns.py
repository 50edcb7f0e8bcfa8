"""Test which columns tables can be sorted by."""

import pytest

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.columns import sortable


@pytest.mark.parametrize("name", BENCHMARKS)
def test_columns_to_sort_by_have_an_order(name: str) -> None:
    assert all(column.order and column.order_label for column in sortable(name))
