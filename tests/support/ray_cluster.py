"""Run a real Ray cluster on this machine: a head without resources, and two nodes with separate work folders."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from scripts.support.engines import QUESTION_LOG
from submissions.config.setting_values import LaunchCommands
from submissions.config.settings import Settings
from tests.evaluator.worker.launchers.conftest import Place
from tests.support.slurm import free_ports

INSTALLED = shutil.which("ray") is not None
START_SECONDS = 60.0
RESOURCES = ("--num-cpus", "2", "--num-gpus", "1", "--memory", "64000000000")


class RayPlace(Place):
    """A Ray cluster as the place in which the launcher's jobs run."""

    def __init__(self, settings: Settings, nodes: dict[Path, "subprocess.Popen[bytes]"]) -> None:
        super().__init__(settings, *nodes)
        self._nodes = nodes

    def kill(self, key: str) -> None:
        """Kill a node that runs a job of the request, and the jobs on the other nodes."""
        folder = next(folder for folder in self._nodes if (folder / QUESTION_LOG).exists())
        for pid in _descendants(self._nodes.pop(folder).pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        super().kill(key)


@contextmanager
def ray_cluster(settings: Settings, commands: LaunchCommands, folder: Path) -> Iterator[tuple[RayPlace, str]]:
    """Start a cluster, and yield the place of its jobs and the address of its dashboard."""
    port, dashboard = free_ports()
    address = f"http://127.0.0.1:{dashboard}"
    own_folder = tempfile.mkdtemp(prefix="ray-")  # a short path, because Ray's sockets are below it
    shared = ("--node-ip-address", "127.0.0.1", "--temp-dir", own_folder, "--disable-usage-stats", "--block")
    head = (
        "--head",
        "--port",
        str(port),
        "--dashboard-port",
        str(dashboard),
        "--num-cpus",
        "0",
        "--num-gpus",
        "0",
        "--memory",
        "100000000",
    )
    environment = os.environ | {"RAY_JOB_STOP_WAIT_TIME_S": "60"}
    started = [subprocess.Popen(["ray", "start", *head, *shared], env=environment, stdout=subprocess.DEVNULL)]
    nodes: dict[Path, subprocess.Popen[bytes]] = {}
    try:
        _wait_for_nodes(address, 1)
        for number in range(2):
            work_dir = folder / f"node-{number}"
            command = ["ray", "start", "--address", f"127.0.0.1:{port}", *RESOURCES, *shared]
            own = environment | {"HANNUN_WORK_DIR": str(work_dir)}
            nodes[work_dir] = subprocess.Popen(command, env=own, stdout=subprocess.DEVNULL)
            started.append(nodes[work_dir])
            _wait_for_nodes(address, len(started))  # nodes that start at the same time take each other's ports
        yield RayPlace(settings.model_copy(update={"launcher": "command", "commands": commands}), nodes), address
    finally:
        for process in reversed(started):
            below = _descendants(process.pid)
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(START_SECONDS)
            for pid in below:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        shutil.rmtree(own_folder, ignore_errors=True)


def _wait_for_nodes(address: str, count: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        with suppress(OSError), urllib.request.urlopen(f"{address}/api/v0/nodes", timeout=5) as answer:
            if answer.read().count(b'"ALIVE"') >= count:
                return
        assert time.monotonic() < deadline, f"Ray has not {count} nodes"


def _descendants(pid: int) -> list[int]:
    """Return a process and all that it has started, as far as their parents live."""
    found = [pid]
    for parent in found:
        for tasks in Path(f"/proc/{parent}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, tasks.read_text().split())
    return found
