"""Test paired comparisons, which are coarse and only of unrelated results on the same questions."""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Item
from evaluator.core.errors import Details
from evaluator.publication.item_scores import MAX_PAIRS, ItemScores, are_related, opponents, paired_scores, rounded_up
from evaluator.publication.private_records import save_item_scores
from evaluator.publication.published_pairs import with_pairs
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.config.settings import Settings
from submissions.records.index_rows import board_row
from submissions.records.result import EvalResult, PairedScores
from submissions.store.base import Store
from submissions.store.index import with_result
from submissions.store.open import open_private_store

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


def test_paired_scores_are_coarse_and_reversible() -> None:
    pair = paired_scores(scores("1111110000"), scores("1100001000"), KEY)
    assert pair and pair.p_at_most == 1.0, "McNemar, 4 against 1: 0.375"
    assert pair.interval[0] < 30 < pair.interval[1] and pair.sign == 1
    turned = pair.seen_from_other("b" * 32)
    assert turned.interval == (-pair.interval[1], -pair.interval[0]) and turned.sign == -1
    assert turned.seen_from_other(KEY) == pair
    assert [rounded_up(p) for p in (0.0, 2e-6, 0.003, 0.01, 0.03, 0.06)] == [1e-6, 1e-5, 0.01, 0.01, 0.05, 1.0]


@pytest.mark.parametrize(("better", "interval"), [(9, (0, 15)), (13, (5, 20)), (22, (10, 30))])
def test_paired_scores_end_at_the_step_that_the_interval_ends_at(better: int, interval: tuple[int, int]) -> None:
    items = [Item(str(n), f"{n}번째 값은?", str(n), cluster=str(n)) for n in range(100)]
    pair = paired_scores(scores(f"{'1' * better:0<100}", items), scores("0" * 100, items), KEY)
    assert pair is not None and pair.interval == interval


def test_paired_scores_ignore_order_of_items() -> None:
    kept = scores("1111110000")
    turned = scores("0000111111", ITEMS[::-1])
    assert paired_scores(kept, turned, KEY) == paired_scores(kept, kept, KEY)


def test_paired_scores_reject_other_questions() -> None:
    corrected = [*ITEMS[:9], Item("9", "9번째 값은?", "nine", cluster="9")]
    for items in (ITEMS[:9], corrected):
        assert paired_scores(scores("1" * 10), scores("1" * len(items), items), KEY) is None


def test_paired_scores_use_headline_f1() -> None:
    pair = paired_scores(scores("1111110000", benchmark="korquad-2"), scores("1100001000", benchmark="korquad-2"), KEY)
    assert pair and pair.interval[0] < 15 < pair.interval[1], "each item counts half"


def test_item_scores_require_mean_headline() -> None:
    assert ItemScores.of(BENCHMARKS["ko-ocrag"], ITEMS, [{"em": 1.0, "f1": 1.0}] * 10) is None


def test_item_scores_parquet_round_trip() -> None:
    kept = scores("1010101010")
    read = ItemScores.from_parquet(kept.to_parquet())
    for name in ("ids", "scores", "clusters"):
        assert np.array_equal(getattr(kept, name), getattr(read, name))
    assert read.submitter == kept.submitter == "someone"
    with pytest.raises(ValueError, match="Parquet"):
        ItemScores.from_parquet(b"something else")


def made(make_request: Make, model: str, em: float, **changes: Any) -> EvalResult:
    return evaluated(make_request(model_id=model, benchmark="ko-vqa"), em, **changes)


def test_opponents_are_leader_and_neighbours(make_request: Make) -> None:
    others = [made(make_request, f"o/{n:03}", 90 - n / 10) for n in range(200)]
    samples = {"id": "x", "revision": None, "split": "sample", "n": 9}
    others.append(made(make_request, "o/sample", 71.0, dataset=samples))
    rows = [board_row(one, "x", "y") for one in others]
    found = [row.model for row in opponents(made(make_request, "me/new", 75.04), rows)]
    assert found[0] == "o/000" and "o/sample" not in found
    assert set(found[1:7]) == {"o/147", "o/148", "o/149", "o/150", "o/151", "o/152"}, "the nearest ones come first"


@pytest.mark.parametrize(
    ("model", "base", "submitter", "related"),
    [
        ("o/other", None, "somebody else", False),
        ("o/other", None, "someone", True),
        ("Me/other", None, "somebody else", True),
        ("o/other", "m/base", "somebody else", True),
        ("m/base", None, "somebody else", True),
        ("o/other", "M/Base", "somebody else", True),
        ("M/Base", None, "somebody else", True),
        ("me/new", None, "", True),
    ],
)
def test_are_related_by_owner_base_or_submitter(
    make_request: Make, model: str, base: str | None, submitter: str, related: bool
) -> None:
    config = {"model_name": "me/new", "model_sha": "0" * 40, "model_dtype": "float32", "base_model": "m/base"}
    new = made(make_request, "me/new", 50.0, config=config)
    other = {"model_name": model, "model_sha": "0" * 40, "model_dtype": "float32", "base_model": base}
    row = board_row(made(make_request, model, 50.0, config=other), "x", "y")
    assert are_related(new, "someone", row, submitter) is related


SECRET_ITEMS = 210
DESIGN = list(itertools.combinations(range(21), 2))  # item n is guessed by these two of 21 submissions
ACCOUNTS = 40  # colluding, each with a random half of the guesses
Rights = npt.NDArray[np.bool_]  # submissions × items


def published_pairs(
    right: Rights, submitters: list[str], settings: Settings, store: Store, make_request: Make
) -> dict[tuple[int, int], PairedScores]:
    """Publish the submissions one after another and return their public pairs, the later submission first."""
    items = [Item(str(n), "?", "!", cluster=str(n)) for n in range(right.shape[1])]
    private = open_private_store(settings)
    place = dict[str, int]()
    found: dict[tuple[int, int], PairedScores] = {}
    for number, (item_right, submitter) in enumerate(zip(right, submitters, strict=True)):
        details: Details = [{"id": i.id, "em_strict": float(r)} for i, r in zip(items, item_right, strict=True)]
        request = make_request(model_id=f"{submitter}{number}/model", benchmark="ko-vqa")
        held = ItemScores.of(BENCHMARKS["ko-vqa"], items, details, submitter)
        assert held
        save_item_scores(private, request.key, held)
        result = with_pairs(evaluated(request, 100 * float(item_right.mean())), held, store, private)
        assert len(result.paired) <= MAX_PAIRS
        store.commit(with_result(store, store.snapshot(), result), store.head(), "publish")
        found |= {(number, place[pair.other]): pair for pair in result.paired}
        place[request.key] = number
    return found


def recovered(guessed: Rights, right: Rights, pairs: dict[tuple[int, int], PairedScores], truth: Rights) -> float:
    """Return the share of items whose rightness least squares recovers from scores and pairs.

    A pair's interval has a half width of about 1.96 √d / n, if d items are right for only one of the two.
    """
    n = guessed.shape[1]
    rows = [*guessed.astype(float)]
    values = [*right.sum(axis=1).astype(float)]
    spread = [0.15] * len(guessed)
    for (a, b), pair in pairs.items():
        half = max(0.5, (pair.interval[1] - pair.interval[0] - 5) / 2) * n / 196
        rows.append((guessed[a] ^ guessed[b]).astype(float))
        values.append(half**2)
        spread.append(max(0.5, 5 * half / 2))
    weights = 1 / np.array(spread)
    known = np.array(rows) * weights[:, None]
    wanted = np.array(values) * weights
    start = np.full(n, 0.5)
    solved = start + np.linalg.solve(known.T @ known + 4 * np.eye(n), known.T @ (wanted - known @ start))
    return float(((solved > 0.5) == truth).mean())


def test_exact_pair_counts_would_reveal_every_item() -> None:
    """Recover every item from 21 submissions and the formerly published counts of items that both got right."""
    truth = np.random.default_rng(3).random(SECRET_ITEMS) < 0.5
    guessed = np.zeros((21, SECRET_ITEMS), bool)
    for item, pair in enumerate(DESIGN):
        guessed[list(pair), item] = True
    right = guessed & truth
    both = np.array([(right[a] & right[b]).sum() for a, b in DESIGN])
    assert ((both > 0) == truth).all()


def test_with_pairs_publishes_no_pair_of_one_submitter(settings: Settings, store: Store, make_request: Make) -> None:
    right = np.random.default_rng(3).random((21, SECRET_ITEMS)) < 0.5
    assert not published_pairs(right, ["me"] * 21, settings, store, make_request)


@pytest.mark.slow
def test_with_pairs_reveals_little_to_colluding_accounts(settings: Settings, store: Store, make_request: Make) -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(SECRET_ITEMS) < 0.5
    guessed = rng.random((ACCOUNTS, SECRET_ITEMS)) < 0.5
    right = guessed & truth
    pairs = published_pairs(right, [f"person-{n}" for n in range(ACCOUNTS)], settings, store, make_request)
    assert len(pairs) > 5 * ACCOUNTS
    alone = recovered(guessed, right, {}, truth)
    together = recovered(guessed, right, pairs, truth)
    assert alone < 0.8 and together < alone + 0.08, (alone, together)
