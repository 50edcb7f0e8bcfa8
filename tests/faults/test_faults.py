"""Test workers that are killed at every step, run side by side, or are paused beyond their lease."""

import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator.engines.registry import REGISTRY
from evaluator.worker.loop import Worker
from scripts.support.engines import QUESTION_LOG, STOP_AFTER_FILE
from submissions.checks.model_checks import inspect_folder
from submissions.checks.request import build_request
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest
from submissions.store.base import Store
from submissions.store.index import board_reader
from submissions.store.open import open_store
from submissions.store.private import PrivateStore
from submissions.texts.errors import RefusedError
from tests.faults.worker import EARLY, INFERENCE, LAST, LATE, PAUSED

QUESTIONS = 44  # number of items in the sample set of KorQuAD
ROUNDS = 8
WORKERS, REQUESTS = 8, 50
SUBMISSIONS = 500
KINDS = ["git", "hub"]
pytestmark = pytest.mark.slow


@pytest.fixture(params=KINDS)
def worker_env(
    request: pytest.FixtureRequest, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """Return the environment of the workers, once with a git store and once with a Hub store."""
    if request.param == "hub":
        request.getfixturevalue(
            "hub"
        ).limits.commits_per_hour = None  # the test commits in minutes what workers commit in days
        names = ("HF_ENDPOINT", "HF_HUB_DISABLE_XET", "HANNUN_HUB_TOKEN")
        environment |= {name: os.environ[name] for name in names}
        environment |= {
            "HANNUN_STORE": "hf://datasets/org/store",
        }
    monkeypatch.setenv("HANNUN_WORK_DIR", str(tmp_path / "reader"))
    return environment | {"HANNUN_MAX_ATTEMPTS": "1000", "HANNUN_LATENCY_SAMPLES": "5"}


def submit(store: Store, models: Path, name: str, submitter: str = "someone") -> EvalRequest:
    """Submit a request for a new model, so that no cached answers of another model apply to it."""
    shutil.copytree(models / "tiny/extractive", models / name)
    (models / name / "README.md").write_text(f"---\nlicense: mit\n---\n{name}\n")
    request = build_request(inspect_folder(name, models / name, REGISTRY), "korquad-2", REGISTRY, submitter)
    Queue(store).submit(request)
    return request


@pytest.fixture
def models(worker_env: dict[str, str], tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    (folder / "tiny").mkdir(parents=True)
    (folder / "tiny/extractive").symlink_to(Path(worker_env["HANNUN_MODELS_DIR"]) / "tiny/extractive")
    worker_env["HANNUN_MODELS_DIR"] = str(folder)
    return folder


def start(worker_env: dict[str, str], step: str, minutes: float = 0) -> "subprocess.Popen[str]":
    """Start a worker that kills itself at `step`, with the store's clock `minutes` ahead."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.faults.worker", step, str(minutes)],
        cwd=ROOT,
        env=worker_env,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_exit(process: "subprocess.Popen[str]", *, killed: bool = False) -> None:
    """Assert that the process ends with exit status 0, or by SIGKILL if `killed`."""
    _, errors = process.communicate(timeout=600)
    assert process.returncode == (-signal.SIGKILL if killed else 0), errors


def assert_published_once(store: Store, requests: list[EvalRequest]) -> None:
    snapshot = store.snapshot()
    queue = Queue(store)
    assert Counter(queue.get(r.key).status for r in requests) == {"finished": len(requests)}
    rows, unreadable = board_reader(store).read(snapshot)
    assert not unreadable and sorted(r.key for r in rows) == sorted(r.key for r in requests)
    published = Counter(c.message.splitlines()[0] for c in store.history(snapshot.head))
    assert all(published[f"Publish {r.key}"] == 1 for r in requests)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_worker_killed_at_every_step_publishes_once(
    worker_env: dict[str, str], models: Path, tmp_path: Path, seed: int
) -> None:
    store = open_store(worker_env["HANNUN_STORE"])
    request = submit(store, models, f"killed/round-{seed}")
    rng = random.Random(seed)
    early = rng.sample(EARLY, len(EARLY))
    late = rng.sample(LATE, len(LATE))
    steps = [*early, *INFERENCE, *late, LAST[seed % 2]]
    stop = Path(worker_env["HANNUN_WORK_DIR"]) / STOP_AFTER_FILE
    for number, step in enumerate(steps):
        stop.parent.mkdir(exist_ok=True)
        stop.write_text("12" if step in INFERENCE[:2] else "1000")
        wait_for_exit(start(worker_env, step, 40 * number), killed=True)
    wait_for_exit(start(worker_env, "none", 40 * len(steps)))
    assert_published_once(store, [request])
    asked = Counter((Path(worker_env["HANNUN_WORK_DIR"]) / QUESTION_LOG).read_text().split())
    again = sum(count - 1 for count in asked.values())
    # Questions are repeated if a kill cut off the answer, and by each latency run: two to warm up and five timed.
    measured = (len(steps) + 1) * (2 + 5)
    assert len(asked) == QUESTIONS and again <= len(steps) + measured
    private = PrivateStore(worker_env["HANNUN_PRIVATE_STORE"])
    (details,) = private.paths("details")
    assert len(private.read(details).splitlines()) == QUESTIONS
    assert private.paths("answers") == [], "answers are removed after the run"


def test_restarted_worker_reclaims_its_request_at_once(worker_env: dict[str, str], models: Path) -> None:
    """It does not wait for the lease of the killed worker to expire, and the attempt is counted."""
    store = open_store(worker_env["HANNUN_STORE"])
    request = submit(store, models, "killed/restarted")
    for step in ("after fetch", "before details"):
        wait_for_exit(start(worker_env, step), killed=True)
    wait_for_exit(start({**worker_env, "HANNUN_WORK_DIR": f"{worker_env['HANNUN_WORK_DIR']}-other"}, "none"))
    assert Queue(store).get(request.key).status == "running", "another host cannot know that the worker is dead"
    wait_for_exit(start(worker_env, "none"))
    assert_published_once(store, [request])
    result = next(path for path in store.snapshot().files if path.startswith("results/"))
    assert result and Queue(store).get(request.key).attempt == 3


def test_paused_worker_with_lost_lease_publishes_nothing(worker_env: dict[str, str], models: Path) -> None:
    store = open_store(worker_env["HANNUN_STORE"])
    request = submit(store, models, "paused/model")
    paused = start(worker_env, PAUSED)
    os.waitpid(paused.pid, os.WUNTRACED)
    wait_for_exit(start({**worker_env, "HANNUN_WORK_DIR": f"{worker_env['HANNUN_WORK_DIR']}-other"}, "none", 40))
    head = store.head()
    paused.send_signal(signal.SIGCONT)
    _, errors = paused.communicate(timeout=60)
    assert paused.returncode == 0 and f"dropped {request.key}" in errors
    assert store.head() == head
    assert_published_once(store, [request])


def test_many_workers_evaluate_each_request_once(worker_env: dict[str, str], models: Path) -> None:
    store = open_store(worker_env["HANNUN_STORE"])
    requests = [submit(store, models, f"many/model-{n}", f"submitter-{n % 5}") for n in range(REQUESTS)]
    folders = [f"{worker_env['HANNUN_WORK_DIR']}-{n}" for n in range(WORKERS)]
    for process in [start({**worker_env, "HANNUN_WORK_DIR": folder}, "none") for folder in folders]:
        wait_for_exit(process)
    assert_published_once(store, requests)
    asked = [line for folder in folders for line in _lines(Path(folder) / QUESTION_LOG)]
    assert len(asked) == REQUESTS * (QUESTIONS + 2 + 5), "each question once, then two to warm up and five timed"


def test_concurrent_submissions_are_accepted_or_reported_as_duplicates(
    worker_env: dict[str, str], models: Path
) -> None:
    store = open_store(worker_env["HANNUN_STORE"])
    queue = Queue(store)
    count = SUBMISSIONS if worker_env["HANNUN_STORE"].endswith(".git") else SUBMISSIONS // 5
    link = models / "tiny/extractive"
    requests = [
        build_request(inspect_folder(f"owner/{n % (count * 9 // 10)}", link, REGISTRY), "korquad-2", REGISTRY, "x")
        for n in range(count)
    ]

    def submit_one(request: EvalRequest) -> str:
        try:
            queue.submit(request)
        except RefusedError as error:
            return f"duplicate {request.key}" if error.code == "submitted" else str(error)
        return f"accepted {request.key}"

    with ThreadPoolExecutor(count) as executor:
        outcomes = Counter(executor.map(submit_one, requests))
    distinct = {r.key for r in requests}
    assert outcomes == {f"accepted {k}": 1 for k in distinct} | Counter(
        f"duplicate {r.key}" for r in requests[count * 9 // 10 :]
    )
    assert {row.key for row in queue.rows()} == distinct
    submits = [c for c in store.history(store.head()) if c.message.startswith("Submit")]
    assert 0 < len(submits) < len(distinct), "waiting submissions share a commit"


@pytest.mark.parametrize("minutes", [-10, 10])
def test_lease_ignores_wrong_worker_clock(
    worker_env: dict[str, str], models: Path, minutes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leases follow the store's clock, although the clock of this process is wrong."""
    store = open_store(worker_env["HANNUN_STORE"])
    real = store.now()

    class SkewedDatetime(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(minutes=minutes)

    for module in ("submissions.store.git", "submissions.store.hub", "evaluator.worker.loop"):
        monkeypatch.setattr(f"{module}.datetime", SkewedDatetime)
    monkeypatch.setattr("time.time", lambda: real.timestamp() + 60 * minutes)
    fresh = open_store(worker_env["HANNUN_STORE"])
    assert abs(fresh.now() - real) < timedelta(minutes=1)
    request = submit(fresh, models, f"skewed/model{minutes}")
    claimed = Queue(fresh).claim("here", Worker(Settings(store=worker_env["HANNUN_STORE"]))._now())
    assert claimed is not None and claimed.key == request.key and claimed.lease is not None
    assert abs(claimed.lease.heartbeat_at - real) < timedelta(minutes=1)
    assert Queue(store).claim("there", store.now() + timedelta(minutes=29)) is None


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []
