"""Workers killed at every step, many of them at once, and a paused one that wakes up late."""

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
from tests.support.engines import ASKED, STOP

QUESTIONS = 44  # in the sample set of KorQuAD
ROUNDS = 8
WORKERS, REQUESTS = 8, 50
SUBMISSIONS = 500
KINDS = ["git", "hub"]
pytestmark = pytest.mark.faults


@pytest.fixture(params=KINDS)
def own(
    request: pytest.FixtureRequest, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """The environment of workers over a store of each kind."""
    if request.param == "hub":
        request.getfixturevalue("hub").limits.commits_per_hour = None  # what takes workers days is done in minutes
        names = ("HF_ENDPOINT", "HF_HUB_DISABLE_XET", "HANNUN_HUB_TOKEN")
        environment |= {name: os.environ[name] for name in names}
        environment |= {
            "HANNUN_STORE": "hf://datasets/org/store",
        }
    monkeypatch.setenv("HANNUN_WORK_DIR", str(tmp_path / "reader"))
    return environment | {"HANNUN_MAX_ATTEMPTS": "1000", "HANNUN_ALONE": "5"}


def submit(store: Store, models: Path, name: str, submitter: str = "someone") -> EvalRequest:
    """A request for a model of its own: the answers of another are of no use to it."""
    shutil.copytree(models / "tiny/extractive", models / name)
    (models / name / "README.md").write_text(f"---\nlicense: mit\n---\n{name}\n")
    request = build_request(inspect_folder(name, models / name, REGISTRY), "korquad-2", REGISTRY, submitter)
    Queue(store).submit(request)
    return request


@pytest.fixture
def models(own: dict[str, str], tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    (folder / "tiny").mkdir(parents=True)
    (folder / "tiny/extractive").symlink_to(Path(own["HANNUN_MODELS_DIR"]) / "tiny/extractive")
    own["HANNUN_MODELS_DIR"] = str(folder)
    return folder


def start(own: dict[str, str], step: str, minutes: float = 0) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.faults.worker", step, str(minutes)],
        cwd=ROOT,
        env=own,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: "subprocess.Popen[str]", *, killed: bool = False) -> None:
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
def test_a_worker_killed_at_every_step_ends_its_request_once(
    own: dict[str, str], models: Path, tmp_path: Path, seed: int
) -> None:
    store = open_store(own["HANNUN_STORE"])
    request = submit(store, models, f"killed/round-{seed}")
    chance = random.Random(seed)
    early, late = chance.sample(EARLY, len(EARLY)), chance.sample(LATE, len(LATE))
    steps = [*early, *INFERENCE, *late, LAST[seed % 2]]
    stop = Path(own["HANNUN_WORK_DIR"]) / STOP
    for number, step in enumerate(steps):
        stop.parent.mkdir(exist_ok=True)
        stop.write_text("12" if step in INFERENCE[:2] else "1000")
        ended(start(own, step, 40 * number), killed=True)
    ended(start(own, "none", 40 * len(steps)))
    assert_published_once(store, [request])
    asked = Counter((Path(own["HANNUN_WORK_DIR"]) / ASKED).read_text().split())
    again = sum(count - 1 for count in asked.values())
    # The engine is asked again for what a kill cut off, and by each pass that measures: warm-up and five alone.
    measured = (len(steps) + 1) * (2 + 5)
    assert len(asked) == QUESTIONS and again <= len(steps) + measured
    private = PrivateStore(own["HANNUN_PRIVATE_STORE"])
    (details,) = private.paths("details")
    assert len(private.read(details).splitlines()) == QUESTIONS
    assert private.paths("answers") == [], "no answer is kept beyond its run"


def test_restarted_worker_takes_back_its_request_at_once(own: dict[str, str], models: Path) -> None:
    """Without waiting for the lease of the killed one to run out, and counting the attempt."""
    store = open_store(own["HANNUN_STORE"])
    request = submit(store, models, "killed/restarted")
    for step in ("after fetch", "before details"):
        ended(start(own, step), killed=True)
    ended(start({**own, "HANNUN_WORK_DIR": f"{own['HANNUN_WORK_DIR']}-other"}, "none"))
    assert Queue(store).get(request.key).status == "running", "another host cannot know that it is dead"
    ended(start(own, "none"))
    assert_published_once(store, [request])
    result = next(path for path in store.snapshot().files if path.startswith("results/"))
    assert result and Queue(store).get(request.key).attempt == 3


def test_a_worker_that_wakes_after_its_lease_was_taken_publishes_nothing(own: dict[str, str], models: Path) -> None:
    store = open_store(own["HANNUN_STORE"])
    request = submit(store, models, "paused/model")
    paused = start(own, PAUSED)
    os.waitpid(paused.pid, os.WUNTRACED)
    ended(start({**own, "HANNUN_WORK_DIR": f"{own['HANNUN_WORK_DIR']}-other"}, "none", 40))
    head = store.head()
    paused.send_signal(signal.SIGCONT)
    _, said = paused.communicate(timeout=60)
    assert paused.returncode == 0 and f"dropped {request.key}" in said
    assert store.head() == head
    assert_published_once(store, [request])


def test_many_workers_evaluate_each_request_once(own: dict[str, str], models: Path) -> None:
    store = open_store(own["HANNUN_STORE"])
    requests = [submit(store, models, f"many/model-{n}", f"submitter-{n % 5}") for n in range(REQUESTS)]
    folders = [f"{own['HANNUN_WORK_DIR']}-{n}" for n in range(WORKERS)]
    for process in [start({**own, "HANNUN_WORK_DIR": folder}, "none") for folder in folders]:
        ended(process)
    assert_published_once(store, requests)
    asked = [line for folder in folders for line in _lines(Path(folder) / ASKED)]
    assert len(asked) == REQUESTS * (QUESTIONS + 2 + 5), "each question once, then two to warm up and five alone"


def test_submissions_side_by_side_are_all_accepted_or_told_to_be_double(own: dict[str, str], models: Path) -> None:
    store = open_store(own["HANNUN_STORE"])
    queue = Queue(store)
    count = SUBMISSIONS if own["HANNUN_STORE"].endswith(".git") else SUBMISSIONS // 5
    link = models / "tiny/extractive"
    requests = [
        build_request(inspect_folder(f"owner/{n % (count * 9 // 10)}", link, REGISTRY), "korquad-2", REGISTRY, "x")
        for n in range(count)
    ]

    def one(request: EvalRequest) -> str:
        try:
            queue.submit(request)
        except RefusedError as error:
            return f"double {request.key}" if error.code == "submitted" else str(error)
        return f"accepted {request.key}"

    with ThreadPoolExecutor(count) as side_by_side:
        told = Counter(side_by_side.map(one, requests))
    distinct = {r.key for r in requests}
    assert told == {f"accepted {k}": 1 for k in distinct} | Counter(
        f"double {r.key}" for r in requests[count * 9 // 10 :]
    )
    assert {row.key for row in queue.rows()} == distinct
    submits = [c for c in store.history(store.head()) if c.message.startswith("Submit")]
    assert 0 < len(submits) < len(distinct), "those that wait share a commit"


@pytest.mark.parametrize("minutes", [-10, 10])
def test_a_worker_whose_clock_is_wrong_neither_loses_nor_steals(
    own: dict[str, str], models: Path, minutes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leases go by the store's clock: this process believes it is another time."""
    store = open_store(own["HANNUN_STORE"])
    real = store.now()

    class Wrong(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(minutes=minutes)

    for module in ("submissions.store.git", "submissions.store.hub", "evaluator.worker.loop"):
        monkeypatch.setattr(f"{module}.datetime", Wrong)
    monkeypatch.setattr("time.time", lambda: real.timestamp() + 60 * minutes)
    fresh = open_store(own["HANNUN_STORE"])
    assert abs(fresh.now() - real) < timedelta(minutes=1)
    request = submit(fresh, models, f"skewed/model{minutes}")
    claimed = Queue(fresh).claim("here", Worker(Settings(store=own["HANNUN_STORE"]))._now())
    assert claimed is not None and claimed.key == request.key and claimed.lease is not None
    assert abs(claimed.lease.heartbeat_at - real) < timedelta(minutes=1)
    assert Queue(store).claim("there", store.now() + timedelta(minutes=29)) is None


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []
