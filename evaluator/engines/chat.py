"""Any chat model of transformers, with or without images, through its processor and chat template. No model list.

Prompts are taken a pool at a time and answered longest first, in batches of like token cost; while the device works
on one batch, a thread prepares the next.
"""

import copy
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoProcessor,
    AutoTokenizer,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
)

from evaluator.engines.base import (
    EngineOptions,
    best_device,
    check_finite,
    check_known,
    from_pretrained,
    halving,
    load_config,
)
from evaluator.engines.images import fitted_size, load_image
from evaluator.engines.pages import fit_page
from evaluator.engines.template import PRINT, TemplateRenderer
from evaluator.types import Answer, AnswerStatus, ModelError, Prompt

TEMPLATE = 64  # tokens left to the chat template itself
POOL = 256  # prompts sorted by cost together
BATCH_SIZE = {"cuda": 64, "cpu": 16}  # prompts, at most
BATCH_TOKENS = {"cuda": 65_536, "cpu": 16_384}  # prompt tokens with padding, visual ones included, at most
VISUAL_TOKENS = 1024  # an image's, where the processor does not tell
MAX_SECONDS = 1800.0  # for one batch: an answer that is not through by then is cut off
OPENERS = 4  # threads that decode images


@dataclass(frozen=True)
class Ready:
    """A prompt as it will be asked."""

    prompt: Prompt
    text: str
    windows: int | None
    sizes: tuple[tuple[int, int], ...]  # of the images, within the pixel budget
    resize: float | None
    visual_tokens: int | None
    cost: int  # tokens


Reply = tuple[Ready, str, AnswerStatus]


@dataclass(frozen=True)
class Encoded:
    """A batch as the model takes it. Prompts whose images turned out to be broken are apart."""

    batch: list[Ready]
    inputs: Any
    broken: list[Ready]


class ChatEngine:
    def __init__(self, options: EngineOptions) -> None:
        config = load_config(options)
        self._sees = type(config) in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
        if not self._sees and type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
            raise ModelError("unsupported_architecture", f"{config.model_type} does not chat")
        self._processor = _load_processor(AutoProcessor if self._sees else AutoTokenizer, options)
        tokenizer = self._processor.tokenizer if self._sees else self._processor
        template = getattr(self._processor, "chat_template", None)
        if isinstance(template, dict):  # several by name
            template = template.get("default")
        if not template:
            raise ModelError("no_chat_template", "the model has no chat template")
        self._template = TemplateRenderer(template, tokenizer.special_tokens_map)
        tokenizer.padding_side = "left"
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        self._tokenizer = copy.deepcopy(tokenizer)  # the processor's own belongs to the thread that encodes
        self._model = from_pretrained(AutoModelForImageTextToText if self._sees else AutoModelForCausalLM, options)
        self.params = self._model.num_parameters()
        self._device = best_device()
        context = getattr(config.get_text_config(), "max_position_embeddings", None)
        self._room = context and max(context - options.max_new_tokens - TEMPLATE, TEMPLATE)  # tokens for a prompt
        self._max_pixels = options.max_pixels
        self._generation = self._greedy(options.max_new_tokens)
        self.batch_size = options.batch_size or BATCH_SIZE[self._device]

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        remaining = iter(prompts)
        mark = time.perf_counter()
        with ThreadPoolExecutor(1) as ahead:
            while pool := list(islice(remaining, POOL)):
                waiting = deque(self._sorted(pool))
                upcoming = deque([ahead.submit(self._encode, self._next_batch(waiting))])
                while upcoming:
                    encoded = upcoming.popleft().result()
                    if waiting:
                        upcoming.append(ahead.submit(self._encode, self._next_batch(waiting)))
                    replies: list[Reply] = [(ready, "", "infra_error") for ready in encoded.broken]
                    replies += self._replies(encoded)
                    now = time.perf_counter()
                    seconds, mark = (now - mark) / len(replies), now
                    for r, text, status in replies:
                        yield Answer(r.prompt.id, text, status, seconds, r.windows, r.visual_tokens, r.resize)

    def close(self) -> None:
        self._template.close()

    def _sorted(self, pool: Sequence[Prompt]) -> list[Ready]:
        return sorted((self._ready(prompt) for prompt in pool), key=lambda r: -r.cost)

    def _ready(self, prompt: Prompt) -> Ready:
        if prompt.images and not self._sees:
            raise ModelError("no_image_input", "the model takes no images")
        text, windows = fit_page(prompt, self._room, self._length)
        cost = self._length(text) + TEMPLATE
        if not prompt.images:
            return Ready(prompt, text, windows, (), None, None, cost)
        try:
            fitted = [fitted_size(path, self._max_pixels) for path in prompt.images]
        except (OSError, ValueError):
            return Ready(prompt, text, windows, (), None, None, cost)  # encoding will find it broken
        sizes = tuple((width, height) for width, height, _ in fitted)
        visual = self._visual_tokens(sizes)
        return Ready(prompt, text, windows, sizes, min(f for *_, f in fitted), visual, cost + visual)

    def _visual_tokens(self, sizes: Sequence[tuple[int, int]]) -> int:
        count = getattr(self._processor, "_get_num_multimodal_tokens", None)
        if count is None:
            return VISUAL_TOKENS * len(sizes)
        return sum(count(image_sizes=[(height, width) for width, height in sizes]).num_image_tokens)

    def _next_batch(self, waiting: deque[Ready]) -> list[Ready]:
        batch = [waiting.popleft()]
        tokens = BATCH_TOKENS[self._device] // batch[0].cost  # the first is the longest: all are padded to it
        while waiting and len(batch) < min(self.batch_size, tokens):
            batch.append(waiting.popleft())
        return batch

    def _encode(self, batch: list[Ready]) -> Encoded:
        """Images decoded and everything tokenised. Raises ModelError where the chat template fails."""
        with ThreadPoolExecutor(OPENERS) as openers:
            images = list(openers.map(_images, batch))
        good = [(ready, own) for ready, own in zip(batch, images, strict=True) if own is not None]
        broken = [ready for ready, own in zip(batch, images, strict=True) if own is None]
        inputs = None
        if good:
            conversations = [[{"role": "user", "content": self._content(r, own)}] for r, own in good]
            shown = [[{"role": "user", "content": self._content(r, ["image"] * len(own))}] for r, own in good]
            for (message,), rendered in zip(conversations, self._template.render(shown), strict=True):
                message["rendered"] = rendered
            kwargs = {"padding": True}
            inputs = self._processor.apply_chat_template(
                conversations,
                chat_template=PRINT,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
                **({"processor_kwargs": kwargs} if self._sees else kwargs),
            )
        return Encoded([ready for ready, _ in good], inputs, broken)

    def _content(self, ready: Ready, images: list[Any]) -> Any:
        if not self._sees:
            return ready.text
        return [*({"type": "image", "image": image} for image in images), {"type": "text", "text": ready.text}]

    def _replies(self, encoded: Encoded) -> list[Reply]:
        """The batch's answers; where memory is short, in halves, and later batches are no larger than what fitted."""
        if not encoded.batch:
            return []

        def generate(part: Sequence[Ready]) -> Any:
            return self._generate(encoded if len(part) == len(encoded.batch) else self._encode(list(part)))

        replies: list[Reply] = []
        for part, tokens in halving(encoded.batch, generate):
            if len(part) < len(encoded.batch):
                self.batch_size = min(self.batch_size, len(part))
            replies += [(ready, *self._reply(own)) for ready, own in zip(part, tokens, strict=True)]
        return replies

    def _generate(self, encoded: Encoded) -> Any:
        """New tokens, (prompts, tokens), on the CPU."""
        check_known(int(encoded.inputs["input_ids"].max()), self._model)
        inputs = encoded.inputs.to(self._device)
        for name, value in inputs.items():  # pixels take the model's precision, token ids stay whole numbers
            if torch.is_floating_point(value):
                inputs[name] = value.to(self._model.dtype)
        output = self._model.generate(
            **inputs, generation_config=self._generation, logits_processor=LogitsProcessorList([_RefuseNaN()])
        )
        return output[:, inputs["input_ids"].shape[1] :].cpu()

    def _reply(self, tokens: Any) -> tuple[str, AnswerStatus]:
        text = self._tokenizer.decode(tokens, skip_special_tokens=True).strip()
        eos = self._generation.eos_token_id
        if not set(eos if isinstance(eos, list) else [eos]) & set(tokens.tolist()):
            return text, "truncated"
        return text, "ok" if text else "empty"

    def _greedy(self, max_new_tokens: int) -> Any:
        """Greedy decoding with the model's own end tokens and nothing else of its taste."""
        own = self._model.generation_config
        eos = own.eos_token_id if own.eos_token_id is not None else self._tokenizer.eos_token_id
        return GenerationConfig(
            do_sample=False,
            max_new_tokens=max_new_tokens,
            max_time=MAX_SECONDS,
            eos_token_id=eos,
            bos_token_id=own.bos_token_id,
            pad_token_id=self._tokenizer.pad_token_id,
        )

    def _length(self, text: str) -> int:
        return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])


class _RefuseNaN(LogitsProcessor):  # type: ignore[misc]
    def __call__(self, input_ids: Any, scores: Any) -> Any:
        check_finite(scores)
        return scores


def _images(ready: Ready) -> list[Any] | None:
    """The prompt's images; None where one cannot be read."""
    try:
        return [load_image(path, size) for path, size in zip(ready.prompt.images, ready.sizes, strict=True)]
    except (OSError, ValueError):
        return None


def _load_processor(loader: Any, options: EngineOptions) -> Any:
    try:
        return loader.from_pretrained(options.model, trust_remote_code=False, local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise ModelError("unsupported_architecture", str(error)) from error
