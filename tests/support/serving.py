"""A server in a process of its own, on a free port of loopback."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from submissions.config.paths import ROOT


@dataclass(frozen=True)
class Server:
    address: str
    process: subprocess.Popen[str]


def bare_environment() -> dict[str, str]:
    """The environment of this process without its settings of the board and of the Hub."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("HANNUN_", "HF_"))}


@contextmanager
def serving(
    command: Sequence[str],
    environment: dict[str, str],
    *,
    python: Path = Path(sys.executable),
    folder: Path = ROOT,
    port_variable: str = "HANNUN_PORT",
) -> Iterator[Server]:
    """Run `python command…` with a free port in its environment; gives the server once it listens.

    Raises RuntimeError, with what it said, where it ends before.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {**environment, port_variable: str(port)}
    with subprocess.Popen([python, *command], cwd=folder, env=own, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            said = ""
            for line in process.stderr:
                said += line
                if "Uvicorn running" in line:
                    break
            else:
                raise RuntimeError(f"the server ended before it listened: {said}")
            threading.Thread(target=process.stderr.read, daemon=True).start()  # keep its log from filling the pipe
            yield Server(f"http://127.0.0.1:{port}", process)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:  # nothing that a test starts outlives it
                process.kill()
                raise
