"""Test kinds of models besides plain checkpoints through the real queue, from submission to row."""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from app import main
from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Prompt
from evaluator.core.errors import EvaluationError
from evaluator.engines.load import load_engine
from evaluator.engines.options import EngineOptions
from evaluator.engines.registry import REGISTRY
from evaluator.worker.loop import Worker
from scripts.support.hub.server import serve
from submissions.checks.model_checks import check_model
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.hub_models.repository import content_revision
from submissions.queue.queue import Queue
from submissions.records.index_rows import BoardRow
from submissions.records.result import EvalResult
from submissions.store.base import Store
from submissions.store.index import board_reader
from submissions.store.open import open_private_store
from submissions.texts.refusals import RefusalCode
from tests.support.model_server import command
from tests.support.zoo import all_families
from tests.support.zoo.parts import CARD, change_json

pytestmark = pytest.mark.model
LIMIT = 3  # questions
MAX_ANSWER_TOKENS = 16


@pytest.fixture
def zoo_settings(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings that evaluate a model of the zoo in seconds, in this process and on the command line."""
    models = tmp_path / "models"
    models.mkdir()
    variables = {
        "STORE": settings.store,
        "PRIVATE_STORE": settings.private_store,
        "WORK_DIR": str(settings.work_dir),
        "MODELS_DIR": str(models),
        "LIMIT": str(LIMIT),
        "LATENCY_SAMPLES": "1",
        "MAX_REASONING_TOKENS": "24",
    }
    for name, value in variables.items():
        monkeypatch.setenv(f"HANNUN_{name}", value)
    # Models with random weights rarely stop by themselves.
    monkeypatch.setattr(BENCHMARKS["korquad-2"], "max_new_tokens", MAX_ANSWER_TOKENS)
    return Settings()


def build(settings: Settings, family: str, name: str | None = None) -> Path:
    assert settings.models_dir
    folder = settings.models_dir / "zoo" / (name or family)
    all_families()[family].build(folder)
    return folder


def evaluated(settings: Settings, store: Store) -> dict[str, tuple[BoardRow, EvalResult]]:
    """Run the queue until it is empty, and return the rows and results by request key."""
    Worker(settings).run_pending()
    for row in Queue(store).rows():
        assert row.status == "finished", (row.status, row.failure_code)
    rows, unreadable = board_reader(store).read(store.snapshot())
    assert not unreadable
    return {r.key: (r, EvalResult.model_validate_json(store.read(r.path, store.head()))) for r in rows}


def submitted(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Submit on the command line and return the request's key."""
    capsys.readouterr()
    assert main(["submit", *arguments, "--benchmark", "korquad-2"]) == 0, capsys.readouterr().err
    return capsys.readouterr().out.split()[1]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Submit on the command line and return why that is refused."""
    capsys.readouterr()
    assert main(["submit", *arguments, "--benchmark", "korquad-2"]) == 2
    return capsys.readouterr().err


@pytest.mark.slow
def test_hybrid_model_has_row_per_thinking_mode(
    zoo_settings: Settings, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    build(zoo_settings, "qwen3")
    default = submitted(capsys, "zoo/qwen3")
    assert "already been submitted" in refused(capsys, "zoo/qwen3", "--thinking", "on"), "this is the default mode"
    off = submitted(capsys, "zoo/qwen3", "--thinking", "off")
    rows = evaluated(zoo_settings, store)
    on_row, on_result = rows[default]
    off_row, off_result = rows[off]
    assert (on_row.thinking, off_row.thinking) == ("on", "off")
    assert on_row.reasoning_tokens and on_result.reasoning
    assert on_result.generation and on_result.generation.max_reasoning_tokens == 24
    assert "--thinking on" in (on_result.reproduce or "") and "--thinking off" in (off_result.reproduce or "")


@pytest.mark.slow
@pytest.mark.parametrize("family", ["qwen2_5_vl", "gemma3", "internvl", "smolvlm", "phi4_multimodal"])
def test_image_families_get_rows(
    zoo_settings: Settings, store: Store, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BENCHMARKS["ko-vqa"], "max_new_tokens", MAX_ANSWER_TOKENS)
    build(zoo_settings, family)
    assert main(["submit", f"zoo/{family}", "--benchmark", "ko-vqa"]) == 0
    ((row, result),) = evaluated(zoo_settings, store).values()
    assert (row.model, row.n, result.config.engine) == (f"zoo/{family}", LIMIT, "chat")
    assert result.generation and result.generation.decoding == "greedy"


@pytest.mark.slow
def test_reasoning_is_only_in_private_details(
    zoo_settings: Settings, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    build(zoo_settings, "gpt_oss")
    key = submitted(capsys, "zoo/gpt_oss")
    _, result = evaluated(zoo_settings, store)[key]
    details = _details(zoo_settings, key)
    assert all("<|channel|>" in raw for row in details for raw in row["raw"])
    assert not any("<|" in answer for row in details for answer in row["answers"])
    assert result.reasoning and result.reasoning.tokens_mean > 0


@pytest.mark.slow
def test_adapter_and_base_have_separate_rows(
    zoo_settings: Settings, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    base = build(zoo_settings, "qwen2")
    adapter = make_adapter(base, "zoo/qwen2", base.with_name("qwen2-lora"))
    key = submitted(capsys, "zoo/qwen2-lora")
    base_key = submitted(capsys, "zoo/qwen2")
    request = Queue(store).get(key)
    assert (request.base_model, request.base_revision) == ("zoo/qwen2", content_revision(base))
    rows = evaluated(zoo_settings, store)
    row, result = rows[key]
    assert row.base_model == "zoo/qwen2" and result.config.base_sha == content_revision(base)
    answers = {k: [row["answers"] for row in _details(zoo_settings, k)] for k in (key, base_key)}
    assert answers[key] != answers[base_key], "the adapter has an effect"
    change_json(base / "generation_config.json", top_k=7)
    again = submitted(capsys, "zoo/qwen2-lora")
    assert again != key, "another commit of the base is another request"
    assert (adapter / "adapter_model.safetensors").exists()


def _details(settings: Settings, key: str) -> list[dict[str, Any]]:
    private = open_private_store(settings)
    lines = private.read(f"details/{key[:2]}/{key}.jsonl").decode().splitlines()
    return [json.loads(line) for line in lines]


def adapted(model: Any, **config: Any) -> Any:
    """Return the model with a LoRA adapter that changes its answers."""
    made: Any = get_peft_model(model, LoraConfig(r=4, **config))
    for name, weight in made.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.5)
    return made


def answer_of(model: Path, question: str, **options: Any) -> str:
    engine = load_engine("chat", EngineOptions(model, "float32", 8, **options))
    try:
        (answer,) = engine.answer([Prompt("1", question)])
    finally:
        engine.close()
    return answer.text


def make_adapter(base: Path, base_id: str, folder: Path) -> Path:
    """Save a LoRA adapter with peft that changes the answers of its base."""
    torch.manual_seed(1)
    model = adapted(AutoModelForCausalLM.from_pretrained(base), target_modules=["q_proj", "v_proj", "down_proj"])
    model.save_pretrained(str(folder))
    change_json(folder / "adapter_config.json", base_model_name_or_path=base_id)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    return folder


def test_adapter_can_add_tokens_and_template(zoo_settings: Settings) -> None:
    base = build(zoo_settings, "llama3")
    tokenizer: Any = AutoTokenizer.from_pretrained(base)
    tokenizer.add_tokens(["예산액", "집행률"])
    tokenizer.chat_template = "{% for m in messages %}질문: {{ m.content }}\n답: {% endfor %}"
    torch.manual_seed(2)
    model: Any = AutoModelForCausalLM.from_pretrained(base)
    model.resize_token_embeddings(len(tokenizer))
    extended = adapted(model, target_modules=["q_proj"], modules_to_save=["embed_tokens", "lm_head"])
    folder = base.with_name("llama3-lora")
    extended.save_pretrained(str(folder))
    tokenizer.save_pretrained(folder)
    inputs = tokenizer("질문: 예산액은?\n답: ", return_tensors="pt", add_special_tokens=False)
    inputs.pop("token_type_ids", None)
    output = extended.eval().generate(**inputs, max_new_tokens=8, do_sample=False)
    expected = tokenizer.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True).strip()
    assert answer_of(base, "예산액은?", adapter=folder) == expected


def test_chat_engine_ignores_adapter_in_model_folder(zoo_settings: Settings) -> None:
    base = build(zoo_settings, "qwen2")
    expected = answer_of(base, "합계는?")
    adapter = make_adapter(base, "zoo/qwen2", base.with_name("qwen2-lora"))
    for path in adapter.glob("adapter_*"):
        shutil.copy(path, base)
    assert answer_of(base, "합계는?") == expected


@pytest.mark.slow
def test_quantised_model_has_method_as_precision(
    zoo_settings: Settings, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    build(zoo_settings, "llama_fp8")
    row, result = _run(zoo_settings, store, capsys, "zoo/llama_fp8")
    assert row.precision == result.config.model_dtype == "fp8"
    assert row.base_model == "zoo/llama3" and "--precision" not in (result.reproduce or "")
    capsys.readouterr()
    assert main(["check", "zoo/llama_fp8", "--benchmark", "korquad-2"]) == 2, "the model was submitted before"
    assert "Quantisation method: fp8" in capsys.readouterr().out


def _run(
    settings: Settings, store: Store, capsys: pytest.CaptureFixture[str], model: str
) -> tuple[BoardRow, EvalResult]:
    key = submitted(capsys, model)
    return evaluated(settings, store)[key]


def test_submit_rejects_unsupported_quantisation(zoo_settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    folder = build(zoo_settings, "qwen2")
    change_json(folder / "config.json", quantization_config={"quant_method": "gptq", "bits": 4})
    assert "gptq" in refused(capsys, "zoo/qwen2")


CODE = """
from transformers import LlamaConfig, LlamaForCausalLM


class CustomConfig(LlamaConfig):
    model_type = "made_up_here"


class CustomForCausalLM(LlamaForCausalLM):
    config_class = CustomConfig

    def forward(self, *args, **kwargs):
        import os
        assert "HF_TOKEN" not in os.environ
        try:
            open("/etc/passwd").read()
            raise SystemExit("the sandbox has a hole")
        except OSError:
            pass
        import socket
        try:
            socket.create_connection(("127.0.0.1", int(open("/proc/net/tcp").readlines()[1].split()[2][-4:], 16)), 1)
            raise SystemExit("the sandbox has a network")
        except (OSError, IndexError):
            pass
        return super().forward(*args, **kwargs)
"""
AUTO_MAP = {"AutoConfig": "custom.CustomConfig", "AutoModelForCausalLM": "custom.CustomForCausalLM"}


def make_custom(settings: Settings) -> Path:
    folder = build(settings, "llama3", "custom")
    (folder / "custom.py").write_text(CODE)
    names = {"model_type": "made_up_here", "architectures": ["CustomForCausalLM"], "auto_map": AUTO_MAP}
    change_json(folder / "config.json", **names)
    return folder


@pytest.mark.slow
def test_custom_code_runs_after_approval_of_commit(
    zoo_settings: Settings, store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_custom(zoo_settings)
    commit = content_revision(folder)
    assert "approve" in refused(capsys, "zoo/custom")
    assert main(["approve-code", f"zoo/custom@{commit}", "--yes"]) == 0
    output = capsys.readouterr().out
    assert "custom.py" in output and f"{len(CODE):,}" in output
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    row, result = _run(zoo_settings, store, capsys, "zoo/custom")
    assert row.custom_code and result.config.custom_code and result.environment["sandbox"] != "none"
    (folder / "custom.py").write_text(CODE + "\n# changed\n")
    assert "approve" in refused(capsys, "zoo/custom"), "another commit needs another approval"


def test_custom_code_does_not_run_after_withdrawal(
    zoo_settings: Settings, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = content_revision(make_custom(zoo_settings))
    main(["approve-code", f"zoo/custom@{commit}", "--yes"])
    key = submitted(capsys, "zoo/custom")
    assert main(["approve-code", f"Zoo/Custom@{commit}", "--undo"]) == 0, "the Hub ignores letter case"
    Worker(zoo_settings).run_pending()
    after = Queue(store).get(key)
    assert after.status == "quarantined" and after.failure and after.failure.code == "code_not_approved"


@pytest.fixture
def provider() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve a model that reasons, accepts no temperature and uses the newer name of the token limit."""
    app = FastAPI()
    seen = list[dict[str, Any]]()

    @app.post("/v1/chat/completions")
    async def complete(request: Request) -> Any:
        body = await request.json()
        for name, fault in (
            ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
            ("temperature", "Unsupported value: 'temperature' does not support 0 with this model."),
        ):
            if name in body:
                error = {"message": fault, "type": "invalid_request_error", "param": name, "code": "unsupported"}
                return JSONResponse({"error": error}, 400)
        seen.append({**body, "authorization": request.headers["authorization"]})
        message: dict[str, Any] = {
            "role": "assistant",
            "content": "12억 원",
            "reasoning_content": "표를 보면 12억 원이다.",
        }
        usage: dict[str, Any] = {"prompt_tokens": 100, "completion_tokens": 30, "total_tokens": 130}
        usage |= {"completion_tokens_details": {"reasoning_tokens": 20}}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "big-2026-11-01",
            "choices": [choice],
            "usage": usage,
        }

    with serve(app) as url:
        yield f"{url}/v1", seen


def offered(monkeypatch: pytest.MonkeyPatch, url: str, **options: Any) -> Settings:
    """Return the settings of an operator who offers the API at this address as `big`."""
    known = {"model_id": "maker/Big", "base_url": url, "model": "big", "key": "MAKER_KEY", **options}
    monkeypatch.setenv("HANNUN_APIS", json.dumps({"big": known}))
    monkeypatch.setenv("MAKER_KEY", "sk-secret")
    return Settings()


def test_api_model_is_evaluated_and_charged(
    zoo_settings: Settings,
    store: Store,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    provider: tuple[str, list[dict[str, Any]]],
) -> None:
    url, seen = provider
    settings = offered(monkeypatch, url, prices=[1.0, 10.0], max_cost=5.0, reasons=True)
    key = submitted(capsys, "--api", "big")
    row, result = evaluated(settings, store)[key]
    assert (row.model, row.kind, row.weights) == ("maker/Big", "verified", "closed")
    assert result.config.api_model == "big-2026-11-01" and result.date
    asked = len(seen)
    assert asked == LIMIT + 1, "each question once and one again for latency; no warm-up is paid for"
    assert result.cost and (result.cost.items, result.cost.prompt_tokens) == (LIMIT, 100 * LIMIT)
    assert result.cost.total == pytest.approx((100 * 1 + 30 * 10) * LIMIT / 1e6), "without the one that was asked again"
    assert result.reasoning and result.reasoning.tokens_mean == 20
    assert result.generation and result.generation.decoding == "provider"
    assert all(body["authorization"] == "Bearer sk-secret" for body in seen)
    assert all(body["max_completion_tokens"] == MAX_ANSWER_TOKENS + 24 for body in seen)
    everything = b"".join(store.read(path, store.head()) for path in store.snapshot().files)
    assert b"sk-secret" not in everything
    assert "HANNUN_APIS" in refused(capsys, "--api", "other")


@pytest.mark.slow
def test_api_efforts_have_separate_rows(
    zoo_settings: Settings,
    store: Store,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    provider: tuple[str, list[dict[str, Any]]],
) -> None:
    url, seen = provider
    settings = offered(monkeypatch, url, efforts=["low", "high"])
    plain = submitted(capsys, "--api", "big")
    low = submitted(capsys, "--api", "big", "--thinking", "low")
    assert "(low, high)" in refused(capsys, "--api", "big", "--thinking", "medium")
    assert Queue(store).get(plain).precision == "as_served"
    rows = evaluated(settings, store)
    assert {key: row.thinking for key, (row, _) in rows.items()} == {plain: None, low: "low"}
    assert {body.get("reasoning_effort") for body in seen} == {None, "low"}
    budgets = {key: result.generation.max_reasoning_tokens for key, (_, result) in rows.items() if result.generation}
    assert budgets == {plain: 0, low: 24}, "the token budgets of the requests"


@pytest.mark.slow
def test_template_efforts_have_separate_rows(
    zoo_settings: Settings, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    build(zoo_settings, "gpt_oss")
    default = submitted(capsys, "zoo/gpt_oss")
    high = submitted(capsys, "zoo/gpt_oss", "--thinking", "high")
    assert refused(capsys, "zoo/gpt_oss", "--thinking", "off")
    rows = evaluated(zoo_settings, store)
    assert (rows[default][0].thinking, rows[high][0].thinking) == ("medium", "high")


SERVE = "transformers serve {model} --device cpu --dtype {precision} --host 127.0.0.1 --port {port}"


@pytest.mark.slow
def test_worker_uses_server_and_falls_back(
    zoo_settings: Settings, store: Store, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Use a server program of this environment, then one that does not start, then one that accepts no question."""
    build(zoo_settings, "qwen2")
    key = submitted(capsys, "zoo/qwen2", "--precision", "float32")
    row, result = evaluated(zoo_settings.model_copy(update={"server": SERVE}), store)[key]
    assert (row.server, result.config.engine, row.precision) == ("transformers", "api", "float32")
    assert "server_context" not in result.environment, "the server does not reduce it"
    build(zoo_settings, "llama3")
    key = submitted(capsys, "zoo/llama3")
    broken = zoo_settings.model_copy(update={"server": f"{sys.executable} -c 'raise SystemExit(3)' {{model}} {{port}}"})
    row, result = evaluated(broken, store)[key]
    assert (row.server, result.config.engine) == (None, "chat")
    warned = next(line for line in caplog.messages if "its server failed" in line)
    assert warned.startswith(f"{key}: its server failed: python ended with code 3 before it was ready (log: ")
    assert warned.count("(log: ") == 1 and "/work/logs/" in warned, "the log in the job's folder is removed"
    build(zoo_settings, "llama3", "refused")
    key = submitted(capsys, "zoo/refused")
    refusing = zoo_settings.model_copy(update={"server": command("--rejects=?")})
    row, result = evaluated(refusing, store)[key]
    assert (row.server, result.config.engine) == (None, "chat")


def test_submit_names_unsupported_weight_format(zoo_settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    folder = build(zoo_settings, "qwen2")
    weights = folder / "model.safetensors"
    for name, word in (("pytorch_model.bin", "pickled"), ("model.gguf", "GGUF")):
        weights.rename(folder / name)
        assert word in refused(capsys, "zoo/qwen2")
        (folder / name).rename(weights)
    index = {"metadata": {}, "weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    shutil.copy(weights, folder / "model-1.safetensors")
    weights.unlink()
    assert "model-2.safetensors" in refused(capsys, "zoo/qwen2")


def test_submit_rejects_model_larger_than_device_memory(
    zoo_settings: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    build(zoo_settings, "qwen2")
    monkeypatch.setenv("HANNUN_DEVICE_MEMORY", "1000")
    assert "memory" in refused(capsys, "zoo/qwen2")


def test_chosen_precision_does_not_count_for_quantised_model(
    zoo_settings: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build(zoo_settings, "llama_fp8")
    size = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    monkeypatch.setenv("HANNUN_DEVICE_MEMORY", str(2 * size))
    submitted(capsys, "zoo/llama_fp8", "--precision", "float32")


ADAPTERS = json.loads((ROOT / "tests/cases/models/adapters.json").read_text(encoding="utf-8"))


def write_adapter(case: dict[str, Any], base: Path, folder: Path) -> Path:
    """Write the adapter of a case: its config, and weights of ones with the names that it lists."""
    pattern = case["keys"].replace(".weight", "")
    stem, *choices = re.split(r"\{([^}]*)\}", pattern)
    names = [stem]
    for listed, following in zip(choices[::2], choices[1::2], strict=True):
        names = [f"{name}{choice}{following}" for name in names for choice in listed.split(",")]
    config = AutoConfig.from_pretrained(base).get_text_config()
    width = config.hidden_size
    keys = config.hidden_size * config.num_key_value_heads // config.num_attention_heads
    rank = case["adapter_config"]["r"]
    weights = {}
    for name in names:
        output = keys if "v_proj" in name else width
        weights[f"{name}.weight"] = torch.ones(rank, width) if name.endswith("lora_A") else torch.ones(output, rank)
    folder.mkdir(parents=True)
    save_file(weights, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(
        json.dumps({**case["adapter_config"], "base_model_name_or_path": "tiny/image-text"}), encoding="utf-8"
    )
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    return folder


@pytest.mark.model
@pytest.mark.parametrize("case", ADAPTERS, ids=lambda case: case["name"])
def test_adapter_that_does_not_fit_is_no_silent_copy_of_its_base(
    case: dict[str, Any], models_dir: Path, tmp_path: Path
) -> None:
    base = models_dir / "tiny/image-text"
    folder = write_adapter(case, base, tmp_path / "adapter")
    if not case["right"].startswith("invalid_weights"):
        assert answer_of(base, "?", adapter=folder) != answer_of(base, "?")
        return
    with pytest.raises(EvaluationError, match="the adapter does not fit its base model: ") as error:
        answer_of(base, "?", adapter=folder)
    assert error.value.code == "invalid_weights"


@pytest.mark.parametrize("case", ADAPTERS, ids=lambda case: case["name"])
def test_check_compares_names_of_adapter_and_base(case: dict[str, Any], models_dir: Path, tmp_path: Path) -> None:
    """What only loading finds is not refused here: libraries rename weights."""
    models = tmp_path / "models"
    shutil.copytree(models_dir / "tiny/image-text", models / "tiny/image-text")
    write_adapter(case, models / "tiny/image-text", models / "o/adapter")
    report = check_model("o/adapter", None, models, REGISTRY, max_bytes=10**10)
    refused = {check.refusal for check in report.refusals()}
    found_early = case["name"] in ("more-layers-than-the-base", "dora-without-magnitudes")
    assert (RefusalCode.ADAPTER_NAMES in refused) == found_early, refused


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"r": 0}, RefusalCode.ADAPTER_KIND),
        ({"r": "8"}, RefusalCode.ADAPTER_KIND),
        ({"lora_A": (8, 7)}, RefusalCode.ADAPTER_NAMES),  # another width than the base's
        ({"lora_A": (4, None)}, RefusalCode.ADAPTER_NAMES),  # another rank than lora_B's
        ({"lora_A": None}, RefusalCode.ADAPTER_NAMES),  # no adapter's weights at all
    ],
)
def test_check_compares_shapes_of_adapter_and_base(
    change: dict[str, Any], refused: RefusalCode, models_dir: Path, tmp_path: Path
) -> None:
    case = next(one for one in ADAPTERS if not one["right"].startswith("invalid_weights"))
    models = tmp_path / "models"
    shutil.copytree(models_dir / "tiny/image-text", models / "tiny/image-text")
    folder = write_adapter(case, models / "tiny/image-text", models / "o/adapter")
    if "r" in change:
        settings = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
        (folder / "adapter_config.json").write_text(json.dumps({**settings, **change}), encoding="utf-8")
    else:
        weights = load_file(folder / "adapter_model.safetensors")
        save_file(_reshaped(weights, change["lora_A"]), folder / "adapter_model.safetensors")
    report = check_model("o/adapter", None, models, REGISTRY, max_bytes=10**10)
    assert refused in {check.refusal for check in report.refusals()}


@pytest.mark.parametrize(
    ("stored", "quantization"),
    [
        (torch.zeros(64, 32), None),  # GPT-2 stores its weights transposed
        (torch.zeros(1024, 1, dtype=torch.uint8), {"quant_method": "bitsandbytes", "load_in_4bit": True}),
    ],
)
def test_check_knows_how_bases_store_weights(
    stored: torch.Tensor, quantization: dict[str, Any] | None, models_dir: Path, tmp_path: Path
) -> None:
    """Give a base another layer that makes 32 values of 64, and an adapter for it."""
    base = tmp_path / "models/tiny/image-text"
    shutil.copytree(models_dir / "tiny/image-text", base)
    adapter = write_adapter(
        next(one for one in ADAPTERS if one["name"] == "control"), base, tmp_path / "models/o/adapter"
    )
    own = load_file(adapter / "adapter_model.safetensors")
    module = "base_model.model.model.language_model.layers.0.attn.c_attn"
    own |= {f"{module}.lora_A.weight": torch.ones(4, 64), f"{module}.lora_B.weight": torch.ones(32, 4)}
    save_file(own, adapter / "adapter_model.safetensors")
    weights = load_file(base / "model.safetensors")
    save_file(weights | {"layers.0.attn.c_attn.weight": stored}, base / "model.safetensors")
    if quantization:
        change_json(base / "config.json", quantization_config=quantization)
    report = check_model("o/adapter", None, tmp_path / "models", REGISTRY, max_bytes=10**10)
    assert not report.refusals()


def _reshaped(weights: dict[str, torch.Tensor], shape: tuple[int, int | None] | None) -> dict[str, torch.Tensor]:
    if shape is None:
        return {"x": torch.ones(1)}
    rank, width = shape
    return {
        name: torch.ones(rank, width or weight.shape[1]) if "lora_A" in name else weight
        for name, weight in weights.items()
    }
