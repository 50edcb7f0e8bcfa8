"""Test the API engine on servers that it starts itself: what they leave out of answers, refuse, or fail at."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import transformers
from PIL import Image

from evaluator.core.data_types import PAGE, Answer, Prompt
from evaluator.core.errors import EvaluationError
from evaluator.engines.load import load_engine
from evaluator.engines.options import EngineOptions
from scripts.support.serving import python
from submissions.config.api_options import ApiOptions
from submissions.config.server_command import filled_words, server_name
from submissions.records.result import EvalResult
from tests.support.cli import in_process
from tests.support.model_server import command
from tests.support.slow import only_first
from tests.support.zoo.tokenizer_parts import byte_level

CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
REPLY = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
REASONS = "{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}"
PLAIN = CHATML + REPLY
HYBRID = CHATML.replace("{{ m.content }}", REASONS + "{{ m.content }}") + REPLY
OPENED = HYBRID.replace("assistant\n{% endif %}", "assistant\n<think>{% endif %}")
QUESTION = Prompt("1", "합계는 얼마입니까?")


@pytest.fixture(autouse=True)
def _few_quick_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.engines.api.ATTEMPTS", 3)
    monkeypatch.setattr("evaluator.engines.api.LONGEST_WAIT", 0.01)


def model_with(folder: Path, template: str, context: int = 16_384, *, tags: str = "special") -> Path:
    """Make a folder with everything but weights. The tags of reasoning are special tokens, plain ones, or unknown."""
    special = ["<|im_start|>", "<|im_end|>", "<|box_start|>", "<|box_end|>"]
    known = ["<think>", "</think>"]
    tokenizer = byte_level(
        [*special, *(known if tags == "special" else [])],
        known if tags == "plain" else [],
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
    )
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    config = transformers.AutoConfig.for_model("qwen2", max_position_embeddings=context, vocab_size=len(tokenizer))
    config.save_pretrained(folder)
    return folder


def ask(folder: Path, prompts: list[Prompt], server: str, *, timeout: float = 60.0, **options: Any) -> list[Answer]:
    api = ApiOptions(spawn=server, timeout=timeout)
    engine = load_engine("api", EngineOptions(folder, "float32", 32, api=api, **options))
    try:
        return list(engine.answer(prompts))
    finally:
        engine.close()


THOUGHT = "<think>7 × 6</think><|box_start|>42<|box_end|><|im_end|>"
MODELS: dict[str, tuple[str, str, dict[str, tuple[str, str | None]]]] = {
    # template, tags, and for each output its answer and its reasoning
    "special tags": (HYBRID, "special", {THOUGHT: ("42", "7 × 6"), "42<|im_end|>": ("42", None)}),
    "plain tags": (HYBRID, "plain", {THOUGHT: ("42", "7 × 6"), "42<|im_end|>": ("42", None)}),
    "opened": (OPENED, "special", {"7 × 6</think>42<|im_end|>": ("42", "7 × 6")}),
    "no tags": (
        PLAIN,
        "unknown",
        {
            "42<|im_end|>": ("42", None),
            "<|box_start|>42<|box_end|><|im_end|>": ("42", None),
            "한국어로 길게<|im_end|>": ("한국어로 길게", None),
        },
    ),
}


@pytest.mark.integration
@pytest.mark.parametrize("server", [(), ("--no-ids",), ("--strict",), ("--parser",)])
@pytest.mark.parametrize("model", only_first(MODELS))
def test_answer_does_not_depend_on_server(model: str, server: tuple[str, ...], tmp_path: Path) -> None:
    template, tags, outputs = MODELS[model]
    if server == ("--strict",) and tags == "special":
        with pytest.raises(EvaluationError, match="leaves out the tags of reasoning") as error:
            ask(model_with(tmp_path, template, tags=tags), [Prompt(THOUGHT, THOUGHT)], command(*server))
        assert error.value.code == "server_failed", "the built-in engine can tell reasoning and answer apart"
        return
    prompts = [Prompt(output, output) for output in outputs]
    given = {answer.id: answer for answer in ask(model_with(tmp_path, template, tags=tags), prompts, command(*server))}
    for output, (answer, reasoning) in outputs.items():
        assert (given[output].text, given[output].status) == (answer, "ok")
        assert (given[output].reasoning_tokens is None) == (reasoning is None)
        assert given[output].raw is None if reasoning is None else reasoning in (given[output].raw or "")


@pytest.mark.slow
@pytest.mark.integration
def test_answer_is_reasoning_field_of_model_without_reasoning(tmp_path: Path) -> None:
    server = command("--says=42<|im_end|>", "--parser", "--no-ids")
    (given,) = ask(model_with(tmp_path, PLAIN, tags="unknown"), [QUESTION], server)
    assert (given.text, given.raw, given.reasoning_tokens) == ("42", None, None)


@pytest.mark.integration
@pytest.mark.parametrize("options", only_first([(), ("--no-ids",), ("--strict",)]))
def test_answer_ends_where_template_ends_it(options: tuple[str, ...], tmp_path: Path) -> None:
    """The server itself runs on, because no config names the end of a turn."""
    server = command("--says=42<|im_end|>43<|box_end|>", "--end=<|box_end|>", *options)
    (given,) = ask(model_with(tmp_path, PLAIN, tags="unknown"), [QUESTION], server)
    assert given.text == ("4243" if options == ("--strict",) else "42")


@pytest.mark.integration
@pytest.mark.parametrize(("own", "served"), [(4096, 4096), (16_384, 4096), (4096, None)])
def test_page_is_fitted_to_context(own: int, served: int | None, tmp_path: Path) -> None:
    page = "".join(f"<p>{n}번째 문단에는 {n * 37}개의 돌이 있다.</p>" for n in range(300))
    prompt = Prompt("1", f"{PAGE}\n질문?", question="142번째 문단에는 몇 개의 돌이 있는가?", page=page)
    options = [f"--context={served or 4096}"] if served else []
    (given,) = ask(model_with(tmp_path, HYBRID, own), [prompt], command(f"--says={THOUGHT}", *options))
    assert (given.text, given.status) == ("42", "ok"), "the budget of 8,192 tokens for reasoning is capped, too"
    assert given.windows and given.prompt_tokens and 1024 < given.prompt_tokens < 4096


@pytest.mark.integration
def test_spawned_server_that_refuses_question_has_failed(tmp_path: Path) -> None:
    """Then the built-in engine takes over, and the model is not blamed for the server's limits."""
    model = model_with(tmp_path, PLAIN, tags="unknown")
    long = Prompt("1", "긴 질문 " * 400)
    with pytest.raises(EvaluationError, match="maximum context length is 512") as error:
        ask(model, [long], command("--says=42<|im_end|>", "--context=512"))
    assert error.value.code == "server_failed"


@pytest.mark.integration
@pytest.mark.parametrize("status", only_first([400, 500]))
def test_spawned_server_that_refuses_images_has_failed(status: int, models_dir: Path, tmp_path: Path) -> None:
    Image.new("RGB", (32, 32), "red").save(tmp_path / "1.png")
    prompts = [Prompt(f"text {n}", "?") for n in range(3)]
    prompts += [Prompt(str(n), "?", (tmp_path / "1.png",)) for n in range(40)]
    with pytest.raises(EvaluationError, match="image input is not supported") as error:
        ask(
            models_dir / "tiny/image-text",
            prompts,
            command("--says=가<|end|>", "--end=<|end|>", f"--image-status={status}"),
        )
    assert error.value.code == "server_failed"


@pytest.mark.integration
def test_spawned_server_that_ends_is_not_asked_further(tmp_path: Path) -> None:
    prompts = [Prompt(str(n), f"질문 {n}") for n in range(200)]
    with pytest.raises(EvaluationError, match="ended with code 9 while it was asked") as error:
        ask(model_with(tmp_path, PLAIN), prompts, command("--says=42<|im_end|>", "--ends-after=20"), batch_size=2)
    assert error.value.code == "server_failed"


@pytest.mark.integration
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("--fails-after=20", "500: EngineCore died"),
        pytest.param("--hangs-after=20", "answers no question", marks=pytest.mark.slow),
    ],
)
def test_half_dead_server_is_not_asked_further(fault: str, message: str, tmp_path: Path) -> None:
    """It has answered some questions, and accepts connections for ever."""
    prompts = [Prompt(str(n), f"질문 {n}") for n in range(200)]
    with pytest.raises(EvaluationError, match=message) as error:
        ask(model_with(tmp_path, PLAIN), prompts, command("--says=42<|im_end|>", fault), timeout=1.0)
    assert error.value.code == "server_failed"


@pytest.mark.slow
@pytest.mark.integration
def test_server_without_choices_has_failed(tmp_path: Path) -> None:
    """Only a provider's filter blocks questions, so this is no refusal of the model."""
    with pytest.raises(EvaluationError, match="no choices") as error:
        ask(model_with(tmp_path, PLAIN), [QUESTION], command("--no-choices"))
    assert error.value.code == "server_failed"


@pytest.mark.slow
@pytest.mark.integration
def test_version_that_never_ends_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("evaluator.engines.server.REQUEST_SECONDS", 0.5)
    (given,) = ask(model_with(tmp_path, PLAIN), [QUESTION], command("--says=42<|im_end|>", "--drips"))
    assert given.text == "42"


def test_command_keeps_braces_of_json(tmp_path: Path) -> None:
    limits = '{"image": 4, "video": {}}'
    words = filled_words(
        f"serve {{model}} --port={{port}} --limit '{limits}'", model=tmp_path, port=80, precision="auto"
    )
    assert words == ["serve", str(tmp_path), "--port=80", "--limit", limits]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("vllm serve {model} --port {port}", "vllm"),
        ("/opt/v/bin/python3.11 -m sglang.launch_server --model-path {model} --port {port}", "sglang"),
        ("env A=b python -m vllm.entrypoints.openai.api_server {model} {port}", "vllm"),
        ("llama-server -m {model} --port {port}", "llama-server"),
        ("python3 -u -m sglang.launch_server {model} {port}", "sglang"),
        ("python3 /opt/serve.py -m {model} --port {port}", "python3"),
        ("python3 -X dev -W ignore -m sglang.launch_server {model} {port}", "sglang"),
        ("python3 -um sglang.launch_server {model} {port}", "sglang"),
        ("python3 -msglang.launch_server {model} {port}", "sglang"),
        ("env -u python python -m sglang.launch_server {model} {port}", "sglang"),
        ("env -u A --chdir /tmp B=c vllm serve {model} --port {port}", "vllm"),
    ],
)
def test_server_name(text: str, name: str) -> None:
    assert server_name(text) == name


@pytest.mark.slow
@pytest.mark.integration
def test_run_asks_again_what_another_build_of_server_answered(
    environment: dict[str, str], models_dir: Path, tmp_path: Path
) -> None:
    """The cache has all answers of the first build, then those of the second one, too."""
    run = ["-m", "evaluator", "run", "--model", str(models_dir / "tiny/image-text"), "--benchmark", "ko-vdc"]
    run += ["--limit", "2", "--latency-samples", "1", "--sandbox", "none"]
    program = tmp_path / "server"

    def answers_of(version: str) -> tuple[list[str], int, dict[str, Any]]:
        """Upgrade the server behind the same command. Return what it answered, how often it was asked, and what is recorded of it."""
        asked = tmp_path / f"asked-{version}"
        says = f"--says={'나' if version == '2.0' else '가'}<|end|>"
        upgraded = command(says, "--end=<|end|>", f"--version={version}", f"--counts={asked}", "--context=512")
        arguments = [word for word in shlex.split(upgraded) if word not in ("{model}", "{port}")]
        program.write_text(f'#!/bin/sh\nexec {shlex.join(arguments)} "$@"\n')
        program.chmod(0o755)
        out = tmp_path / "out"
        done = python(*run, "--out", str(out), "--spawn", f"{program} {{model}} {{port}}", environment=environment)
        assert done.returncode == 0, done.stderr
        details = (out / "details.jsonl").read_text().splitlines()
        result = EvalResult.model_validate_json((out / "result.json").read_bytes())
        texts = [answer for line in details for answer in json.loads(line)["answers"]]
        return texts, int(asked.read_text()), result.environment

    first, asked_first, _ = answers_of("1.0")
    second, asked_second, recorded = answers_of("2.0")
    assert set(first) == {"가"} and set(second) == {"나"} and recorded["server_version"] == "2.0"
    assert recorded["server_context"] == "512", "the server reduces it"
    assert asked_second == asked_first
    third, asked_third, _ = answers_of("2.0")
    assert third == second and asked_third < asked_second


@pytest.mark.slow
@pytest.mark.integration
def test_run_logs_messages_of_server(environment: dict[str, str], models_dir: Path, tmp_path: Path) -> None:
    run = ["-m", "evaluator", "run", "--model", str(models_dir / "tiny/image-text"), "--benchmark", "ko-vdc"]
    run += ["--limit", "2", "--latency-samples", "1", "--out", str(tmp_path / "out"), "--sandbox", "none"]
    refusing = command("--says=가<|end|>", "--end=<|end|>", "--image-status=418")
    failed = python(*run, "--spawn", refusing, environment=environment)
    log = tmp_path / "out/job/inference.log"
    assert failed.returncode == 1 and "418: " in failed.stderr and str(log) in failed.stderr
    assert log.read_text().count("server: 418: ") == 1, "each message once"


@pytest.mark.parametrize(
    "text",
    [
        "CUDA_VISIBLE_DEVICES=1 vllm serve {model}",
        "vllm serve {modle}",
        "vllm serve {model}",
        'vllm serve {model} {port} {"a"}',  # which is {a} without its quotes
        " ",
        "a 'b",
    ],
)
def test_malformed_server_command_is_refused(
    text: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        in_process(environment, monkeypatch, capsys)("parity", "tiny/one", "--spawn", text)
    as_option = capsys.readouterr().err
    assert stopped.value.code == 2 and "--spawn" in as_option
    settings = {**environment, "HANNUN_SERVER": text}
    as_setting = in_process(settings, monkeypatch, capsys)("worker", "--once")
    assert as_setting.returncode == 2 and "setting HANNUN_SERVER: " in as_setting.stderr, as_setting.stderr
    assert "Traceback" not in as_option + as_setting.stderr


@pytest.mark.slow
def test_server_command_may_begin_with_env(tmp_path: Path) -> None:
    server = command("--says=42<|im_end|>")
    (given,) = ask(model_with(tmp_path, PLAIN), [QUESTION], f"env NAME=value {server}")
    assert given.text == "42"
    assert json.loads((tmp_path / "config.json").read_text())["model_type"] == "qwen2"


@pytest.mark.integration
@pytest.mark.parametrize(
    "ids", only_first(["[-1]", "[1e400]", "[null]", "[99999999999999999999]", '["a"]', "[]", "[5000]"])
)
def test_ids_that_no_vocabulary_has_are_ignored(ids: str, tmp_path: Path) -> None:
    server = command("--says=42<|im_end|>", f"--ids={ids}")
    (given,) = ask(model_with(tmp_path, PLAIN, tags="unknown"), [QUESTION], server)
    assert (given.text, given.status) == ("42", "ok")


@pytest.mark.slow
@pytest.mark.integration
def test_one_rejected_question_does_not_change_later_requests(tmp_path: Path) -> None:
    """The complaint repeats the whole request, with the names of all of its fields."""
    prompts = [Prompt("good", "42<|im_end|>"), Prompt("bad", "rejected")]
    with pytest.raises(EvaluationError, match="rejected") as error:
        ask(model_with(tmp_path, PLAIN, tags="unknown"), prompts, command("--rejects=rejected"), batch_size=1)
    assert error.value.code == "server_failed"


@pytest.mark.integration
def test_server_with_tiny_context_has_failed(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="only 64 tokens") as error:
        ask(model_with(tmp_path, PLAIN), [QUESTION], command("--context=64"))
    assert error.value.code == "server_failed"


@pytest.mark.slow
@pytest.mark.integration
def test_server_that_hides_tags_has_failed(tmp_path: Path) -> None:
    """It ignores what it is asked for, so the text of reasoning and answer is one."""
    prompts = [Prompt(str(n), THOUGHT) for n in range(20)]
    with pytest.raises(EvaluationError, match="leaves out the tags of reasoning") as error:
        ask(model_with(tmp_path, HYBRID), prompts, command("--no-ids", "--hides-special-tokens"))
    assert error.value.code == "server_failed"
