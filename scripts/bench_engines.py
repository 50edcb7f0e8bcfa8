"""Engine rows of `make bench`: our engines against one item at a time, as in the published scripts, on tiny models."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from transformers import (
    AutoModelForImageTextToText,
    AutoModelForQuestionAnswering,
    AutoProcessor,
    AutoTokenizer,
)

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Prompt
from evaluator.engines.hardware import best_device
from evaluator.engines.load import load_engine
from evaluator.engines.options import EngineOptions
from scripts.support.tiny_models import make_extractive, make_image_text
from submissions.config.paths import SAMPLES

NEW_TOKENS = 64
PAGE_CHARS = 24_000
QUESTIONS = 16
PUBLISHED_HOP = 128  # tokens between window starts in BERT's scripts; our windows overlap by 128 tokens

Row = tuple[str, Callable[[], object], Callable[[], object]]


def engine_rows(folder: Path) -> Iterator[Row]:
    """Yield the rows. Each name includes the number of answers that are the same in both implementations."""
    model = make_image_text(folder / "chat", ends=False)
    benchmark = BENCHMARKS["ko-vqa"]
    prompts = [p for item in benchmark.load(SAMPLES / "ko-vqa") for p in benchmark.prompts(item)]
    yield _row(f"chat, {len(prompts)} images, {NEW_TOKENS} new tokens", "chat", model, prompts, plain_chat(model))
    model = make_extractive(folder / "extractive")
    prompts = questions_on_a_page()
    what = f"extractive, {len(prompts)} questions on a page of {PAGE_CHARS:,} characters"
    yield _row(f"{what}, same windows", "extractive", model, prompts, plain_extractive(model, overlap=128))
    yield _row(f"{what}, published windows", "extractive", model, prompts, plain_extractive(model, hop=PUBLISHED_HOP))


def _row(what: str, engine: str, model: Path, prompts: Sequence[Prompt], one: Callable[[Prompt], str]) -> Row:
    own = load_engine(engine, EngineOptions(model, "float32", NEW_TOKENS))
    ours = {answer.id: answer.text for answer in own.answer(prompts)}
    same = sum(one(prompt) == ours[prompt.id] for prompt in prompts)
    return (
        f"{what} ({same} of {len(prompts)} answers the same): ours / one at a time",
        lambda: list(own.answer(prompts)),
        lambda: [one(prompt) for prompt in prompts],
    )


def plain_chat(folder: Path, precision: str = "float32", new_tokens: int = NEW_TOKENS) -> Callable[[Prompt], str]:
    """Return a plain chat model that answers one prompt at a time."""
    dtype = getattr(torch, precision)
    processor = AutoProcessor.from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=dtype).eval().to(best_device())

    def answer(prompt: Prompt) -> str:
        content = [{"type": "image", "image": Image.open(path).convert("RGB")} for path in prompt.images]
        inputs = processor.apply_chat_template(
            [{"role": "user", "content": [*content, {"type": "text", "text": prompt.text}]}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        ).to(model.device, dtype)
        with torch.inference_mode():
            output = model.generate(**inputs, do_sample=False, max_new_tokens=new_tokens)
        new = output[0, inputs["input_ids"].shape[1] :]
        text: str = processor.tokenizer.decode(new, skip_special_tokens=True)
        return text.strip()

    return answer


def plain_extractive(
    folder: Path, *, overlap: int | None = None, hop: int | None = None, precision: str = "float32"
) -> Callable[[Prompt], str]:
    """Return a plain extractive reader: it tokenises the page for each question, runs one window at a time, and loops over
    the best starts and ends.
    """
    tokenizer = AutoTokenizer.from_pretrained(folder)
    dtype = getattr(torch, precision)
    model = AutoModelForQuestionAnswering.from_pretrained(folder, dtype=dtype).eval().to(best_device())

    def answer(prompt: Prompt) -> str:
        page = prompt.page or ""
        room = 512 - len(tokenizer(prompt.question, "")["input_ids"])
        stride = overlap if hop is None else room - hop
        encoded = tokenizer(
            prompt.question,
            page,
            truncation="only_second",
            max_length=512,
            stride=stride,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        best = float("-inf")
        text = ""
        for window in range(len(encoded["input_ids"])):
            names = ("input_ids", "token_type_ids", "attention_mask")
            with torch.inference_mode():
                output = model(**{name: torch.tensor([encoded[name][window]]).to(model.device) for name in names})
            offsets = encoded["offset_mapping"][window]
            on_page = encoded.sequence_ids(window)
            starts = output.start_logits[0].float().cpu().numpy()
            ends = output.end_logits[0].float().cpu().numpy()
            for start in _best(starts):
                for end in _best(ends):
                    if on_page[start] == on_page[end] == 1 and start <= end and starts[start] + ends[end] > best:
                        best = starts[start] + ends[end]
                        text = page[offsets[start][0] : offsets[end][1]]
        return text

    return answer


def _best(logits: Any) -> list[int]:
    places: list[int] = np.argsort(logits)[: -20 - 1 : -1].tolist()
    return places


def questions_on_a_page() -> list[Prompt]:
    items = BENCHMARKS["korquad-2"].load(SAMPLES / "korquad-2")
    pages = "".join(dict.fromkeys(item.page or "" for item in items))
    page = (pages * (PAGE_CHARS // len(pages) + 1))[:PAGE_CHARS]
    return [Prompt(item.id, "", question=item.question, page=page) for item in items[:QUESTIONS]]
