"""Test the comparison of ranks on unseen questions with ranks on public sets."""

import random

import pytest

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.models import ModelRow
from leaderboard.data.ranking import ranked
from leaderboard.data.unseen import UnseenChange, unseen_changes
from leaderboard.pages.benchmark import benchmark_page
from leaderboard.views.location import Location
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.records.index_rows import BoardRow
from submissions.store.base import Store

UNSEEN = next(name for name, one in BENCHMARKS.items() if one.drawn)
PUBLIC = next(name for name, one in BENCHMARKS.items() if one.card.is_public)


def _row(model: str, benchmark: str, score: float, half: float, kind: str = "verified") -> BoardRow:
    card = BENCHMARKS[benchmark].card
    return BoardRow(
        path="",
        blob="",
        key=f"{model}{benchmark}".encode().hex()[:32].ljust(32, "0"),
        benchmark=benchmark,
        benchmark_version=BENCHMARKS[benchmark].version,
        model=model,
        role="model",
        split=card.split,
        dataset=benchmark,
        headline=card.headline,
        metrics={card.headline: score},
        intervals={card.headline: (score - half, score + half)},
        outcome="scored",
        kind=kind,  # type: ignore[arg-type]
        decoding="greedy",
    )


def _models(scores: dict[str, dict[str, float]], half: float, kind: str = "verified") -> list[ModelRow]:
    """Return models with the scores of each on each benchmark, ranked as the board does."""
    models = {name: ModelRow(name) for name in scores}
    for benchmark in (UNSEEN, PUBLIC):
        own = [
            _row(name, benchmark, values[benchmark], half, kind)
            for name, values in scores.items()
            if benchmark in values
        ]
        for one in ranked(own):
            models[one.row.model].cells[benchmark] = one
    return list(models.values())


def _changes(scores: dict[str, tuple[float, float]], half: float) -> dict[str, UnseenChange]:
    """Return the changes of models by name, from their scores on the public and on the unseen set."""
    given = {name: {PUBLIC: public, UNSEEN: unseen} for name, (public, unseen) in scores.items()}
    return {one.model: one for one in unseen_changes(_models(given, half)) if one.public == PUBLIC}


def test_model_that_drops_far_outside_of_its_range_falls() -> None:
    found = _changes({"a": (90, 20), "b": (80, 80), "c": (70, 70), "d": (60, 60)}, half=0.5)
    assert found["a"].difference == 3
    assert (found["a"].low, found["a"].high, found["a"].direction) == (3, 3, "falls")
    assert found["b"].direction == "rises"
    assert found["b"].places == (1, 1)


def test_wide_intervals_say_that_nothing_is_known() -> None:
    found = _changes({"a": (90, 20), "b": (80, 80), "c": (70, 70)}, half=60)
    assert {one.direction for one in found.values()} == {"unknown"}
    assert all(one.low <= 0 <= one.high for one in found.values())


def test_difference_is_always_within_its_range() -> None:
    drawn = random.Random(0)
    for half in (0.1, 2.0, 8.0):
        scores = {f"m{n}": (drawn.uniform(20, 90), drawn.uniform(20, 90)) for n in range(30)}
        for one in _changes(scores, half).values():
            assert one.low <= one.difference <= one.high
            assert 1 <= one.unseen_rank <= one.models == 30


def test_only_models_with_both_ranks_are_counted() -> None:
    scores = {name: {PUBLIC: 90.0 - n, UNSEEN: 90.0 - n} for n, name in enumerate("abcd")}
    scores["public only"] = {PUBLIC: 99.0}
    scores["unseen only"] = {UNSEEN: 99.0}
    found = unseen_changes(_models(scores, 0.1))
    assert {one.model for one in found} == set("abcd")
    assert {one.models for one in found} == {4}
    assert {one.difference for one in found} == {0}


@pytest.mark.parametrize("kind", ["reported"])
def test_reported_scores_are_not_compared(kind: str) -> None:
    scores = {name: {PUBLIC: 50.0 + n, UNSEEN: 60.0 - n} for n, name in enumerate("abcde")}
    assert unseen_changes(_models(scores, 0.1, kind)) == []


def test_two_models_are_too_few() -> None:
    assert _changes({"a": (90, 20), "b": (20, 90)}, half=0.5) == {}


def test_tables_of_public_sets_have_a_column_that_follows_both_sets(store: Store, make_request: Make) -> None:
    """Results arrive one after the other, on the unseen set last and on the public one last."""
    board = LiveBoard(store)

    def publish(benchmark: str, scores: dict[str, float]) -> None:
        for model, score in scores.items():
            result = evaluated(make_request(model_id=model, benchmark=benchmark), score)
            store.commit({result.path: result.to_bytes()}, store.head(), "a result")
        board.refresh()

    def shown() -> dict[str, int]:
        rows = [one.row for one in board.view().boards[PUBLIC]]
        return {row.model: row.unseen_change[0] for row in rows if row.unseen_change}

    publish(PUBLIC, {"o/a": 90, "o/b": 80, "o/c": 70})
    assert shown() == {}
    publish(UNSEEN, {"o/a": 20, "o/b": 80, "o/c": 70})
    assert shown() == {"o/a": 2, "o/b": -1, "o/c": -1}
    publish(PUBLIC, {"o/d": 95})
    assert shown() == {"o/a": 2, "o/b": -1, "o/c": -1}, "o/d has no result on the unseen set"
    publish(UNSEEN, {"o/d": 99})
    assert shown() == {"o/a": 2, "o/b": -1, "o/c": -1, "o/d": 0}
    other = evaluated(make_request(model_id="o/a", benchmark=PUBLIC, precision="float16"), 10)
    store.commit({other.path: other.to_bytes()}, store.head(), "another result of a model")
    board.refresh()
    changes = [one.row.unseen_change for one in board.view().boards[PUBLIC] if one.row.model == "o/a"]
    assert [change and change[0] for change in changes] == [2, None], "only the row that was compared has a change"
    page = benchmark_page(board, Location("en", PUBLIC, (("columns", "unseen"), ("sort", "unseen"))), "1")
    assert page and page.index(">o/a</a>") < page.index(">o/d</a>") < page.index(">o/b</a>")
    assert ">+2</a>" in page
