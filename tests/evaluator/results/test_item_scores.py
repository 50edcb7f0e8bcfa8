"""Tests of paired comparisons: coarse, on the same questions only, and of strangers only."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Item
from evaluator.core.errors import Details
from evaluator.results.item_scores import MAX_PAIRS, ItemScores, are_related, opponents, paired_scores, rounded_up
from evaluator.results.private_records import save_item_scores
from evaluator.results.published_pairs import with_pairs
from submissions.config.settings import Settings
from submissions.records.index_rows import board_row
from submissions.records.request import EvalRequest
from submissions.records.result import EvalResult, PairedScores
from submissions.store.base import Store
from submissions.store.index import with_result
from submissions.store.open import open_private_store
from tests.support.evaluated import evaluated

Make = Callable[..., EvalRequest]
KEY = "a" * 32
ITEMS = [Item(str(n), f"{n}번째 값은?", str(n), cluster=str(n)) for n in range(10)]


def scores(right: str, items: list[Item] = ITEMS, benchmark: str = "ko-vqa") -> ItemScores:
    details: Details = [
        {"id": i.id, "em_strict": float(r), "em": float(r), "f1": float(r) / 2}
        for i, r in zip(items, right, strict=True)
    ]
    found = ItemScores.of(BENCHMARKS[benchmark], items, details, "someone")
    assert found
    return found


def test_pair_is_coarse_and_turns_around() -> None:
    pair = paired_scores(scores("1111110000"), scores("1100001000"), KEY)
    assert pair and pair.p_at_most == 1.0, "McNemar, 4 against 1: 0.375"
    assert pair.interval[0] < 30 < pair.interval[1] and pair.sign == 1
    turned = pair.seen_from_other("b" * 32)
    assert turned.interval == (-pair.interval[1], -pair.interval[0]) and turned.sign == -1
    assert turned.seen_from_other(KEY) == pair
    assert [rounded_up(p) for p in (0.0, 2e-6, 0.003, 0.01, 0.03, 0.06)] == [1e-6, 1e-5, 0.01, 0.01, 0.05, 1.0]


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
    assert pair and pair.interval[0] < 15 < pair.interval[1], "half a point for each"


def test_a_headline_that_is_no_mean_is_not_compared() -> None:
    assert ItemScores.of(BENCHMARKS["ko-ocrag"], ITEMS, [{"em": 1.0, "f1": 1.0}] * 10) is None


def test_the_file_holds_all_of_it() -> None:
    kept = scores("1010101010")
    read = ItemScores.from_parquet(kept.to_parquet())
    for name in ("ids", "scores", "clusters"):
        assert np.array_equal(getattr(kept, name), getattr(read, name))
    assert read.submitter == kept.submitter == "someone"
    with pytest.raises(ValueError, match="Parquet"):
        ItemScores.from_parquet(b"something else")


def made(make_request: Make, model: str, em: float, **changes: Any) -> EvalResult:
    return evaluated(make_request(model_id=model, benchmark="ko-vqa"), em, **changes)


def test_opponents_are_leader_baselines_and_neighbours(make_request: Make) -> None:
    others = [made(make_request, f"o/{n:03}", 90 - n / 10) for n in range(200)]
    others.append(
        made(make_request, "o/sample", 71.0, dataset={"id": "x", "revision": None, "split": "sample", "n": 9})
    )
    rows = [board_row(one, "x", "y") for one in others]
    found = [row.model for row in opponents(made(make_request, "me/new", 75.04), rows)]
    assert found[0] == "o/000" and "o/sample" not in found
    assert set(found[1:7]) == {"o/147", "o/148", "o/149", "o/150", "o/151", "o/152"}, "the nearest first"


@pytest.mark.parametrize(
    ("model", "base", "submitter", "related"),
    [
        ("o/other", None, "somebody else", False),
        ("o/other", None, "someone", True),
        ("Me/other", None, "somebody else", True),
        ("o/other", "m/base", "somebody else", True),
        ("m/base", None, "somebody else", True),
        ("me/new", None, "", True),
    ],
)
def test_pairs_of_one_hand_are_related(
    make_request: Make, model: str, base: str | None, submitter: str, related: bool
) -> None:
    own = {"model_name": "me/new", "model_sha": "0" * 40, "model_dtype": "float32", "base_model": "m/base"}
    new = made(make_request, "me/new", 50.0, config=own)
    other = {"model_name": model, "model_sha": "0" * 40, "model_dtype": "float32", "base_model": base}
    row = board_row(made(make_request, model, 50.0, config=other), "x", "y")
    assert are_related(new, "someone", row, submitter) is related


SECRET = 210  # items
DESIGN = list(itertools.combinations(range(21), 2))  # item n is guessed by these two of 21 submissions
ACCOUNTS = 40  # that work together, each with a random half of the guesses
Rights = npt.NDArray[np.bool_]  # submissions × items


def published_pairs(
    right: Rights, submitters: list[str], settings: Settings, store: Store, make_request: Make
) -> dict[tuple[int, int], PairedScores]:
    """Publish the submissions one after another; return what is public of pairs of them, the later one first."""
    items = [Item(str(n), "?", "!", cluster=str(n)) for n in range(right.shape[1])]
    private, place = open_private_store(settings), dict[str, int]()
    found: dict[tuple[int, int], PairedScores] = {}
    for number, (own, submitter) in enumerate(zip(right, submitters, strict=True)):
        details: Details = [{"id": i.id, "em_strict": float(r)} for i, r in zip(items, own, strict=True)]
        request = make_request(model_id=f"{submitter}{number}/model", benchmark="ko-vqa")
        held = ItemScores.of(BENCHMARKS["ko-vqa"], items, details, submitter)
        assert held
        save_item_scores(private, request.key, held)
        result = with_pairs(evaluated(request, 100 * float(own.mean())), held, store, private)
        assert len(result.paired) <= MAX_PAIRS
        store.commit(with_result(store, store.snapshot(), result), store.head(), "publish")
        found |= {(number, place[pair.other]): pair for pair in result.paired}
        place[request.key] = number
    return found


def recovered(guessed: Rights, right: Rights, pairs: dict[tuple[int, int], PairedScores], truth: Rights) -> float:
    """Return the share of items whose rightness least squares finds, from scores and what pairs say.

    A pair's interval has a half width of about 1.96 √d / n where d items are right for one of the two only.
    """
    n = guessed.shape[1]
    rows, values, spread = [*guessed.astype(float)], [*right.sum(axis=1).astype(float)], [0.15] * len(guessed)
    for (a, b), pair in pairs.items():
        half = max(0.5, (pair.interval[1] - pair.interval[0] - 5) / 2) * n / 196
        rows.append((guessed[a] ^ guessed[b]).astype(float))
        values.append(half**2)
        spread.append(max(0.5, 5 * half / 2))
    weights = 1 / np.array(spread)
    known, wanted = np.array(rows) * weights[:, None], np.array(values) * weights
    start = np.full(n, 0.5)
    solved = start + np.linalg.solve(known.T @ known + 4 * np.eye(n), known.T @ (wanted - known @ start))
    return float(((solved > 0.5) == truth).mean())


def test_exact_pair_counts_would_give_every_item_away() -> None:
    """What was published before: how many items both of two submissions got right. 21 submissions are enough."""
    truth = np.random.default_rng(3).random(SECRET) < 0.5
    guessed = np.zeros((21, SECRET), bool)
    for item, pair in enumerate(DESIGN):
        guessed[list(pair), item] = True
    right = guessed & truth
    both = np.array([(right[a] & right[b]).sum() for a, b in DESIGN])
    assert ((both > 0) == truth).all()


def test_no_pair_of_one_hand_is_published(settings: Settings, store: Store, make_request: Make) -> None:
    right = np.random.default_rng(3).random((21, SECRET)) < 0.5
    assert not published_pairs(right, ["me"] * 21, settings, store, make_request)


def test_pairs_of_colluding_accounts_say_little_beside_their_scores(
    settings: Settings, store: Store, make_request: Make
) -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(SECRET) < 0.5
    guessed = rng.random((ACCOUNTS, SECRET)) < 0.5
    right = guessed & truth
    pairs = published_pairs(right, [f"person-{n}" for n in range(ACCOUNTS)], settings, store, make_request)
    assert len(pairs) > 5 * ACCOUNTS
    alone, together = recovered(guessed, right, {}, truth), recovered(guessed, right, pairs, truth)
    assert alone < 0.8 and together < alone + 0.08, (alone, together)
