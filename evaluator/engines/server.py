"""Start a local model server for the API engine, wait until it is ready, and end it with the engine."""

import asyncio
import re
import socket
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any, get_args

import httpx2

from evaluator.core.errors import EvaluationError
from evaluator.engines.options import VERSION, EngineOptions
from submissions.config.server_command import filled_words, server_name
from submissions.records.options import FloatPrecision
from submissions.texts.failure_codes import FailureCode

END_SECONDS = 3.0  # that a server may take to end after it has closed its connections
START_SECONDS = 1800.0  # large models take long to load
POLL_SECONDS = 0.2  # between two health checks
REQUEST_SECONDS = 5.0  # for a request about the server itself


class Server:
    """A model server started with `command`, a template in which {model}, {port} and {precision} are replaced.

    Examples are `transformers serve {model} --port {port}` and `vllm serve {model} --port {port} --dtype {precision}`.
    `--trust-remote-code` is appended if the model's code may run.

    Raises EvaluationError if the command is malformed, or if the server ends or is not ready within START_SECONDS.
    """

    def __init__(self, command: str, options: EngineOptions) -> None:
        port = _free_port()
        precision = options.precision if options.precision in get_args(FloatPrecision) else "auto"
        try:
            words = filled_words(command, model=options.model, port=port, precision=precision)
            self.name = server_name(command)
        except ValueError as error:
            raise EvaluationError(FailureCode.SERVER_FAILED, f"--spawn {command!r}: {error}") from error
        words += ["--trust-remote-code"] if options.custom_code else []
        self._address = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "evaluator.engines.server_process", *words], stdin=subprocess.PIPE, stdout=sys.stderr
        )
        self._wait_until_ready()
        self.version = self._find_version()
        self.context = self._find_context()

    @property
    def base_url(self) -> str:
        return f"{self._address}/v1"

    @property
    def exit_code(self) -> int | None:
        """The exit code of the server, or None while it runs."""
        return self._process.poll()

    def is_ending(self) -> bool:
        """Wait for at most END_SECONDS for the server to end, and return whether it has.

        A server that ends closes its connections first, so they may fail while it still has no exit code.
        """
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        return self.exit_code is not None

    def _find_context(self) -> int | None:
        """Return the number of tokens that the server reports as its context, or None if it reports none.

        vLLM and SGLang report it as `max_model_len`, llama.cpp's server as `n_ctx`.
        """
        models = self._get_json("/v1/models").get("data")
        model = models[0] if isinstance(models, list) and models and isinstance(models[0], dict) else {}
        meta = model.get("meta")
        reported = model.get("max_model_len") or (meta.get("n_ctx") if isinstance(meta, dict) else None)
        return reported if type(reported) is int and reported > 0 else None

    def _find_version(self) -> str | None:
        """Return the version that the server reports: at /version (vLLM) or as build at /props (llama.cpp)."""
        version = self._get_json("/version").get("version") or self._get_json("/props").get("build_info")
        return version if isinstance(version, str) and re.fullmatch(VERSION, version) else None

    def _get_json(self, path: str) -> dict[str, Any]:
        """Return the JSON object at a path of the server, or an empty dict if there is none."""
        try:
            found = self._get(path).json()
        except (httpx2.HTTPError, TimeoutError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _get(self, path: str) -> httpx2.Response:
        """Return the response at a path of the server. Raises TimeoutError if it is not complete in REQUEST_SECONDS.

        The `timeout` of httpx2 is for each read, so that a server that sends a byte now and then would never reach it.
        """

        async def get() -> httpx2.Response:
            async with asyncio.timeout(REQUEST_SECONDS), httpx2.AsyncClient() as client:
                return await client.get(f"{self._address}{path}")

        return asyncio.run(get())

    def _wait_until_ready(self) -> None:
        """Return as soon as the server is healthy. Raises EvaluationError if it ends before, or takes too long."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.exit_code is not None:
                self.close()
                raise EvaluationError(
                    FailureCode.SERVER_FAILED, f"{self.name} ended with code {self.exit_code} before it was ready"
                )
            with suppress(httpx2.HTTPError, TimeoutError):
                status = self._get("/health").status_code
                if status == 404:  # some servers have no such page
                    status = self._get("/v1/models").status_code
                if status == 200:
                    return
            time.sleep(POLL_SECONDS)
        self.close()
        raise EvaluationError(FailureCode.SERVER_FAILED, f"{self.name} was not ready within {START_SECONDS:.0f} s")

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
