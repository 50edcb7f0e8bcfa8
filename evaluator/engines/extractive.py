"""Extractive question answering: an encoder reads the page in sliding windows and points at the answer."""

import time
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from transformers import AutoModelForQuestionAnswering, AutoTokenizer
from transformers.models.auto.modeling_auto import MODEL_FOR_QUESTION_ANSWERING_MAPPING

from evaluator.engines.base import EngineOptions, best_device, check_finite, from_pretrained, load_config
from evaluator.types import Answer, ModelError, Prompt

OVERLAP = 128  # tokens two neighbouring windows share
CANDIDATES = 20  # best starts and ends of each window that are paired


class ExtractiveEngine:
    def __init__(self, options: EngineOptions) -> None:
        config = load_config(options)
        if type(config) not in MODEL_FOR_QUESTION_ANSWERING_MAPPING:
            raise ModelError("unsupported_architecture", f"{config.model_type} has no question-answering head")
        self._tokenizer = AutoTokenizer.from_pretrained(options.model, trust_remote_code=False, local_files_only=True)
        if not self._tokenizer.is_fast:
            raise ModelError("unsupported_architecture", "no fast tokenizer, so no character offsets")
        self._model = from_pretrained(AutoModelForQuestionAnswering, options)
        self.params = self._model.num_parameters()
        self._device = best_device()
        self._length = _window_length(self._model, self._tokenizer)
        self.batch_size = options.batch_size or (64 if self._device == "cuda" else 16)

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        for prompt in prompts:
            started = time.perf_counter()
            text, windows = self._extract(prompt.question, prompt.page or "")
            status = "ok" if text.strip() else "empty"
            yield Answer(prompt.id, text, status, time.perf_counter() - started, windows)  # type: ignore[arg-type]

    def _extract(self, question: str, page: str) -> tuple[str, int]:
        """The best span over all windows, cut from the page itself, and how many windows were read."""
        windows = self._tokenizer(
            self._clipped(question),
            page,
            truncation="only_second",
            max_length=self._length,
            stride=OVERLAP,
            padding=True,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        offsets = windows.pop("offset_mapping")
        windows.pop("overflow_to_sample_mapping")
        count = len(offsets)
        best_score, best_span = float("-inf"), (0, 0)
        for first in range(0, count, self.batch_size):
            batch = {k: v[first : first + self.batch_size].to(self._device) for k, v in windows.items()}
            with torch.inference_mode():
                output = self._model(**batch)
            check_finite(output.start_logits)
            on_page = torch.tensor(
                [[s == 1 for s in windows.sequence_ids(i)] for i in range(first, min(first + self.batch_size, count))],
                device=self._device,
            )
            score, window, start, end = _best_span(output.start_logits, output.end_logits, on_page)
            if score > best_score:
                own = offsets[first + window]
                best_score, best_span = score, (int(own[start][0]), int(own[end][1]))
        return page[slice(*best_span)], count

    def _clipped(self, question: str) -> str:
        """The question, cut where it would leave less than half a window to the page."""
        offsets = self._tokenizer(question, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        room = self._length // 2
        return question if len(offsets) <= room else question[: offsets[room - 1][1]]


def _best_span(starts: Any, ends: Any, on_page: Any) -> tuple[float, int, int, int]:
    """Score, window and token range of the best span; of any length, start before end. Shapes: (windows, tokens)."""
    k = min(CANDIDATES, starts.shape[1])
    start_scores, start_at = starts.float().masked_fill(~on_page, -torch.inf).topk(k)
    end_scores, end_at = ends.float().masked_fill(~on_page, -torch.inf).topk(k)
    pairs = start_scores[:, :, None] + end_scores[:, None, :]
    pairs = pairs.masked_fill(start_at[:, :, None] > end_at[:, None, :], -torch.inf)
    flat = int(pairs.argmax())
    window, pair = divmod(flat, k * k)
    return float(pairs.flatten()[flat]), window, int(start_at[window, pair // k]), int(end_at[window, pair % k])


def _window_length(model: Any, tokenizer: Any) -> int:
    """Tokens the encoder takes at once."""
    limit = min(tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", None) or 512)
    for name, module in model.named_modules():
        # RoBERTa-like position tables keep their first rows for padding.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            limit = min(limit, module.num_embeddings - module.padding_idx - 1)
    return int(limit)
