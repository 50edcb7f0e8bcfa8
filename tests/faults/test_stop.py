"""Test that a board stops in time on a signal, whatever is connected or running."""

import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from evaluator.engines.registry import REGISTRY
from scripts.support.serving import serving
from submissions.checks.submission import Submission
from submissions.checks.submit import SubmissionService
from submissions.config.paths import ROOT
from submissions.queue.queue import Queue
from submissions.queue.quota import Submitter
from submissions.store.hub import RETRY_SECONDS
from submissions.store.open import open_store
from submissions.store.time_limits import TIMEOUT
from tests.conftest import environment_of, settings_in

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

STOPS = 20
MAX_STOP_S = 10.0


@pytest.fixture
def silent_hub() -> Iterator[str]:
    """Yield the address of a server that accepts every connection and never answers."""
    held = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    held.append(server.accept())
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_board_stops_in_time_on_sigterm(tmp_path: Path, models_dir: Path, silent_hub: str) -> None:
    """Stop at random moments, with open streams and with model checks that wait for a silent Hub."""
    rng = random.Random(20)
    stop_seconds = []
    environment = environment_of(settings_in(tmp_path, models_dir)) | {"HF_ENDPOINT": silent_hub}
    for _ in range(STOPS):
        worker = rng.choice(["on", "off"])
        with serving(["app.py"], {**environment, "HANNUN_WORKER": worker, "HANNUN_MODELS_DIR": ""}) as server:
            for hold_open in rng.choices([_check_in_form, _submit_with_gradio], k=rng.randint(1, 5)):
                threading.Thread(target=hold_open, args=(server.address,), daemon=True).start()
            time.sleep(rng.uniform(0, 2))  # the moment of the stop
            server.process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            server.process.wait(timeout=60)
            stop_seconds.append(time.monotonic() - began)
    assert max(stop_seconds) < MAX_STOP_S, stop_seconds


def test_silent_hub_is_reported_and_does_not_block(tmp_path: Path, models_dir: Path, silent_hub: str) -> None:
    """If the Hub accepts connections and sends nothing, the board serves and reports it, and a command gives up."""
    environment = environment_of(settings_in(tmp_path, models_dir)) | {
        "HF_ENDPOINT": silent_hub,
        "HANNUN_STORE": "hf://datasets/org/store",
        "HANNUN_WORKER": "off",
    }
    with serving(["app.py"], environment) as server, httpx.Client(base_url=server.address, timeout=MAX_STOP_S) as http:
        for _ in range(2):
            assert http.get("/readyz").status_code == 503
            assert "hannun_refresh_age_seconds +Inf" in http.get("/metrics").text
            assert http.get("/healthz").status_code == http.get("/queue.json").status_code == 200
        began = time.monotonic()
        command = ["-m", "submissions", "submit", "tiny/image-text", "--benchmark", "ko-vqa"]
        finished = subprocess.run(
            [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        took = time.monotonic() - began
    assert finished.returncode == 2 and "the store is out of reach" in finished.stderr.splitlines()[-1], finished.stderr
    assert took < RETRY_SECONDS + 2 * TIMEOUT, took


def test_make_serve_runs_without_a_shell() -> None:
    """A shell would end at SIGTERM and leave the board running. Make only starts one for complex commands."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = [
        "make",
        "-n",
        "serve",
    ]  # without the variables of `make test-slow`, as a nested make prints directories
    recipe = subprocess.run(command, cwd=ROOT, env=outside, capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"[\w./-]+ app\.py", recipe.splitlines()[-1])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopped_board_returns_request_to_queue(tmp_path: Path, models_dir: Path, number: signal.Signals) -> None:
    settings = settings_in(tmp_path, models_dir)
    queue = Queue(open_store(settings.store, settings))
    submission = Submission("tiny/image-text", ("ko-vqa",))
    (outcome,), _ = SubmissionService(queue, settings, REGISTRY).submit(submission, Submitter("x", authenticated=False))
    assert outcome.key
    with serving(["app.py"], environment_of(settings) | {"HANNUN_WORKER_EVERY": "1s"}) as server:
        while queue.get(outcome.key).status != "running":
            time.sleep(0.1)
        server.process.send_signal(number)
        assert server.process.wait(timeout=60) == 0
    assert queue.get(outcome.key).status == "pending"


def _check_in_form(address: str) -> None:
    """Start a check as the submission form does, and wait for its page."""
    with contextlib.suppress(httpx.HTTPError):  # the board has stopped
        httpx.post(f"{address}/submit", data={"model": "owner/name", "benchmarks": "ko-vqa"}, timeout=60)


def _submit_with_gradio(address: str) -> None:
    """Submit as gradio_client does, and keep the stream of the call's events open."""
    call = f"{address}/gradio_api/call/submit"
    with contextlib.suppress(httpx.HTTPError):  # the board has stopped
        event = httpx.post(call, json={"data": ["owner/name", ["ko-vqa"]]}, timeout=60).json()["event_id"]
        with httpx.stream("GET", f"{call}/{event}", timeout=60) as response:
            for _ in response.iter_raw():
                pass
