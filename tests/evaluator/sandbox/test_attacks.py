"""Models that attack: code in their folder, tokens that are not theirs, and what they say."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.data_types import Prompt
from evaluator.engines.chat import ChatEngine
from evaluator.engines.extractive import ExtractiveEngine
from evaluator.engines.options import EngineOptions
from evaluator.errors import EvaluationError
from evaluator.worker import Worker
from submissions.paths import ROOT
from submissions.settings import Settings
from submissions.store.open import open_store
from tests.evaluator.test_worker import submit
from tests.support.engines import MarkupEngine, use_engine

CODE = "from pathlib import Path\nPath({mark!r}).touch()\nclass Evil:\n    pass\n"


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config.json", {"auto_map": {"AutoConfig": "evil.Evil", "AutoModelForImageTextToText": "evil.Evil"}}),
        ("config.json", {"text_config": {"auto_map": {"AutoConfig": "evil.Evil"}, "model_type": "evil"}}),
        ("config.json", {"vision_config": {"trust_remote_code": True, "auto_map": {"AutoConfig": "evil.Evil"}}}),
        ("config.json", {"trust_remote_code": True, "auto_map": {"AutoConfig": "evil.Evil"}, "model_type": "evil"}),
        ("config.json", {"_attn_implementation_internal": "evil/kernel"}),
        ("config.json", {"attn_implementation": "evil/kernel", "_attn_implementation": "evil/kernel"}),
        ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}, "tokenizer_class": "Evil"}),
        ("processor_config.json", {"auto_map": {"AutoProcessor": "evil.Evil"}, "processor_class": "Evil"}),
        ("generation_config.json", {"custom_generate": "evil", "trust_remote_code": True}),
    ],
)  # fmt: skip
def test_code_in_a_model_folder_is_never_run(
    models_dir: Path, tmp_path: Path, file: str, change: dict[str, object]
) -> None:
    """Such a model is refused before it is queued. And were it not, the engine would not run its code either."""
    folder, mark = tmp_path / "evil", tmp_path / "was-run"
    shutil.copytree(models_dir / "tiny/image-text", folder)
    for name in ("evil.py", "custom_generate/generate.py", "kernel/__init__.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(CODE.format(mark=str(mark)))
    path = folder / file
    path.write_text(json.dumps((json.loads(path.read_text()) if path.exists() else {}) | change))
    code = f"""
from pathlib import Path
from evaluator.engines.options import EngineOptions
from evaluator.engines.chat import ChatEngine
from evaluator.data_types import Prompt
engine = ChatEngine(EngineOptions(Path({str(folder)!r}), "float32", 4))
print([a.status for a in engine.answer([Prompt("1", "?")])])
engine.close()
"""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert not mark.exists(), done.stderr
    assert done.returncode == 1 or "ok" in done.stdout or "truncated" in done.stdout, (
        "it runs, without that, or not at all"
    )


def test_tokens_that_the_model_has_not_are_its_fault(models_dir: Path, tmp_path: Path) -> None:
    """On a GPU they would end the process with a fault that looks like ours."""
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
        assert error.value.code == "invalid_weights" and "tokens" in str(error.value)


def test_what_a_model_says_stays_private(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """HTML, escapes that steer a terminal, and the canary: in no public record, and not in the log."""
    data = tmp_path / "data"
    shutil.copytree(ROOT / "assets/samples/korquad-2", data)
    (data / "canary.txt").write_text("HANNUN-CANARY-77aa")
    use_engine(monkeypatch, MarkupEngine, "extractive")
    monkeypatch.setattr("evaluator.run.process.sandbox_command", lambda command, policy: command)
    caplog.set_level("INFO")
    own = settings.model_copy(update={"data": {"korquad-2": f"{data}#sample"}})
    request = submit(own, "tiny/extractive", "korquad-2")
    Worker(own).run_pending()
    store = open_store(settings.store)
    snapshot = store.snapshot()
    public = b"".join(store.read(path, snapshot.head) for path in snapshot.files)
    assert any(request.key in path for path in snapshot.files if path.startswith("results/")), caplog.text
    private = open_store(settings.private_store)
    assert b"HANNUN-CANARY-77aa" in private.read(f"details/{request.key}.jsonl", private.head())
    for said in ("HANNUN-CANARY-77aa", "alert(1)", "\x1b["):
        assert said.encode() not in public and said not in caplog.text
