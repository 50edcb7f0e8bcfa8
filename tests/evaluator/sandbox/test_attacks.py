"""Test models that attack: with code in their folder, invalid tokens and hostile answers."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.core.data_types import Prompt
from evaluator.core.errors import EvaluationError
from evaluator.engines.chat import ChatEngine
from evaluator.engines.extractive import ExtractiveEngine
from evaluator.engines.options import EngineOptions
from evaluator.worker.loop import Worker
from scripts.support.engines import MarkupEngine, use_engine
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.store.open import open_private_store, open_store
from tests.evaluator.worker.test_loop import submit

pytestmark = pytest.mark.integration

CODE = "from pathlib import Path\nPath({mark!r}).touch()\nclass Evil:\n    pass\n"


EVIL_CHANGES: list[tuple[str, dict[str, object]]] = [
    ("config.json", {"auto_map": {"AutoConfig": "evil.Evil", "AutoModelForImageTextToText": "evil.Evil"}}),
    ("config.json", {"text_config": {"auto_map": {"AutoConfig": "evil.Evil"}, "model_type": "evil"}}),
    ("config.json", {"vision_config": {"trust_remote_code": True, "auto_map": {"AutoConfig": "evil.Evil"}}}),
    ("config.json", {"trust_remote_code": True, "auto_map": {"AutoConfig": "evil.Evil"}, "model_type": "evil"}),
    ("config.json", {"_attn_implementation_internal": "evil/kernel"}),
    ("config.json", {"attn_implementation": "evil/kernel", "_attn_implementation": "evil/kernel"}),
    ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}, "tokenizer_class": "Evil"}),
    ("processor_config.json", {"auto_map": {"AutoProcessor": "evil.Evil"}, "processor_class": "Evil"}),
    ("generation_config.json", {"custom_generate": "evil", "trust_remote_code": True}),
]
# Load each folder in turn in one process and print the outcome as a line of JSON.
ANSWER_ALL = """
import json, sys
from pathlib import Path
from evaluator.core.data_types import Prompt
from evaluator.engines.chat import ChatEngine
from evaluator.engines.options import EngineOptions
for folder in map(Path, sys.argv[1:]):
    try:
        engine = ChatEngine(EngineOptions(folder, "float32", 4))
        outcome = [answer.status for answer in engine.answer([Prompt("1", "?")])]
        engine.close()
    except Exception as error:
        outcome = [type(error).__name__]
    print(json.dumps(outcome), flush=True)
"""


@pytest.mark.slow
@pytest.mark.model
def test_chat_engine_runs_no_code_of_model_folder(models_dir: Path, tmp_path: Path) -> None:
    """Check that the engine would not run the code even if the model were not refused before it is queued."""
    folders = []
    for number, (file, change) in enumerate([*EVIL_CHANGES, ("config.json", {})]):
        folder = tmp_path / f"evil-{number}"
        folders.append(folder)
        shutil.copytree(models_dir / "tiny/image-text", folder)
        for name in ("evil.py", "custom_generate/generate.py", "kernel/__init__.py"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(CODE.format(mark=str(tmp_path / f"was-run-{number}")))
        path = folder / file
        path.write_text(json.dumps((json.loads(path.read_text()) if path.exists() else {}) | change))
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", ANSWER_ALL, *map(str, folders)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(outcomes) == len(folders), done.stderr
    assert not list(tmp_path.glob("was-run-*"))
    assert outcomes[-1] in (["ok"], ["truncated"]), "the unchanged model runs"


def test_engines_reject_tokens_outside_vocabulary(models_dir: Path, tmp_path: Path) -> None:
    """Check tokens that would end the process on a GPU and look like an infrastructure failure."""
    for name, engine, prompt in (
        ("image-text", ChatEngine, Prompt("1", "합계는?")),
        ("extractive", ExtractiveEngine, Prompt("1", "?", question="합계는?", page="<p>합계 7</p>")),
    ):
        folder = tmp_path / name
        shutil.copytree(models_dir / "tiny" / name, folder)
        tokenizer = json.loads((folder / "tokenizer.json").read_text())
        vocabulary = tokenizer["model"]["vocab"]
        for token in [t for t in vocabulary if not t.startswith(("<", "["))]:
            vocabulary[token] += 100_000
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
        with pytest.raises(EvaluationError) as error:
            list(engine(EngineOptions(folder, "float32", 4)).answer([prompt]))
        assert error.value.code == "invalid_weights" and "token" in str(error.value)


def test_worker_keeps_model_output_private(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Check that HTML, terminal escapes and the canary are in no public record and not in the log."""
    data = tmp_path / "data"
    shutil.copytree(ROOT / "assets/samples/korquad-2", data)
    (data / "canary.txt").write_text("HANNUN-CANARY-77aa")
    use_engine(monkeypatch, MarkupEngine, "extractive")
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda command, policy: command)
    caplog.set_level("INFO")
    canary_settings = settings.model_copy(update={"data": {"korquad-2": f"{data}#sample"}})
    request = submit(canary_settings, "tiny/extractive", "korquad-2")
    Worker(canary_settings).run_pending()
    store = open_store(settings.store)
    snapshot = store.snapshot()
    public = b"".join(store.read(path, snapshot.head) for path in snapshot.files)
    assert any(request.key in path for path in snapshot.files if path.startswith("results/")), caplog.text
    private = open_private_store(settings)
    assert b"HANNUN-CANARY-77aa" in private.read(f"details/{request.key[:2]}/{request.key}.jsonl")
    for text in ("HANNUN-CANARY-77aa", "alert(1)", "\x1b["):
        assert text.encode() not in public and text not in caplog.text
