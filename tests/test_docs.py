"""Test that the documents list every setting, option and address, and that the READMEs' blocks run."""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from app import build_parser
from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.card import Card
from evaluator.datasets.import_dataset import import_dataset
from leaderboard.web.data_routes import data_routes
from scripts.make_docs import BLOCKS, blocks
from scripts.make_samples import write_samples
from scripts.support.evaluated import evaluated
from scripts.support.records import NOW, claimed, request_numbered
from scripts.support.serving import serving
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.store.open import open_store
from tests.conftest import environment_of, settings_in

ADDRESS = "http://127.0.0.1:7860"
PLACEHOLDER = r"[A-Z]{3}|one_number|echo"  # for a name that the reader chooses
KEY_VARIABLES = {"HANNUN_API_KEY"}  # not a setting: named by a server's `key`


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _first_cells(text: str) -> list[str]:
    """Return the cells of the first column of all tables, without the heads."""
    rows = re.findall(r"^\| (.+?) \|.*\n(?!\|---)", text, re.MULTILINE)
    return [row.replace("\\|", "|") for row in rows]


def test_configuration_lists_every_setting() -> None:
    named = set(re.findall(r"`(HANNUN_\w+)`", "\n".join(_first_cells(_text("docs/configuration.md")))))
    assert named == {f"HANNUN_{name.upper()}" for name in Settings.model_fields} | KEY_VARIABLES


def test_every_setting_and_argument_is_described() -> None:
    undescribed = [name for name, field in Settings.model_fields.items() if not field.description]
    for command in _commands(build_parser()).values():
        undescribed += [f"{command.prog} {action.dest}" for action in _actions(command) if not action.help]
    assert not undescribed


def test_generated_blocks_are_up_to_date() -> None:
    found = list(blocks())
    assert {name for _, name, _, _ in found} == set(BLOCKS)
    stale = [f"{path}: {name}" for path, name, written, wanted in found if written != wanted]
    assert not stale, "make docs"


def test_reference_describes_every_field_of_a_card() -> None:
    described = _text("docs/benchmark-reference.md").partition("## The card")[2]
    named = set(re.findall(r"`(\w+)`", "\n".join(_first_cells(described))))
    assert named == {field.name for field in fields(Card)}


def test_example_of_benchmark_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", _text("docs/adding-a-benchmark.md"), re.DOTALL)
    namespace: dict[str, Any] = {}
    exec(compile(code, "one_number.py", "exec"), namespace)
    benchmark: Benchmark = namespace["BENCHMARK"]
    monkeypatch.setitem(BENCHMARKS, benchmark.name, benchmark)
    samples = tmp_path / "samples"
    samples.mkdir()
    write_samples(benchmark, 4, samples)
    table = ["id,question,answer,image,topic"]
    for item in benchmark.load(samples):
        table.append(f'{item.id},"{item.question}","{item.answer}",{item.images[0].name},{item.buckets["topic"]}')
    (samples / "makers.csv").write_text("\n".join(table), encoding="utf-8")
    imported = import_dataset(benchmark, samples / "makers.csv", tmp_path / "out")
    assert (len(imported.items), imported.rejected, imported.unmatched) == (4, [], 0)


def test_every_target_of_make_is_documented() -> None:
    phony = re.search(r"^\.PHONY: (.+)$", _text("Makefile"), re.MULTILINE)
    assert phony
    named = re.findall(r"`make ([a-z-]+)`", "\n".join(_first_cells(_text("docs/make-and-docker.md"))))
    assert set(named) == set(phony[1].split())


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (group,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(group.choices)


def test_cli_document_describes_every_command() -> None:
    sections = dict(re.findall(r"^## ([a-z-]+)\n(.*?)(?=^##? |\Z)", _text("docs/cli.md"), re.MULTILINE | re.DOTALL))
    commands = _commands(build_parser())
    assert set(sections) == set(commands)
    for name, command in commands.items():
        assert bool(_actions(command)) == (f"<!-- begin options-{name} -->" in sections[name]), name


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments of a parser, also those of its steps, without --help."""
    found: list[argparse.Action] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += [one for step in action.choices.values() for one in _actions(step)]
        elif action.dest != "help":
            found.append(action)
    return found


def test_api_document_lists_every_route() -> None:
    text = _text("docs/api.md")
    documented = set(re.findall(r"`(/[^`?]*)", "\n".join(_first_cells(text.partition("### Filters")[0]))))
    documented = {
        re.sub(r"\.(csv|json|parquet)$", ".KIND", re.sub(r"NAME|KEY|KIND", "*", address)) for address in documented
    }
    routers = data_routes(None)  # type: ignore[arg-type]  # only the paths are read
    for route in (route for router in routers for route in router.routes):
        path = re.sub(r"\{\w+(:path)?\}", "*", route.path)  # type: ignore[attr-defined]
        path = re.sub(r"^/(boards/|charts/|register|unseen)(.*)\.\*$", r"/\1\2.KIND", path)
        path = path.replace("/samples/*/*", "/samples/*/PATH").replace("/badge/*/*.svg", "/badge/OWNER/*/BENCHMARK.svg")
        assert re.sub(r"\.(csv|json|parquet)$", ".KIND", path) in documented, path


def test_documents_name_existing_files() -> None:
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    for document in documents:
        text = document.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (document.parent / link).exists(), f"{document.name}: {link}"
        for path in re.findall(
            r"`((?:tests|docs|scripts|evaluator|submissions|leaderboard|assets)/[\w/.-]+\.\w+)`", text
        ):
            assert (ROOT / path).exists() or re.search(PLACEHOLDER, path), f"{document.name}: {path}"


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield a folder that looks like the repository, with its environment and a running board with one result."""
    folder = tmp_path_factory.mktemp("readme")
    for path in ROOT.iterdir():
        if not path.name.startswith("."):
            (folder / path.name).symlink_to(path)
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "models/owner").mkdir(parents=True)
    (folder / "models/owner/name").symlink_to(models_dir / "tiny/image-text")
    settings = settings_in(folder, folder / "models")
    store = open_store(settings.store)
    request = request_numbered(1, benchmark="ko-vqa")
    queue = Queue(store)
    queue.submit(request)
    running = claimed(queue)
    queue.publish(running, evaluated(running, 50.0), NOW)
    environment = environment_of(settings)
    with serving(["app.py"], environment | {"HANNUN_WORKER": "off"}) as server:
        yield folder, environment | {"BOARD": server.address, "KEY": request.key}


def _blocks() -> list[tuple[str, str]]:
    """Return the language and text of each block; blocks in both READMEs are returned once."""
    both = _text("README.md") + _text("README.ko.md")
    return list(dict.fromkeys(re.findall(r"^```(\w+)\n(.*?)^```", both, re.MULTILINE | re.DOTALL)))


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize(("language", "block"), _blocks())
def test_readme_block_runs(workshop: tuple[Path, dict[str, str]], tmp_path: Path, language: str, block: str) -> None:
    """Run a block unchanged, except for the board's port, a real result's key and `make`, which becomes `make -n`."""
    folder, environment = workshop
    block = block.replace(ADDRESS, environment["BOARD"]).replace("KEY", environment["KEY"])
    block = re.sub(r"\bmake (?=[a-z])", "make -n ", block)
    for made in (*folder.glob("*.csv"), *folder.glob("*.json")):
        made.unlink()  # curl -O would not overwrite it
    command = {"bash": ["bash", "-euo", "pipefail", "-c", block], "python": [sys.executable, "-c", block]}[language]
    path = os.pathsep.join([str(folder / ".venv/bin"), environment["PATH"]])
    overrides = {"PATH": path, "HANNUN_STORE": str(tmp_path / "store.git")}  # the board keeps its own store
    done = subprocess.run(
        command, cwd=folder, env=environment | overrides, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, f"{block}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_issue_forms_list_every_benchmark() -> None:
    form = _text(".github/ISSUE_TEMPLATE/model_problem.yml")
    assert all(name in form for name in BENCHMARKS)


def test_dockerfile_copies_named_folders_and_keeps_no_credentials() -> None:
    text = _text("Dockerfile")
    copied = re.findall(r"^COPY (?:--\S+ )*(.+) \S+$", text, re.MULTILINE)
    assert copied and "." not in copied, "folders are copied by name"
    assert not re.search(r"^ARG \w*INDEX", text, re.MULTILINE), "a build argument stays in the image"
    assert re.search(r"^ARG BASE$", text, re.MULTILINE), "there is no default: the base image is given by its digest"
    assert text.index("AS board") < text.index("AS worker") and "HEALTHCHECK" in text


def test_docker_commands_publish_on_loopback_only() -> None:
    for document in ROOT.glob("docs/*.md"):
        for port in re.findall(r"docker run .*?-p (\S+)", document.read_text(encoding="utf-8")):
            assert port.startswith("127.0.0.1:"), document.name


def test_changelog_has_a_dated_section_of_this_version() -> None:
    version = re.search(r'^version = "(.+)"$', _text("pyproject.toml"), re.MULTILINE)
    assert version and re.search(
        rf"^## \[{re.escape(version[1])}\] - \d{{4}}-\d\d-\d\d$", _text("CHANGELOG.md"), re.MULTILINE
    )


def test_harness_task_has_version_of_benchmark() -> None:
    task = _text("scripts/harnesses/lmms_eval/ko_fresh.yaml")
    assert f"version: {BENCHMARKS['ko-fresh'].version}\n" in task
