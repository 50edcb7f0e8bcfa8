"""Fixtures that many tests need: tiny real models, a store, settings."""

import gc
import itertools
import os
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path

import pytest
from filelock import FileLock
from huggingface_hub import HfApi, constants
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from evaluator.engines.dummy import DummyEngine
from scripts.support.engines import use_engine
from scripts.support.hub.repos import TOKEN, Hub
from scripts.support.hub.server import serve
from scripts.support.hub.xet_client import own_xet_session
from scripts.support.records import Make, request_numbered
from scripts.support.serving import bare_environment
from submissions.config.garbage_collection import no_garbage_collection
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.store.base import Store
from submissions.store.open import open_private_store, open_store
from submissions.store.private import PrivateStore

SHARED = ROOT.parent / "shared"

# Tiny models gain nothing from threads, and the test processes share the cores. Torch reads this when it is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
gc.set_threshold(50_000)  # torch and transformers create a million objects, none of which is garbage


# Test files that share a board or a browser run in one process, which starts each once.
ONE_BOARD = {f"tests/browser/test_{name}.py": "site" for name in ("pages", "accessibility", "edition")}
ONE_BOARD |= {f"tests/browser/test_{name}.py": "empty board" for name in ("board", "loop", "xss", "sign_in")}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    with no_garbage_collection():
        return (yield)


class LoadBoardScheduling(LoadFileScheduling):  # type: ignore[misc]  # untyped
    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return ONE_BOARD.get(file, file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    return LoadBoardScheduling(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(autouse=True)
def _hide_host_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the settings of the host from the tests."""
    for name in os.environ:
        if name.startswith(("HANNUN_", "HF_")):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of tiny models for HANNUN_MODELS_DIR, made once for all test processes."""
    shared = tmp_path_factory.getbasetemp().parent / "models"
    with FileLock(f"{shared}.lock"):
        if not (shared / "done").exists():
            # In a subprocess, because most tests need the models but not torch.
            subprocess.run([sys.executable, "-m", "scripts.support.tiny_models", str(shared)], cwd=ROOT, check=True)
            (shared / "done").touch()
    return shared


def settings_in(folder: Path, models_dir: Path) -> Settings:
    return Settings(
        store=str(folder / "store.git"),
        private_store=str(folder / "private"),
        work_dir=folder / "work",
        models_dir=models_dir,
    )


@pytest.fixture
def settings(tmp_path: Path, models_dir: Path) -> Settings:
    return settings_in(tmp_path, models_dir)


@pytest.fixture
def heartbeats(settings: Settings) -> Heartbeats:
    return Heartbeats(settings)


@pytest.fixture
def private(settings: Settings) -> PrivateStore:
    return open_private_store(settings)


@pytest.fixture
def store(settings: Settings) -> Store:
    return open_store(settings.store)


def environment_of(settings: Settings) -> dict[str, str]:
    """Return the environment of a child process that uses these settings."""
    variables = {
        "HANNUN_STORE": settings.store,
        "HANNUN_PRIVATE_STORE": settings.private_store,
        "HANNUN_WORK_DIR": str(settings.work_dir),
        "HANNUN_MODELS_DIR": str(settings.models_dir),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_XET": "1",
    }
    return bare_environment() | variables


@pytest.fixture
def environment(settings: Settings) -> dict[str, str]:
    return environment_of(settings)


def set_here(monkeypatch: pytest.MonkeyPatch, environment: Mapping[str, str]) -> None:
    """Set the settings of an environment in this process, for commands that are called in it."""
    for name, value in environment.items():
        if name.startswith("HANNUN_"):
            monkeypatch.setenv(name, value)


@pytest.fixture
def settings_here(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    set_here(monkeypatch, environment)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Start a Hub double with two dataset repositories, which this process and its children use."""
    double = Hub(tmp_path / "hub")
    double.create("org/store")
    double.create("org/private")
    with serve(double) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")  # for child processes; this process has read the variable already
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setenv("HANNUN_HUB_TOKEN", TOKEN)
        monkeypatch.setenv("HANNUN_WORK_DIR", str(tmp_path / "hub-work"))
        yield double
        double.released.set()


@pytest.fixture
def bucket(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the address of a private bucket on the Hub, which is accessed with hf_xet."""
    own_xet_session(monkeypatch, tmp_path / "xet")
    HfApi(os.environ["HF_ENDPOINT"], TOKEN).create_bucket("org/private", private=True)
    return "hf://buckets/org/private"


@pytest.fixture
def dummy_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the engines by one that answers at once. The sandbox is still used, for tests of what surrounds an engine."""
    for name in ("chat", "extractive"):
        use_engine(monkeypatch, DummyEngine, name)


@pytest.fixture
def make_request() -> Make:
    """Return a function that builds valid requests, each with another model unless the fields set one."""
    numbers = itertools.count(1)
    return lambda **fields: request_numbered(next(numbers), **fields)
