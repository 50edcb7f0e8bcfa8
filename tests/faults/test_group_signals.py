"""Test that SIGTERM and SIGINT to a worker's whole process group never fail a model, whatever the worker is doing."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter

import pytest

from evaluator.engines.registry import REGISTRY
from scripts.support.engines import STOP_AFTER_FILE
from submissions.checks.model_checks import inspect_model
from submissions.checks.request import build_request
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest
from submissions.store.base import Store
from tests.conftest import environment_of
from tests.faults.worker import EARLY, INFERENCE, LATE

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

STEPS = (*EARLY[2:], "before scoring", "while scoring", *INFERENCE, *LATE)
STOPS = 24  # number of stops at random moments


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def submitted(settings: Settings, store: Store, benchmark: str, model: str) -> EvalRequest:
    request = build_request(inspect_model(model, None, settings.models_dir, REGISTRY), benchmark, REGISTRY, "someone")
    Queue(store).submit(request)
    return request


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_group_signal_at_every_step_returns_request_to_queue(settings: Settings, store: Store, name: str) -> None:
    request = submitted(settings, store, "korquad-2", "tiny/extractive")
    environment = environment_of(settings) | {"HANNUN_LATENCY_SAMPLES": "5"}
    settings.work_dir.mkdir(parents=True, exist_ok=True)
    outcomes = Counter[str]()
    for step in STEPS:
        (settings.work_dir / STOP_AFTER_FILE).write_text("12" if step in INFERENCE[:2] else "1000")
        worker = subprocess.run(
            [sys.executable, "-m", "tests.faults.worker", step, "0", name],
            cwd=ROOT,
            env=environment,
            start_new_session=True,
            capture_output=True,
            text=True,
            timeout=120,
        )
        after = Queue(store).get(request.key)
        outcomes[after.status] += 1
        assert worker.returncode == 0, (step, worker.stderr)
        assert after.status in ("pending", "finished"), (step, after.failure, worker.stderr)
        assert after.status == "finished" or after.attempt == 0, (step, "the attempt must not be counted")
        if after.status == "finished":
            request = submitted(settings, store, "korquad-2", f"tiny/{_copy(settings, outcomes.total(), 'extractive')}")
    assert outcomes["pending"] >= len(STEPS) - len(LATE) - 2, outcomes


def _copy(settings: Settings, number: int, model: str) -> str:
    """Create another model with the same weights and return its name."""
    assert settings.models_dir
    name = f"{model}-{settings.work_dir.parent.name}-{number}"
    shutil.copytree(settings.models_dir / f"tiny/{model}", settings.models_dir / f"tiny/{name}")
    (settings.models_dir / f"tiny/{name}/README.md").write_text(f"---\nlicense: mit\n---\n{name}\n")
    return name


@pytest.mark.parametrize("command", [["-m", "evaluator", "worker", "--once"], ["app.py"]], ids=["worker", "board"])
def test_group_signal_at_random_moments_fails_no_model(settings: Settings, store: Store, command: list[str]) -> None:
    """Run a real model in the real sandbox."""
    rng = random.Random(5)
    request = submitted(settings, store, "ko-vqa", "tiny/image-text")
    environment = environment_of(settings) | {"HANNUN_LATENCY_SAMPLES": "5", "HANNUN_PORT": str(free_port())}
    queue = Queue(store)
    handed_back = 0
    for number in range(STOPS):
        with subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            env=environment,
            start_new_session=True,
            stderr=subprocess.PIPE,
            text=True,
        ) as worker:
            while queue.get(request.key).status == "pending" and worker.poll() is None:
                time.sleep(0.05)
            time.sleep(rng.choice([0.0, 0.05, rng.uniform(0, 8.0)]))  # the moment of the stop
            if worker.poll() is None:
                os.killpg(worker.pid, rng.choice([signal.SIGTERM, signal.SIGINT]))
            _, errors = worker.communicate(timeout=120)
        after = queue.get(request.key)
        assert after.status in ("pending", "finished"), (after.failure, errors)
        if after.status == "finished":
            request = submitted(settings, store, "ko-vqa", f"tiny/{_copy(settings, number, 'image-text')}")
            continue
        assert (after.attempt, worker.returncode) == (0, 0), errors
        handed_back += 1
    assert handed_back >= STOPS // 4
