"""Imports point one way: app → leaderboard → submissions, evaluator → submissions, leaderboard → evaluator.benchmarks."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from submissions.paths import ROOT

OURS = ("app", "leaderboard", "evaluator", "submissions", "scripts", "tests")
ALLOWED = {
    "submissions": ("submissions",),
    "evaluator": ("evaluator", "submissions"),
    "leaderboard": ("leaderboard", "evaluator.benchmarks", "submissions"),
}


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
    return {n for n in names if n.split(".")[0] in OURS}


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_imports_only_what_lies_below_it(package: str) -> None:
    files = list((ROOT / package).rglob("*.py"))
    assert files
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files
        for name in _imports(path)
        if not any(name == ok or name.startswith(f"{ok}.") for ok in ALLOWED[package])
    }
    assert not wrong


@pytest.mark.parametrize("module", ["evaluator.benchmarks", "leaderboard.app", "evaluator.worker"])
def test_serving_and_scheduling_load_no_model_library(module: str) -> None:
    code = f"import sys, {module}; print([m for m in ('torch', 'transformers', 'datasets') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_entry_is_short() -> None:
    assert len((ROOT / "app.py").read_text(encoding="utf-8").splitlines()) < 60
