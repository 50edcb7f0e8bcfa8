"""Test which commit results name as that of this code."""

import subprocess
from pathlib import Path

import pytest

from submissions.config.code_version import git_hash
from submissions.config.paths import ROOT


def _git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_commit_is_that_of_the_repository() -> None:
    assert git_hash() == _git(ROOT, "rev-parse", "HEAD")


def test_commit_of_a_repository_around_the_code_is_not_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "commit", "-q", "--allow-empty", "-m", "of another project")
    code = tmp_path / "vendor"
    code.mkdir()
    monkeypatch.setattr("submissions.config.code_version.ROOT", code)
    monkeypatch.setattr("submissions.config.code_version.COMMIT_FILE", code / "COMMIT")
    assert git_hash() is None
    (code / "COMMIT").write_text("5" * 40 + "\n")
    assert git_hash() == "5" * 40
