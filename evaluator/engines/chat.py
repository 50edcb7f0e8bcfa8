"""The engine for chat models in transformers, with or without images. It does not depend on a list of models.

The inference process (`evaluator/job/child.py`) creates a ChatEngine and passes it the prompts of a job. A prompt becomes a
PreparedPrompt (text and image sizes), then a row of an Encoded batch (token ids and pixels, `chat_inputs.py`), then a
_GeneratedRow (new tokens), and at last an Answer (text without reasoning, `output.py`).

Prompts are read in pools and answered longest first, in batches of similar token cost. Prompts on the same image are
kept together, so that it is decoded once. While the device works on one batch, a thread encodes the next.
"""

import inspect
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
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
from evaluator.engines.decoding import Budgets, decoding_config, plain_config, token_ids
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
MAX_IMAGE_REFUSALS = 16  # prompts with rejected images, none accepted, after which the model fails
# Parts of error messages that mean that the GPU failed, and not that the model cannot process an image.
DEVICE_ERRORS = ("CUDA error", "CUDA driver error", "cuDNN error")
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
    answer_tokens: int  # budget of an answer
    reasoning_tokens: int  # budget of the reasoning before it; 0 for a model that does not reason

    @classmethod
    def of(cls, model: Any, inputs: ChatInputs, options: EngineOptions) -> "_Decoding":
        """Return how a loaded model decodes."""
        reasoning_tokens = options.max_reasoning_tokens if inputs.reasons else 0
        stops = inputs.stop_tokens(token_ids(model.generation_config.eos_token_id))
        return cls(
            config=decoding_config(
                model.generation_config,
                options.decoding,
                stops,
                inputs.pad_id,
                max_new_tokens=options.max_new_tokens + reasoning_tokens,
            ),
            stops=frozenset(stops),
            removed=frozenset(inputs.control_tokens(stops)),
            answer_tokens=options.max_new_tokens,
            reasoning_tokens=reasoning_tokens,
        )


@dataclass(frozen=True)
class _GeneratedRow:
    """What the model generated for one prompt of a batch."""

    tokens: list[int]  # ids of the new tokens, without the one that ended the answer
    is_cut_off: bool  # whether a budget ended the answer, and not the model
    begins_in_reasoning: bool  # whether the prompt ends inside the reasoning, so that the tokens continue it
    prompt_tokens: int


class ChatEngine:
    """Runs a chat model in this process."""

    environment = staticmethod(torch_environment)

    def __init__(self, options: EngineOptions) -> None:
        """Load the model and its processor. Raises EvaluationError if that fails or the model has no chat template."""
        config = chat_subconfig(load_config(options))
        loader, takes_images = choose_loader(config)
        context = getattr(config.get_text_config(), "max_position_embeddings", None)
        self._inputs = ChatInputs(options, takes_images, context, pads_left=not config.is_encoder_decoder)
        # With greedy decoding, the model gets a generation config without the repository's sampling settings.
        plain = plain_config(repository_settings(options.model)) if options.decoding == "greedy" else None
        self._model = _load_model(loader, options, config, plain)
        self._decoding = _Decoding.of(self._model, self._inputs, options)
        # Loading has given the model this config, but a class of the repository may have replaced it. `_Decoding.of` has read
        # that one's stop tokens. Its other settings must not apply, so the config is set again.
        if plain:
            self._model.generation_config = plain
        parameters = inspect.signature(self._model.forward).parameters
        self._takes_type_ids = "token_type_ids" in parameters
        self._inputs.needs_media_types = takes_images and "mm_token_type_ids" in parameters
        self.params = self._model.num_parameters()
        self.image_processor = self._inputs.image_processor
        self.batch_size = options.batch_size or BATCH_SIZE[best_device()]
        if options.decoding == "repository":  # some penalties count the padding; published scripts ask one at a time
            self.batch_size = 1
        self._images_refused = 0  # number of prompts with images that the model rejected
        self._images_accepted = 0  # number of prompts with images that it answered

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        remaining = iter(prompts)
        last_time = time.perf_counter()
        with ThreadPoolExecutor(1) as encoder:
            while pool := list(islice(remaining, POOL_SIZE)):
                waiting = deque(self._sort_by_cost(pool))
                encoding: Future[Encoded] | None = encoder.submit(self._inputs.encode, self._next_batch(waiting))
                while encoding is not None:
                    encoded = encoding.result()
                    # The encoder works on the next batch while this one is answered.
                    encoding = encoder.submit(self._inputs.encode, self._next_batch(waiting)) if waiting else None
                    answers = self._answer_batch(encoded)
                    now = time.perf_counter()
                    seconds = (now - last_time) / len(answers)
                    last_time = now
                    for answer in answers:
                        yield replace(answer, seconds=seconds)
        # A single refusal does not show whether the model or only this image is the reason.
        if not self._images_accepted and self._images_refused > 1:
            raise self._no_image_accepted()

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
        longest = batch[0].cost
        while waiting and len(batch) < self.batch_size:
            longest = max(longest, waiting[0].cost)  # all prompts are padded to this length
            if (len(batch) + 1) * longest > BATCH_TOKENS[best_device()]:
                break
            batch.append(waiting.popleft())
        return batch

    def _count_refusals(self, count: int) -> None:
        """Count prompts with rejected images. Raises EvaluationError if the model seems to accept no image at all."""
        self._images_refused += count
        if not self._images_accepted and self._images_refused >= MAX_IMAGE_REFUSALS:
            raise self._no_image_accepted()

    def _no_image_accepted(self) -> EvaluationError:
        return EvaluationError(FailureCode.MODEL_ERROR, f"the model accepted no image: {self._inputs.refusal}")

    def _answer_batch(self, encoded: Encoded) -> list[Answer]:
        """Return the answers of all prompts of a batch, also of those that could not be encoded with it.

        Those with an image that cannot be read (`broken`) are infrastructure failures. Those with an image that the processor
        rejects (`refused`) count as refused by the model. Those that are `unbatchable` are answered one by one.
        """
        self._count_refusals(len(encoded.refused))
        answers = [_unanswered(p, "infra_error") for p in encoded.broken]
        answers += [_unanswered(p, "refused") for p in encoded.refused]
        answers += self._answer_one_by_one(encoded.unbatchable)
        if encoded.batch:
            answers += self._answer_encoded(encoded)
        return answers

    def _answer_encoded(self, encoded: Encoded) -> list[Answer]:
        """Return the answers of the prompts that are encoded.

        If memory runs out, the batch is halved, and later batches are no larger than the half that worked. If the model
        fails on a batch with images, its prompts are answered one by one, so that an image with an unsupported shape
        fails only its own prompt, with the status `refused`.
        """

        def generate(part: Sequence[PreparedPrompt]) -> list[_GeneratedRow]:
            is_whole_batch = len(part) == len(encoded.batch)
            return self._generate(encoded if is_whole_batch else self._inputs.encode(part))

        answers: list[Answer] = []
        try:
            for part, rows in split_batch_on_oom(encoded.batch, generate):
                if len(part) < len(encoded.batch):
                    self.batch_size = min(self.batch_size, len(part))
                answers += [self._answer_of(prompt, row) for prompt, row in zip(part, rows, strict=True)]
        except (ValueError, RuntimeError, IndexError) as error:
            is_infrastructure = is_out_of_memory(error) or any(name in str(error) for name in DEVICE_ERRORS)
            if is_infrastructure or not any(p.sizes for p in encoded.batch):
                raise
            self._inputs.refusal = f"{type(error).__name__}: {error}"
            if len(encoded.batch) > 1:
                return self._answer_one_by_one(encoded.batch)
            self._count_refusals(1)
            return [_unanswered(encoded.batch[0], "refused")]
        self._images_accepted += sum(bool(p.sizes) for p in encoded.batch)
        return answers

    def _answer_one_by_one(self, prompts: Sequence[PreparedPrompt]) -> list[Answer]:
        # `_answer_batch` does not call this again, because a single prompt is never unbatchable.
        return [answer for prompt in prompts for answer in self._answer_batch(self._inputs.encode([prompt]))]

    def _generate(self, encoded: Encoded) -> list[_GeneratedRow]:
        """Run the model on an encoded batch and return what it generated, one row for each prompt of the batch."""
        check_token_ids(int(encoded.inputs["input_ids"].max()), self._model)
        inputs = encoded.inputs.to(self._model.device.type)
        if not self._takes_type_ids:
            inputs.pop("token_type_ids", None)
        for name, value in inputs.items():  # pixels get the model's precision, integers are unchanged
            if torch.is_tensor(value) and torch.is_floating_point(value):
                inputs[name] = value.to(self._model.dtype)
        # `generate` returns rows of an encoder-decoder with one start token in front, of other models with the prompt.
        start = 1 if self._model.config.is_encoder_decoder else inputs["input_ids"].shape[1]
        prompt_tokens = inputs["attention_mask"].sum(dim=1).tolist()
        decoding = self._decoding
        tokenizer = self._inputs.tokenizer
        budgets = Budgets(
            tokenizer,
            self._inputs.tags,
            encoded.begins_in_reasoning,
            start,
            decoding.answer_tokens,
            decoding.reasoning_tokens,
        )
        # `max_new_tokens` is limit enough for a model that does not reason. Beam search has several rows for each prompt,
        # which Budgets cannot follow, so only the sum of both budgets limits them (`max_new_tokens` again).
        uses_beams = (decoding.config.num_beams or 1) > 1
        criteria = [budgets] if decoding.reasoning_tokens and not uses_beams else []
        for_stop_strings = {"tokenizer": tokenizer} if decoding.config.stop_strings else {}
        output = self._model.generate(
            **inputs,
            generation_config=decoding.config,
            stopping_criteria=StoppingCriteriaList(criteria),
            **for_stop_strings,
        )
        rows = []
        for number, tokens in enumerate(output[:, start:].tolist()):
            end, is_cut_off = self._end_of_answer(tokens, budgets.ended[number])
            rows.append(
                _GeneratedRow(tokens[:end], is_cut_off, encoded.begins_in_reasoning[number], prompt_tokens[number])
            )
        return rows

    def _end_of_answer(self, tokens: list[int], budget_end: int | None) -> tuple[int | None, bool]:
        """Return at which of the new tokens an answer ends (None: after the last), and whether it was cut off there.

        `budget_end` is the number of tokens at which a budget was spent, if it was. Padding or further tokens follow the
        end of an answer until all rows of the batch have ended.
        """
        stop_at = next((n for n, token in enumerate(tokens) if token in self._decoding.stops), None)
        if stop_at is not None and (budget_end is None or stop_at < budget_end):
            return stop_at, False
        if budget_end is not None:
            return budget_end, True
        # A stop string, which is then part of the answer, or one of the limits `max_new_tokens` and `max_time`.
        stop_strings = self._decoding.config.stop_strings
        if not stop_strings:
            return None, True
        if isinstance(stop_strings, str):  # transformers accepts a single one too
            stop_strings = [stop_strings]
        text = self._inputs.tokenizer.decode(tokens)
        return None, not any(string in text for string in stop_strings)

    def _answer_of(self, prepared: PreparedPrompt, row: _GeneratedRow) -> Answer:
        """Return the answer in a generated row, without the reasoning and without measured time."""
        output = read_output(
            self._inputs.tokenizer,
            row.tokens,
            self._inputs.tags,
            self._decoding.removed,
            begins_in_reasoning=row.begins_in_reasoning,
        )
        status: AnswerStatus
        if row.is_cut_off:
            status = "truncated"
        elif output.answer:
            status = "ok"
        else:
            status = "empty"
        return Answer(
            id=prepared.prompt.id,
            text=output.answer,
            status=status,
            seconds=0.0,
            windows=prepared.windows,
            visual_tokens=prepared.visual_tokens,
            resize=prepared.resize,
            raw=output.raw,
            prompt_tokens=row.prompt_tokens,
            tokens=len(row.tokens),
            reasoning_tokens=output.reasoning_tokens,
        )


def _load_model(loader: Any, options: EngineOptions, config: Any, plain: GenerationConfig | None) -> Any:
    """Load a model that raises EvaluationError while it generates, as soon as its scores of the next token contain NaN."""
    model = from_pretrained(loader, options, config, plain)
    # A hook and not a logits processor, because a model's own `generate` may drop those (Janus does).
    if (head := model.get_output_embeddings()) is not None:
        head.register_forward_hook(lambda _module, _inputs, logits: check_no_nan(logits[:, -1]))
    return model


def chat_subconfig(config: Any) -> Any:
    """Return the config of the part that reads images and writes text, if the model also generates audio or images.

    For example, Qwen2.5-Omni's "thinker" is such a part. For all other models, return the config unchanged.
    """
    writes_text = type(config) in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING or type(config) in MODEL_FOR_CAUSAL_LM_MAPPING
    if writes_text or type(config) not in MODEL_FOR_MULTIMODAL_LM_MAPPING:
        return config
    subconfigs = (getattr(config, name, None) for name in config.sub_configs)
    return next((sub for sub in subconfigs if type(sub) in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING), config)


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


def _unanswered(prepared: PreparedPrompt, status: AnswerStatus) -> Answer:
    """Return an answer without text, with what is known of the prompt."""
    return Answer(
        id=prepared.prompt.id,
        text="",
        status=status,
        seconds=0.0,
        windows=prepared.windows,
        visual_tokens=prepared.visual_tokens,
        resize=prepared.resize,
    )
