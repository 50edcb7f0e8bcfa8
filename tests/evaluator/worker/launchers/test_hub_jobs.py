"""Test scheduled Jobs and pull requests with results, with the real client on the Hub double."""

import os
import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr

from evaluator.publication.hub_results import offer_result
from evaluator.worker.launchers.base import Launch, LaunchError
from evaluator.worker.launchers.hf_jobs import HubJobLauncher
from evaluator.worker.launchers.hub_jobs import cron
from scripts.support.hub.repos import TOKEN, Hub
from scripts.support.records import Make, request_numbered, result_of
from submissions.config.setting_values import HubJobs
from submissions.config.settings import Settings
from submissions.queue.pseudonyms import Pseudonyms
from submissions.queue.queue import Queue
from submissions.store.open import open_store
from submissions.texts.errors import SettingsError
from tests.support.cli import Done, in_process

IMAGE = f"python:3.11@sha256:{'d' * 64}"
STORES = {"HANNUN_STORE": "hf://datasets/org/store", "HANNUN_PRIVATE_STORE": "hf://buckets/org/private"}


@pytest.fixture
def schedule(hub: Hub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    hub.create("spaces/org/board")

    def run(*arguments: str, **environment: str) -> Done:
        return in_process(STORES | environment, monkeypatch, capsys)("schedule", *arguments)

    return run


def test_schedule_creates_lists_and_deletes_job(hub: Hub, schedule: Callable[..., Done]) -> None:
    made = schedule(
        "--flavor", "a100-large", "--every", "6h", "--space", "org/board", "--image", IMAGE,
        HANNUN_DATA_TOKEN="hf_data", HANNUN_LATENCY_SAMPLES="50", HANNUN_PORT="9", HF_TOKEN="hf_read",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    (job,) = hub.jobs
    spec = job["jobSpec"]
    assert (job["schedule"], job["concurrency"], spec["flavor"]) == ("0 */6 * * *", False, "a100-large")
    assert spec["timeoutSeconds"] == 12 * 3600, "the Hub's default limit of half an hour would end every evaluation"
    assert spec["secrets"] == {"HANNUN_HUB_TOKEN": TOKEN, "HANNUN_DATA_TOKEN": "hf_data", "HF_TOKEN": "hf_read"}
    assert spec["environment"] == {**STORES, "HANNUN_LATENCY_SAMPLES": "50"}
    command = spec["command"][-1]
    assert "spaces/org/board" in command and command.endswith("evaluator worker --once")
    commit = hub.store("spaces/org/board").head()
    assert f"git checkout --quiet {commit}\n" in command and commit in made.stdout
    assert spec["dockerImage"] == IMAGE
    assert job["id"] in schedule("--list").stdout
    assert schedule("--delete", job["id"]).returncode == 0 and hub.jobs == []
    gone = schedule("--delete", job["id"])
    assert gone.returncode and len(gone.stderr.strip().splitlines()) == 1


def test_job_command_gives_tokens_only_to_last_step(hub: Hub, schedule: Callable[..., Done], tmp_path: Path) -> None:
    schedule("--space", "org/board", "--image", IMAGE, HANNUN_DATA_TOKEN="hf_data", HF_TOKEN="hf_read")
    (job,) = hub.jobs
    secrets = job["jobSpec"]["secrets"]
    command = job["jobSpec"]["command"][-1]
    assert set(secrets) == {"HANNUN_HUB_TOKEN", "HANNUN_DATA_TOKEN", "HF_TOKEN"}
    # Replace every program of the job by one that logs its arguments and tokens; `su` runs its command.
    programs = tmp_path / "bin"
    code = tmp_path / "opt" / "code"
    log = tmp_path / "log"
    programs.mkdir()
    code.mkdir(parents=True)
    logging_script = f'#!/bin/sh\necho "$(basename $0) $* | $(env | grep -c hf_)" >> {log}\n'
    worker = tmp_path / "opt/venv/bin/python"
    pip = tmp_path / "opt/venv/bin/pip"
    worker.parent.mkdir(parents=True)
    names = ("apt-get", "useradd", "install", "git", "python3", "chown")
    for path in (*(programs / name for name in names), worker, pip):
        path.write_text(logging_script)
        path.chmod(0o755)
    (programs / "su").write_text('#!/bin/sh\ncase "$3" in kill*) exit 137;; esac\nexec bash -c "$3"\n')
    (programs / "su").chmod(0o755)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", **secrets}
    subprocess.run(["bash", "-c", command.replace("/opt/hannun", str(tmp_path / "opt"))], env=environment, check=True)
    lines = log.read_text().splitlines()
    assert [line.rpartition(" | ")[2] for line in lines] == ["0"] * (len(lines) - 1) + ["3"], lines
    assert len(lines) == 12 and lines[-1].startswith("python -m evaluator worker --once")
    assert all("--require-hashes" in line for line in lines if line.startswith("pip "))


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        ([], {"HANNUN_STORE": ".hannun/store.git"}, "HANNUN_STORE must be hf://"),
        ([], {"HANNUN_HUB_TOKEN": ""}, "HANNUN_HUB_TOKEN is missing"),
        ([], {}, "--space OWNER/NAME"),
        (["--space", "org/board"], {}, "by its digest"),
        (["--space", "org/board", "--image", "python:3.11"], {}, "by its digest"),
        (["--space", "org/board", "--image", IMAGE, "--commit", "main"], {}, "all 40 digits"),
        (["--space", "org/board", "--image", IMAGE, "--every", "7h"], {}, "divide an hour or a day evenly"),
    ],
)
def test_schedule_rejects_bad_input_in_one_line(
    hub: Hub, schedule: Callable[..., Done], arguments: list[str], environment: dict[str, str], message: str
) -> None:
    done = schedule(*arguments, **environment)
    assert done.returncode == 2 and message in done.stderr and len(done.stderr.splitlines()) == 1 and not hub.jobs


def launcher(hub: Hub, settings: Settings, **limits: Any) -> tuple[HubJobLauncher, Launch]:
    """Return a launcher with these limits, and a job that it may start."""
    of_jobs = {"max_price": limits.pop("max_price", 20), "flavor": limits.pop("flavor", None)}
    jobs = HubJobs(image=IMAGE, space="org/board", commit="c" * 40, **of_jobs)
    stores = {"store": STORES["HANNUN_STORE"], "private_store": STORES["HANNUN_PRIVATE_STORE"]}
    on_hub = settings.model_copy(update={"jobs": jobs, "hub_token": SecretStr(TOKEN), **stores})
    queue = Queue(open_store(on_hub.store, on_hub))
    options: dict[str, Any] = {"memory": None, "time_limit": timedelta(hours=24)} | limits
    return HubJobLauncher(on_hub, queue), Launch(request_numbered(1), "hannun-1", ("worker",), gpus=0, **options)


@pytest.mark.parametrize(
    ("limits", "message", "code"),
    [
        ({"memory": 10**15}, "offers no hardware with 1,000,000 GB", "no_hardware"),
        ({"max_price": 0.0001}, r"max_price 0.0001 buys 0:00:0\d", "no_hardware"),
        ({"flavor": "a10g-smal"}, "offers no hardware with a10g-smal", "launch_failed"),
        ({"time_limit": timedelta(minutes=5)}, "HANNUN_DEADLINE is less than", "launch_failed"),
    ],
)
def test_job_that_nothing_can_run_is_not_started(
    hub: Hub, settings: Settings, limits: dict[str, Any], message: str, code: str
) -> None:
    started, launch = launcher(hub, settings, **limits)
    with pytest.raises(LaunchError, match=message) as error:
        started.start(launch)
    assert error.value.code == code


def test_cron_formats_intervals() -> None:
    for minutes, expected in ((10, "*/10 * * * *"), (60, "0 */1 * * *"), (360, "0 */6 * * *"), (1440, "0 0 * * *")):
        assert cron(timedelta(minutes=minutes)) == expected
    for uneven in (0.5, 7, 7.5, 90, 2880):
        with pytest.raises(SettingsError):
            cron(timedelta(minutes=uneven))


def test_offer_result_requires_consent_and_links_record(hub: Hub, make_request: Make, tmp_path: Path) -> None:
    settings = Settings(
        store=STORES["HANNUN_STORE"], hub_token=TOKEN, eval_datasets={"korquad-2": "org/korquad2"}, work_dir=tmp_path
    )
    settings = settings.model_copy(update={"private_store": str(tmp_path / "private")})
    request = make_request(share=True)
    by_owner = Pseudonyms(settings).owner_mark(request.model_id.partition("/")[0], request.key)
    stranger = request.evolve(owner_mark="0" * 16)
    request = request.evolve(owner_mark=by_owner)
    result = result_of(request)
    whole = result.evolve(dataset={**result.dataset.model_dump(), "split": "test"})
    assert offer_result(request, result, settings) is None, "a sample run is not offered"
    assert offer_result(request.evolve(share=False), whole, settings) is None
    assert offer_result(request, whole, settings.model_copy(update={"eval_datasets": {}})) is None
    assert offer_result(stranger, whole, settings) is None, "only the owner can ask for it"
    assert hub.pulls == []
    address = offer_result(request, whole, settings)
    ((repo, files),) = hub.pulls
    assert address and repo == request.model_id
    entries = yaml.safe_load(files[f".eval_results/hannun-korquad-2-{whole.config.model_dtype}.yaml"])
    assert [(e["dataset"], e["value"]) for e in entries] == [
        ({"id": "org/korquad2", "task_id": "korquad2_f1"}, 50.0),
        ({"id": "org/korquad2", "task_id": "korquad2_em"}, 50.0),
    ]
    assert all(e["notes"] == whole.config.model_dtype for e in entries)
    with_penalties = whole.evolve(generation={"decoding": "repository", "max_answer_tokens": 1024})
    assert offer_result(request, with_penalties, settings) is None, "a run with repository penalties has no rank"
    assert all(e["source"]["url"].endswith(f"datasets/org/store/blob/main/{result.path}") for e in entries)
