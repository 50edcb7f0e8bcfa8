"""Workers killed at every step, many of them at once, and a paused one that wakes up late."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from submissions.checks import build_request, inspect_folder
from submissions.index import board_reader
from submissions.queue import Queue
from submissions.records import EvalRequest
from submissions.store import Store
from submissions.stores import open_store
from tests.conftest import ROOT
from tests.faults.instant import ASKED, STOP
from tests.faults.worker import EARLY, INFERENCE, LAST, LATE

QUESTIONS = 44  # in the sample set of KorQuAD
ROUNDS = int(os.environ.get("HANNUN_FAULT_ROUNDS", "1"))
KINDS = ["git", "hub"]


@pytest.fixture(params=KINDS)
def own(
    request: pytest.FixtureRequest, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """The environment of workers over a store of each kind."""
    if request.param == "hub":
        request.getfixturevalue("hub")
        names = ("HF_ENDPOINT", "HF_HUB_DISABLE_XET", "HANNUN_HUB_TOKEN")
        environment |= {name: os.environ[name] for name in names}
        environment |= {
            "HANNUN_STORE": "hf://datasets/org/store",
            "HANNUN_PRIVATE_STORE": "hf://datasets/org/private",
        }
    monkeypatch.setenv("HANNUN_WORK_DIR", str(tmp_path / "reader"))
    return environment | {"HANNUN_MAX_ATTEMPTS": "1000", "HANNUN_ALONE": "5"}


def submit(store: Store, models: Path, name: str, submitter: str = "someone") -> EvalRequest:
    """A request for the same folder under another name."""
    link = models / name
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists():
        link.symlink_to((models / "tiny/extractive").resolve())
    request = build_request(inspect_folder(name, link), "korquad-2", submitter)
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
    _, errors = process.communicate(timeout=60)
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
    private = open_store(own["HANNUN_PRIVATE_STORE"])
    (details,) = [p for p in private.snapshot().files if p.startswith("details/")]
    assert len(private.read(details, private.head()).splitlines()) == QUESTIONS
