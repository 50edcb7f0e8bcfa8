"""Test that imports point one way between packages, rooms and modules, as docs/architecture.md describes."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from evaluator.benchmarks import BENCHMARKS
from scripts.support.rooms import ALLOWED, PACKAGES, ROOMS
from scripts.support.serving import python
from submissions.config.paths import ROOT


def _modules() -> dict[str, Path]:
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return {_name(path): path for path in files}


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _imports(path: Path, known: set[str]) -> set[str]:
    """Return the project's modules that a file imports, including imports inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            names |= {f"{module}.{a.name}" if f"{module}.{a.name}" in known else module for a in node.names}
    return {name for name in names if name.split(".")[0] in (*PACKAGES, "app", "scripts", "tests")}


@cache
def _edges() -> dict[str, set[str]]:
    modules = _modules()
    return {name: _imports(path, set(modules)) for name, path in modules.items()}


@pytest.mark.parametrize("package", ALLOWED)
def test_package_imports_only_lower_packages(package: str) -> None:
    names = [name for name in _edges() if name.split(".")[0] == package and not name.endswith(".__main__")]
    wrong = {
        f"{name} imports {other}"
        for name in names
        for other in _edges()[name]
        if not any(other == ok or other.startswith(f"{ok}.") for ok in ALLOWED[package])
    }
    assert names and not wrong


@pytest.mark.parametrize("package", ROOMS)
def test_room_imports_only_lower_rooms(package: str) -> None:
    order = [*ROOMS[package], "__main__"]
    wrong = set()
    for name, imported in _edges().items():
        for other in imported:
            source, target = (part.split(".") for part in (name, other))
            if source[0] == target[0] == package and len(source) > 1 and len(target) > 1:
                assert source[1] in order and target[1] in order, f"{name} or {other} is in no known room"
                if order.index(target[1]) > order.index(source[1]):
                    wrong.add(f"{name} imports {other}")
    assert not wrong


def test_scripts_import_no_tests() -> None:
    """What both need is in scripts/support."""
    modules = {_name(path): path for path in (ROOT / "scripts").rglob("*.py")}
    assert {
        name for name, path in modules.items() if any(i.startswith("tests") for i in _imports(path, set()))
    } == set()


def test_imports_have_no_cycle() -> None:
    graph = {name: {other for other in imported if other != name} for name, imported in _edges().items()}
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_benchmark_imports_no_other_benchmark() -> None:
    modules = {type(benchmark).__module__ for benchmark in BENCHMARKS.values()}
    edges = _edges()
    assert {name: shared for name in modules if (shared := edges[name] & (modules - {name}))} == {}


MODELS = ("torch", "transformers", "datasets", "scipy")
HEAVY = ("pydantic", "numpy", "jinja2", "rich", "huggingface_hub", "torch", "yaml")


@pytest.mark.integration
@pytest.mark.parametrize(
    ("modules", "absent"),
    [
        ("evaluator.benchmarks", MODELS),
        ("leaderboard.web.application", MODELS),
        ("evaluator.worker.loop", MODELS),
        ("evaluator.job.child", MODELS),
        ("evaluator.__main__", HEAVY),
        ("submissions.__main__", HEAVY),
        ("evaluator.commands.dispatch, evaluator.results.score_files", ("pydantic",)),
    ],
)
def test_import_loads_no_heavy_library(modules: str, absent: tuple[str, ...]) -> None:
    done = python("-c", f"import sys, {modules}; print([name for name in {absent!r} if name in sys.modules])")
    assert done.stdout.strip() == "[]", done.stderr


def test_metric_names_appear_only_in_benchmarks() -> None:
    """Everything else reads the declared metrics, so a new one needs no other file.

    What 0.1.0 wrote does not change, and the register has the words of its sources.
    """
    others = ("evaluator.benchmarks", "submissions.records.version_0_1", "leaderboard.facts.register_sets")
    names = {metric.name for benchmark in BENCHMARKS.values() for metric in benchmark.metrics}
    found = set()
    for name, path in _modules().items():
        if not name.startswith(others):
            constants = (node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
            found |= {f"{name}: {value}" for value in constants if isinstance(value, str) and value in names}
    for template in (ROOT / "leaderboard").rglob("*.html"):
        words = re.findall(r"[\"'](\w+)[\"']|row\.(\w+)", template.read_text(encoding="utf-8"))
        found |= {f"{template.name}: {word}" for pair in words for word in pair if word in names}
    assert not found


def test_package_roots_hold_only_rooms() -> None:
    loose = {path.name for package in PACKAGES for path in (ROOT / package).glob("*.py")}
    assert loose == {"__init__.py", "__main__.py"}
