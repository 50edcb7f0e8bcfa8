"""Test the model checks on local folders and, with the real client over HTTP, on the Hub double."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from huggingface_hub import constants

from app import main
from evaluator.engines.registry import REGISTRY
from scripts.support.hub.server import build, commit_of, older_commit_of, pull_request_of, serve
from scripts.support.serving import python
from submissions.checks.model_checks import KeptReports, check_model, inspect_folder, inspect_model
from submissions.checks.report import Report
from submissions.checks.submission import Submission
from submissions.checks.submit import SubmissionService
from submissions.config.settings import Settings
from submissions.hub_models.architectures import ARCHITECTURES
from submissions.hub_models.open_repository import open_repository
from submissions.hub_models.repository import Repository, content_revision
from submissions.operator.opt_out import opt_in, opt_out
from submissions.queue.queue import Queue
from submissions.queue.quota import Submitter
from submissions.store.base import Store
from submissions.texts.check_names import CHECKS, CheckName
from submissions.texts.errors import RefusedError
from submissions.texts.refusals import REFUSALS, RefusalCode
from tests.support.cli import Cli, in_process

GATED = "owner/gated"
ANYONE = Submitter("x", authenticated=False)
Break = Callable[[Path], object]


def check(model_id: str, models_dir: Path | None, store: Store, benchmark: str = "korquad-2") -> Report:
    settings = Settings(models_dir=models_dir)
    return SubmissionService(Queue(store), settings, REGISTRY).check(Submission(model_id, (benchmark,)))


def refusals(report: Report) -> dict[CheckName, RefusalCode]:
    return {c.name: c.refusal for c in report.checks if c.refusal}


MALFORMED = [
    "", " ", "bert", "a/b/c", "/a", "a/", "//", "a//b", "a/b\n", "a/b\r\n", "\na/b", "a/b ", " a/b", "a\tb/c", "a/b\0",
    "../../etc", "../etc/passwd", "a/..", "./a", ".a/b", "-a/b", "a/-b", "_a/b", "a/b;rm -rf", "a/$(id)", "a/`id`",
    "a|b/c", "a/b?x=1", "a/b#x", "a%2f..%2fb/c", "a\\b/c", "<b>/x", "<script>alert(1)</script>/x", "'or 1=1--/x",
    "{{7*7}}/x", "file:///etc/passwd", "https://example.com/a/b", "http://169.254.169.254/latest", "한글/모델",
    "ｏｗｎｅｒ/name", "оwner/name", "owner/nаme", "a/b\u202ecod", "a/b\u200b", "owner/" + "x" * 97, "x" * 97 + "/name", "١/٢",
    "a--b/c", "a/b--c", "a..b/c", "a/b..c", "a/b.git", "a/b.ipynb", "a/b.", "a./b", "a-/b", "a/b-",
]  # fmt: skip


@pytest.mark.parametrize("model_id", MALFORMED)
def test_check_rejects_malformed_id(model_id: str, models_dir: Path, store: Store) -> None:
    assert len(MALFORMED) >= 40
    report = check(model_id, models_dir, store)
    assert refusals(report) == {CheckName.ID: RefusalCode.MALFORMED_ID}
    assert all(c.skipped for c in report.checks if c.name != CheckName.ID), "a malformed name is never looked up"


def test_inspect_model_reads_local_folder(models_dir: Path) -> None:
    facts = inspect_model("tiny/extractive", None, models_dir, REGISTRY)
    known = (facts.engine, facts.takes_images, facts.model_type, facts.precision, facts.license)
    assert known == ("extractive", False, "bert", "float32", "apache-2.0")
    assert facts.params and 100_000 < facts.params < 400_000
    assert facts.context == 512
    image_text = inspect_model("tiny/image-text", None, models_dir, REGISTRY)
    assert (image_text.engine, image_text.takes_images, image_text.context) == ("chat", True, 4096)
    assert image_text.template and "message['role']" in image_text.template


def test_check_reports_every_check_with_details(models_dir: Path, store: Store) -> None:
    report = check("tiny/image-text", models_dir, store, "ko-vqa")
    assert refusals(report) == {}
    optional = {CheckName.BASE, CheckName.QUANTIZATION, CheckName.THINKING}  # adapters, quantised and hybrid models
    assert {c.name for c in report.checks} == set(CheckName) - optional and set(CheckName) == set(CHECKS)
    found = {c.name: c.detail for c in report.checks}
    assert found[CheckName.LICENSE] == "apache-2.0" and found[CheckName.CONTEXT] == "4,096"
    assert found[CheckName.ARCHITECTURE].startswith("llava, transformers ")


def test_check_reports_all_refusals_at_once(models_dir: Path, tmp_path: Path, store: Store) -> None:
    folder = _local(models_dir, tmp_path, "tiny/image-text")
    (folder / "README.md").unlink()
    (folder / "chat_template.jinja").write_text("{% for x in %}")
    _configure(folder, text_config={"max_position_embeddings": 100}, _attn_implementation_internal="evil/kernel")
    assert refusals(check("m/x", tmp_path, store, "ko-vqa")) == {
        CheckName.LICENSE: RefusalCode.NO_LICENSE,
        CheckName.CODE: RefusalCode.CODE_SETTING,
    }, "checks that depend on the configuration are skipped while it cannot be trusted"
    _configure(folder, _attn_implementation_internal=None)
    assert refusals(check("m/x", tmp_path, store, "ko-vqa")) == {
        CheckName.LICENSE: RefusalCode.NO_LICENSE,
        CheckName.TEMPLATE: RefusalCode.NO_TEMPLATE,
        CheckName.CONTEXT: RefusalCode.SHORT_CONTEXT,
    }


@pytest.mark.model
def test_architectures_file_matches_pinned_transformers() -> None:
    from scripts.make_architectures import architectures  # loads transformers

    assert json.loads(ARCHITECTURES.read_text()) == architectures(), "python -m scripts.make_architectures"


def test_content_revision_depends_on_content(models_dir: Path, tmp_path: Path) -> None:
    folder = _local(models_dir, tmp_path)
    revision = content_revision(folder)
    assert revision == content_revision(models_dir / "tiny/extractive")
    (folder / ".DS_Store").write_text("hidden files do not count")
    assert content_revision(folder) == revision
    (folder / "config.json").write_text("{}")
    assert content_revision(folder) != revision


def test_check_rejects_unsuitable_benchmark(models_dir: Path, tmp_path: Path, store: Store) -> None:
    for benchmark in ("ko-vqa", "infochartqa"):
        refused = refusals(check("tiny/extractive", models_dir, store, benchmark))
        assert refused == {CheckName.INPUTS: RefusalCode.ENGINE_INPUTS}
    folder = _local(models_dir, tmp_path)
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}))
    refused = refusals(check("m/x", tmp_path, store, "ko-vqa"))
    assert refused == {CheckName.INPUTS: RefusalCode.NO_IMAGE_INPUT}
    assert refusals(check("m/x", tmp_path, store)) == {CheckName.TEMPLATE: RefusalCode.NO_TEMPLATE}


def _local(models_dir: Path, tmp_path: Path, model: str = "tiny/extractive") -> Path:
    shutil.copytree(models_dir / model, tmp_path / "m/x")
    return tmp_path / "m/x"


def _configure(folder: Path, name: str = "config.json", **changes: object) -> None:
    """Change a configuration; None removes a key."""
    config = json.loads((folder / name).read_text()) | changes
    (folder / name).write_text(json.dumps({k: v for k, v in config.items() if v is not None}))


def _with_code(folder: Path, auto_map: dict[str, str]) -> None:
    (folder / "m.py").write_text("class M: ...")
    _configure(folder, model_type="brand_new", auto_map=auto_map)


def _weights(folder: Path, header: object, data: int = 0) -> None:
    described = header if isinstance(header, bytes) else json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(described).to_bytes(8, "little") + described + bytes(data))


def _cut(file: Path, count: int) -> None:
    """Cut bytes off a file, or add some if `count` is negative."""
    content = file.read_bytes()
    file.write_bytes(content[:-count] if count > 0 else content + bytes(-count))


def _tensor(*shape: int) -> dict[str, object]:
    return {"dtype": "F32", "shape": shape, "data_offsets": [0, 4]}


C, R = CheckName, RefusalCode


@pytest.mark.parametrize(
    ("break_it", "refused"),
    [
        (lambda f: (f / "README.md").unlink(), {C.LICENSE: R.NO_LICENSE}),
        (lambda f: (f / "README.md").write_text("---\nlicense: [\n---"), {C.LICENSE: R.NO_LICENSE}),
        (lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"), {C.WEIGHTS: R.PICKLE_ONLY}),
        (lambda f: (f / "model.safetensors").write_bytes(b""), {C.WEIGHTS: R.BROKEN_WEIGHTS}),
        (lambda f: (f / "model.safetensors").write_bytes(b"\xff" * 100), {C.WEIGHTS: R.BROKEN_WEIGHTS}),
        (lambda f: (f / "model.safetensors").write_bytes((2**40).to_bytes(8, "little")), {C.WEIGHTS: R.BROKEN_WEIGHTS}),
        (lambda f: _weights(f, []), {C.WEIGHTS: R.BROKEN_WEIGHTS}),
        (lambda f: _weights(f, {"a": 5}), {C.WEIGHTS: R.BROKEN_WEIGHTS}),
        (lambda f: _weights(f, b"[" * 50_000), {C.WEIGHTS: R.BROKEN_WEIGHTS}),
        (lambda f: _weights(f, {"a": _tensor(1) | {"data_offsets": ["0", "4"]}}, 4), {C.WEIGHTS: R.BROKEN_WEIGHTS}),
        (lambda f: _weights(f, {"a": _tensor(1) | {"data_offsets": [0, None]}}, 4), {C.WEIGHTS: R.BROKEN_WEIGHTS}),
        (lambda f: (f / "README.md").write_text("---\n1: x\nlicense: mit\n---"), {C.LICENSE: R.NO_LICENSE}),
        (lambda f: (f / "README.md").write_text(f"---\na: {'[' * 5000}\n---"), {C.LICENSE: R.NO_LICENSE}),
        (lambda f: _weights(f, {"a": _tensor(2**40, 2**40)}, 4), {C.WEIGHTS: R.BROKEN_WEIGHTS}),
        (lambda f: _weights(f, {"a": _tensor(-5, 3)}, 4), {C.WEIGHTS: R.BROKEN_WEIGHTS}),
        (lambda f: _weights(f, {f"t{n}": _tensor(0) for n in range(100_000)}), {C.WEIGHTS: R.BROKEN_WEIGHTS}),
        (lambda f: _cut(f / "model.safetensors", 10), {C.WEIGHTS: R.BROKEN_WEIGHTS}),
        (lambda f: _cut(f / "model.safetensors", -10), {C.WEIGHTS: R.BROKEN_WEIGHTS}),
        (lambda f: (f / "tokenizer.json").write_bytes(b""), {C.TOKENIZER: R.NO_TOKENIZER}),
        (lambda f: (f / "generation_config.json").write_text("{"), {C.CODE: R.BROKEN_JSON}),
        (lambda f: _configure(f, num_hidden_layers=10**9), {C.CONFIG: R.CONFIG_SIZES}),
        (lambda f: _configure(f, num_hidden_layers=10**9, hidden_size=1), {C.CONFIG: R.CONFIG_SIZES}),
        (lambda f: _configure(f, hidden_size=10**6), {C.CONFIG: R.CONFIG_SIZES}),
        (lambda f: _configure(f, intermediate_size=10**9), {C.CONFIG: R.CONFIG_SIZES}),
        (lambda f: _configure(f, vocab_size=10**9), {C.CONFIG: R.CONFIG_SIZES}),
        (lambda f: _configure(f, vision_config={"depth": 10**7, "embed_dim": 64}), {C.CONFIG: R.CONFIG_SIZES}),
        (lambda f: _configure(f, num_local_experts=10**9), {C.CONFIG: R.CONFIG_SIZES}),
        (lambda f: (f / "config.json").unlink(), {C.CONFIG: R.NO_CONFIG}),
        (lambda f: (f / "config.json").write_text("[]"), {C.CONFIG: R.NO_CONFIG}),
        (lambda f: (f / "config.json").write_text("[" * 100_000), {C.CONFIG: R.NO_CONFIG}),
        (lambda f: (f / "config.json").write_text('{"model_type": 7}'), {C.CONFIG: R.NO_CONFIG}),
        (lambda f: _configure(f, architectures="Bert"), {C.CONFIG: R.NO_CONFIG}),
        (lambda f: _configure(f, model_type="brand_new"), {C.ARCHITECTURE: R.UNSUPPORTED}),
        (lambda f: _configure(f, model_type="brand_new", auto_map={"AutoModel": "m.M"}), {C.CODE: R.CODE_SETTING}),
        (lambda f: _with_code(f, auto_map={"AutoModel": "other/model--m.M"}), {C.CODE: R.CODE_SETTING}),
        (lambda f: _with_code(f, auto_map={"AutoModel": "m.M"}), {C.CODE: R.CUSTOM_CODE}),
        (lambda f: _configure(f, vision_config={"trust_remote_code": True}), {C.CODE: R.CODE_SETTING}),
        (lambda f: _configure(f, _attn_implementation_internal="owner/kernel"), {C.CODE: R.CODE_SETTING}),
        (lambda f: _configure(f, attn_implementation="owner/kernel:f"), {C.CODE: R.CODE_SETTING}),
        (lambda f: _configure(f, attn_implementation={"vision_config": "owner/kernel"}), {C.CODE: R.CODE_SETTING}),
        (lambda f: _configure(f, text_config={"_experts_implementation": "x/y"}), {C.CODE: R.CODE_SETTING}),
        (lambda f: _configure(f, custom_pipelines={"x": {"impl": "p.P"}}), {C.CODE: R.CODE_SETTING}),
        (lambda f: _configure(f, configuration_files=["config.4.0+vocab.json"]), {C.CODE: R.CODE_SETTING}),
        (lambda f: (f / "generation_config.json").write_text(" " * 10_000_001 + "{}"), {C.CODE: R.LONG_SETTINGS}),
    ],
)  # fmt: skip
def test_check_rejects_broken_local_model(
    models_dir: Path, tmp_path: Path, store: Store, break_it: Break, refused: dict[CheckName, RefusalCode]
) -> None:
    break_it(_local(models_dir, tmp_path))
    found = refusals(check("m/x", tmp_path, store))
    assert {name: code for name, code in found.items() if name != C.CODE or name in refused} == refused
    if set(refused) & {C.WEIGHTS, C.CONFIG, C.CODE}:
        with pytest.raises(RefusedError):
            inspect_model("m/x", None, tmp_path, REGISTRY)


def test_check_accepts_config_keys_of_old_transformers(models_dir: Path, tmp_path: Path, store: Store) -> None:
    folder = _local(models_dir, tmp_path)
    _configure(
        folder,
        _name_or_path="org/x",
        _commit_hash="0",
        attn_implementation={"text_config": "sdpa"},
        _sliding_window_pattern=6,
    )
    _configure(folder, _pad_token_id=0, _valid_processor_keys=["a"], scale={"__float__": "Infinity"})
    assert refusals(check("m/x", tmp_path, store)) == {}


def test_check_ignores_auto_map_of_known_architecture(models_dir: Path, tmp_path: Path, store: Store) -> None:
    folder = _local(models_dir, tmp_path)
    (folder / "modeling_bert.py").write_text("raise SystemExit('this must not run')")
    _configure(folder, auto_map={"AutoModelForQuestionAnswering": "modeling_bert.Bert"})
    _configure(folder, "tokenizer_config.json", auto_map={"AutoTokenizer": ["t.T", None]})
    assert refusals(check("m/x", tmp_path, store)) == {}
    assert not inspect_model("m/x", None, tmp_path, REGISTRY).custom_code


PRINTS = "{% for m in messages %}<user>{{ m.content }}{% endfor %}"


IMAGE_ONLY = "{% for p in messages[0].content %}{{ '<image>' if p.type == 'image' }}{% endfor %}"


@pytest.mark.parametrize(
    ("file", "content", "refused"),
    [
        ("chat_template.jinja", PRINTS, {C.TEMPLATE: R.TEMPLATE_DROPS_IMAGE}),  # prints the Python list
        (
            "chat_template.jinja",
            "{% for p in messages[0].content %}{{ p.text }}{% endfor %}",
            {C.TEMPLATE: R.TEMPLATE_DROPS_IMAGE},
        ),
        ("chat_template.jinja", IMAGE_ONLY, {C.TEMPLATE: R.TEMPLATE_DROPS_QUESTION}),
        ("chat_template.jinja", "{{ raise_exception('only tools') }}", {C.TEMPLATE: R.TEMPLATE_FAILS}),
        ("processor_config.json", None, {C.TOKENIZER: R.NO_PROCESSOR}),
        ("tokenizer.json", None, {C.TOKENIZER: R.NO_TOKENIZER}),
    ],
)
def test_check_rejects_broken_image_model(
    models_dir: Path,
    tmp_path: Path,
    store: Store,
    file: str,
    content: str | None,
    refused: dict[CheckName, RefusalCode],
) -> None:
    path = _local(models_dir, tmp_path, "tiny/image-text") / file
    path.unlink() if content is None else path.write_text(content)
    assert refusals(check("m/x", tmp_path, store, "ko-vqa")) == refused


@pytest.mark.parametrize("before", ["", "\n", " ", "Prompt: "])
def test_check_warns_of_text_before_first_token(models_dir: Path, tmp_path: Path, store: Store, before: str) -> None:
    folder = _local(models_dir, tmp_path, "tiny/image-text")
    _configure(folder, "tokenizer_config.json", bos_token="<|begin|>")
    template = (folder / "chat_template.jinja").read_text(encoding="utf-8")
    start = f"{{{{ {before!r} }}}}" if before else ""
    (folder / "chat_template.jinja").write_text(start + "{{ bos_token }}" + template, encoding="utf-8")
    report = check("m/x", tmp_path, store, "ko-vqa")
    assert refusals(report) == {}
    (detail,) = (one.detail for one in report.checks if one.name == C.TEMPLATE)
    assert detail == (f"warning: it writes {before!r} before the first token" if before else "")


@pytest.mark.parametrize("licence", ["[apache-2.0, mit]", "[apache-2.0]"])
def test_check_accepts_licence_list(models_dir: Path, tmp_path: Path, store: Store, licence: str) -> None:
    (_local(models_dir, tmp_path) / "README.md").write_text(f"---\nlicense: {licence}\n---\n")
    report = check("m/x", tmp_path, store)
    assert refusals(report) == {}
    assert next(c.detail for c in report.checks if c.name == C.LICENSE) == licence[1:-1]


@pytest.mark.parametrize(
    "name", ["Qwen3ForSequenceClassification", "Qwen3ForTokenClassification", "Qwen3Model", "Qwen3ForRewardModeling"]
)
def test_check_rejects_model_without_generation(models_dir: Path, tmp_path: Path, store: Store, name: str) -> None:
    """Check reward, classifier and embedding models, which would load and be scored if embeddings are tied."""
    folder = _local(models_dir, tmp_path)
    _configure(folder, model_type="qwen3", architectures=[name])
    assert refusals(check("m/x", tmp_path, store))[C.ARCHITECTURE] == R.NOT_CHAT
    _configure(folder, architectures=["Qwen3ForCausalLM"])
    assert C.ARCHITECTURE not in refusals(check("m/x", tmp_path, store))


def test_inspect_model_text_model_listed_with_image_models(models_dir: Path, tmp_path: Path, store: Store) -> None:
    folder = _local(models_dir, tmp_path)
    _configure(folder, model_type="mistral4", architectures=["Mistral4ForCausalLM"])
    (folder / "chat_template.jinja").write_text("{{ messages[0].content }}")
    assert refusals(check("m/x", tmp_path, store)) == {}
    assert not inspect_model("m/x", None, tmp_path, REGISTRY).takes_images


def test_check_model_rejects_too_many_bytes_or_files(models_dir: Path, tmp_path: Path) -> None:
    folder = _local(models_dir, tmp_path)
    (folder / "pytorch_model.bin").write_bytes(bytes(10**6))
    fetched = sum(p.stat().st_size for p in folder.iterdir() if p.suffix in (".safetensors", ".json"))
    assert refusals(check_model("m/x", None, tmp_path, REGISTRY, max_bytes=fetched)) == {}, (
        "files that are not fetched do not count"
    )
    assert refusals(check_model("m/x", None, tmp_path, REGISTRY, max_bytes=fetched - 1)) == {C.SIZE: R.TOO_LARGE}
    (folder / "pieces").mkdir()
    for n in range(1000):
        (folder / f"pieces/{n}.txt").touch()
    assert refusals(check_model("m/x", None, tmp_path, REGISTRY, max_bytes=10**12)) == {C.SIZE: R.TOO_LARGE}


def test_check_rejects_link_outside_folder(models_dir: Path, tmp_path: Path, store: Store) -> None:
    folder = _local(models_dir, tmp_path)
    (folder / "extra.json").symlink_to("config.json")
    assert refusals(check("m/x", tmp_path, store)) == {}, "a link inside the folder is allowed"
    for name, target in (("a.json", "b.json"), ("b.json", "a.json")):
        (folder / name).symlink_to(target)
    assert refusals(check("m/x", tmp_path, store)) == {C.PUBLIC: R.OUTSIDE_LINK}, "links that form a loop are refused"
    for name in ("a.json", "b.json"):
        (folder / name).unlink()
    (folder / "merges.txt").symlink_to("/etc/passwd")
    assert refusals(check("m/x", tmp_path, store)) == {C.PUBLIC: R.OUTSIDE_LINK}
    with pytest.raises(RefusedError, match=r"merges\.txt"):
        inspect_folder("m/x", folder, REGISTRY)


def _adapter(base: Path, **changes: object) -> Path:
    """Make an adapter `m/adapter` of the model `m/x`."""
    folder = base.with_name("adapter")
    folder.mkdir(exist_ok=True)
    known = {"peft_type": "LORA", "base_model_name_or_path": "m/x", "r": 8, "init_lora_weights": "pissa"}
    (folder / "adapter_config.json").write_text(json.dumps(known | changes))
    shutil.copy(base / "model.safetensors", folder / "adapter_model.safetensors")
    return folder


@pytest.mark.parametrize(
    ("name", "auto_map", "passes"),
    [
        ("tokenizer_config.json", {"AutoTokenizer": ["t.T", None]}, False),
        ("processor_config.json", {"AutoProcessor": "other/model--p.P"}, False),
        ("tokenizer_config.json", {}, True),
    ],
)
def test_check_model_adapter_does_not_inherit_code_approval(
    models_dir: Path, tmp_path: Path, name: str, auto_map: dict[str, object], passes: bool
) -> None:
    base = _local(models_dir, tmp_path)
    _with_code(base, auto_map={"AutoModel": "m.M"})
    (_adapter(base) / name).write_text(json.dumps({"auto_map": auto_map} if auto_map else {}))
    report = check_model("m/adapter", None, tmp_path, REGISTRY, max_bytes=10**9, is_approved=lambda *_: True)
    assert refusals(report).get(C.CODE) == (None if passes else R.CODE_SETTING)


@pytest.mark.parametrize(
    "settings", [{"init_lora_weights": "pissa_niter_100000000"}, {"r": 10**9}, {"rank_pattern": {"q_proj": 10**9}}]
)
def test_check_model_rejects_expensive_adapter_settings(
    models_dir: Path, tmp_path: Path, settings: dict[str, object]
) -> None:
    base = _local(models_dir, tmp_path)
    for changes, refused in (({}, None), (settings, R.ADAPTER_KIND)):
        _adapter(base, **changes)
        report = check_model("m/adapter", None, tmp_path, REGISTRY, max_bytes=10**9)
        assert refusals(report).get(C.BASE) == refused


def test_inspect_folder_rejects_shard_outside_repository(models_dir: Path, tmp_path: Path) -> None:
    folder = _local(models_dir, tmp_path)
    (folder / "model.safetensors").rename(folder / "model-1.safetensors")
    index = {"weight_map": {"a": "model-1.safetensors", "b": "../../../etc/passwd", "c": "http://127.0.0.1/x"}}
    for content, code, detail in ((index, R.MISSING_SHARD, "etc/passwd"), ({"weight_map": [1]}, R.NO_WEIGHTS, "")):
        (folder / "model.safetensors.index.json").write_text(json.dumps(content))
        with pytest.raises(RefusedError) as error:
            inspect_folder("m/x", folder, REGISTRY)
        assert error.value.code == code and detail in error.value.detail
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "model-1.safetensors"}}')
    assert (inspect_folder("m/x", folder, REGISTRY).params or 0) > 100_000


def test_check_rejects_duplicate_submission(models_dir: Path, settings: Settings, store: Store) -> None:
    service = SubmissionService(Queue(store), settings, REGISTRY)
    asked = Submission("tiny/extractive", ("korquad-2",))
    (outcome,), _ = service.submit(asked, ANYONE)
    report = service.check(asked)
    assert refusals(report) == {C.NEW: R.SUBMITTED}
    assert next(c.detail for c in report.checks if c.name == C.NEW) == f"pending, {str(outcome.key)[:8]}"


def test_check_rejects_opted_out_model(models_dir: Path, settings: Settings, store: Store) -> None:
    queue = Queue(store)
    service = SubmissionService(queue, settings, REGISTRY)
    asked = Submission("tiny/extractive", ("korquad-2",))
    (outcome,), _ = service.submit(asked, ANYONE)
    now = datetime.now(UTC)
    assert opt_out(queue, "Tiny", now) == [outcome.key] and queue.rows() == []
    refused = next(c for c in service.check(asked).checks if c.refusal)
    assert (refused.name, refused.refusal, refused.detail) == (C.OPT_OUT, R.OPTED_OUT, "tiny")
    opt_in(queue, "tiny")
    opt_out(queue, "tiny/image-text", now)
    assert refusals(service.check(asked)) == {}
    assert refusals(service.check(Submission("tiny/image-text", ("ko-vqa",)))) == {C.OPT_OUT: R.OPTED_OUT}


@pytest.fixture(scope="module")
def hub(models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("hub")
    for repo in ("owner/good", GATED, "owner/pickle", "owner/shards"):
        shutil.copytree(models_dir / "tiny/extractive", root / repo)
    (root / "owner/pickle/model.safetensors").rename(root / "owner/pickle/pytorch_model.bin")
    shards = [f"model-{n:05}-of-00016.safetensors" for n in range(1, 17)]
    (root / "owner/shards/model.safetensors").unlink()
    for name in shards:
        with (root / "owner/shards" / name).open("wb") as file:
            file.write((22_000_000).to_bytes(8, "little"))
            file.truncate(22_000_008)
    index = {"weight_map": {str(n): name for n, name in enumerate(shards)}}
    (root / "owner/shards/model.safetensors.index.json").write_text(json.dumps(index))
    with serve(build(root, frozenset({GATED}))) as address:
        yield address


ON = ("--benchmark", "korquad-2")


def use_hub(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point huggingface_hub at `address`, because it has already read HF_ENDPOINT."""
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.removeprefix(constants.ENDPOINT)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", f"{address}{template}")
    monkeypatch.setattr(constants, "ENDPOINT", address)


@pytest.fixture
def cli(
    environment: dict[str, str], hub: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Cli:
    use_hub(hub, monkeypatch)
    return in_process(environment, monkeypatch, capsys, main)


def test_submit_folder_accepts_only_main_revision(cli: Cli) -> None:
    refused = cli("submit", "tiny/extractive", "--revision", "nonsense", *ON)
    assert refused.returncode == 2 and REFUSALS[RefusalCode.REVISION_NOT_FOUND].en in refused.stderr
    assert cli("submit", "tiny/extractive", "--revision", "main", *ON).returncode == 0


@pytest.mark.parametrize("revision", ["main", "v1", commit_of("owner/good"), older_commit_of("owner/good")])
def test_submit_resolves_revision(cli: Cli, revision: str) -> None:
    done = cli("submit", "owner/good", "--revision", revision, *ON)
    assert done.returncode == 0, done.stderr
    request = json.loads(cli("show", done.stdout.split()[1]).stdout)
    older = revision in ("v1", older_commit_of("owner/good"))
    assert request["revision"] == (older_commit_of if older else commit_of)("owner/good")
    assert (request["license"], request["engine"]) == ("apache-2.0", "extractive")
    assert 100_000 < request["params"] < 400_000, "parameters are counted from the header, not read from the card"


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["owner/none"], RefusalCode.NOT_FOUND),
        ([GATED], RefusalCode.GATED),
        (["owner/pickle"], RefusalCode.PICKLE_ONLY),
        (["owner/good", "--revision", "nowhere"], RefusalCode.REVISION_NOT_FOUND),
        (["owner/good", "--revision", "refs/pr/1"], RefusalCode.REVISION_NOT_FOUND),
        (["owner/good", "--revision", pull_request_of("owner/good")], RefusalCode.REVISION_NOT_FOUND),
        (["owner/shards"], RefusalCode.BROKEN_WEIGHTS),
        (["owner good"], RefusalCode.MALFORMED_ID),
    ],
)
def test_submit_rejects_hub_model(cli: Cli, args: list[str], code: RefusalCode) -> None:
    done = cli("submit", *args, *ON)
    assert done.returncode == 2
    assert REFUSALS[code].en in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_check_command_prints_checks(cli: Cli) -> None:
    done = cli("check", "owner/good", *ON)
    assert done.returncode == 0, done.stderr
    assert "✓ Licence: apache-2.0" in done.stdout and "✓ Context length [korquad-2]: 512" in done.stdout
    done = cli("check", "owner/pickle", *ON)
    assert done.returncode == 2 and f"✗ safetensors weights\n    {REFUSALS[R.PICKLE_ONLY].en}" in done.stdout
    assert cli("list").stdout == "", "nothing was queued"


def test_submit_reports_unreachable_hub(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    use_hub("http://127.0.0.1:9", monkeypatch)
    done = cli("submit", "owner/good", *ON)
    assert done.returncode == 2
    assert REFUSALS[RefusalCode.HUB_UNREACHABLE].en in done.stderr


@pytest.mark.slow
@pytest.mark.integration
def test_run_command_evaluates_hub_model(environment: dict[str, str], hub: str, tmp_path: Path) -> None:
    command = ["-m", "tests.support.cli", "evaluator.engines.dummy:DummyEngine", "run", "--model", "owner/good"]
    command += ["--benchmark", "korquad-2", "--limit", "3", "--out", str(tmp_path / "out")]
    done = python(*command, environment=environment | {"HF_ENDPOINT": hub, "HF_HOME": str(tmp_path / "cache")})
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out/result.json").read_text())
    assert result["config"]["model_sha"] == commit_of("owner/good")
    assert result["dataset"]["n"] == 3
    fetched = {p.name for p in (Path(environment["HANNUN_WORK_DIR"]) / "models").rglob("*") if p.is_file()}
    assert "model.safetensors" in fetched and "README.md" not in fetched


def test_reports_are_kept_by_revision(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(repository: Repository, *_: object, **__: object) -> Report:
        made.append(repository.revision)
        return Report(repository.model_id, None, ())

    monkeypatch.setattr("submissions.checks.model_checks.check_repository", counted)
    kept = KeptReports()
    for model in ("tiny/image-text", "tiny/image-text", "tiny/extractive", "tiny/image-text"):
        report = check_model(model, None, models_dir, REGISTRY, max_bytes=10**9, kept=kept)
        assert report.model_id == model
    assert len(made) == 2
    monkeypatch.setattr("submissions.checks.model_checks.MAX_REPORTS", 2)
    for is_approved in (lambda *_: True, lambda *_: False):
        check_model("tiny/image-text", None, models_dir, REGISTRY, max_bytes=10**9, is_approved=is_approved, kept=kept)
    assert len(made) == 3, "approved code is checked again"


def test_report_of_adapter_is_made_again_if_the_code_of_its_base_is_approved(models_dir: Path) -> None:
    repository = open_repository("tiny/image-text", None, models_dir)
    adapter = replace(repository, model_id="o/adapter", base=replace(repository, model_id="o/base"))
    made: list[bool] = []
    kept = KeptReports()
    approved_models: set[str] = set()

    def check() -> Report:
        made.append(bool(approved_models))
        return Report("o/adapter", None, ())

    for approved in (set(), {"o/base"}, set(), {"o/base"}):
        approved_models.clear()
        approved_models.update(approved)
        kept.get_or_make(adapter, lambda model_id, _: model_id in approved_models, check)
    assert made == [False, True]
