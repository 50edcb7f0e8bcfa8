"""The engine for chat models in transformers, with or without images. It does not depend on a list of models.

It uses the model's processor and chat template. Prompts are read in pools and answered longest first, in batches of
similar token cost. Prompts on the same image are kept together, so that it is decoded once. While the device works on
one batch, a thread prepares the next.
"""

import inspect
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoModelForMultimodalLM,
    GenerationConfig,
    StoppingCriteriaList,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
    MODEL_FOR_MULTIMODAL_LM_MAPPING,
)

from evaluator.core.data_types import Answer, AnswerStatus, Prompt
from evaluator.core.errors import EvaluationError
from evaluator.core.memory import is_out_of_memory
from evaluator.engines.base import split_batch_on_oom
from evaluator.engines.chat_inputs import ChatInputs, Encoded, PreparedPrompt
from evaluator.engines.decoding import Budgets, greedy_config, plain_config, token_ids
from evaluator.engines.generation_config import repository_settings
from evaluator.engines.hardware import best_device, torch_environment
from evaluator.engines.loading import check_no_nan, check_token_ids, from_pretrained, load_config
from evaluator.engines.options import EngineOptions
from evaluator.engines.output import read_output
from submissions.hub_models.architectures import architectures
from submissions.hub_models.model_facts import VISION_NAMES
from submissions.texts.failure_codes import FailureCode

POOL_SIZE = 256  # prompts that are sorted by cost together
BATCH_SIZE = {"cuda": 64, "cpu": 16}  # maximum number of prompts
BATCH_TOKENS = {"cuda": 65_536, "cpu": 16_384}  # maximum number of prompt tokens, with padding and visual tokens
MAX_IMAGE_REFUSALS = 16  # rejected images, none accepted, after which the model fails
LOADERS = {  # loader for a repository's own class, by its name in the config's auto_map
    "AutoModelForImageTextToText": AutoModelForImageTextToText,
    "AutoModelForVision2Seq": AutoModelForImageTextToText,
    "AutoModelForMultimodalLM": AutoModelForMultimodalLM,
    "AutoModelForCausalLM": AutoModelForCausalLM,
    "AutoModel": AutoModel,
}


@dataclass(frozen=True)
class _Decoding:
    """How answers are generated, and where in the new tokens they end."""

    config: GenerationConfig
    stops: frozenset[int]  # tokens that end an answer
    removed: frozenset[int]  # tokens that are not part of an answer
    answer_tokens: int
    reasoning_tokens: int  # 0 for a model that does not reason

    @classmethod
    def of(cls, model: Any, inputs: ChatInputs, options: EngineOptions) -> "_Decoding":
        reasoning = options.max_reasoning_tokens if inputs.reasons else 0
        stops = inputs.stop_tokens(token_ids(model.generation_config.eos_token_id))
        longest = options.max_new_tokens + reasoning
        config = greedy_config(model.generation_config, options.decoding, stops, inputs.pad_id, longest)
        return cls(config, frozenset(stops), frozenset(inputs.control_tokens(stops)), options.max_new_tokens, reasoning)


class ChatEngine:
    """Runs a chat model in this process."""

    environment = staticmethod(torch_environment)

    def __init__(self, options: EngineOptions) -> None:
        config = chat_subconfig(load_config(options))
        loader, takes_images = choose_loader(config)
        context = getattr(config.get_text_config(), "max_position_embeddings", None)
        self._inputs = ChatInputs(options, takes_images, context, pads_left=not config.is_encoder_decoder)
        plain = plain_config(repository_settings(options.model)) if options.decoding == "greedy" else None
        self._model = _load_model(loader, options, config, plain)
        self._decoding = _Decoding.of(self._model, self._inputs, options)
        if plain:  # `generate` takes settings that its config leaves open from the model's config
            self._model.generation_config = plain
        parameters = inspect.signature(self._model.forward).parameters
        self._takes_type_ids = "token_type_ids" in parameters
        self._inputs.needs_media_types = takes_images and "mm_token_type_ids" in parameters
        self.params = self._model.num_parameters()
        self.image_processor = self._inputs.image_processor
        self.batch_size = options.batch_size or BATCH_SIZE[best_device()]
        if options.decoding == "repository":  # some penalties count the padding; published scripts ask one at a time
            self.batch_size = 1
        self._images_refused = 0  # prompts
        self._images_accepted = 0

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        remaining = iter(prompts)
        last_time = time.perf_counter()
        with ThreadPoolExecutor(1) as encoder:
            while pool := list(islice(remaining, POOL_SIZE)):
                waiting = deque(self._sort_by_cost(pool))
                upcoming = deque([encoder.submit(self._inputs.encode, self._next_batch(waiting))])
                while upcoming:
                    encoded = upcoming.popleft().result()
                    if waiting:
                        upcoming.append(encoder.submit(self._inputs.encode, self._next_batch(waiting)))
                    self._count_refusals(encoded)
                    answers = [_unanswered(p, "infra_error") for p in encoded.broken]
                    answers += [_unanswered(p, "refused") for p in encoded.refused]
                    answers += self._answer_batch(encoded)
                    now = time.perf_counter()
                    seconds = (now - last_time) / len(answers)
                    last_time = now
                    for answer in answers:
                        yield replace(answer, seconds=seconds)
        if not self._images_accepted and self._images_refused > 1:
            raise EvaluationError(FailureCode.MODEL_ERROR, f"the model accepted no image: {self._inputs.refusal}")

    def close(self) -> None:
        self._inputs.close()

    def _sort_by_cost(self, pool: Sequence[Prompt]) -> list[PreparedPrompt]:
        """Prepare the prompts and sort them by decreasing cost, keeping prompts on the same images together."""
        prepared = [self._inputs.prepare(prompt) for prompt in pool]
        max_cost: dict[tuple[Path, ...], int] = {}  # by images
        for p in prepared:
            max_cost[p.prompt.images] = max(p.cost, max_cost.get(p.prompt.images, 0))
        return sorted(prepared, key=lambda p: (-max_cost[p.prompt.images], p.prompt.images, -p.cost))

    def _next_batch(self, waiting: deque[PreparedPrompt]) -> list[PreparedPrompt]:
        """Remove and return the next prompts, within the limits on batch size and tokens."""
        batch = [waiting.popleft()]
        longest = 0
        while waiting and len(batch) < self.batch_size:
            longest = max(longest, batch[-1].cost, waiting[0].cost)  # all prompts are padded to this length
            if (len(batch) + 1) * longest > BATCH_TOKENS[best_device()]:
                break
            batch.append(waiting.popleft())
        return batch

    def _count_refusals(self, encoded: Encoded) -> None:
        """Count rejected images. Raises EvaluationError if the model seems to accept no image at all."""
        self._images_refused += len(encoded.refused)
        if not self._images_accepted and self._images_refused >= MAX_IMAGE_REFUSALS:
            raise EvaluationError(FailureCode.MODEL_ERROR, f"the model accepted no image: {self._inputs.refusal}")

    def _answer_batch(self, encoded: Encoded) -> list[Answer]:
        """Return the answers of a batch.

        If memory runs out, the batch is halved, and later batches are no larger than the half that worked.
        """
        if encoded.unbatchable:
            return [answer for p in encoded.unbatchable for answer in self._answer_batch(self._inputs.encode([p]))]
        if not encoded.batch:
            return []

        def generate(part: Sequence[PreparedPrompt]) -> list[Any]:
            return self._generate(encoded if len(part) == len(encoded.batch) else self._inputs.encode(part))

        answers: list[Answer] = []
        try:
            for part, rows in split_batch_on_oom(encoded.batch, generate):
                if len(part) < len(encoded.batch):
                    self.batch_size = min(self.batch_size, len(part))
                answers += [self._answer(p, *row) for p, row in zip(part, rows, strict=True)]
        except (ValueError, RuntimeError, IndexError) as error:
            # An image with an unsupported shape must fail only its own prompt.
            is_device_error = any(name in str(error) for name in ("CUDA error", "CUDA driver error", "cuDNN error"))
            is_infrastructure = is_device_error or is_out_of_memory(error)
            if is_infrastructure or not any(p.sizes for p in encoded.batch):
                raise
            self._inputs.refusal = f"{type(error).__name__}: {error}"
            if len(encoded.batch) > 1:
                return [answer for p in encoded.batch for answer in self._answer_batch(self._inputs.encode([p]))]
            self._count_refusals(replace(encoded, refused=encoded.batch))
            return [_unanswered(encoded.batch[0], "refused")]
        self._images_accepted += sum(bool(p.sizes) for p in encoded.batch)
        return answers

    def _generate(self, encoded: Encoded) -> list[tuple[Any, bool, bool, int]]:
        """Generate, and return for each prompt the arguments of `_answer`.

        They are: its new tokens on the CPU, whether they were cut off, whether the prompt ends inside the reasoning,
        and the number of prompt tokens.
        """
        check_token_ids(int(encoded.inputs["input_ids"].max()), self._model)
        inputs = encoded.inputs.to(self._model.device.type)
        if not self._takes_type_ids:
            inputs.pop("token_type_ids", None)
        for name, value in inputs.items():  # pixels get the model's precision, integers are unchanged
            if torch.is_tensor(value) and torch.is_floating_point(value):
                inputs[name] = value.to(self._model.dtype)
        # The output of an encoder-decoder has one start token in front, that of other models has the prompt.
        start = 1 if self._model.config.is_encoder_decoder else inputs["input_ids"].shape[1]
        prompt_tokens = inputs["attention_mask"].sum(dim=1).tolist()
        decoding = self._decoding
        tokenizer = self._inputs.tokenizer
        budgets = Budgets(
            tokenizer, self._inputs.tags, encoded.opened, start, decoding.answer_tokens, decoding.reasoning_tokens
        )
        beams = (decoding.config.num_beams or 1) > 1  # Budgets needs one row for each prompt
        for_stop_strings = {"tokenizer": tokenizer} if decoding.config.stop_strings else {}
        output = self._model.generate(
            **inputs,
            generation_config=decoding.config,
            stopping_criteria=StoppingCriteriaList([budgets] if decoding.reasoning_tokens and not beams else []),
            **for_stop_strings,
        )
        rows = []
        for row, tokens in enumerate(output[:, start:].cpu()):
            stopped_at = next((n for n, token in enumerate(tokens.tolist()) if token in decoding.stops), None)
            budget_end = budgets.ended[row]
            complete = stopped_at is not None and (budget_end is None or stopped_at < budget_end)
            if stopped_at is None and budget_end is None and decoding.config.stop_strings:
                text = tokenizer.decode(tokens)  # the string is part of the answer
                complete = any(string in text for string in decoding.config.stop_strings)
            end = stopped_at if complete else budget_end
            rows.append((tokens[:end], not complete, encoded.opened[row], prompt_tokens[row]))
        return rows

    def _answer(self, p: PreparedPrompt, tokens: Any, cut: bool, opened: bool, prompt_tokens: int) -> Answer:
        """Return the answer in the new tokens, without the reasoning."""
        output = read_output(
            self._inputs.tokenizer, tokens.tolist(), self._inputs.tags, self._decoding.removed, opened=opened
        )
        status: AnswerStatus
        if cut:
            status = "truncated"
        elif output.answer:
            status = "ok"
        else:
            status = "empty"
        return Answer(
            p.prompt.id,
            output.answer,
            status,
            0.0,
            p.windows,
            p.visual_tokens,
            p.resize,
            raw=output.raw,
            prompt_tokens=prompt_tokens,
            tokens=len(tokens),
            reasoning_tokens=output.reasoning_tokens,
        )


def _load_model(loader: Any, options: EngineOptions, config: Any, plain: GenerationConfig | None) -> Any:
    """Load the model, which fails as soon as it computes something that is no number."""
    model = from_pretrained(loader, options, config, plain)
    # A hook and not a logits processor, because a model's own `generate` may drop those (Janus does).
    if (head := model.get_output_embeddings()) is not None:
        head.register_forward_hook(lambda *call: check_no_nan(call[2][:, -1]))
    return model


def chat_subconfig(config: Any) -> Any:
    """Return the config of the part that reads images and writes text, if the model also generates audio or images.

    For all other models, return the config unchanged.
    """
    known = (MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING, MODEL_FOR_CAUSAL_LM_MAPPING)
    if any(type(config) in mapping for mapping in known) or type(config) not in MODEL_FOR_MULTIMODAL_LM_MAPPING:
        return config
    parts = (getattr(config, name, None) for name in config.sub_configs)
    return next((part for part in parts if type(part) in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING), config)


def choose_loader(config: Any) -> tuple[Any, bool]:
    """Return the auto class that loads a model, and whether the model takes images.

    Raises EvaluationError if the model is not a chat model.
    """
    takes_images = config.model_type in architectures()["image"]
    is_multimodal = type(config) in MODEL_FOR_MULTIMODAL_LM_MAPPING
    for mapping, loader in (
        (MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING, AutoModelForImageTextToText),
        # Multimodal models are in the mapping of text models, too.
        (MODEL_FOR_CAUSAL_LM_MAPPING, AutoModelForMultimodalLM if is_multimodal else AutoModelForCausalLM),
        (MODEL_FOR_MULTIMODAL_LM_MAPPING, AutoModelForMultimodalLM),
    ):
        if type(config) in mapping:
            return loader, takes_images
    auto_map = getattr(config, "auto_map", None) or {}
    for name, loader in LOADERS.items():
        if name in auto_map:
            auto_map.setdefault(loader.__name__, auto_map[name])  # a loader looks up its own class name only
            return loader, any(key.startswith(VISION_NAMES) for key in config.to_dict())
    raise EvaluationError(FailureCode.UNSUPPORTED_ARCHITECTURE, f"{config.model_type} is not a chat model")


def _unanswered(p: PreparedPrompt, status: AnswerStatus) -> Answer:
    return Answer(p.prompt.id, "", status, 0.0, p.windows, p.visual_tokens, p.resize)
