"""Any chat model of transformers, with or without images, through its processor and chat template. No model list.

Prompts are taken a pool at a time and answered longest first, in batches of like token cost, those on one image
together, so that it is decoded once; while the device works on one batch, a thread prepares the next.
"""

import inspect
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoModelForMultimodalLM,
    StoppingCriteriaList,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
    MODEL_FOR_MULTIMODAL_LM_MAPPING,
)

from evaluator.core.data_types import Answer, AnswerStatus, Prompt
from evaluator.core.errors import EvaluationError
from evaluator.engines.base import split_batch_on_oom
from evaluator.engines.chat_inputs import ChatInputs, Encoded, PreparedPrompt
from evaluator.engines.decoding import Budgets, greedy, plain_config, token_ids
from evaluator.engines.generation_config import asked_settings
from evaluator.engines.hardware import best_device, torch_environment
from evaluator.engines.loading import check_no_nan, check_token_ids, from_pretrained, load_config
from evaluator.engines.options import EngineOptions
from submissions.hub_models.architectures import architectures
from submissions.hub_models.model_facts import VISION_NAMES
from submissions.hub_models.reasoning import Tags, split, unmarked
from submissions.texts.failure_codes import FailureCode

POOL = 256  # prompts sorted by cost together
BATCH_SIZE = {"cuda": 64, "cpu": 16}  # prompts, at most
BATCH_TOKENS = {"cuda": 65_536, "cpu": 16_384}  # prompt tokens with padding, visual ones included, at most
MAX_IMAGE_REFUSALS = 16  # by a processor that has taken no image, after which the model is at fault
LOADERS = {  # by the name under which a config's auto_map has a class of the repository's own
    "AutoModelForImageTextToText": AutoModelForImageTextToText,
    "AutoModelForVision2Seq": AutoModelForImageTextToText,
    "AutoModelForMultimodalLM": AutoModelForMultimodalLM,
    "AutoModelForCausalLM": AutoModelForCausalLM,
    "AutoModel": AutoModel,
}


class ChatEngine:
    environment = staticmethod(torch_environment)

    def __init__(self, options: EngineOptions) -> None:
        config = _chat_subconfig(load_config(options))
        loader, sees = _loader(config)
        context = getattr(config.get_text_config(), "max_position_embeddings", None)
        self._inputs = ChatInputs(options, sees, context, pads_left=not config.is_encoder_decoder)
        self._tokenizer, self._tags = self._inputs.tokenizer, self._inputs.tags
        plain = plain_config(asked_settings(options.model)) if options.decoding == "greedy" else None
        self._model = from_pretrained(loader, options, config, plain)
        # Here, and not among the logits processors: a model's own `generate` may drop those, as Janus' does.
        if (head := self._model.get_output_embeddings()) is not None:
            head.register_forward_hook(lambda *call: check_no_nan(call[2][:, -1]))
        self.params = self._model.num_parameters()
        self.image_processor = self._inputs.image_processor
        self._device = str(self._model.device.type)
        self._answer_tokens = options.max_new_tokens
        self._reasoning_tokens = options.max_reasoning_tokens if self._inputs.reasons else 0
        own = self._model.generation_config
        ends = [self._tokenizer.eos_token_id, self._inputs.end_of_turn()]
        self._stops = {*token_ids(own.eos_token_id), *token_ids(ends)}
        if self._inputs.reasons and self._tags:  # what ends the reasoning need not end the answer
            self._stops -= {*self._tokenizer(self._tags.separator, add_special_tokens=False)["input_ids"]}
        pad = self._inputs.pad_id
        longest = self._answer_tokens + self._reasoning_tokens
        self._generation = greedy(own, options.decoding, self._stops, pad, longest)
        if plain:  # what is left open in the config of a call is taken from the model's
            self._model.generation_config = plain
        takes = inspect.signature(self._model.forward).parameters
        self._takes_types = "token_type_ids" in takes
        self._inputs.needs_media_types = sees and "mm_token_type_ids" in takes
        self.batch_size = options.batch_size or BATCH_SIZE[best_device()]
        if options.decoding == "repository":  # some penalties see the padding; published scripts ask one at a time
            self.batch_size = 1
        self._refused = self._taken = 0  # prompts with images

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        remaining = iter(prompts)
        mark = time.perf_counter()
        with ThreadPoolExecutor(1) as ahead:
            while pool := list(islice(remaining, POOL)):
                waiting = deque(self._sorted(pool))
                upcoming = deque([ahead.submit(self._inputs.encode, self._next_batch(waiting))])
                while upcoming:
                    encoded = upcoming.popleft().result()
                    if waiting:
                        upcoming.append(ahead.submit(self._inputs.encode, self._next_batch(waiting)))
                    self._count(encoded)
                    answers = [_unanswered(p, "infra_error") for p in encoded.broken]
                    answers += [_unanswered(p, "refused") for p in encoded.refused]
                    answers += self._answers(encoded)
                    now = time.perf_counter()
                    seconds, mark = (now - mark) / len(answers), now
                    for answer in answers:
                        yield replace(answer, seconds=seconds)
        if not self._taken and self._refused > 1:
            raise EvaluationError(FailureCode.MODEL_ERROR, f"no image can be taken in: {self._inputs.refusal}")

    def close(self) -> None:
        self._inputs.close()

    def _sorted(self, pool: Sequence[Prompt]) -> list[PreparedPrompt]:
        prepared = [self._inputs.prepare(prompt) for prompt in pool]
        most: dict[tuple[Path, ...], int] = {}  # cost of a prompt on the same images
        for p in prepared:
            most[p.prompt.images] = max(p.cost, most.get(p.prompt.images, 0))
        return sorted(prepared, key=lambda p: (-most[p.prompt.images], p.prompt.images, -p.cost))

    def _next_batch(self, waiting: deque[PreparedPrompt]) -> list[PreparedPrompt]:
        batch, longest = [waiting.popleft()], 0
        while waiting and len(batch) < self.batch_size:
            longest = max(longest, batch[-1].cost, waiting[0].cost)  # all are padded to it
            if (len(batch) + 1) * longest > BATCH_TOKENS[best_device()]:
                break
            batch.append(waiting.popleft())
        return batch

    def _count(self, encoded: Encoded) -> None:
        """Raises EvaluationError where the model takes no image at all."""
        self._refused += len(encoded.refused)
        if not self._taken and self._refused >= MAX_IMAGE_REFUSALS:
            raise EvaluationError(FailureCode.MODEL_ERROR, f"no image can be taken in: {self._inputs.refusal}")

    def _answers(self, encoded: Encoded) -> list[Answer]:
        """Return the batch's answers. If memory runs out it is asked in halves, and later batches are no larger."""
        if encoded.apart:
            return [answer for p in encoded.apart for answer in self._answers(self._inputs.encode([p]))]
        if not encoded.batch:
            return []

        def generate(part: Sequence[PreparedPrompt]) -> list[Any]:
            return self._generate(encoded if len(part) == len(encoded.batch) else self._inputs.encode(part))

        answers: list[Answer] = []
        try:
            for part, tokens in split_batch_on_oom(encoded.batch, generate):
                if len(part) < len(encoded.batch):
                    self.batch_size = min(self.batch_size, len(part))
                answers += [self._answer(p, *own) for p, own in zip(part, tokens, strict=True)]
        except (ValueError, RuntimeError, IndexError) as error:
            # One image of a shape that the model does not take costs its own prompt only.
            device = any(name in str(error) for name in ("CUDA error", "CUDA driver error", "cuDNN error"))
            ours = device or isinstance(error, torch.OutOfMemoryError)
            if ours or not any(p.sizes for p in encoded.batch):
                raise
            self._inputs.refusal = f"{type(error).__name__}: {error}"
            if len(encoded.batch) > 1:
                return [answer for p in encoded.batch for answer in self._answers(self._inputs.encode([p]))]
            self._count(replace(encoded, refused=encoded.batch))
            return [_unanswered(encoded.batch[0], "refused")]
        self._taken += sum(bool(p.sizes) for p in encoded.batch)
        return answers

    def _generate(self, encoded: Encoded) -> list[tuple[Any, bool, bool, int]]:
        """Of each prompt: its new tokens on the CPU, whether they were cut off, whether it was asked within the
        reasoning, and how many tokens it had itself."""
        check_token_ids(int(encoded.inputs["input_ids"].max()), self._model)
        inputs = encoded.inputs.to(self._device)
        if not self._takes_types:
            inputs.pop("token_type_ids", None)
        for name, value in inputs.items():  # pixels take the model's precision, token ids stay whole numbers
            if torch.is_tensor(value) and torch.is_floating_point(value):
                inputs[name] = value.to(self._model.dtype)
        # A decoder of its own begins anew; any other goes on from the prompt.
        start = 1 if self._model.config.is_encoder_decoder else inputs["input_ids"].shape[1]
        given = inputs["attention_mask"].sum(dim=1).tolist()
        budgets = Budgets(
            self._tokenizer, self._tags, encoded.opened, start, self._answer_tokens, self._reasoning_tokens
        )
        beams = (self._generation.num_beams or 1) > 1  # of which each has another length
        output = self._model.generate(
            **inputs,
            generation_config=self._generation,
            stopping_criteria=StoppingCriteriaList([budgets] if self._reasoning_tokens and not beams else []),
            **({"tokenizer": self._tokenizer} if self._generation.stop_strings else {}),
        )
        rows = []
        for row, tokens in enumerate(output[:, start:].cpu()):
            end = next((n for n, token in enumerate(tokens.tolist()) if token in self._stops), None)
            cut = budgets.ended[row]
            whole = end is not None and (cut is None or end < cut)
            rows.append((tokens[: end if whole else cut], not whole, encoded.opened[row], given[row]))
        return rows

    def _answer(self, p: PreparedPrompt, tokens: Any, cut: bool, opened: bool, given: int) -> Answer:
        whole = self._tokenizer.decode(tokens, skip_special_tokens=False)
        parts = split(whole, self._tags, opened=opened)
        if parts.answer is None:
            first = len(tokens)
        else:
            first = self._first_answer_token(tokens, whole[: parts.answer], parts.tags) if parts.reasoned else 0
        text = unmarked(self._tokenizer.decode(tokens[first:], skip_special_tokens=True))
        status: AnswerStatus = "truncated" if cut else "ok" if text else "empty"
        return Answer(
            p.prompt.id,
            text,
            status,
            0.0,
            p.windows,
            p.visual_tokens,
            p.resize,
            raw=whole if parts.reasoned else None,
            prompt_tokens=given,
            tokens=len(tokens),
            reasoning_tokens=first if parts.reasoned else None,
        )

    def _first_answer_token(self, tokens: Any, reasoning: str, tags: Tags) -> int:
        """How many tokens the reasoning takes, its closing tag included."""
        closing = tags.closing
        count = reasoning.count(closing)

        def seen(length: int) -> int:
            return int(str(self._tokenizer.decode(tokens[:length], skip_special_tokens=False)).count(closing))

        return bisect_left(range(len(tokens) + 1), count, key=seen)


def _chat_subconfig(config: Any) -> Any:
    """The config itself; of a model that also speaks or paints, that of the part that reads and writes."""
    known = (MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING, MODEL_FOR_CAUSAL_LM_MAPPING)
    if any(type(config) in mapping for mapping in known) or type(config) not in MODEL_FOR_MULTIMODAL_LM_MAPPING:
        return config
    parts = (getattr(config, name, None) for name in config.sub_configs)
    return next((part for part in parts if type(part) in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING), config)


def _loader(config: Any) -> tuple[Any, bool]:
    """Return the class that loads a model, and whether the model takes images. Raises EvaluationError."""
    sees = config.model_type in architectures()["image"]
    several = type(config) in MODEL_FOR_MULTIMODAL_LM_MAPPING
    for mapping, loader in (
        (MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING, AutoModelForImageTextToText),
        # Models of several senses are mapped as text models, too.
        (MODEL_FOR_CAUSAL_LM_MAPPING, AutoModelForMultimodalLM if several else AutoModelForCausalLM),
        (MODEL_FOR_MULTIMODAL_LM_MAPPING, AutoModelForMultimodalLM),
    ):
        if type(config) in mapping:
            return loader, sees
    named = getattr(config, "auto_map", None) or {}
    for name, loader in LOADERS.items():
        if name in named:
            named.setdefault(loader.__name__, named[name])  # it looks for its own name only
            return loader, any(key.startswith(VISION_NAMES) for key in config.to_dict())
    raise EvaluationError(FailureCode.UNSUPPORTED_ARCHITECTURE, f"{config.model_type} does not chat")


def _unanswered(p: PreparedPrompt, status: AnswerStatus) -> Answer:
    return Answer(p.prompt.id, "", status, 0.0, p.windows, p.visual_tokens, p.resize)
