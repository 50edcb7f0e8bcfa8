"""Define a place to launch evaluations for each launcher."""

import os
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path

import pytest
from huggingface_hub import HfApi

from scripts.support.engines import QUESTION_LOG, STOP_AFTER_FILE, LoggingEngine, use_engine
from scripts.support.hub.repos import TOKEN, Hub
from scripts.support.hub.xet_client import own_xet_session
from submissions.config.paths import ROOT
from submissions.config.setting_values import HubJobs, LaunchCommands
from submissions.config.settings import Settings
from tests.conftest import environment_of
from tests.support.scheduler import main as scheduler
from tests.support.slow import only_first
from tests.support.slurm import INSTALLED, slurm

SITE = ROOT / "tests/support/site"
SCALE = (ROOT / "docs/scale.md").read_text(encoding="utf-8")
# Commands and manifest as an operator copies them from the document.
SLURM, RAY, KUBERNETES = (
    LaunchCommands.model_validate_json(block) for block in re.findall(r"```json\n(\{.*?\})\n```", SCALE, re.DOTALL)
)
(MANIFEST,) = re.findall(r"```yaml\n(.*?)```", SCALE, re.DOTALL)
IMAGE = f"python:3.11@sha256:{'d' * 64}"


class Place:
    """Run evaluations in separate processes, with an engine that logs the prompts it was asked."""

    def __init__(self, settings: Settings, *folders: Path) -> None:
        self.settings = settings
        self.folders = folders or (settings.work_dir,)  # the work folders of its hosts

    def kill(self, key: str) -> None:
        """Kill the job that evaluates a request."""
        for pid in self.jobs(key):
            os.kill(pid, signal.SIGKILL)

    def jobs(self, key: str) -> list[int]:
        """Return the processes that evaluate a request, without those of tests that run at the same time."""
        folders = [str(folder).encode() for folder in self.folders]
        found = processes("--claimed", f"{key}:")
        return [pid for pid in found if any(folder in _environment(pid) for folder in folders)]

    preempt: Callable[[], None] | None = None  # ends jobs like a scheduler that announces the preemption

    def answers_end_after(self, count: int | None) -> None:
        """Let the engine stop answering after `count` prompts, or never if `count` is None."""
        for folder in self.folders:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / STOP_AFTER_FILE).unlink(missing_ok=True)
            if count is not None:
                (folder / STOP_AFTER_FILE).write_text(str(count))

    def asked(self) -> list[str]:
        """Return the ids of the prompts asked so far."""
        return [
            key for f in self.folders if (f / QUESTION_LOG).exists() for key in (f / QUESTION_LOG).read_text().split()
        ]


class Local(Place):
    def kill(self, key: str) -> None:
        """Kill the inference process, because the job itself is this process."""
        for pid in processes("evaluator.job.child", str(self.settings.work_dir)):
            os.kill(pid, signal.SIGKILL)


class StandIn(Place):
    """Launch with the commands of a scheduler that tests/support/scheduler.py simulates."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        program = f"{sys.executable} -m tests.support.scheduler {shlex.quote(str(folder))}"
        commands = LaunchCommands(
            start=f"{program} sbatch {{command}}",
            state=f"{program} squeue {{job}}",
            cancel=f"{program} scancel {{job}}",
        )
        super().__init__(settings.model_copy(update={"launcher": "command", "commands": commands}))
        self.preempt = lambda: scheduler(folder, "preempt", str(len(list(folder.glob("*.pid")))))


def processes(*words: str) -> list[int]:
    """Return the Python processes whose command line has all of these words."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            command = (folder / "cmdline").read_text()
            if command.startswith(sys.executable) and all(word in command for word in words):
                found.append(int(folder.name))
    return found


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


@pytest.fixture
def quick(settings: Settings) -> Settings:
    """Return settings with short intervals, for this process and for jobs."""
    soon = timedelta(milliseconds=100)
    return settings.model_copy(update={"heartbeat": soon, "worker_every": soon, "latency_samples": 0})


@pytest.fixture(params=only_first(["local", "command", "slurm", "kubernetes", "hf-jobs", "ray"]))
def place(
    request: pytest.FixtureRequest, quick: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    monkeypatch.chdir(ROOT)
    use_engine(monkeypatch, LoggingEngine)
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda command, policy: command)
    for name, value in environment_of(quick).items():
        monkeypatch.setenv(name, value)
    jobs = {
        "PYTHONPATH": str(SITE),
        "TESTS_ENGINE": f"{LoggingEngine.__module__}:{LoggingEngine.__name__}",
        "HANNUN_HEARTBEAT": "0.1s",
        "HANNUN_LATENCY_SAMPLES": "0",
    }
    for name, value in jobs.items():
        monkeypatch.setenv(name, value)
    with ExitStack() as stack:
        if request.param == "local":
            yield Local(quick)
        elif request.param == "command":
            yield StandIn(quick, tmp_path / "scheduler")
        elif request.param == "slurm":
            if not INSTALLED:
                pytest.skip(
                    "Slurm is not installed: apt-get install --no-install-recommends slurmctld slurmd slurm-client"
                )
            for name, value in stack.enter_context(slurm(tmp_path / "slurm")).items():
                monkeypatch.setenv(name, value)
            start = SLURM.start.replace("hannun-%j.log", str(tmp_path / "hannun-%j.log"))
            commands = SLURM.model_copy(update={"start": start})
            yield Place(quick.model_copy(update={"launcher": "command", "commands": commands}))
        elif request.param == "kubernetes":
            if not shutil.which("envsubst"):
                pytest.skip("envsubst is not installed: apt-get install gettext-base")
            (tmp_path / "bin").mkdir()
            kubectl = tmp_path / "bin/kubectl"
            kubectl.write_text(f'#!/bin/sh\nexec {sys.executable} -m tests.support.kubectl {tmp_path / "pods"} "$@"\n')
            kubectl.chmod(0o755)
            python = tmp_path / "bin/python"  # the Python of the image
            python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
            python.chmod(0o755)
            monkeypatch.setenv("PATH", f"{kubectl.parent}:{os.environ['PATH']}")
            start = KUBERNETES.start.replace("job.yaml", str(tmp_path / "job.yaml"))
            (tmp_path / "job.yaml").write_text(MANIFEST)
            commands = KUBERNETES.model_copy(update={"start": start})
            yield Place(quick.model_copy(update={"launcher": "command", "commands": commands}))
        elif request.param == "hf-jobs":
            hub: Hub = request.getfixturevalue("hub")
            hub.runner.environment = {"HF_ENDPOINT": os.environ["HF_ENDPOINT"]}
            HfApi(os.environ["HF_ENDPOINT"], TOKEN).create_bucket("org/private", private=True)
            own_xet_session(monkeypatch, tmp_path / "xet")
            monkeypatch.setenv("HANNUN_WORK_DIR", str(quick.work_dir))
            jobs_on_hub = HubJobs(image=IMAGE, space="org/board", commit="c" * 40, max_price=20)
            hub_settings = Settings(
                **quick.model_dump() | {
                    "launcher": "hf-jobs", "jobs": jobs_on_hub, "store": "hf://datasets/org/store",
                    "private_store": "hf://buckets/org/private", "hub_token": os.environ["HANNUN_HUB_TOKEN"],
                }
            )  # fmt: skip
            yield Place(hub_settings)
        else:
            from tests.support import ray_cluster  # which has a Place, too

            if not ray_cluster.INSTALLED:
                pytest.skip("Ray has an environment of its own: make test-ray")
            ray, address = stack.enter_context(ray_cluster.ray_cluster(quick, RAY, tmp_path / "ray"))
            monkeypatch.setenv("RAY_ADDRESS", address)
            yield ray
