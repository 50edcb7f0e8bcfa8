"""Model checks, on local folders and, with the real client over HTTP, on the Hub double."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from submissions.checks import Refused, build_request, content_revision, inspect_model
from submissions.messages import REFUSALS, RefusalCode
from tests.conftest import ROOT
from tests.hub.double import build, commit_of, serve

GATED = "owner/gated"


def refusal(model_id: str, models_dir: Path | None, benchmark: str = "korquad-2") -> RefusalCode:
    with pytest.raises(Refused) as refused:
        build_request(inspect_model(model_id, None, models_dir), benchmark, "x")
    return refused.value.code


@pytest.mark.parametrize("model_id", ["", "bert", "a/b/c", "한글/모델", "a/b\n", "../../etc", "a/b;rm -rf", "<b>/x"])
def test_malformed_ids(model_id: str, models_dir: Path) -> None:
    assert refusal(model_id, models_dir) == RefusalCode.MALFORMED_ID


def test_facts_of_a_local_model(models_dir: Path) -> None:
    facts = inspect_model("tiny/extractive", None, models_dir)
    assert (facts.engine, facts.takes_images, facts.model_type, facts.dtype) == ("extractive", False, "bert", "float32")
    assert facts.license == "apache-2.0"
    assert facts.params and 100_000 < facts.params < 400_000
    image_text = inspect_model("tiny/image-text", None, models_dir)
    assert (image_text.engine, image_text.takes_images) == ("chat", True)


def test_the_revision_of_a_local_model_is_its_content(models_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(models_dir / "tiny/extractive", folder)
    revision = content_revision(folder)
    assert revision == content_revision(models_dir / "tiny/extractive")
    (folder / ".DS_Store").write_text("hidden files do not count")
    assert content_revision(folder) == revision
    (folder / "config.json").write_text("{}")
    assert content_revision(folder) != revision


def test_benchmarks_a_model_does_not_fit(models_dir: Path) -> None:
    assert refusal("tiny/extractive", models_dir, "ko-vqa") == RefusalCode.EXTRACTIVE_ONLY
    assert refusal("tiny/extractive", models_dir, "infochartqa") == RefusalCode.EXTRACTIVE_ONLY


def _local(models_dir: Path, tmp_path: Path) -> Path:
    shutil.copytree(models_dir / "tiny/extractive", tmp_path / "m/x")
    return tmp_path / "m/x"


@pytest.mark.parametrize(
    ("break_it", "code"),
    [
        (lambda f: (f / "model.safetensors").unlink(), RefusalCode.NO_WEIGHTS),
        (lambda f: (f / "model.safetensors").write_bytes(b"\xff" * 100), RefusalCode.NO_WEIGHTS),
        (lambda f: (f / "config.json").unlink(), RefusalCode.NO_CONFIG),
        (lambda f: (f / "config.json").write_text("[]"), RefusalCode.NO_CONFIG),
        (lambda f: (f / "config.json").write_text('{"model_type": 7}'), RefusalCode.NO_CONFIG),
        (lambda f: (f / "config.json").write_text('{"model_type": "x", "auto_map": {}}'), RefusalCode.CUSTOM_CODE),
    ],
)
def test_broken_local_models(models_dir: Path, tmp_path: Path, break_it: object, code: RefusalCode) -> None:
    folder = _local(models_dir, tmp_path)
    break_it(folder)  # type: ignore[operator]
    assert refusal("m/x", tmp_path) == code


def test_a_text_model_cannot_see(models_dir: Path, tmp_path: Path) -> None:
    folder = _local(models_dir, tmp_path)
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}))
    assert refusal("m/x", tmp_path, "ko-vqa") == RefusalCode.NO_IMAGE_INPUT


@pytest.fixture(scope="module")
def hub(models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("hub")
    for repo in ("owner/good", GATED, "owner/pickle"):
        shutil.copytree(models_dir / "tiny/extractive", root / repo)
    (root / "owner/pickle/model.safetensors").rename(root / "owner/pickle/pytorch_model.bin")
    with serve(build(root, frozenset({GATED}))) as address:
        yield address


def _submit(environment: dict[str, str], hub: str, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "submissions", "submit", *args, "--benchmark", "korquad-2"]
    return subprocess.run(
        command, cwd=ROOT, env={**environment, "HF_ENDPOINT": hub}, capture_output=True, text=True, timeout=60
    )


def test_a_hub_model_is_queued_at_its_commit(environment: dict[str, str], hub: str) -> None:
    done = _submit(environment, hub, "owner/good")
    assert done.returncode == 0, done.stderr
    key = done.stdout.split()[1]
    shown = subprocess.run(
        [sys.executable, "-m", "submissions", "show", key], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    request = json.loads(shown.stdout)
    assert request["revision"] == commit_of("owner/good")
    assert (request["params"], request["license"], request["engine"]) == (1234, "mit", "extractive")


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["owner/none"], RefusalCode.NOT_FOUND),
        ([GATED], RefusalCode.GATED),
        (["owner/pickle"], RefusalCode.NO_WEIGHTS),
        (["owner/good", "--revision", "nowhere"], RefusalCode.REVISION_NOT_FOUND),
        (["owner good"], RefusalCode.MALFORMED_ID),
    ],
)
def test_hub_models_that_are_refused(environment: dict[str, str], hub: str, args: list[str], code: RefusalCode) -> None:
    done = _submit(environment, hub, *args)
    assert done.returncode == 2
    assert REFUSALS[code].en in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_hub_out_of_reach_is_our_fault_not_the_models(environment: dict[str, str]) -> None:
    done = _submit(environment, "http://127.0.0.1:9", "owner/good")
    assert done.returncode == 2
    assert REFUSALS[RefusalCode.HUB_UNREACHABLE].en in done.stderr


def test_a_hub_model_is_fetched_and_evaluated(environment: dict[str, str], hub: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "evaluator", "run", "--model", "owner/good", "--benchmark", "korquad-2"]
    done = subprocess.run(
        [*command, "--limit", "3", "--out", str(tmp_path / "out")],
        cwd=ROOT,
        env={**environment, "HF_ENDPOINT": hub, "HF_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out/result.json").read_text())
    assert result["config"]["model_sha"] == commit_of("owner/good")
    assert result["dataset"]["n"] == 3
    fetched = {p.name for p in (Path(environment["HANNUN_WORK_DIR"]) / "models").rglob("*") if p.is_file()}
    assert "model.safetensors" in fetched and "README.md" not in fetched
