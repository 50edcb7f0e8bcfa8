"""Test that an erratum changes version, scores and ranks without running a model, and that a wrong one changes nothing."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app import main as evaluator
from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.metrics import Metric
from evaluator.core.data_types import Answer, Item, Score
from evaluator.core.errors import DataError, EvaluationError
from evaluator.datasets.corrections import Correction
from evaluator.datasets.source import Source
from evaluator.errata.moves import moves
from evaluator.errata.records import add_erratum, read_corrections
from evaluator.publication.private_records import read_details
from evaluator.worker.loop import Worker
from leaderboard.data.live_board import LiveBoard
from scripts.support.engines import LetterEngine, use_engine
from scripts.support.records import request_numbered, result_of
from submissions.config.paths import SAMPLES
from submissions.config.settings import Settings
from submissions.records.errata import Erratum
from submissions.records.index_rows import BoardRow, board_row
from submissions.records.result import EvalResult
from submissions.store.base import Store
from submissions.store.index import board_reader
from submissions.store.open import open_store
from submissions.store.private import PrivateStore
from submissions.texts.failure_codes import FailureCode
from submissions.texts.text import Text
from tests.conftest import settings_in
from tests.evaluator.worker.test_loop import submit

pytestmark = pytest.mark.integration

NAME = "ko-vdc"
VERSION = BENCHMARKS[NAME].version


def with_letter_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda command, policy: command)
    use_engine(monkeypatch, LetterEngine)


def settings_below(folder: Path) -> Settings:
    changes = {"models_dir": folder / "models", "data": {NAME: f"{SAMPLES / NAME}#test"}}
    return settings_in(folder, folder / "models").model_copy(update=changes)


@pytest.fixture(scope="module")
def two_results(models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an installation with two results on a test set, of models that choose different letters."""
    folder = tmp_path_factory.mktemp("two_results")
    for name in ("one", "two"):
        model = shutil.copytree(models_dir / "tiny/image-text", folder / "models/tiny" / name)
        with (model / "README.md").open("a") as card:
            card.write(f"\nmodel {name}\n")
    settings = settings_below(folder)
    with pytest.MonkeyPatch.context() as monkeypatch:
        with_letter_engine(monkeypatch)
        for name in ("one", "two"):
            submit(settings, f"tiny/{name}", NAME)
        assert Worker(settings).run_pending() == 2
    return folder


@pytest.fixture
def evaluated(two_results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings of a copy of the installation `two_results`, which the commands use too."""
    with_letter_engine(monkeypatch)
    settings = settings_below(shutil.copytree(two_results, tmp_path, dirs_exist_ok=True))
    for name, value in (
        ("STORE", settings.store),
        ("PRIVATE_STORE", settings.private_store),
        ("WORK_DIR", settings.work_dir),
        ("DATA", json.dumps(settings.data)),
    ):
        monkeypatch.setenv(f"HANNUN_{name}", str(value))
    return settings


def rows_of(store: Store) -> dict[str, BoardRow]:
    return {row.model: row for row in board_reader(store).read(store.snapshot())[0]}


def errata_of(store: Store) -> list[Erratum]:
    snapshot = store.snapshot()
    paths = sorted(path for path in snapshot.files if path.startswith("errata/"))
    return [Erratum.from_json(store.read(path, snapshot.head)) for path in paths]


def items() -> list[Item]:
    return BENCHMARKS[NAME].load(SAMPLES / NAME)


def withdraw(item: str, reason: str = "two of its choices are right") -> int:
    return evaluator(["errata", "add", NAME, item, "--withdraw", "--reason", reason])


def test_withdrawn_item_changes_version_scores_and_count(
    evaluated: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(evaluated.store)
    before = rows_of(store)
    assert withdraw(items()[0].id) == 0
    assert f"version {VERSION}+1" in capsys.readouterr().out
    after = rows_of(store)
    for model, row in after.items():
        assert (row.benchmark_version, row.n) == (f"{VERSION}+1", len(items()) - 1)
        result = EvalResult.from_json(store.read(row.path, store.head()))
        (earlier,) = result.earlier
        assert earlier.version == VERSION and earlier.scores == before[model].metrics
        assert result.n_samples[NAME] == {"original": len(items()), "effective": len(items()) - 1}
        assert result.date == before[model].date, "it is the date of the evaluation"
    (erratum,) = errata_of(store)
    moved = {one.model: (one.before, one.after) for one in erratum.moved}
    changed = {m: (before[m].score, row.score) for m, row in after.items() if before[m].score != row.score}
    assert moved == changed and erratum.rescored == 2 and erratum.withdrawn
    assert open_store(evaluated.store).head() == store.head()


@pytest.mark.slow
def test_corrected_answer_moves_models_and_ranks_on_the_board(evaluated: Settings) -> None:
    store = open_store(evaluated.store)
    before = {r.row.model: r for r in LiveBoard(store).view().boards[NAME] if r.row.kind == "verified"}
    for item in items()[:3]:
        assert evaluator(["errata", "add", NAME, item.id, "--answer", item.choices[1], "--reason", "wrong choice"]) == 0
    board = LiveBoard(store).view()
    after = {r.row.model: r for r in board.boards[NAME] if r.row.kind == "verified"}
    assert {m: r.row.score for m, r in after.items()} != {m: r.row.score for m, r in before.items()}
    assert all(r.rank is not None and r.row.benchmark_version == f"{VERSION}+3" for r in after.values())
    assert [one.number for one in board.errata] == [1, 2, 3]


def test_answers_stay_private(evaluated: Settings, private: PrivateStore) -> None:
    item = items()[0]
    assert evaluator(["errata", "add", NAME, item.id, "--answer", item.choices[1], "--reason", "wrong choice"]) == 0
    store = open_store(evaluated.store)
    public = b"".join(store.read(path, store.head()) for path in store.snapshot().files)
    assert item.choices[1].encode() not in public
    (path,) = private.paths("errata")
    assert item.choices[1].encode() in private.read(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-item", "--withdraw", "--reason", "x"], "has no item 'no-such-item'"),
        (["{id}", "--withdraw"], "give a reason"),
        (["{id}", "--withdraw", "--reason", "  "], "give a reason"),
        (["{id}", "--withdraw", "--reason", "x" * 201], "reason: String should have at most 200 characters"),
        (["{id}", "--answer", "no such choice", "--reason", "x"], "the text of one of its choices"),
        (["{id}", "--answer", "{answer}", "--reason", "x"], "nothing would change"),
        (["{id}", "--withdraw", "--reason", "a\x1b[31m"], "characters that cannot be shown"),
        (["{id}", "--answer", "{other}", "--reason", "it is {other}"], "has the answer"),
        (["{id}", "--withdraw", "--reason", "the choice {answer} is doubtful"], "has the answer"),
    ],
)
def test_wrong_erratum_is_refused_and_nothing_is_scored_again(
    evaluated: Settings, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    item = items()[0]
    store = open_store(evaluated.store)
    head = store.head()
    given = [text.format(id=item.id, answer=item.choices[0], other=item.choices[1]) for text in arguments]
    assert evaluator(["errata", "add", NAME, *given]) == 2
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error
    assert store.head() == head and not errata_of(store)


def test_second_withdrawal_of_an_item_is_refused(evaluated: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert withdraw(items()[0].id) == 0
    assert withdraw(items()[0].id) == 2
    assert "is withdrawn already" in capsys.readouterr().err
    assert len(errata_of(open_store(evaluated.store))) == 1


def test_erratum_can_be_undone(evaluated: Settings) -> None:
    store = open_store(evaluated.store)
    before = {model: row.score for model, row in rows_of(store).items()}
    item = items()[0]
    assert withdraw(item.id) == 0
    assert evaluator(["errata", "add", NAME, item.id, "--answer", item.choices[0], "--reason", "it was right"]) == 0
    assert {model: row.score for model, row in rows_of(store).items()} == before
    assert {row.n for row in rows_of(store).values()} == {len(items())}


def test_row_without_stored_answers_keeps_its_version_and_has_no_rank(
    evaluated: Settings, private: PrivateStore, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(evaluated.store)
    lost = rows_of(store)["tiny/two"]
    private.delete(f"details/{lost.key[:2]}/{lost.key}.jsonl")
    assert withdraw(items()[0].id) == 0
    assert f"{lost.key}: its answers are not stored" in capsys.readouterr().out
    ranked = {r.row.model: r for r in LiveBoard(store).view().boards[NAME] if r.row.kind == "verified"}
    assert ranked["tiny/two"].row.benchmark_version == VERSION and ranked["tiny/two"].rank is None
    assert ranked["tiny/one"].rank == 1
    assert errata_of(store)[0].not_rescored == 1


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            EvaluationError(FailureCode.MODEL_ERROR, "more than 1,800 s"),
            "its answers cannot be scored: more than 1,800 s",
        ),
        (RuntimeError("Traceback\nKeyError: 'answers'"), "its stored answers cannot be read: KeyError: 'answers'"),
    ],
)
def test_row_that_cannot_be_scored_does_not_stop_the_others(
    error: Exception,
    reason: str,
    evaluated: Settings,
    private: PrivateStore,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = open_store(evaluated.store)
    bad = rows_of(store)["tiny/one"]  # the first that is scored
    bad_details = read_details(private, bad.key, {item.id for item in items()}, None)

    def score(function: Callable[..., list[Score]], *arguments: Any) -> list[Score]:
        if bad_details in arguments:
            raise error
        return function(*arguments)

    monkeypatch.setattr("evaluator.errata.rescore.run_limited", score)
    assert withdraw(items()[0].id) == 0
    assert f"{bad.key}: {reason}" in capsys.readouterr().out
    assert rows_of(store)["tiny/two"].benchmark_version == f"{VERSION}+1"


def test_erratum_that_would_unrank_all_results_is_refused(
    evaluated: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command names the private store of another installation."""
    store = open_store(evaluated.store)
    head = store.head()
    monkeypatch.setenv("HANNUN_PRIVATE_STORE", str(tmp_path / "another"))
    assert withdraw(items()[0].id) == 2
    assert "none of the 2 results could be scored again" in capsys.readouterr().err
    assert store.head() == head
    assert evaluator(["errata", "add", NAME, items()[0].id, "--withdraw", "--reason", "wrong", "--unranked"]) == 0
    assert errata_of(store)[0].not_rescored == 2


def test_interrupted_command_is_finished_by_rescore(
    evaluated: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The process ends after the erratum is public, and before all results are scored again."""
    store = open_store(evaluated.store)
    with monkeypatch.context() as context:
        context.setattr("evaluator.errata.rescore.Rescoring.run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert withdraw(items()[0].id) == 1
    assert {row.benchmark_version for row in rows_of(store).values()} == {VERSION}
    assert evaluator(["errata", "rescore", NAME]) == 0
    assert "2 results were scored again" in capsys.readouterr().out
    assert {row.benchmark_version for row in rows_of(store).values()} == {f"{VERSION}+1"}
    assert errata_of(store)[0].rescored == 2


def test_moves_of_an_interrupted_command_belong_to_its_own_erratum(
    evaluated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(evaluated.store)
    first = items()[0]
    change = ["errata", "add", NAME, first.id, "--answer", first.choices[1], "--reason", "wrong choice"]
    with monkeypatch.context() as context:
        context.setattr("evaluator.errata.rescore.Rescoring._record_moves", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            evaluator(change)
    assert not errata_of(store)[0].rescored
    assert withdraw(items()[1].id) == 0
    assert [(erratum.version, erratum.rescored) for erratum in errata_of(store)] == [
        (f"{VERSION}+1", 2),
        (f"{VERSION}+2", 2),
    ]
    result = EvalResult.from_json(store.read(rows_of(store)["tiny/one"].path, store.head()))
    assert [earlier.version for earlier in result.earlier] == [VERSION, f"{VERSION}+1"]


@pytest.mark.slow
def test_new_results_use_the_corrected_set(evaluated: Settings) -> None:
    assert withdraw(items()[0].id) == 0
    models = evaluated.models_dir or Path()
    shutil.copytree(models / "tiny/one", models / "tiny/three")
    with (models / "tiny/three/README.md").open("a") as card:
        card.write("\nthree\n")
    submit(evaluated, "tiny/three", NAME)
    assert Worker(evaluated).run_pending() == 1
    row = rows_of(open_store(evaluated.store))["tiny/three"]
    assert (row.benchmark_version, row.n) == (f"{VERSION}+1", len(items()) - 1)


def test_worker_stops_without_the_corrected_answers(evaluated: Settings, private: PrivateStore) -> None:
    """A restored private store that lacks them must not give results of a wrong version."""
    assert withdraw(items()[0].id) == 0
    (path,) = private.paths("errata")
    private.delete(path)
    models = evaluated.models_dir or Path()
    shutil.copytree(models / "tiny/one", models / "tiny/three")
    with (models / "tiny/three/README.md").open("a") as card:
        card.write("\nthree\n")
    submit(evaluated, "tiny/three", NAME)
    Worker(evaluated).run_pending()
    assert "tiny/three" not in rows_of(open_store(evaluated.store))


def test_erratum_that_somebody_else_adds_meanwhile_loses_nothing(
    evaluated: Settings, private: PrivateStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two commands on two hosts: the second one is refused, and the answer of the first one stays."""
    store = open_store(evaluated.store)
    benchmark = BENCHMARKS[NAME]
    source = Source(SAMPLES / NAME, NAME, "test")
    first, second = items()[:2]

    def meanwhile(path: str, content: bytes) -> None:
        monkeypatch.setattr(PrivateStore, "write", write)
        add_erratum(store, private, benchmark, source, items(), Correction(first.id, first.choices[1]), "first")
        write(private, path, content)

    write = PrivateStore.write
    monkeypatch.setattr(PrivateStore, "write", lambda self, path, content: meanwhile(path, content))
    with pytest.raises(DataError, match="somebody else"):
        add_erratum(store, private, benchmark, source, items(), Correction(second.id, None), "second")
    corrections = read_corrections(store, private, NAME, "test")
    assert corrections.made == (Correction(first.id, first.choices[1]),)


def test_results_without_a_new_metric_get_it_from_stored_answers(
    evaluated: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither version, date nor the other scores change."""
    store = open_store(evaluated.store)
    before = rows_of(store)
    kind = type(BENCHMARKS[NAME])
    score_item = kind.score_item

    def with_length(self: Benchmark, item: Item, answers: Sequence[Answer]) -> Score:
        score = score_item(self, item, answers)
        return replace(score, values={**score.values, "short": float(len(answers[0].text) < 5)})

    short = Metric("short", Text("짧음", "Short"), column=False)
    monkeypatch.setattr(kind, "metrics", (*kind.metrics, short))
    monkeypatch.setattr(kind, "score_item", with_length)
    card = replace(BENCHMARKS[NAME].card, coarse=None)
    monkeypatch.setattr(kind, "card", card)
    monkeypatch.setattr("evaluator.errata.rescore.run_limited", lambda function, *arguments: function(*arguments))
    assert evaluator(["errata", "rescore", NAME]) == 0
    assert "2 results were scored again, 0 moved" in capsys.readouterr().out
    for model, row in rows_of(store).items():
        assert row.metrics == {**before[model].metrics, "short": 100.0}
        assert (row.benchmark_version, row.date) == (VERSION, before[model].date)
        assert not EvalResult.from_json(store.read(row.path, store.head())).earlier
    head = store.head()
    assert evaluator(["errata", "rescore", NAME]) == 0 and store.head() == head


@pytest.mark.parametrize("answer", ["많이", "", " ", "없음"])
def test_quantity_needs_an_answer_with_a_number(answer: str) -> None:
    """Its makers' tables are held to the same rule."""
    benchmark = BENCHMARKS["ko-vqa"]
    with pytest.raises(ValueError, match=r"number|empty"):
        benchmark.corrected_item(benchmark.load(SAMPLES / "ko-vqa")[0], answer)


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_corrected_item_asks_the_same(name: str) -> None:
    """What a model was asked does not change, so stored answers can be scored again."""
    benchmark = BENCHMARKS[name]
    for item in benchmark.load(SAMPLES / name)[:20]:
        for answer in (item.choices[1] if item.choices else "12", "0"):
            try:
                corrected = benchmark.corrected_item(item, answer)
            except ValueError:
                continue
            assert benchmark.prompts(corrected) == benchmark.prompts(item)


def test_moved_results_have_ranks_on_the_ranked_set_only() -> None:
    benchmark = BENCHMARKS[NAME]
    result = result_of(request_numbered(1, benchmark=NAME))
    sample = board_row(result, "results/x.json", "0" * 40)
    ranked = replace(sample, split=benchmark.card.split)
    (on_sample,) = moves(benchmark, [(sample, 10.0)], lambda _: False)
    (on_test,) = moves(benchmark, [(ranked, 10.0)], lambda _: False)
    assert (on_sample.before, on_sample.after, on_sample.rank_before, on_sample.rank_after) == (10.0, 50.0, None, None)
    assert (on_test.rank_before, on_test.rank_after) == (1, 1)
