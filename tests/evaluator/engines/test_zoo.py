"""Test that every zoo family passes the check and runs in its engine, with answers independent of the batch."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import PAGE, Answer, Prompt
from evaluator.engines.load import load_engine
from evaluator.engines.options import EngineOptions
from evaluator.engines.registry import REGISTRY
from scripts.architecture_imports import missing
from submissions.checks.benchmark_checks import benchmark_checks
from submissions.checks.model_checks import check_repository
from submissions.checks.request import build_request
from submissions.hub_models.model_facts import ModelFacts, folder_template
from submissions.hub_models.quantization import QUANTIZATIONS
from submissions.hub_models.reasoning import switch_values
from submissions.hub_models.repository import folder_repository
from submissions.hub_models.template_renderer import TemplateRenderer
from submissions.records.options import THINKING
from tests.support.zoo import Family, all_families

pytestmark = pytest.mark.model

# Families that cannot be run, each with its refusal.
REFUSED = {
    "paligemma": "no_template",
    "blip-2": "no_template",
    "florence2": "no_template",
    "diffusion_gemma": "unsupported",
    "xlnet": "not_extractive",
    "canine": "not_extractive",
}
# Families that `make test` runs, too: those of Korean makers, some of each engine and precision, and what many models are made from.
COMMON = {
    "axk1", "axk2", "exaone4", "exaone4_5", "exaone_moe", "gemma3", "gukbap_gemma3", "hyperclovax", "hyperclovax_vision_v2",
    "klue_roberta", "kobigbird", "koelectra", "llama3", "llama_bitsandbytes", "llama_compressed_tensors", "llama_fp8", "llama_torchao",
    "phi3_with_code", "qwen2_5_vl", "qwen3", "solar_open", "t5", "varco_vision",
}  # fmt: skip
SIZES = ((100, 60), (60, 140), (210, 190))  # of the three images: all differ and none is square
QUESTIONS = ("합계는 얼마입니까?", "2020년 공공기관 투자 목표는 몇 조 원입니까?", "가장 큰 것은?")


def supported_families() -> list[pytest.ParameterSet]:
    """Return the families that can be run, as parameters. Those that are not COMMON are slow."""
    assert all_families().keys() > COMMON
    params = []
    for name, family in all_families().items():
        if name not in REFUSED:
            params.append(pytest.param(family, id=name, marks=() if name in COMMON else pytest.mark.slow))
    return params


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder where models are built once for all test processes."""
    return tmp_path_factory.getbasetemp().parent / "zoo"


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("images")
    paths = [folder / f"{number}.png" for number in range(len(SIZES))]
    for path, (width, height) in zip(paths, SIZES, strict=True):
        left = Image.linear_gradient("L").resize((width, height))
        Image.merge("RGB", (left, left.rotate(180), left)).save(path)
    return paths


def built(zoo: Path, family: Family) -> Path:
    folder = zoo / family.name
    with FileLock(zoo.with_suffix(".lock")):
        if not folder.exists():
            partial = zoo / f"{family.name}.partial"
            family.build(partial)
            partial.rename(folder)
    return folder


def facts_of_family(zoo: Path, family: Family) -> ModelFacts:
    report = check_repository(folder_repository(f"zoo/{family.name}", built(zoo, family)), REGISTRY, max_bytes=10**9)
    assert not report.refusals(), report.refusals()
    assert report.facts is not None
    return report.facts


def prompts(family: Family, images: list[Path]) -> list[Prompt]:
    if family.engine == "extractive":
        page = "".join(f"<p>{year}년 예산은 {year * 7 % 991}억 원이다.</p>" for year in range(1900, 2000))
        pages = (page, page, "<p>합계는 12억 원이다.</p>")
        return [Prompt(str(n), PAGE, question=q, page=pages[n]) for n, q in enumerate(QUESTIONS)]
    shown = [(image,) if family.takes_images else () for image in images]
    return [Prompt(str(n), question, images=shown[n]) for n, question in enumerate(QUESTIONS)]


def asked(folder: Path, facts: ModelFacts, questions: list[Prompt]) -> Iterator[dict[str, Answer]]:
    """Yield the answers to all questions in one batch, then to each question alone."""
    precision = facts.precision if facts.precision in QUANTIZATIONS else "float32"
    options = EngineOptions(folder, precision, 6, thinking=facts.thinking, max_reasoning_tokens=12)
    engine = load_engine(facts.engine, options)
    try:
        yield {a.id: a for a in engine.answer(questions)}
        yield {a.id: a for question in questions for a in engine.answer([question])}
    finally:
        engine.close()


@pytest.mark.parametrize("family", supported_families())
def test_family_answers_do_not_depend_on_batch(family: Family, zoo: Path, images: list[Path]) -> None:
    facts = facts_of_family(zoo, family)
    assert (facts.engine, facts.takes_images) == (family.engine, family.takes_images)
    benchmark = next(b for b, spec in BENCHMARKS.items() if (spec.inputs == "image") == family.takes_images)
    assert not [c for c in benchmark_checks(facts, benchmark, REGISTRY) if c.refusal]
    assert build_request(facts, benchmark, REGISTRY, "zoo").model_type == facts.model_type
    together, alone = asked(zoo / family.name, facts, prompts(family, images))
    assert {i: (a.text, a.status, a.raw) for i, a in together.items()} == {
        i: (a.text, a.status, a.raw) for i, a in alone.items()
    }
    assert len(together) == len(QUESTIONS)
    assert not {a.status for a in together.values()} & {"infra_error", "refused"}


@pytest.mark.parametrize("name", REFUSED)
def test_check_refuses_unsupported_family(name: str, zoo: Path) -> None:
    family = all_families()[name]
    report = check_repository(folder_repository(f"zoo/{name}", built(zoo, family)), REGISTRY, max_bytes=10**9)
    found = [c.refusal for c in report.checks if c.refusal]
    if report.facts:
        found += [c.refusal for b in BENCHMARKS for c in benchmark_checks(report.facts, b, REGISTRY) if c.refusal]
    assert REFUSED[name] in found


def test_render_matches_transformers(zoo: Path, images: list[Path]) -> None:
    """Compare templates with and without switches, except output that contains the current year."""
    from transformers.utils.chat_template_utils import render_jinja_template

    compared = 0
    for name in ("qwen3", "gpt_oss", "smollm3", "gemma3", "mistral3", "llama4", "exaone4_5", "glm46v", "granite"):
        family = all_families()[name]
        facts = facts_of_family(zoo, family)
        assert facts.template
        words: Any = [{"type": "image"}, {"type": "text", "text": "합계는?"}] if family.takes_images else "합계는?"
        conversation = [{"role": "user", "content": words}]
        tokens = folder_template(zoo / name)[1]
        renderer = TemplateRenderer(facts.template, tokens)
        try:
            for mode in (None, *THINKING):
                values = switch_values(facts.template, mode)
                expected = render_jinja_template(
                    [conversation], chat_template=facts.template, add_generation_prompt=True, **tokens, **values
                )[0]
                if f"{datetime.now(UTC):%Y}" not in expected[0]:
                    assert renderer.render([conversation], **values) == expected
                    compared += 1
        finally:
            renderer.close()
    assert compared > 10


def test_supported_architectures_can_be_imported() -> None:
    assert missing() == {}


@pytest.mark.parametrize("name", ["qwen2_5_vl", "internvl", "smolvlm", "pixtral", "gemma3"])
def test_chat_engine_isolates_unusual_inputs(name: str, zoo: Path, tmp_path: Path) -> None:
    """Ask about a strip that a processor may reject, a single pixel, and in words that contain image tokens."""
    folder = built(zoo, all_families()[name])
    paths = []
    for number, size in enumerate([(2000, 3), (1, 1), (80, 60)]):
        paths.append(tmp_path / f"{number}.png")
        Image.new("RGB", size, (200, 30, 90)).save(paths[-1])
    asked = [Prompt(str(n), "합계는?", images=(path,)) for n, path in enumerate(paths)]
    asked.append(
        Prompt(
            "token", "<image> <|image_pad|> <IMG_CONTEXT> [IMG] <start_of_image> <video> 합계는?", images=(paths[2],)
        )
    )
    engine = load_engine("chat", EngineOptions(folder, "float32", 4))
    try:
        answers = {a.id: a for a in engine.answer(asked)}
    finally:
        engine.close()
    assert len(answers) == len(asked)
    assert {answers[i].status for i in ("2", "token")} <= {"ok", "empty", "truncated"}
    assert all(a.status != "infra_error" for a in answers.values())


def test_visual_tokens_are_none_if_processor_does_not_count(zoo: Path, images: list[Path]) -> None:
    counted = {}
    for name in ("smolvlm", "mllama", "qwen2_5_vl"):
        engine = load_engine("chat", EngineOptions(built(zoo, all_families()[name]), "float32", 2))
        try:
            (answer,) = engine.answer([Prompt("1", "합계는?", images=(images[0],))])
        finally:
            engine.close()
        counted[name] = answer.visual_tokens
    assert counted["smolvlm"] is counted["mllama"] is None and counted["qwen2_5_vl"]
