"""Test the fixes for problems that an operator's review of the launchers found, and the marks of held claims."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from app import main
from evaluator.worker import model_download
from evaluator.worker.launchers.base import JobState
from evaluator.worker.launchers.command import CommandLauncher
from evaluator.worker.launchers.held_claims import HeldClaims
from evaluator.worker.launchers.local import DevicePool
from evaluator.worker.loop import Worker
from evaluator.worker.run import ClaimedRun
from submissions.config.paths import ROOT
from submissions.config.setting_values import LaunchCommands
from submissions.config.settings import Settings
from submissions.hub_models.devices import Device
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest, Failure, Lease, Progress, Stage
from submissions.store.base import Store
from submissions.store.open import open_private_store
from submissions.texts.failure_codes import FailureCode
from tests.evaluator.worker.test_loop import submit

MISSPELT = '{"start": "x {gpu} ${HOME}", "state": "y {job}", "cancel": "z {job}"}'
NO_COMMAND = '{"start": "sbatch --gpus={gpus} x.sh", "state": "y {job}", "cancel": "z {job}"}'
NO_JOB = '{"start": "x {command}", "state": "squeue", "cancel": "z {job}"}'


def claimed(settings: Settings, store: Store) -> tuple[Queue, EvalRequest, Lease]:
    queue = Queue(store, timedelta(seconds=60), 3, Heartbeats(settings))
    submit(settings, "tiny/image-text", "ko-vdc")
    request = queue.claim("w", store.now())
    assert request and request.lease
    return queue, request, request.lease


def test_claimed_run_keeps_lease_extended_by_launcher(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, request, lease = claimed(settings, store)
    late = store.now() + timedelta(minutes=30)
    queue.heartbeat(request, late, Progress(stage=Stage.LAUNCH))  # the last of many by its launcher
    monkeypatch.setattr(type(store), "now", lambda _: late)
    began: list[Lease | None] = []
    monkeypatch.setattr(ClaimedRun, "_evaluate", lambda *_: began.append(Heartbeats(settings).last(request.key, lease)))
    ClaimedRun(settings, queue, open_private_store(settings), request).run()
    assert began[0] and began[0].expires_at == late + timedelta(seconds=60)
    assert began[0].progress and began[0].progress.stage == Stage.FETCH


def test_device_pool_serves_waiting_jobs_in_order() -> None:
    gigabyte = 10**9
    pool = DevicePool([Device(str(n), 80 * gigabyte) for n in range(3)])
    soon = timedelta(milliseconds=5)
    order: list[str] = []
    waited = threading.Event()

    def run(name: str, memory: int) -> None:
        with pool.take(memory, soon, waited.set) as devices:
            order.append(f"{name} {len(devices)}")

    with pool.take(None, soon):
        large = threading.Thread(target=run, args=("large", 500 * gigabyte))
        large.start()
        assert waited.wait(10), "the lease is extended while waiting"
        waited.clear()
        small = threading.Thread(target=run, args=("small", gigabyte))
        small.start()
        assert waited.wait(10)
        assert order == []
    large.join(10)
    small.join(10)
    assert order == ["large 3", "small 1"]


def test_fetch_model_downloads_once_concurrently(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[int] = []

    def download(model_id: str, revision: str, folder: Path, *_: object) -> None:
        fetched.append(1)
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")

    monkeypatch.setattr(model_download, "_download", download)
    monkeypatch.setattr(model_download, "check_fetched", lambda _: None)
    fetch_settings = settings.model_copy(update={"models_dir": None})
    with ThreadPoolExecutor(4) as pool:
        made = pool.map(lambda _: model_download.fetch_model("owner/name", "a" * 40, fetch_settings), range(4))
    assert len(set(made)) == 1 and fetched == [1]


def test_worker_pauses_if_no_job_starts(settings: Settings, store: Store, heartbeats: Heartbeats) -> None:
    commands = LaunchCommands(start=": {command}; echo job1", state="true {job}", cancel="true {job}")
    broken = settings.model_copy(
        update={"launcher": "command", "commands": commands, "slots": 1, "worker_every": timedelta(seconds=0.05)}
    )
    requests = [submit(settings, "tiny/image-text", benchmark) for benchmark in ("ko-vdc", "ko-vqa")]
    worker = Worker(broken)
    assert worker.run_pending() == 1 and worker.run_pending() == 0, "the worker pauses after one attempt"
    queue = Queue(store)
    assert [queue.get(request.key).status for request in requests] == ["pending", "pending"]


@pytest.mark.parametrize(
    ("code", "reported"),
    [
        (FailureCode.NO_CHAT_TEMPLATE, FailureCode.NO_CHAT_TEMPLATE),  # of the model
        (FailureCode.OUT_OF_MEMORY, FailureCode.WORKER_LOST),  # another attempt is due
    ],
)
def test_launcher_ends_job_that_scheduler_forgot_after_its_outcome(
    settings: Settings, store: Store, code: FailureCode, reported: FailureCode
) -> None:
    queue, request, _ = claimed(settings, store)
    queue.fail(request, Failure(stage=Stage.LOAD, code=code), store.now())
    commands = LaunchCommands(
        start=": {command}; echo job1", state="echo no such job {job} >&2; exit 1", cancel="true {job}"
    )
    every = timedelta(seconds=0.05)
    changes = {"launcher": "command", "commands": commands, "worker_every": every, "heartbeat": every}
    launcher = CommandLauncher(settings.model_copy(update=changes), queue)
    assert launcher.run(request) is reported


def test_launch_command_receives_stores(settings: Settings, tmp_path: Path) -> None:
    stores_file = tmp_path / "stores"
    start = f'echo "$HANNUN_STORE $HANNUN_PRIVATE_STORE" > {stores_file}; : {{command}}; exit 1'
    commands = LaunchCommands(start=start, state="true {job}", cancel="true {job}")
    submit(settings, "tiny/image-text", "ko-vdc")
    Worker(settings.model_copy(update={"launcher": "command", "commands": commands})).run_pending()
    assert stores_file.read_text().split() == [settings.store, settings.private_store]


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        (["--claimed", ""], {}, "KEY:NONCE"),
        (["--claimed", "nonsense"], {}, "KEY:NONCE"),
        (["--claimed", f"{'a' * 32}:{'b' * 32}"], {}, "no request"),
        (["--shard", "0/2"], {}, "--shard needs --claimed"),
        (["--once"], {"HANNUN_LAUNCHER": "ray"}, "HANNUN_LAUNCHER"),
        (["--once"], {"HANNUN_LAUNCHER": "command"}, "HANNUN_COMMANDS"),
        (["--once"], {"HANNUN_LAUNCHER": "hf-jobs"}, "HANNUN_JOBS"),
        (["--once"], {"HANNUN_LAUNCHER": "command", "HANNUN_COMMANDS": MISSPELT}, "unknown placeholder {gpu}"),
        (["--once"], {"HANNUN_LAUNCHER": "command", "HANNUN_COMMANDS": NO_JOB}, "it does not contain {job}"),
        (
            ["--once"],
            {"HANNUN_LAUNCHER": "command", "HANNUN_COMMANDS": NO_COMMAND},
            "neither {command} nor {arguments}",
        ),
    ],
)
def test_worker_command_rejects_bad_input_in_one_line(
    arguments: list[str],
    environment: dict[str, str],
    message: str,
    settings_here: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert main(["worker", *arguments]) in (1, 2)
    error = capsys.readouterr().err.strip().splitlines()
    assert len(error) == 1 and message in error[0]


@pytest.mark.parametrize(
    ("printed", "state"),
    [
        ("RUNNING", JobState.ALIVE),
        ("COMPLETING", JobState.ALIVE),
        ("COMPLETED", JobState.ENDED),
        ("Complete", JobState.ENDED),
        ("CANCELLED by 0", JobState.ENDED),
        ("CANCELED", JobState.ENDED),
        ("TERMINATED", JobState.ENDED),
        ("LAUNCH_FAILED", JobState.ENDED),
        ("OUT_OF_ME+", JobState.ENDED),
        ("PREEMPTED", JobState.PREEMPTED),
        ("", JobState.ENDED),
    ],
)
def test_state_of_job_is_that_of_its_scheduler(settings: Settings, store: Store, printed: str, state: JobState) -> None:
    commands = LaunchCommands(start="echo {command}", state=f"echo {printed}; : {{job}}", cancel="echo {job}")
    launcher = CommandLauncher(settings.model_copy(update={"commands": commands}), Queue(store))
    assert launcher.state("7") is state


HOLDER = """
import sys
from pathlib import Path
from evaluator.worker.launchers.command import CommandLauncher
from evaluator.worker.launchers.held_claims import HeldClaims
with HeldClaims(Path(sys.argv[1])).hold("abc"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_abandoned_lists_claim_of_killed_process(tmp_path: Path) -> None:
    claims = HeldClaims(tmp_path / "claims")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "claims")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout and process.stdout.readline() == b"held\n"
        assert claims.abandoned() == []
        process.kill()
        process.wait()
        assert claims.abandoned() == ["abc"]
        claims.forget("abc")
        assert claims.abandoned() == []


def test_hold_leaves_no_mark_after_end(tmp_path: Path) -> None:
    claims = HeldClaims(tmp_path / "claims")
    with claims.hold("abc"), claims.hold("def"):
        assert claims.abandoned() == []
    assert claims.abandoned() == []
