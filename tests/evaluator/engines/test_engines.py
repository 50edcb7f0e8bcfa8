"""Test the engines on tiny real models, against plain code without batches and the prompts of transformers."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from tokenizers.processors import TemplateProcessing
from transformers import AutoModelForQuestionAnswering, AutoProcessor, AutoTokenizer

from evaluator.core.data_types import PAGE, Prompt
from evaluator.core.errors import EvaluationError
from evaluator.engines.chat_inputs import ChatInputs
from evaluator.engines.load import load_engine
from evaluator.engines.loading import from_pretrained, placement
from evaluator.engines.options import EngineOptions
from evaluator.engines.pages import fit_page, page_windows, rank
from scripts.support.tiny_models import TEMPLATE, make_extractive, make_image_text
from submissions.config.paths import ROOT
from submissions.hub_models.template_renderer import TemplateRenderer, default_template
from tests.support.slow import only_first
from tests.support.zoo import all_families
from tests.support.zoo.parts import change_json

pytestmark = pytest.mark.model

PARAGRAPHS = [
    f"<p>{n}번째 문단에는 {n * 37}개의 돌이 있다고 한다. 가온산 아래 누리천이 흐른다.</p>\n" for n in range(60)
]


@pytest.fixture
def images(tmp_path: Path) -> list[Path]:
    paths = []
    for n, size in enumerate([(64, 48), (300, 500), (33, 33), (1000, 200)]):
        Image.new("RGB", size, (n * 60, 100, 200)).save(tmp_path / f"{n}.png")
        paths.append(tmp_path / f"{n}.png")
    return paths


def engine(name: str, model: Path, **options: Any) -> Any:
    defaults: dict[str, Any] = {"precision": "float32", "max_new_tokens": 12, "batch_size": 4}
    return load_engine(name, EngineOptions(model, **{**defaults, **options}))


def test_chat_answers_do_not_depend_on_batch(models_dir: Path, images: list[Path]) -> None:
    prompts = [Prompt(str(n), f"{n}번 그림의 값은? " * (n + 1), (image,)) for n, image in enumerate(images)]
    alone = list(engine("chat", models_dir / "tiny/image-text", batch_size=1).answer(prompts))
    together = list(engine("chat", models_dir / "tiny/image-text", batch_size=4).answer(prompts))
    assert [(a.id, a.text, a.status) for a in alone] == [(a.id, a.text, a.status) for a in together]
    assert len({a.text for a in alone}) > 1, "the answers depend on the image"


def test_chat_reports_truncated_answer(models_dir: Path) -> None:
    chat = engine("chat", models_dir / "tiny/image-text", max_new_tokens=1)
    prompts = [Prompt(str(n), f"질문 {n}") for n in range(8)]
    answers = list(chat.answer(prompts))
    assert {a.status for a in answers} <= {"truncated", "empty"} and any(a.status == "truncated" for a in answers)


def test_fit_page_selects_windows_of_long_page(tmp_path: Path) -> None:
    chat = engine("chat", make_image_text(tmp_path / "short", max_positions=1024))
    page = "".join(PARAGRAPHS)
    prompt = Prompt("1", f"{PAGE}\n질문: 1554개?", question="42번째 문단에는 몇 개의 돌이 있는가?", page=page)
    inputs = chat._inputs
    text, windows = fit_page(prompt, inputs._room, inputs._length)
    assert windows and "42번째 문단" in text and len(text) < len(page)
    whole, none = fit_page(
        Prompt("2", f"{PAGE}\n질문?", question="?", page=PARAGRAPHS[0]), inputs._room, inputs._length
    )
    assert none is None and PARAGRAPHS[0] in whole
    (answer,) = chat.answer([prompt])
    assert answer.windows == windows


def test_page_windows_cover_page() -> None:
    page = "".join(PARAGRAPHS) + "x" * 5000
    assert "".join(page_windows(page)) == page
    assert max(map(len, page_windows(page))) <= 1200
    assert rank("누리천은 어디에?", ["하나", "누리천은 산 아래", "셋"])[0] == 1


@pytest.mark.parametrize("question", ["", " \n", "<b></b>", "?"])
def test_rank_without_question_keeps_order_of_page(question: str) -> None:
    windows = page_windows("".join(PARAGRAPHS))
    assert len(windows) > 1 and rank(question, windows) == list(range(len(windows)))


def plain_extraction(model_dir: Path, question: str, page: str, length: int = 512) -> str:
    """Apply the extraction rule to one window and one pair of tokens at a time."""
    tokenizer: Any = AutoTokenizer.from_pretrained(model_dir)
    model: Any = AutoModelForQuestionAnswering.from_pretrained(model_dir).eval()
    encoded = tokenizer(
        question, page, truncation="only_second", max_length=length, stride=128,
        return_overflowing_tokens=True, return_offsets_mapping=True,
    )  # fmt: skip
    best = (float("-inf"), 0, 0)
    for index in range(len(encoded["input_ids"])):
        inputs = {k: torch.tensor([encoded[k][index]]) for k in tokenizer.model_input_names}
        with torch.inference_mode():
            output = model(**inputs)
        starts = output.start_logits[0].tolist()
        ends = output.end_logits[0].tolist()
        on_page = [i for i, s in enumerate(encoded.sequence_ids(index)) if s == 1]
        top_starts = sorted(on_page, key=lambda i: -starts[i])[:20]
        top_ends = sorted(on_page, key=lambda i: -ends[i])[:20]
        for start in top_starts:
            for end in top_ends:
                if start <= end and starts[start] + ends[end] > best[0] + 1e-6:
                    offsets = encoded["offset_mapping"][index]
                    best = (starts[start] + ends[end], offsets[start][0], offsets[end][1])
    return page[best[1] : best[2]]


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_extraction_matches_plain_loop(models_dir: Path, batch_size: int) -> None:
    model = models_dir / "tiny/extractive"
    page = "".join(PARAGRAPHS)
    asked = [(q, p) for q in ("돌은 몇 개인가?", "누리천은 어디에 흐르는가?") for p in (page, PARAGRAPHS[3])]
    extractive = engine("extractive", model, batch_size=batch_size)
    answers = list(extractive.answer(Prompt(q, "", question=q, page=p) for q, p in asked))
    assert [a.text for a in answers] == [plain_extraction(model, q, p) for q, p in asked]
    assert answers[0].windows and answers[0].windows > 3
    (long_question,) = extractive.answer([Prompt("q", "", question="질문 " * 400, page=page)])
    assert long_question.text in page


@pytest.mark.parametrize("family", only_first(["roberta", "modernbert"]))
def test_extraction_with_other_encoders(tmp_path: Path, family: str) -> None:
    """Cover other special tokens around the texts, other position tables and a window as long as the page."""
    model = make_extractive(tmp_path / family, family)
    page = "".join(PARAGRAPHS[:30])
    (answer,) = engine("extractive", model).answer([Prompt("1", "", question="돌은 몇 개인가?", page=page)])
    length = {"roberta": 512, "modernbert": 8192}[family]
    assert answer.text == plain_extraction(model, "돌은 몇 개인가?", page, length) and answer.text in page
    assert (answer.windows == 1) == (family == "modernbert")


def test_extraction_tokenises_each_page_once(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extractive = engine("extractive", models_dir / "tiny/extractive")
    read: list[str] = []
    plain = extractive._read

    def recording(text: str) -> Any:
        read.append(text)
        return plain(text)

    monkeypatch.setattr(extractive, "_read", recording)
    pages = ["".join(PARAGRAPHS), PARAGRAPHS[3]]
    prompts = [
        Prompt(f"{n}-{m}", "", question=f"질문 {m}", page=page) for n, page in enumerate(pages) for m in range(20)
    ]
    assert len(list(extractive.answer(prompts))) == 40 and read == pages


@pytest.mark.slow
def test_extraction_reads_page_of_half_a_million_tokens(models_dir: Path) -> None:
    extractive = engine("extractive", models_dir / "tiny/extractive", batch_size=16)
    page = " ".join(map(str, range(150_000)))
    prompts = [Prompt("1", "", question="끝은?", page=page), Prompt("2", "", question="?", page=PARAGRAPHS[0])]
    answers = list(extractive.answer(prompts))
    assert answers[0].text in page and answers[0].windows and answers[0].windows > 500_000 / 400
    assert answers[1].text in PARAGRAPHS[0]


def _short_of_memory(model: Any, max_rows: int, monkeypatch: pytest.MonkeyPatch, method: str) -> list[int]:
    """Let the model run out of memory above `max_rows` rows, and return the list of batch sizes that it tries."""
    tried: list[int] = []
    plain = getattr(model, method)

    def limited(*args: Any, **inputs: Any) -> Any:
        tried.append(len(inputs["input_ids"]))
        if tried[-1] > max_rows:
            raise torch.OutOfMemoryError("out of memory")
        return plain(*args, **inputs)

    monkeypatch.setattr(model, method, limited)
    return tried


@pytest.mark.parametrize("max_rows", [1, 3])
def test_out_of_memory_halves_batches(models_dir: Path, monkeypatch: pytest.MonkeyPatch, max_rows: int) -> None:
    prompts = [Prompt(str(n), f"질문 {n}?", question=f"질문 {n}?", page=PARAGRAPHS[n]) for n in range(20)]
    chat = engine("chat", models_dir / "tiny/image-text", batch_size=8)
    expected = {a.id: a.text for a in chat.answer(prompts)}
    tried = _short_of_memory(chat._model, max_rows, monkeypatch, "generate")
    assert {a.id: a.text for a in chat.answer(prompts)} == expected
    assert tried[0] == 8 and max(tried[-4:]) <= 4, "later batches are no larger than one that fitted"
    extractive = engine("extractive", models_dir / "tiny/extractive", batch_size=8)
    expected = {a.id: a.text for a in extractive.answer(prompts)}
    _short_of_memory(extractive._model, max_rows, monkeypatch, "forward")
    assert {a.id: a.text for a in extractive.answer(prompts)} == expected


@pytest.mark.parametrize("kind", ["chat", "extractive"])
def test_out_of_memory_raises_for_single_question(models_dir: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    loaded = engine(kind, models_dir / "tiny" / {"chat": "image-text"}.get(kind, kind))
    _short_of_memory(loaded._model, 0, monkeypatch, {"chat": "generate"}.get(kind, "forward"))
    with pytest.raises(torch.OutOfMemoryError):
        list(loaded.answer([Prompt("1", "?", question="?", page=PARAGRAPHS[0])]))


def test_chat_isolates_broken_images(models_dir: Path, images: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    images[1].write_bytes(images[1].read_bytes()[:100])  # complete header, incomplete pixels
    images[2].write_bytes(b"no image")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 90_000)  # makes 1,000 × 200 a decompression bomb
    prompts = [Prompt(str(n), "?", (image,)) for n, image in enumerate(images)]
    answers = {a.id: a.status for a in engine("chat", models_dir / "tiny/image-text").answer(prompts)}
    assert [answers[str(n)] == "infra_error" for n in range(4)] == [False, True, True, True]


def test_chat_scales_images_to_pixel_budget(models_dir: Path, images: list[Path]) -> None:
    prompts = [Prompt(str(n), "?", (image,)) for n, image in enumerate(images)]
    chat = engine("chat", models_dir / "tiny/image-text", max_pixels=50_000)
    answers = {a.id: a for a in chat.answer(prompts)}
    assert [answers[str(n)].resize for n in range(4)] == [1, pytest.approx((50 / 150) ** 0.5), 1, 0.5]
    assert all(a.visual_tokens == 16 for a in answers.values())


def test_chat_template_error_is_model_failure(models_dir: Path, tmp_path: Path) -> None:
    folder = _broken(models_dir, tmp_path, "image-text")
    (folder / "chat_template.jinja").write_text("{{ raise_exception('roles must alternate') }}")
    with pytest.raises(EvaluationError, match="roles must alternate") as error:
        list(engine("chat", folder).answer([Prompt("1", "?")]))
    assert error.value.code == "template_error"


def test_chat_batches_longest_prompts_first(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = engine("chat", models_dir / "tiny/image-text", batch_size=64)
    monkeypatch.setattr("evaluator.engines.chat.BATCH_TOKENS", {"cpu": 2000, "cuda": 2000})
    batches: list[list[int]] = []
    plain = chat._inputs.encode

    def recording(batch: Any) -> Any:
        batches.append([ready.cost for ready in batch])
        return plain(batch)

    monkeypatch.setattr(chat._inputs, "encode", recording)
    list(chat.answer(Prompt(str(n), "질문 " * (n * 7 % 60)) for n in range(60)))
    costs = [cost for batch in batches for cost in batch]
    assert len(costs) == 60 and costs == sorted(costs, reverse=True)
    assert all(len(batch) * batch[0] <= 2000 for batch in batches) and len(batches) > 2


@pytest.mark.parametrize("page", ["", " ", "\n"])
def test_extraction_of_empty_page_is_empty(models_dir: Path, page: str) -> None:
    (answer,) = engine("extractive", models_dir / "tiny/extractive").answer([Prompt("1", "", question="?", page=page)])
    assert answer.status == "empty"


def _broken(models_dir: Path, tmp_path: Path, name: str) -> Path:
    shutil.copytree(models_dir / "tiny" / name, tmp_path / name)
    return tmp_path / name


def _poison(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    name = next(n for n in weights if "layer" in n and n.endswith("weight"))
    weights[name] = torch.full_like(weights[name], float("nan"))
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def _drop_weights(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    save_file({n: w for n, w in weights.items() if "layer" not in n}, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(
    ("name", "kind", "break_it", "code"),
    [
        ("extractive", "extractive", _poison, "nan_logits"),
        ("image-text", "chat", _poison, "nan_logits"),
        ("extractive", "extractive", _drop_weights, "invalid_weights"),
        ("image-text", "chat", _drop_weights, "invalid_weights"),
        ("image-text", "chat", lambda f: (f / "chat_template.jinja").unlink(), "no_chat_template"),
        (
            "image-text",
            "chat",
            lambda f: change_json(f / "config.json", model_type="unheard-of"),
            "unsupported_architecture",
        ),
        ("image-text", "extractive", lambda f: None, "unsupported_architecture"),
    ],
)
def test_broken_model_raises_failure_code(
    models_dir: Path, tmp_path: Path, name: str, kind: str, break_it: Any, code: str
) -> None:
    folder = _broken(models_dir, tmp_path, name)
    break_it(folder)
    with pytest.raises(EvaluationError) as error:
        list(engine(kind, folder).answer([Prompt("1", "질문?", question="질문?", page=PARAGRAPHS[0])]))
    assert error.value.code == code


@pytest.mark.parametrize("message", ["CUDA out of memory. Tried to allocate 30.00 GiB.", None])
def test_from_pretrained_reports_out_of_memory(models_dir: Path, message: str | None) -> None:
    class Loader:
        @staticmethod
        def from_pretrained(*_: object, **__: object) -> None:
            if message:
                raise torch.OutOfMemoryError(message)
            torch.empty(2**60, dtype=torch.uint8)  # raises torch's error on the CPU

    with pytest.raises(EvaluationError) as error:
        from_pretrained(Loader, EngineOptions(models_dir / "tiny/extractive", "float32", 16))
    assert error.value.code == "out_of_memory"


@pytest.mark.parametrize(
    ("devices", "weights", "placed"),
    [([], 10**12, None), ([80], 60 * 10**9, "cuda"), ([80, 80], 60 * 10**9, "cuda"), ([80, 80], 100 * 10**9, "auto")],
)
def test_placement_spreads_large_model_over_devices(
    devices: list[int], weights: int, placed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(devices))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(devices))
    memory = [SimpleNamespace(total_memory=size * 10**9) for size in devices]
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: memory[number])
    assert placement(weights) == placed


def test_render_matches_transformers(models_dir: Path) -> None:
    """Check images, special tokens and Korean: the separate process changes nothing."""
    folder = models_dir / "tiny/image-text"
    processor = AutoProcessor.from_pretrained(folder)
    conversations = [
        [{"role": "user", "content": [{"type": "image", "image": "image"}, {"type": "text", "text": text}]}]
        for text in ("합계는 몇 천 명입니까?", "{{ 7 * 7 }} {% raw %}", 'quote " and \\ and </s>', "여러\n줄\t끝 ")
    ]
    renderer = TemplateRenderer(TEMPLATE, processor.tokenizer.special_tokens_map)
    try:
        rendered = renderer.render(conversations)
    finally:
        renderer.close()
    expected = [
        processor.apply_chat_template(
            [{"role": "user", "content": [{"type": "image"}, c[0]["content"][1]]}], add_generation_prompt=True
        )
        for c in conversations
    ]
    assert rendered == expected


def test_chat_engine_uses_default_of_named_templates(models_dir: Path, tmp_path: Path) -> None:
    folder = _broken(models_dir, tmp_path, "image-text")
    (folder / "additional_chat_templates").mkdir()
    (folder / "additional_chat_templates/tool_use.jinja").write_text("{{ raise_exception('no tools') }}")
    (answer,) = engine("chat", folder).answer([Prompt("1", "?")])
    assert answer.status != "infra_error"


FIRST_TOKEN = json.loads((ROOT / "tests/cases/models/first-token.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("begins", [one["begins"] for one in FIRST_TOKEN["templates"]])
@pytest.mark.parametrize("kind", ["image-text", "gemma3_text"])
def test_prompt_has_one_beginning(begins: str, kind: str, models_dir: Path, tmp_path: Path) -> None:
    """The tokenizer's post-processor adds <bos> before every text, as Gemma's and Llama's do."""
    folder = tmp_path / "model"
    if kind == "image-text":
        shutil.copytree(models_dir / "tiny/image-text", folder)
    else:
        all_families()[kind].build(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if tokenizer.bos_token is None:
        tokenizer.add_special_tokens({"bos_token": "<|bos|>"})
    begin = tokenizer.bos_token
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{begin} $A", pair=f"{begin} $A {begin} $B", special_tokens=[(begin, tokenizer.bos_token_id)]
    )
    template = default_template(tokenizer.chat_template) or (folder / "chat_template.jinja").read_text(encoding="utf-8")
    tokenizer.chat_template = None
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(begins + template.replace("{{ bos_token }}", ""), encoding="utf-8")
    takes_images = kind == "image-text"
    inputs = ChatInputs(EngineOptions(folder, "float32", 8), takes_images, 2048)
    Image.new("RGB", (32, 32), "red").save(tmp_path / "1.png")
    try:
        for images in ((), (tmp_path / "1.png",)) if takes_images else ((),):
            encoded = inputs.encode([inputs.prepare(Prompt("1", "몇 개?", images))])
            assert encoded.inputs is not None
            ids = encoded.inputs["input_ids"][0].tolist()
            assert ids.count(tokenizer.bos_token_id) == 1
    finally:
        inputs.close()


@pytest.mark.parametrize("said", ["m.content | urlencode", "'…'"])
def test_beginning_of_text_is_no_stop_token_if_template_changes_answers(tmp_path: Path, said: str) -> None:
    folder = tmp_path / "model"
    all_families()["gemma3_text"].build(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"bos_token": "<|bos|>"})
    tokenizer.chat_template = None
    tokenizer.save_pretrained(folder)
    template = f"<|bos|>{{% for m in messages %}}{{{{ {said} }}}}{{% endfor %}}"
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    inputs = ChatInputs(EngineOptions(folder, "float32", 8), False, 2048)
    try:
        assert tokenizer.bos_token_id not in inputs.stop_tokens([])
    finally:
        inputs.close()


def test_refusal_names_error_of_refused_image(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    all_families()["qwen2_vl"].build(folder)
    inputs = ChatInputs(EngineOptions(folder, "float32", 8), True, 2048)
    prompts = []
    for name, size in (("fits", (32, 32)), ("too_long", (4000, 2))):
        Image.new("RGB", size, "red").save(tmp_path / f"{name}.png")
        prompts.append(inputs.prepare(Prompt(name, "몇 개?", (tmp_path / f"{name}.png",))))
    try:
        encoded = inputs.encode(prompts)
    finally:
        inputs.close()
    assert [p.prompt.id for p in encoded.batch] == ["fits"]
    assert [p.prompt.id for p in encoded.refused] == ["too_long"] and "ratio" in inputs.refusal
