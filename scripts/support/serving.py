"""Run a server in a separate process on a free loopback port."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from submissions.config.paths import ROOT


@dataclass(frozen=True)
class Server:
    """The address and the process of a running server."""

    address: str
    process: subprocess.Popen[str]


PORTS_TRIED = 5


def bare_environment() -> dict[str, str]:
    """Return the environment of this process without its HANNUN_* and HF_* variables."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("HANNUN_", "HF_"))}


def python(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python in the repository until it ends."""
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True)


class PortTakenError(RuntimeError):
    """Raised if another process has taken a port since it was chosen."""


@contextmanager
def serving(
    command: Sequence[str],
    environment: dict[str, str],
    *,
    python: Path = Path(sys.executable),
    folder: Path = ROOT,
    port_variable: str = "HANNUN_PORT",
) -> Iterator[Server]:
    """Run `python command…` with a free port in its environment and yield the server once it listens.

    Raises RuntimeError with the server's log if the server ends before that.
    """
    with ExitStack() as stack:
        for tries_left in reversed(range(PORTS_TRIED)):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            try:
                server = stack.enter_context(
                    _serving_on(port, [str(python), *command], {**environment, port_variable: str(port)}, folder)
                )
                break
            except PortTakenError:
                if not tries_left:
                    raise
        yield server


@contextmanager
def _serving_on(port: int, command: Sequence[str], environment: dict[str, str], folder: Path) -> Iterator[Server]:
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            log = ""
            for line in process.stderr:
                log += line
                if "Uvicorn running" in line:
                    break
            else:
                kind = PortTakenError if "address already in use" in log else RuntimeError
                raise kind(f"the server ended before it listened: {log}")
            threading.Thread(target=process.stderr.read, daemon=True).start()  # keep its log from filling the pipe
            yield Server(f"http://127.0.0.1:{port}", process)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:  # no server may outlive its test
                process.kill()
                raise
