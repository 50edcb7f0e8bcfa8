"""Deploy on a machine with real Docker: build, run, submit, evaluate, kill, upgrade, back up and restore."""

import json
import os
import re
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from app import main
from submissions.config.code_version import git_hash
from submissions.config.paths import ROOT
from tests.deploy.conftest import pip_configuration, run
from tests.support.waiting import free_port, wait_for

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(3600)]

MODEL = "tiny/image-text"
QUESTIONS = 40  # of KO-FRESH, instead of 2,000


class Machine:
    """The folder that `init` wrote, and the addresses of its board."""

    def __init__(self, folder: Path, port: int, board_port: int) -> None:
        self.folder = folder
        self.address = f"http://127.0.0.1:{port}"
        self.board_address = f"http://127.0.0.1:{board_port}"

    def compose(self, *arguments: str, check: bool = True) -> str:
        return run("docker", "compose", "--project-directory", str(self.folder), *arguments, check=check)

    def submissions(self, *arguments: str) -> str:
        return self.compose("exec", "-T", "worker", "python", "-m", "submissions", *arguments)

    def row(self, model: str) -> dict[str, Any] | None:
        rows = httpx2.get(f"{self.address}/boards/ko-fresh.json", timeout=30).json()
        return next((row for row in rows if row["model"] == model), None)


@pytest.fixture(scope="module")
def machine(docker: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("machine") / "board"
    port = free_port()
    board_port = free_port()
    arguments = ["init", "--machine", str(folder), "--port", str(port), "--board-port", str(board_port), "--yes"]
    started = time.monotonic()
    assert main(arguments) == 0
    with pip_configuration(folder / "pip.conf"):
        _override(folder, models_dir)
        made = Machine(folder, port, board_port)
        try:
            made.compose("up", "-d", "--build", "--wait")
            print(f"from nothing to a board: {time.monotonic() - started:.0f} s")
            yield made
        finally:
            print(made.compose("logs", "--no-color", "--tail", "60", check=False))
            made.compose("down", "--volumes", "--timeout", "5", check=False)


def _override(folder: Path, models_dir: Path) -> None:
    """Use tiny models and a small set, and this machine's network for pip."""
    small = {"HANNUN_MODELS_DIR": "/models", "HANNUN_FRESH_N": str(QUESTIONS), "HANNUN_LATENCY_SAMPLES": "4"}
    with_models = {"environment": small, "volumes": [f"{_shared(models_dir, folder)}:/models:ro"]}
    services = {
        "board": {"build": {"network": "host"}, **with_models},
        "worker": {"build": {"network": "host"}, "mem_limit": "6g", "memswap_limit": "6g", **with_models},
    }
    (folder / "compose.override.yaml").write_text(yaml.safe_dump({"services": services}))


def _shared(models_dir: Path, folder: Path) -> Path:
    """Copy the models to a place that every user may enter: pytest's own folders belong to this user only."""
    copy = folder / "models"
    shutil.copytree(models_dir, copy)
    _make_readable(copy)
    for parent in (copy, *copy.parents):
        if parent.stat().st_uid == os.geteuid():
            parent.chmod(parent.stat().st_mode | 0o055)
    return copy


def _make_readable(folder: Path) -> None:
    """Let the user of the containers read a folder."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def test_board_answers_through_proxy(machine: Machine) -> None:
    assert httpx2.get(f"{machine.address}/healthz").text == "ok\n"
    assert httpx2.get(f"{machine.address}/metrics").status_code == 403
    assert httpx2.get(f"{machine.board_address}/metrics").status_code == 200, "for Prometheus, on loopback"
    assert "KO-FRESH" in httpx2.get(f"{machine.address}/ko-fresh").text


def test_doctor_finds_no_fault_in_worker(machine: Machine) -> None:
    print(machine.submissions("doctor"))


def test_evaluation_survives_kill_and_gets_rank(machine: Machine) -> None:
    started = time.monotonic()
    submitted = machine.submissions("submit", MODEL, "--benchmark", "ko-fresh")
    print(submitted)
    running = '"status": "running"'
    key = wait_for("a request", lambda: re.search(r"\b[0-9a-f]{32}\b", machine.submissions("list")))[0]
    wait_for("the start", lambda: running in machine.submissions("show", key))
    machine.compose("kill", "--signal", "SIGKILL", "worker")
    machine.compose("up", "-d", "worker")
    row = wait_for("a row", lambda: machine.row(MODEL))
    print(f"a row after {time.monotonic() - started:.0f} s, with a kill between")
    assert row["rank"] == 1 and row["kind"] == "verified"
    result = httpx2.get(f"{machine.address}/results/{key}.json").json()
    assert result["git_hash"] == git_hash(), "the image names the commit of its code"
    assert result["environment"]["sandbox"] == "bubblewrap"


def test_backup_is_restored_into_new_volume(machine: Machine, tmp_path: Path) -> None:
    machine.compose("run", "--rm", "backup")
    (backup,) = (machine.folder / "backups").iterdir()
    stores = ["-e", "HANNUN_STORE=/data/again.git", "-e", "HANNUN_PRIVATE_STORE=/data/again"]
    inside = [
        "run",
        "--rm",
        "-v",
        f"{machine.folder}/backups:/backups",
        *stores,
        "worker",
        "python",
        "-m",
        "submissions",
    ]
    print(machine.compose(*inside, "restore", f"/backups/{backup.name}"))
    assert "1 finished" in machine.compose(*inside, "status")
    machine.compose(*inside, "verify-stores")


def test_volume_of_last_release_is_upgraded(machine: Machine, tmp_path: Path) -> None:
    """Its pending request is evaluated, and its rows are shown."""
    with tarfile.open(ROOT / "tests/stores/0.1.0.tar.xz") as archive:
        archive.extractall(machine.folder / "last-release", filter="data")
    stores = ["-e", "HANNUN_STORE=/data/old/store.git", "-e", "HANNUN_PRIVATE_STORE=/data/old/private"]
    _make_readable(machine.folder / "last-release")
    copy = ["run", "--rm", "-v", f"{machine.folder}/last-release:/old:ro", "worker", "sh", "-c"]
    machine.compose(*copy, "cp -r /old /data/old")
    inside = ["run", "--rm", *stores, "worker", "python", "-m", "submissions"]
    print(machine.compose(*inside, "reindex"))
    assert "1 pending, 0 running, 5 finished, 1 failed" in machine.compose(*inside, "status")


def test_rules_and_dashboard_are_valid(machine: Machine) -> None:
    """Check them with Prometheus' own tool, and every metric of the dashboard with the board's metrics."""
    metrics = httpx2.get(f"{machine.board_address}/metrics").text
    dashboard = json.loads((machine.folder / "dashboard.json").read_text())
    for panel in dashboard["panels"]:
        for name in re.findall(r"hannun_\w+", panel["targets"][0]["expr"]):
            base = re.sub(r"_(total|sum|count)$", "", name)
            assert f"# TYPE {base}" in metrics, name
    if shutil.which("promtool") is None:
        pytest.skip("promtool is missing: apt-get install prometheus")
    print(run("promtool", "check", "config", str(machine.folder / "prometheus.yml")))


def test_systemd_units_are_valid(machine: Machine) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is missing: apt-get install systemd")
    units = [str(machine.folder / name) for name in ("hannun.service", "hannun-backup.service", "hannun-backup.timer")]
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if "hannun" in line and "docker.service" not in line]
    assert not said, done.stderr
