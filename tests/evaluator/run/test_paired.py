"""Results beside each other: counts that add up, the same questions only, and who is compared with whom."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.data_types import Item
from evaluator.errors import Details
from evaluator.run.paired import NEIGHBOURS, TOP, ItemScores, opponents, paired_scores
from submissions.records import EvalRequest
from submissions.results import EvalResult
from submissions.rows import board_row
from tests.support.evaluated import evaluated

Make = Callable[..., EvalRequest]
KEY = "a" * 32
ITEMS = [Item(str(n), f"{n}번째 값은?", str(n), cluster=str(n)) for n in range(10)]


def scores(right: str, items: list[Item] = ITEMS, benchmark: str = "ko-vqa") -> ItemScores:
    details: Details = [{"id": i.id, "em": float(r), "f1": float(r) / 2} for i, r in zip(items, right, strict=True)]
    found = ItemScores.of(BENCHMARKS[benchmark], items, details)
    assert found
    return found


def test_counts_add_up_and_turn_around() -> None:
    pair = paired_scores(scores("1111110000"), scores("1100001000"), KEY)
    assert pair and (pair.both, pair.this_only, pair.other_only, pair.neither) == (2, 4, 1, 3)
    assert pair.difference == pytest.approx(30) and pair.interval[0] < 30 < pair.interval[1]
    assert pair.p_value == pytest.approx(0.375), "McNemar, 4 against 1"
    turned = pair.seen_from_other("b" * 32)
    assert (turned.this_only, turned.other_only, turned.difference) == (1, 4, -30)
    assert turned.interval == (-pair.interval[1], -pair.interval[0])
    assert turned.seen_from_other(KEY) == pair


def test_the_order_of_the_items_does_not_matter() -> None:
    turned = scores("0000111111", ITEMS[::-1])
    assert paired_scores(scores("1111110000"), turned, KEY) == paired_scores(
        scores("1111110000"), scores("1111110000"), KEY
    )


@pytest.mark.parametrize(
    "items", [ITEMS[:9], [*ITEMS[:9], Item("9", "9번째 값은?", "nine", cluster="9")]], ids=["fewer", "a mended answer"]
)
def test_other_questions_are_not_compared(items: list[Item]) -> None:
    assert paired_scores(scores("1" * 10), scores("1" * len(items), items), KEY) is None


def test_f1_is_compared_where_it_is_the_headline() -> None:
    pair = paired_scores(scores("1111110000", benchmark="korquad-2"), scores("1100001000", benchmark="korquad-2"), KEY)
    assert pair and (pair.this_only, pair.difference) == (4, 15)


def test_a_headline_that_is_no_mean_is_not_compared() -> None:
    assert ItemScores.of(BENCHMARKS["ko-ocrag"], ITEMS, [{"em": 1.0, "f1": 1.0}] * 10) is None


def test_the_file_holds_all_of_it() -> None:
    kept = scores("1010101010")
    read = ItemScores.from_parquet(kept.to_parquet())
    for name in ("ids", "right", "scores", "clusters"):
        assert np.array_equal(getattr(kept, name), getattr(read, name))
    with pytest.raises(ValueError, match="Parquet"):
        ItemScores.from_parquet(b"something else")


def test_who_is_compared_with_whom(make_request: Make) -> None:
    def result(model: str, em: float, **changes: Any) -> EvalResult:
        return evaluated(make_request(model_id=model, benchmark="ko-vqa"), em, **changes)

    others = [result(f"o/{n:03}", 90 - n / 10) for n in range(200)]
    others.append(result("me/base", 1.0))
    others.append(result("o/sample", 71.0, dataset={"id": "x", "revision": None, "split": "sample", "n": 9}))
    rows = [board_row(one, "x", "y") for one in others]

    def names(em: float, **changes: Any) -> set[str]:
        new = result("me/new", em, **changes)
        return {row.model for row in opponents(new, rows, "em")}

    assert names(89.95) == {f"o/{n:03}" for n in range(TOP)}, "within the first ranks all of them"
    around = {f"o/{n:03}" for n in range(150 - NEIGHBOURS, 150 + NEIGHBOURS)}
    assert names(75.05) == {"o/000"} | around, "the leader, and the neighbours"
    own = {"model_name": "me/new", "model_sha": "0" * 40, "model_dtype": "float32", "base_model": "me/base"}
    assert names(75.05, config=own) == {"o/000", "me/base"} | around, "its own family too"
