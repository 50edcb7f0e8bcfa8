"""Test the engines on a real GPU; skipped where torch sees none."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from PIL import Image

from evaluator.core.data_types import Answer, Prompt
from evaluator.engines.hardware import peak_gpu_memory, reset_peak_gpu_memory
from evaluator.engines.load import load_engine
from evaluator.engines.options import EngineOptions
from scripts.support.tiny_models import ChatSize, make_image_text

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU")

# The weights take 20 MB. The cache of 256 long prompts in one batch takes several hundred.
WIDE = ChatSize(512, 1024, 4, 8, vision_hidden=32, vision_layers=2, vision_heads=2, side=32, patch=8)


@pytest.fixture
def little_memory() -> Iterator[None]:
    """Leave 256 MB of the GPU's memory to this process."""
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 256e6) / total)
    yield
    torch.cuda.set_per_process_memory_fraction(1.0)
    torch.cuda.empty_cache()


def _texts(answers: Iterator[Answer]) -> dict[str, str]:
    return {answer.id: answer.text for answer in answers}


@pytest.mark.usefixtures("little_memory")
def test_batch_is_halved_when_gpu_memory_runs_out(tmp_path: Path) -> None:
    model = make_image_text(tmp_path / "wide", ends=False, size=WIDE)
    prompts = [Prompt(str(n), f"{n} " + "합계는 몇 명입니까? " * 150) for n in range(256)]
    engine = load_engine("chat", EngineOptions(model, "float32", 4, batch_size=256))
    answers = list(engine.answer(prompts))
    assert {answer.id for answer in answers} == {prompt.id for prompt in prompts}
    assert {answer.status for answer in answers} <= {"ok", "truncated", "empty"}
    assert engine.batch_size < 256
    assert torch.cuda.max_memory_allocated() < 1e9


@pytest.mark.usefixtures("little_memory")
def test_too_little_memory_for_one_prompt_is_out_of_memory(tmp_path: Path) -> None:
    model = make_image_text(tmp_path / "wide", max_positions=60_000, ends=False, size=WIDE)
    prompt = Prompt("1", "합계는 몇 명입니까? " * 5000)
    engine = load_engine("chat", EngineOptions(model, "float32", 4))
    with pytest.raises(torch.OutOfMemoryError):
        list(engine.answer([prompt]))


def test_same_questions_get_same_answers_again(tmp_path: Path) -> None:
    model = make_image_text(tmp_path / "tiny", ends=False)
    image = tmp_path / "page.png"
    Image.new("RGB", (60, 40), "red").save(image)
    prompts = [Prompt(str(n), "질문 " * n, (image,)) for n in range(1, 9)]
    engine = load_engine("chat", EngineOptions(model, "float32", 8))
    first = _texts(engine.answer(prompts))
    assert len(first) == len(prompts) and any(first.values())
    assert _texts(engine.answer(prompts)) == first


def test_peak_memory_counts_one_question_and_not_earlier_batches(tmp_path: Path) -> None:
    model = make_image_text(tmp_path / "wide", ends=False, size=WIDE)
    engine = load_engine("chat", EngineOptions(model, "float32", 4, batch_size=64))
    weights = sum(file.stat().st_size for file in model.glob("*.safetensors"))
    reset_peak_gpu_memory()
    list(engine.answer([Prompt(str(n), f"{n} " + "합계는 몇 명입니까? " * 150) for n in range(64)]))
    in_batches = peak_gpu_memory()
    reset_peak_gpu_memory()
    list(engine.answer([Prompt("1", "합계는 몇 명입니까? " * 150)]))
    alone = peak_gpu_memory()
    assert in_batches is not None and alone is not None
    assert weights < alone < in_batches / 2
