"""Test the page of a revealed quarter: pictures, every answer, and scores that the board computes again."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.fresh.draw import draw_set
from evaluator.job.limited_process import run_limited
from evaluator.quarters.books import Books
from evaluator.results.answer_rows import AnswerRow, answers_hash
from leaderboard.data.opened import OpenedQuarter, opened_file, opened_quarter, opened_quarters
from scripts.support.records import request_numbered, result_of
from submissions.records.operator import Commitment
from submissions.records.result import MAX_SHOWN_ANSWER

QUARTER = "2026Q3"
N = 16  # questions of the set


@pytest.fixture(scope="module")
def revealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the books of a revealed quarter: one model is always right, one never."""
    drawn = tmp_path_factory.mktemp("set")
    whole = draw_set("a secret", drawn, N)
    bench = BENCHMARKS["ko-fresh"]
    items = bench.load(drawn)
    right = [AnswerRow(item.id, f"정답: {bench.gold_output(item)}", "ok", False) for item in items]
    wrong = [AnswerRow(item.id, "<script>alert(document)</script>" + "가" * 1000, "ok", False) for item in items]
    results, answers = [], {}
    for number, (model, rows, score) in enumerate((("o/right", right, 100.0), ("o/wrong", wrong, 12.0))):
        result = result_of(request_numbered(number, model_id=model, benchmark="ko-fresh"))
        result = result.evolve(results={"ko-fresh": {"em": score}}, answers_sha256=answers_hash(right))
        results.append(result)
        answers[result.request_key] = rows
    now = datetime.now(UTC)
    public = Commitment(
        quarter=QUARTER, n=N, seed_sha256="0" * 64, generator_sha256="0" * 64, set_sha256=whole, libraries={},
        committed_at=now, revealed_at=now, seed="a secret",
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("revealed")
    Books(public, drawn, results, answers).save(folder)
    return folder


@pytest.fixture
def opened(revealed: Path, tmp_path: Path) -> Path:
    """Return the folder where datasets of revealed quarters are, with one."""
    shutil.copytree(revealed, tmp_path / "opened/anything")
    return tmp_path / "opened"


def test_scores_and_hashes_are_computed_again(opened: Path) -> None:
    quarter = opened_quarter(opened_quarters(opened)[QUARTER])
    rows = {one.model: one for one in quarter.results}
    assert (rows["o/right"].published, rows["o/right"].computed, rows["o/right"].is_hash_right) == (100.0, 100.0, True)
    assert (rows["o/wrong"].published, rows["o/wrong"].computed, rows["o/wrong"].is_hash_right) == (12.0, 0.0, False)
    assert len(quarter.items) == N
    for one in quarter.items:
        assert [(given.model, given.right) for given in one.answers] == [("o/right", True), ("o/wrong", False)]


def test_only_pictures_of_items_are_served(opened: Path) -> None:
    (opened / "secret.txt").write_text("a secret")
    picture = opened_quarter(opened_quarters(opened)[QUARTER]).items[0].pictures[0]
    assert picture.startswith(f"{QUARTER}/images/")
    content = opened_file(opened, picture)
    assert content and content[:4] in (b"\x89PNG", b"\xff\xd8\xff\xe0")
    for path in (
        f"{QUARTER}/items.jsonl",
        f"{QUARTER}/../commitment.json",
        f"{QUARTER}/../../secret.txt",
        "2025Q1/a.png",
        "",
    ):
        assert opened_file(opened, path) is None
    assert opened_file(None, picture) is None


def test_unrevealed_and_broken_books_are_not_shown(opened: Path) -> None:
    file = opened / "anything/commitment.json"
    public = Commitment.model_validate_json(file.read_bytes())
    for name, content in (("unrevealed", public.evolve(revealed_at=None).to_bytes()), ("broken", b"{")):
        (opened / name).mkdir()
        (opened / name / "commitment.json").write_bytes(content)
    assert list(opened_quarters(opened)) == [QUARTER]
    assert opened_quarters(opened / "nothing") == opened_quarters(None) == {}


def test_quarter_is_found_once_its_commitment_is_complete(opened: Path) -> None:
    """A dataset may be copied into the folder while the board runs."""
    content = (opened / "anything/commitment.json").read_bytes()
    copied = opened.parent / "copied/set/commitment.json"
    copied.parent.mkdir(parents=True)
    copied.write_bytes(content[:20])
    assert opened_quarters(copied.parent.parent) == {}
    copied.write_bytes(content)
    assert opened_quarters(copied.parent.parent) == {QUARTER: copied.parent}


def test_answers_are_scored_once_outside_of_the_board(opened: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are of strangers, and may be made to take long."""
    started: list[object] = []

    def counted(function: object, *arguments: object, **limits: object) -> object:
        started.append(limits["seconds"])
        return run_limited(function, *arguments, **limits)  # type: ignore[arg-type]

    monkeypatch.setattr("leaderboard.data.opened.run_limited", counted)
    folder = opened_quarters(opened)[QUARTER]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(opened_quarter, [folder] * 4))
    assert len(started) == 1 and all(one is found[0] for one in found)


def test_long_answers_are_cut_for_the_page(opened: Path) -> None:
    quarter = opened_quarter(opened_quarters(opened)[QUARTER])
    lengths = {len(text) for one in quarter.items for given in one.answers for text in given.answers}
    assert max(lengths) == MAX_SHOWN_ANSWER


def test_dataset_that_cannot_be_scored_has_no_items(opened: Path) -> None:
    folder = opened_quarters(opened)[QUARTER]
    next(folder.glob("answers*")).write_bytes(b"no Parquet")
    assert opened_quarter(folder) == OpenedQuarter([], [])
