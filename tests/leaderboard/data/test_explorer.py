"""Test that the explorer shows public items with what models answered, and can reach nothing else."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.explorer import explored_items, public_file, public_folder, public_items
from leaderboard.data.live_board import LiveBoard
from leaderboard.pages.explorer import PAGE
from leaderboard.views.location import Location
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.config.paths import ROOT, SAMPLES
from submissions.records.result import EvalResult
from submissions.store.base import Store

SAMPLE = {"id": "samples/ko-vqa", "revision": None, "split": "sample", "n": 45}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_only_files_of_public_items_are_served(name: str) -> None:
    items = public_items(name)
    assert items and public_folder(name) == SAMPLES / name
    for one in items:
        for picture in one.pictures:
            assert public_file(name, picture) == (SAMPLES / name / picture).read_bytes()
    for path in (
        "items.jsonl",
        "../ko-vqa/items.jsonl",
        "images",
        "",
        "/etc/passwd",
        str(ROOT / "app.py"),
        "images/../items.jsonl",
    ):
        assert public_file(name, path) is None


def test_nothing_is_shown_if_the_card_says_that_samples_are_private(monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = BENCHMARKS["ko-vdc"]
    picture = public_items("ko-vdc")[0].pictures[0]
    monkeypatch.setattr(type(benchmark), "card", replace(benchmark.card, samples_are_public=False))
    public_items.cache_clear()
    try:
        assert public_items("ko-vdc") == () and public_file("ko-vdc", picture) is None
    finally:
        public_items.cache_clear()


def test_disputed_items_come_first_and_damaged_answers_are_left_out(store: Store, make_request: Make) -> None:
    ids = [one.item.id for one in public_items("ko-vqa")]
    for number, (model, right) in enumerate((("a/one", True), ("b/two", False), ("c/broken", True))):
        result = evaluated(make_request(model_id=model, benchmark="ko-vqa"), 50.0, number, dataset=SAMPLE)
        answers = {ids[5]: {"answers": ["<b>12</b>"], "right": right}, ids[6]: {"answers": ["13"], "right": True}}
        content = b"{broken" if model == "c/broken" else json.dumps(answers).encode()
        store.commit(
            {result.path: result.to_bytes(), EvalResult.answers_path_of(result.request_key): content},
            store.head(),
            model,
        )
    board = LiveBoard(store)
    items = explored_items(board, "ko-vqa")
    assert items[0].item.id == ids[5] and items[0].disagreement == 0.25
    assert {one.model for one in items[0].answers} == {"a/one", "b/two"}
    html = PAGE.write(board, Location("en", "explore/ko-vqa"), "") or ""
    assert "&lt;b&gt;12" in html and "<b>12" not in html and "discussions/new" not in html
    board.store_url = "hf://datasets/org/results"
    html = PAGE.write(board, Location("en", "explore/ko-vqa"), "") or ""
    assert "https://huggingface.co/datasets/org/results/discussions/new?title=Wrong+answer" in html


def test_answers_to_another_set_stay_private(store: Store, make_request: Make) -> None:
    result = evaluated(make_request(model_id="a/one", benchmark="ko-vqa"), 50.0)
    answers = {public_items("ko-vqa")[0].item.id: {"answers": ["12"], "right": True}}
    path = EvalResult.answers_path_of(result.request_key)
    store.commit({result.path: result.to_bytes(), path: json.dumps(answers).encode()}, store.head(), "a result")
    assert not any(one.answers for one in explored_items(LiveBoard(store), "ko-vqa")), "it is no sample run"


def test_explorer_leaves_out_answers_to_older_version(store: Store, make_request: Make) -> None:
    item = public_items("ko-vqa")[0].item.id
    for number, (model, version) in enumerate((("a/new", BENCHMARKS["ko-vqa"].version), ("b/old", "0"))):
        result = evaluated(make_request(model_id=model, benchmark="ko-vqa"), 50.0, number, dataset=SAMPLE)
        result = result.evolve(versions={"ko-vqa": version})
        answers = {item: {"answers": ["12"], "right": True}}
        path = EvalResult.answers_path_of(result.request_key)
        store.commit({result.path: result.to_bytes(), path: json.dumps(answers).encode()}, store.head(), model)
    explored = {one.item.id: one for one in explored_items(LiveBoard(store), "ko-vqa")}
    assert [answer.model for answer in explored[item].answers] == ["a/new"]


def test_explorer_module_names_no_other_set() -> None:
    """The explorer reads the samples of the project and published answers, and neither the private store nor test sets."""
    code = (ROOT / "leaderboard/data/explorer.py").read_text(encoding="utf-8")
    assert "private_store" not in code and "settings" not in code and "datasets" not in code
    assert Path(SAMPLES).is_relative_to(ROOT)
