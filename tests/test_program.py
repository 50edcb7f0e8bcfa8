"""Test the program `hannun`, which has every command."""

import subprocess
import sys
import tomllib
from importlib import import_module

import pytest

from app import build_parser, main
from evaluator.commands.dispatch import COMMANDS as EVALUATING
from submissions.commands.dispatch import COMMANDS as MANAGING
from submissions.config.paths import ROOT


def test_installed_command_is_the_program() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, function = project["scripts"]["hannun"].partition(":")
    assert getattr(import_module(module), function) is main


def test_every_command_is_carried_out_by_something() -> None:
    (group,) = (action for action in build_parser()._actions if action.dest == "command")
    assert group.choices is not None and set(group.choices) == {"serve", "build", "init", *EVALUATING, *MANAGING}


@pytest.mark.integration
@pytest.mark.parametrize("package", ["evaluator", "submissions", "leaderboard"])
def test_packages_run_the_same_program(package: str) -> None:
    command = [sys.executable, "-m", package, "benchmarks", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("usage: hannun benchmarks")


def test_store_is_refused_where_it_would_be_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--store", "x", "benchmarks"])
    assert "for benchmarks, set HANNUN_STORE" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["errata", "list", "ko-vqa", "--store", "nowhere"],
        ["--store", "nowhere", "errata", "list", "ko-vqa"],
        ["worker", "--once", "--store", "nowhere"],
        ["--store", "nowhere", "worker", "--once"],
        ["--store", "nowhere", "list"],
    ],
)
def test_store_may_be_named_before_and_after_a_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*words, "--no-such-option"])
    assert "no-such-option" in capsys.readouterr().err
    args = build_parser().parse_args(words)
    assert (args.store, args.uses_store) == ("nowhere", True)


def test_program_needs_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert "COMMAND" in capsys.readouterr().err
