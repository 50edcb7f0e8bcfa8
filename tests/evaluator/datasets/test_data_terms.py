"""Test that test sets whose terms keep them in the country are sent to no other machine."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app import main as evaluator
from app import main as submissions
from evaluator.benchmarks import BENCHMARKS
from evaluator.worker.launchers import make_launcher
from evaluator.worker.loop import Worker
from scripts.support.hub.server import serve
from submissions.checks.data_terms import is_this_machine
from submissions.config.paths import SAMPLES
from submissions.config.settings import Settings, load_settings
from submissions.queue.queue import Queue
from submissions.store.open import open_store
from submissions.texts.errors import SettingsError
from tests.evaluator.engines.test_api import Served, completion
from tests.support.cli import in_process
from tests.support.slow import only_first

STAYS = [name for name, benchmark in BENCHMARKS.items() if benchmark.data_stays]
LEAVES = [name for name, benchmark in BENCHMARKS.items() if not benchmark.data_stays and benchmark.inputs == "image"]
pytestmark = pytest.mark.integration


@pytest.fixture
def cli(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    def run(program: Callable[[list[str] | None], int], *arguments: str, **settings: str) -> tuple[int, str]:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        done = in_process(environment, monkeypatch, capsys, program)(*arguments)
        return done.returncode, done.stderr

    return run


@pytest.mark.parametrize(
    "address",
    [
        "https://api.example.org/v1",
        "http://10.0.0.5:8000/v1",
        "http://127.0.0.1.example.org/v1",
        "http://localhost.example.org",
        "http://user@evil.example.org/#@127.0.0.1",
        "http://[fe80::1]/v1",
        "http://0.0.0.0:8000/v1",
        "",
        "http://[broken",
    ],
)
def test_other_machines_are_not_this_one(address: str) -> None:
    assert not is_this_machine(address)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8000/v1", "http://localhost/v1", "http://[::1]:9/v1", "127.0.0.9:80", "LOCALHOST:80"]
)
def test_loopback_is_this_machine(address: str) -> None:
    assert is_this_machine(address)


@pytest.mark.parametrize("benchmark", only_first(STAYS))
def test_run_does_not_send_data_abroad(benchmark: str, cli: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    data = shutil.copytree(SAMPLES / benchmark, tmp_path / "data")
    command = [
        "run",
        "--model",
        "m",
        "--benchmark",
        benchmark,
        "--data",
        f"{data}#test",
        "--out",
        str(tmp_path / "out"),
    ]
    for addresses in (["https://api.invalid/v1"], ["http://127.0.0.1:9/v1", "https://api.invalid/v1"]):
        bases = [word for address in addresses for word in ("--base-url", address)]
        code, said = cli(evaluator, *command, *bases)
        assert code == 2 and "HANNUN_DATA_ABROAD" in said and len(said.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
    allowed = {"HANNUN_DATA_ABROAD": json.dumps([benchmark])}
    served = Served(lambda *_: completion("1"))
    with serve(served.app) as address:
        bases = ["--base-url", f"{address}/v1"]
        code, said = cli(evaluator, *command, "--limit", "1", "--latency-samples", "1", *bases, **allowed)
    assert code == 0 and served.bodies, said


@pytest.mark.parametrize("benchmark", STAYS)
def test_submission_to_api_abroad_is_refused(benchmark: str, cli: Callable[..., tuple[int, str]]) -> None:
    api = {"model_id": "google/gemini", "base_url": "https://api.invalid/v1", "model": "gemini"}
    apis = {"HANNUN_APIS": json.dumps({"gemini": api, "near": {**api, "base_url": "http://127.0.0.1:9/v1"}})}
    code, said = cli(submissions, "submit", "--api", "gemini", "--benchmark", benchmark, LEAVES[0], **apis)
    assert code == 2 and f"gemini on {benchmark}" in said and "HANNUN_DATA_ABROAD" in said
    queue = Queue(open_store(load_settings().store))
    assert [row.benchmark for row in queue.rows()] == [LEAVES[0]], "the other benchmark is queued"
    assert cli(submissions, "submit", "--api", "near", "--benchmark", benchmark)[0] == 0


def test_worker_sends_nothing_abroad(
    settings: Settings, cli: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that another version of the board has accepted is refused by the worker, before anything is sent."""
    served = Served(lambda *_: completion("1"))
    api = {"model_id": "google/gemini", "model": "gemini"}
    with serve(served.app) as address:
        near = {"HANNUN_APIS": json.dumps({"gemini": {**api, "base_url": f"{address}/v1"}})}
        assert cli(submissions, "submit", "--api", "gemini", "--benchmark", STAYS[0], **near)[0] == 0
        far = {"HANNUN_APIS": json.dumps({"gemini": {**api, "base_url": "http://board.invalid/v1"}})}
        monkeypatch.setenv("HANNUN_APIS", far["HANNUN_APIS"])
        worker_settings = load_settings(BENCHMARKS)
        Worker(worker_settings).run_pending()
    (row,) = Queue(open_store(worker_settings.store)).rows()
    assert (row.status, row.failure_code) == ("quarantined", "api_refused") and not served.bodies


def test_jobs_on_the_hub_may_not_have_such_data(settings: Settings) -> None:
    jobs = {"image": f"python@sha256:{'0' * 64}", "space": "org/board", "commit": "a" * 40, "max_price": 1.0}
    values = {**settings.model_dump(), "launcher": "hf-jobs", "jobs": jobs, "data": {STAYS[0]: "/srv/set"}}
    with pytest.raises(SettingsError, match="HANNUN_DATA_ABROAD"):
        make_launcher(Settings(**values), Queue(open_store(settings.store)))
