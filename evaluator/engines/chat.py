"""Any chat model of transformers, with or without images, through its processor and chat template. No model list."""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Any

import torch
from PIL import Image
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

from evaluator.engines.base import EngineOptions, best_device, check_finite, from_pretrained, load_config
from evaluator.types import PAGE, Answer, AnswerStatus, ModelError, Prompt

TEMPLATE = 64  # tokens left to the chat template itself
WINDOW = 600  # characters of a page that are kept or left out together
_BLOCK_END = re.compile(r"(?<=</p>)|(?<=</tr>)|(?<=</li>)|(?<=</dd>)|(?<=</table>)|(?<=</h[1-6]>)|(?<=\n)")


class _RefuseNaN(LogitsProcessor):  # type: ignore[misc]
    def __call__(self, input_ids: Any, scores: Any) -> Any:
        check_finite(scores)
        return scores


class ChatEngine:
    def __init__(self, options: EngineOptions) -> None:
        config = load_config(options)
        self._sees = type(config) in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
        if not self._sees and type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
            raise ModelError("unsupported_architecture", f"{config.model_type} does not chat")
        self._processor = _load_processor(AutoProcessor if self._sees else AutoTokenizer, options)
        self._tokenizer = self._processor.tokenizer if self._sees else self._processor
        if not getattr(self._processor, "chat_template", None):
            raise ModelError("no_chat_template", "the model has no chat template")
        self._tokenizer.padding_side = "left"
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        self._model = from_pretrained(AutoModelForImageTextToText if self._sees else AutoModelForCausalLM, options)
        self.params = self._model.num_parameters()
        self._device = best_device()
        self._context = getattr(config.get_text_config(), "max_position_embeddings", None)
        self._max_new_tokens = options.max_new_tokens
        self._generation = self._greedy(options.max_new_tokens)
        self.batch_size = options.batch_size or (8 if self._device == "cuda" else 4)

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        remaining = iter(prompts)
        while batch := list(islice(remaining, self.batch_size)):
            started = time.perf_counter()
            replies, windows = self._generate(batch)
            seconds = (time.perf_counter() - started) / len(batch)
            for prompt, (text, status), read in zip(batch, replies, windows, strict=True):
                yield Answer(prompt.id, text, status, seconds, read)

    def _generate(self, batch: Sequence[Prompt]) -> tuple[list[tuple[str, AnswerStatus]], list[int | None]]:
        if not self._sees and any(p.images for p in batch):
            raise ModelError("no_image_input", "the model takes no images")
        texts, windows = zip(*(self._fitted(p) for p in batch), strict=True)
        with ExitStack() as open_images:
            conversations = [
                [{"role": "user", "content": self._content(prompt, text, open_images)}]
                for prompt, text in zip(batch, texts, strict=True)
            ]
            inputs = self._encode(conversations).to(self._device)
        for name, value in inputs.items():  # pixels take the model's precision, token ids stay whole numbers
            if torch.is_floating_point(value):
                inputs[name] = value.to(self._model.dtype)
        output = self._model.generate(
            **inputs, generation_config=self._generation, logits_processor=LogitsProcessorList([_RefuseNaN()])
        )
        new_tokens = output[:, inputs["input_ids"].shape[1] :]
        return [self._reply(tokens) for tokens in new_tokens], list(windows)

    def _encode(self, conversations: list[Any]) -> Any:
        kwargs = {"padding": True}
        return self._processor.apply_chat_template(
            conversations,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            **({"processor_kwargs": kwargs} if self._sees else kwargs),
        )

    def _content(self, prompt: Prompt, text: str, open_images: ExitStack) -> Any:
        if not self._sees:
            return text
        images = [open_images.enter_context(Image.open(path)).convert("RGB") for path in prompt.images]
        return [*({"type": "image", "image": image} for image in images), {"type": "text", "text": text}]

    def _reply(self, tokens: Any) -> tuple[str, AnswerStatus]:
        text = self._tokenizer.decode(tokens, skip_special_tokens=True).strip()
        eos = self._generation.eos_token_id
        ends = set(eos if isinstance(eos, list) else [eos])
        if not ends & set(tokens.tolist()) and len(tokens) >= self._max_new_tokens:
            return text, "truncated"
        return text, "ok" if text else "empty"

    def _greedy(self, max_new_tokens: int) -> Any:
        """Greedy decoding with the model's own end tokens and nothing else of its taste."""
        own = self._model.generation_config
        eos = own.eos_token_id if own.eos_token_id is not None else self._tokenizer.eos_token_id
        return GenerationConfig(
            do_sample=False,
            max_new_tokens=max_new_tokens,
            eos_token_id=eos,
            bos_token_id=own.bos_token_id,
            pad_token_id=self._tokenizer.pad_token_id,
        )

    def _fitted(self, prompt: Prompt) -> tuple[str, int | None]:
        """The prompt's text with as much of its page as the context holds, and the windows kept (None: all)."""
        if prompt.page is None:
            return prompt.text, None
        whole = prompt.text.replace(PAGE, prompt.page)
        if self._context is None:
            return whole, None
        room = max(self._context - self._max_new_tokens - TEMPLATE, TEMPLATE)
        if self._length(whole) <= room:
            return whole, None
        budget = room - self._length(prompt.text)
        windows = page_windows(prompt.page)
        kept: list[int] = []
        for index in rank(prompt.question, windows):
            budget -= self._length(windows[index])
            if budget < 0:
                break
            kept.append(index)
        return prompt.text.replace(PAGE, "".join(windows[i] for i in sorted(kept))), len(kept)

    def _length(self, text: str) -> int:
        return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])


def page_windows(page: str) -> list[str]:
    """A page cut after paragraphs, rows and list items into pieces of about WINDOW characters; joined, the page."""
    windows = [""]
    for block in _BLOCK_END.split(page):
        if windows[-1] and len(windows[-1]) + len(block) > WINDOW:
            windows.append("")
        windows[-1] += block
    return [w[i : i + 2 * WINDOW] for w in windows for i in range(0, len(w), 2 * WINDOW)]


def rank(question: str, windows: Sequence[str]) -> list[int]:
    """Window indexes, most relevant to the question first: BM25 over character bigrams, which suit Korean."""
    import bm25s

    retriever = bm25s.BM25()
    retriever.index([_bigrams(w) for w in windows], show_progress=False)
    scores = retriever.get_scores(_bigrams(question))
    return sorted(range(len(windows)), key=lambda i: (-scores[i], i))


def _bigrams(text: str) -> list[str]:
    letters = "".join(re.sub(r"<[^>]*>", " ", text).lower().split())
    return [letters[i : i + 2] for i in range(len(letters) - 1)] or [letters]


def _load_processor(loader: Any, options: EngineOptions) -> Any:
    try:
        return loader.from_pretrained(options.model, trust_remote_code=False, local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise ModelError("unsupported_architecture", str(error)) from error
