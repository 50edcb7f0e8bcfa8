"""Test the comparison of a model's weights with those of the base that its card names."""

import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from evaluator.engines.registry import REGISTRY
from evaluator.worker.base_weights import equal_tensors
from evaluator.worker.loop import Worker
from leaderboard.data.live_board import LiveBoard
from leaderboard.pages.model import model as model_page
from leaderboard.views.location import Location
from scripts.support.engines import LetterEngine, use_engine
from submissions.checks.model_checks import check_model
from submissions.checks.request import build_request
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.records.result import EvalResult
from submissions.store.base import Store
from submissions.store.index import board_reader
from submissions.store.open import open_store

BIG = np.arange(600_000, dtype=np.float32)


def weights(folder: Path, **tensors: np.ndarray) -> Path:
    folder.mkdir(parents=True)
    save_file({name.replace("__", "."): tensor for name, tensor in tensors.items()}, folder / "model.safetensors")
    return folder


def test_tensors_are_equal_by_name_shape_type_and_values(tmp_path: Path) -> None:
    base = weights(tmp_path / "base", a__w=BIG, b__w=BIG, c__w=BIG, d__w=BIG, e__w=BIG)
    changed = BIG.copy()
    changed[-1] += 1  # the last of its values, in the last part that is compared
    model = weights(
        tmp_path / "model",
        a__w=BIG,
        model__language__b__w=BIG,  # below a prefix
        c__w=changed,
        d__w=BIG.view(np.int32),
        e__w=BIG.reshape(2, -1),
    )
    assert equal_tensors(model, base, threading.Event()) == 2


@pytest.fixture
def made(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings with a model, a copy of its base, whose card names that base."""
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda command, policy: command)
    use_engine(monkeypatch, LetterEngine)
    models = settings.models_dir or Path()
    shutil.copytree(models / "tiny/image-text", tmp_path / "models/tiny/image-text")
    folder = shutil.copytree(models / "tiny/image-text", tmp_path / "models/own/made")
    (folder / "README.md").write_text("---\nlicense: mit\nbase_model: tiny/image-text\n---\n")
    return settings.model_copy(update={"models_dir": tmp_path / "models"})


def submit(settings: Settings) -> None:
    """Check and queue the model as the form does."""
    report = check_model("own/made", None, settings.models_dir, REGISTRY, max_bytes=10**9)
    assert report.facts and report.facts.shown and report.facts.shown.base_tensors_found
    Queue(open_store(settings.store)).submit(build_request(report.facts, "ko-vdc", REGISTRY, "x"))


def result_of(store: Store) -> EvalResult:
    (row,), _ = board_reader(store).read(store.snapshot())
    return EvalResult.from_json(store.read(row.path, store.head()))


@pytest.mark.integration
def test_worker_records_how_many_tensors_are_those_of_the_base(made: Settings, store: Store) -> None:
    submit(made)
    assert Worker(made).run_pending() == 1
    shown = result_of(store).config.shown
    assert shown and shown.base_tensors_equal == shown.base_tensors_found == shown.base_tensors
    page = model_page(LiveBoard(store), Location("en", "models/own/made"), "1")
    assert page and f"{shown.base_tensors_equal} with the same values" in page


@pytest.mark.integration
@pytest.mark.parametrize("fault", ["broken", "gone"])
def test_base_that_cannot_be_read_loses_no_result(made: Settings, store: Store, fault: str) -> None:
    """It may be replaced after the check."""
    submit(made)
    base = (made.models_dir or Path()) / "tiny/image-text"
    if fault == "gone":
        shutil.rmtree(base)
    else:
        for path in base.glob("*.safetensors"):
            path.write_bytes(b"\xff" * 100)
    assert Worker(made).run_pending() == 1
    shown = result_of(store).config.shown
    assert shown and shown.base_tensors_found and shown.base_tensors_equal is None
