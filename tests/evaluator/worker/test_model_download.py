"""Test fetching models from the Hub double: which files arrive and which models are refused."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator.core.errors import EvaluationError
from evaluator.worker.model_download import check_fetched, fetch_model
from scripts.support.hub.server import build, commit_of, serve
from submissions.config.settings import Settings
from submissions.texts.failure_codes import FailureCode
from tests.support.slow import every_nth

pytestmark = pytest.mark.integration

MODEL = "org/model"


@pytest.fixture
def repo(tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    root = tmp_path / "hub"
    shutil.copytree(models_dir / "tiny/extractive", root / MODEL)
    (root / MODEL / "modeling.py").write_text("raise SystemExit('code of a stranger')")
    (root / MODEL / "pytorch_model.bin").write_bytes(b"a pickle")
    shutil.copytree(root / MODEL, root / "org/gated")
    with serve(build(root, frozenset({"org/gated"}))) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
        yield root / MODEL


def fetch(tmp_path: Path, model: str = MODEL, revision: str | None = None, **settings: object) -> Path:
    fetch_settings = Settings(work_dir=tmp_path / "work").model_copy(update=settings)
    return fetch_model(model, revision or commit_of(model), fetch_settings)


def failure_of(tmp_path: Path, **options: Any) -> FailureCode:
    with pytest.raises(EvaluationError) as error:
        fetch(tmp_path, **options)
    return error.value.code


def files_left(tmp_path: Path) -> list[str]:
    return [p.name for p in (tmp_path / "work/models").rglob("*")] if (tmp_path / "work/models").exists() else []


def test_fetch_model_reports_failure_of_process_that_writes_much(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe that nobody reads holds 64 KiB, after which the process would wait until `max_fetch`."""
    download = tmp_path / "download.sh"
    download.write_text("#!/bin/sh\nhead -c 200000 /dev/zero | tr '\\0' x >&2\necho ' the reason' >&2\nexit 3\n")
    download.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(download))
    with pytest.raises(EvaluationError, match=r"x the reason$") as error:
        fetch(tmp_path, max_fetch=timedelta(seconds=5))
    assert error.value.code == "model_not_found"


def test_fetch_model_gets_only_weights_and_text_files(repo: Path, tmp_path: Path) -> None:
    folder = fetch(tmp_path)
    names = {p.name for p in folder.rglob("*")}
    assert "model.safetensors" in names and not names & {"modeling.py", "pytorch_model.bin", ".cache", "README.md"}
    assert not any(p.is_symlink() for p in folder.rglob("*")), "a link would point outside the sandbox"
    assert (folder / "model.safetensors").read_bytes() == (repo / "model.safetensors").read_bytes()
    shutil.rmtree(repo)
    os.utime(folder, (1, 1))
    assert fetch(tmp_path) == folder, "the model is fetched only once"
    assert folder.stat().st_mtime > 1, "the time of use is kept"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"max_model_bytes": 1000}, "model_too_large"),
        ({"max_fetch": timedelta(0)}, "hub_unavailable"),
        ({"model": "org/gone"}, "model_not_found"),
        pytest.param({"model": "org/gated"}, "model_not_found", marks=pytest.mark.slow),
        pytest.param({"revision": "f" * 40}, "model_not_found", marks=pytest.mark.slow),
    ],
)
def test_fetch_model_failure_leaves_no_files(repo: Path, tmp_path: Path, change: dict[str, object], code: str) -> None:
    assert failure_of(tmp_path, **change) == code
    assert not [name for name in files_left(tmp_path) if "partial" in name or "." in name]


@pytest.mark.parametrize("header", [2**40, 30_000_000, 2**63 - 1])
def test_fetch_model_rejects_too_long_header(repo: Path, tmp_path: Path, header: int) -> None:
    (repo / "model.safetensors").write_bytes(header.to_bytes(8, "little") + b"{}")
    assert failure_of(tmp_path) == "invalid_weights" and "model.safetensors" not in files_left(tmp_path)


@pytest.mark.parametrize(
    "name", every_nth(["../evil.json", "../../../evil.json", "a/../../evil.json", "/tmp/evil.json", "..\\evil.json"], 2)
)
def test_fetch_model_rejects_path_outside_folder(
    models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shutil.copytree(models_dir / "tiny/extractive", tmp_path / "hub" / MODEL)
    with serve(build(tmp_path / "hub", forged={name: b"evil"})) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
        try:
            folder = fetch(tmp_path)
        except EvaluationError:
            folder = tmp_path / "work/none"
    found = [p for p in [*tmp_path.rglob("*evil.json"), Path("/tmp/evil.json")] if p.exists()]
    assert all(p.is_relative_to(folder) for p in found), found


def test_check_fetched_rejects_link(tmp_path: Path) -> None:
    (tmp_path / "config.json").symlink_to("/etc/passwd")
    with pytest.raises(EvaluationError) as error:
        check_fetched(tmp_path)
    assert error.value.code == "invalid_weights"


@pytest.mark.parametrize(
    ("name", "content", "refused"),
    [
        ("pieces/other_config.json", {"deep": [{"custom_generate": "evil"}]}, True),
        pytest.param(
            "image_processor/preprocessor_config.json",
            {"_attn_implementation": "owner/kernel"},
            True,
            marks=pytest.mark.slow,
        ),
        pytest.param("config.4.0+vocab.json", {"trust_remote_code": True}, True, marks=pytest.mark.slow),
        pytest.param("config.json.index.json", {"trust_remote_code": True}, True, marks=pytest.mark.slow),
        ("large.json", {"x": "y" * 10_000_000}, True),
        ("vocab.json", {"__init__": 1, "trust_remote_code": 2}, False),
        pytest.param("other.json", {"attn_implementation": "eager"}, False, marks=pytest.mark.slow),
    ],
)
def test_fetch_model_checks_every_json_file(
    repo: Path, tmp_path: Path, name: str, content: dict[str, object], refused: bool
) -> None:
    (repo / name).parent.mkdir(exist_ok=True)
    (repo / name).write_text(json.dumps(content))
    if not refused:
        assert (fetch(tmp_path) / name).is_file()
        return
    assert failure_of(tmp_path) == "model_error"
    assert not list((tmp_path / "work").rglob("*.safetensors")), "a refused model leaves no weights"
