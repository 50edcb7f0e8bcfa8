"""Evaluate tiny models through a real vLLM on the CPU, inside the sandbox: `make test-servers`.

VLLM names the program, by default that of `.venv-vllm`, which the make target installs.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.core.data_types import Prompt
from evaluator.engines.load import load_engine
from evaluator.engines.options import EngineOptions
from scripts.demo import make_smollm2
from scripts.support.serving import python
from submissions.config.api_options import ApiOptions
from submissions.config.paths import ROOT
from submissions.records.result import EvalResult
from tests.servers.models import MODELS, make_model, make_random_model

VLLM = os.environ.get("VLLM") or str(ROOT / ".venv-vllm/bin/vllm")
SERVE = (
    f"{VLLM} serve {{model}} --port {{port}} --host 127.0.0.1 --dtype {{precision}} --generation-config vllm "
    "--kv-cache-memory-bytes 1G --enforce-eager"
)
PARSER = "--reasoning-parser qwen3"
pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(shutil.which(VLLM) is None, reason=f"{VLLM} is not installed: make test-servers"),
]


def parity(model: Path, environment: dict[str, str], *options: str, serve: str = SERVE) -> str:
    """Ask the same questions with both engines, in the sandbox, and return what `parity` prints."""
    command = ["-m", "evaluator", "parity", str(model), "--spawn", serve, *options]
    done = python(*command, environment=environment)
    print(done.stdout)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("parser", ["", PARSER])
@pytest.mark.parametrize("name", MODELS)
def test_answers_equal_those_of_built_in_engine(
    name: str, parser: str, environment: dict[str, str], tmp_path: Path
) -> None:
    """The scores of such models agree in any case, so the texts are compared."""
    model = make_model(tmp_path / "model", name)
    said = parity(model, environment, "--benchmark", "korquad-2", "--items", "2", serve=f"{SERVE} {parser}")
    assert "0 answers are not the same text" in said


def test_random_answers_and_long_pages_are_equal(environment: dict[str, str], tmp_path: Path) -> None:
    """The pages of KorQuAD have more tokens than the context."""
    model = make_random_model(tmp_path / "model", context=2048)
    said = parity(model, environment, "--benchmark", "korquad-2", "--items", "8")
    assert "0 answers are not the same text" in said


def test_smollm2_answers_equally(tmp_path: Path) -> None:
    """Compare real weights on short questions."""
    make_smollm2(tmp_path / "smollm2")
    prompts = [Prompt(str(n), f"What is {n} plus {n + 1}? Answer with the number.") for n in range(8)]
    texts = []
    for api in (None, ApiOptions(spawn=SERVE)):
        engine = load_engine("api" if api else "chat", EngineOptions(tmp_path / "smollm2", "float32", 48, api=api))
        try:
            texts.append({answer.id: answer.text for answer in engine.answer(prompts)})
        finally:
            engine.close()
    assert texts[0] == texts[1] and any(texts[0].values())


def command_line_of(pid: str) -> str:
    """Return the command line of a process, or an empty text if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except FileNotFoundError:
        return ""


def test_killed_server_ends_the_evaluation(environment: dict[str, str], tmp_path: Path) -> None:
    model = make_random_model(tmp_path / "model", ends=False)
    command = [sys.executable, "-m", "evaluator", "run", "--model", str(model), "--benchmark", "korquad-2"]
    command += ["--sandbox", "none", "--out", str(tmp_path / "out"), "--spawn", SERVE]
    run = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    log = tmp_path / "out/job/inference.log"
    wait = f'while ! grep -q "POST /v1/chat" "{log}" 2>/dev/null && kill -0 {run.pid}; do sleep 0.2; done'
    try:
        subprocess.run(["sh", "-c", f"{wait}; sleep 1"], timeout=600, check=True)
        found = subprocess.run(["pgrep", "-f", f"vllm serve {tmp_path}/out/job/model"], capture_output=True, text=True)
        # Not the process that watches the server, whose command line has that of the server.
        servers = [int(pid) for pid in found.stdout.split() if "server_process" not in command_line_of(pid)]
        groups = {os.getpgid(pid) for pid in servers}
        for pid in servers:
            os.kill(pid, signal.SIGKILL)
        _, said = run.communicate(timeout=300)
    finally:
        run.kill()
    print(said[-500:])
    for group in groups:  # vLLM has other processes, which hold the memory of the model
        with pytest.raises(ProcessLookupError):
            os.killpg(group, 0)
    assert run.returncode == 1 and "server_failed" in said and "ended" in said, said[-2000:]


def test_result_names_version_and_counts_wall_time(environment: dict[str, str], tmp_path: Path) -> None:
    model = make_model(tmp_path / "model", "plain")
    command = ["-m", "evaluator", "run", "--model", str(model), "--benchmark", "korquad-2", "--limit", "8"]
    done = python(*command, "--out", str(tmp_path / "out"), "--spawn", SERVE, environment=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    result = EvalResult.model_validate_json((tmp_path / "out/result.json").read_bytes())
    print(json.dumps(result.environment))
    assert result.environment["server_version"] and "transformers" not in result.environment
