"""Start a local model server for the API engine, wait until it is ready, and end it with the engine."""

import shlex
import socket
import subprocess
import sys
import time
from typing import get_args

import httpx2

from evaluator.core.errors import EvaluationError
from evaluator.engines.options import EngineOptions
from submissions.records.options import FloatPrecision
from submissions.texts.failure_codes import FailureCode

START_SECONDS = 1800.0  # large models take long to load
POLL_SECONDS = 0.2  # between two health checks


class Server:
    """A model server started with `command`, a template in which {model}, {port} and {precision} are replaced.

    Examples are `transformers serve {model} --port {port}` and `vllm serve {model} --port {port} --dtype {precision}`.
    `--trust-remote-code` is appended if the model's code may run.

    Raises EvaluationError if the command is malformed, or if the server ends or is not ready within START_SECONDS.
    """

    def __init__(self, command: str, options: EngineOptions) -> None:
        port = _free_port()
        try:
            precision = options.precision if options.precision in get_args(FloatPrecision) else "auto"
            values = {"model": options.model, "port": port, "precision": precision}
            words = [word.format(**values) for word in shlex.split(command)]
        except (ValueError, KeyError, IndexError) as error:
            raise EvaluationError(
                FailureCode.SERVER_FAILED,
                f"--spawn {command!r}: may contain {{model}}, {{port}} and {{precision}} only",
            ) from error
        if not words:
            raise EvaluationError(FailureCode.SERVER_FAILED, "--spawn: the command is empty")
        words += ["--trust-remote-code"] if options.custom_code else []
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "evaluator.engines.server_process", *words], stdin=subprocess.PIPE, stdout=sys.stderr
        )
        self._wait_until_ready(f"http://127.0.0.1:{port}/health", words[0])

    def _wait_until_ready(self, health_url: str, name: str) -> None:
        """Return as soon as the server is healthy. Raises EvaluationError if it ends before, or takes too long."""
        deadline = time.monotonic() + START_SECONDS
        with httpx2.Client(timeout=5.0) as client:
            while time.monotonic() < deadline:
                if (code := self._process.poll()) is not None:
                    raise EvaluationError(
                        FailureCode.SERVER_FAILED, f"{name} ended with code {code} before it was ready"
                    )
                try:
                    if client.get(health_url).status_code == 200:
                        return
                except httpx2.TransportError:
                    pass
                time.sleep(POLL_SECONDS)
        self.close()
        raise EvaluationError(FailureCode.SERVER_FAILED, f"{name} was not ready within {START_SECONDS:.0f} s")

    def close(self) -> None:
        """End the server and wait until it has exited."""
        if self._process.stdin:  # server_process ends the server when its stdin closes
            self._process.stdin.close()
        self._process.wait()


def _free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
