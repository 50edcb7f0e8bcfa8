"""Test that a Space runs with only the repository's files and requirements.txt."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from threading import Event, Thread

import httpx2
import pytest
from huggingface_hub import HfApi, metadata_load
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.support.hub.repos import TOKEN, Hub
from scripts.support.serving import bare_environment, serving
from submissions.config.paths import ROOT

pytestmark = pytest.mark.integration


# What a Gradio Space installs besides requirements.txt, in the same resolution. The last two are not ours.
SPACE_PACKAGES = ["gradio[oauth,mcp]=={sdk_version}", "uvicorn>=0.14.0", "websockets>=10.4", "spaces"]


def _pinned() -> list[str]:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and line[0] != "#"]


def _all_requirements(requirements: list[str]) -> Iterator[Requirement]:
    """Yield the requirements and those of the installed distributions that they need, following extras and markers."""
    seen: set[tuple[str, str]] = set()
    todo = [(Requirement(line), "") for line in requirements]
    while todo:
        requirement, extra = todo.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        yield requirement
        name = canonicalize_name(requirement.name)
        for wanted in ("", *requirement.extras):
            if (name, wanted) not in seen:
                seen.add((name, wanted))
                todo += [(Requirement(line), wanted) for line in _requires(name)]


def _requires(name: str) -> list[str]:
    try:
        return distribution(name).requires or []
    except PackageNotFoundError:
        return []


def _closure(requirements: list[str]) -> list[Distribution]:
    """Return the installed distributions that the requirements need."""
    return [distribution(name) for name in {canonicalize_name(each.name) for each in _all_requirements(requirements)}]


def test_requirements_resolve_together_with_the_packages_of_a_space() -> None:
    card = metadata_load(ROOT / "README.md") or {}
    space = [line.format(**card) for line in SPACE_PACKAGES]
    unmet = []
    for requirement in _all_requirements([*_pinned(), *space]):
        with suppress(PackageNotFoundError):  # of a package that only a Space installs
            version = distribution(requirement.name).version
            if not requirement.specifier.contains(version, prereleases=True):
                unmet.append(f"{requirement} is needed, {version} is installed")
    assert not unmet


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a copy of the repository and the Python of an environment with only requirements.txt."""
    folder = tmp_path_factory.mktemp("space")
    names = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            copy = folder / "app" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    packages = next((folder / "venv/lib").glob("python*/site-packages"))
    for one in _closure(_pinned()):
        for top in {file.parts[0] for file in one.files or [] if file.parts[0] not in ("..", "__pycache__")}:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(str(one.locate_file(top))))
    return folder / "app", folder / "venv/bin/python"


@pytest.mark.slow
def test_space_starts_with_requirements_only(space: tuple[Path, Path]) -> None:
    folder, python = space
    missing = subprocess.run([python, "-c", "import torch"], capture_output=True, check=False)
    assert missing.returncode == 1  # packages that only the evaluator needs are missing
    environment = bare_environment() | {"HANNUN_WORKER": "off", "HANNUN_AUTH": "off", "MALLOC_ARENA_MAX": "2"}
    with serving(["app.py"], environment, python=python, folder=folder, port_variable="GRADIO_SERVER_PORT") as server:
        pages = ("/", "/en/ko-ocrag", "/boards/korquad-2.csv", "/boards/ko-vqa.parquet", "/charts/ko-vdc/time.csv")
        for path in pages:
            answer = httpx2.get(server.address + path, timeout=60)
            assert answer.status_code == 200 and len(answer.content) > 200, path
        # The stream of an open page never ends, but a board still exits on SIGTERM (`serving` waits for that).
        Thread(target=_listen, args=(f"{server.address}/gradio_api/heartbeat/page", listening := Event())).start()
        assert listening.wait(20)


def _listen(address: str, listening: Event) -> None:
    with suppress(httpx2.TransportError), httpx2.stream("GET", address, timeout=60) as answer:
        listening.set()
        answer.read()


def test_front_matter_names_pinned_gradio() -> None:
    version = re.search(r"^sdk_version: (.+)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert version
    assert f"gradio[oauth]=={version[1]}\n" in (ROOT / "requirements.txt").read_text()


@pytest.mark.slow
def test_deploy_guide_uploads_files(space: tuple[Path, Path], hub: Hub) -> None:
    """Follow docs/deploy.md: a push is refused because of images, and the Hub's client stores them in LFS unchanged."""
    app, _ = space
    repo = hub.create("spaces/org/board")
    pushed = app.parent / "pushed"
    shutil.copytree(app, pushed)
    address = f"{os.environ['HF_ENDPOINT'].replace('//', f'//hannun:{TOKEN}@')}/spaces/org/board"
    name = ["-c", "user.name=a", "-c", "user.email=a@b.invalid"]
    for command in (["init", "-q"], ["add", "-A"], [*name, "commit", "-qm", "all"]):
        subprocess.run(["git", "-C", str(pushed), *command], check=True)
    refused = subprocess.run(["git", "-C", str(pushed), "push", "-q", "-f", address, "HEAD:main"], capture_output=True)
    assert refused.returncode and b"binary files" in refused.stderr
    api = HfApi(os.environ["HF_ENDPOINT"], TOKEN)
    api.upload_folder(repo_id="org/board", folder_path=app, repo_type="space", ignore_patterns=["**/__pycache__/*"])
    images = [entry.path for entry in repo.entries(repo.head(), recursive=True) if entry.path.endswith(".png")]
    assert images and all(repo.read(path, repo.head()).startswith(b"version https://git-lfs") for path in images)
    copy = app.parent / "copy"
    api.snapshot_download("org/board", repo_type="space", local_dir=copy)
    assert all((copy / path).read_bytes() == (app / path).read_bytes() for path in ["app.py", *images])
