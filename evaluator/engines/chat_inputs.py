"""From prompts to what a chat model takes: its processor, its chat template, batches of images and token ids."""

import copy
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transformers import AutoProcessor, AutoTokenizer

from evaluator.core.data_types import Prompt
from evaluator.core.errors import EvaluationError
from evaluator.engines.images import fitted_size, load_image
from evaluator.engines.options import EngineOptions
from evaluator.engines.pages import fit_page
from submissions.hub_models.chat_template import Conversation, TemplateRenderer, default_template
from submissions.hub_models.model_facts import QUESTION, folder_template
from submissions.hub_models.reasoning import Tags, learn_tags, opens, values_of
from submissions.hub_models.repository import PROCESSORS
from submissions.texts.errors import TemplateError
from submissions.texts.failure_codes import FailureCode

TEMPLATE_TOKENS = 64  # tokens left to the chat template itself
VISUAL_TOKENS = 1024  # reserved for an image, where the processor does not tell
OPENERS = 4  # threads that decode images
# What processors raise for an image of a shape they do not take.
PROCESSOR_ERRORS = (ValueError, RuntimeError, TypeError, IndexError, ZeroDivisionError)
MARK = "대답입니다"  # an answer that stands in no template
# A template of ours, that prints what has been rendered.
PASSTHROUGH_TEMPLATE = "{% for message in messages %}{{ message['rendered'] }}{% endfor %}"
TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")


@dataclass(frozen=True)
class PreparedPrompt:
    """A prompt as it will be asked."""

    prompt: Prompt
    text: str
    windows: int | None
    sizes: tuple[tuple[int, int], ...]  # of the images, within the pixel budget
    resize: float | None
    visual_tokens: int | None  # None: the processor does not tell
    cost: int  # tokens, estimated


@dataclass(frozen=True)
class Encoded:
    """A batch as the model takes it, and apart from it what could not be encoded."""

    batch: list[PreparedPrompt]
    inputs: Any
    opened: list[bool] = field(default_factory=list)  # whether each prompt ends within the model's reasoning
    broken: list[PreparedPrompt] = field(default_factory=list)  # their images cannot be read: a fault of ours
    refused: list[PreparedPrompt] = field(default_factory=list)  # the model's own processor does not take them
    apart: list[PreparedPrompt] = field(default_factory=list)  # to be encoded one by one: their images do not batch


class ChatInputs:
    """Raises EvaluationError where the model's processor cannot be loaded or it has no chat template."""

    def __init__(self, options: EngineOptions, sees: bool, context: int | None, *, pads_left: bool = True) -> None:
        self._sees = sees
        self.needs_media_types = False  # whether the model wants to know which tokens stand for images
        self.refusal = ""  # why an image could not be taken in
        self._max_pixels = options.max_pixels
        self._processor = _load_processor(AutoProcessor if sees else AutoTokenizer, options)
        images = getattr(self._processor, "image_processor", None)
        self.image_processor = type(images).__name__ if images is not None else None
        # Some processors of image models are a tokenizer that has been taught about images.
        tokenizer = getattr(self._processor, "tokenizer", self._processor)
        named = getattr(self._processor, "chat_template", None) or getattr(tokenizer, "chat_template", None)
        template = default_template(named) if not isinstance(named, str) else named
        if options.adapter:
            template = folder_template(options.adapter)[0] or template
        if not template:
            raise EvaluationError(FailureCode.NO_CHAT_TEMPLATE, "the model has no chat template")
        self._switches = values_of(template, options.thinking)
        self._renderer = TemplateRenderer(template, tokenizer.special_tokens_map)
        self.tags: Tags | None = learn_tags(template, self._renderer, self._message(QUESTION, []))
        self.reasons = self.tags is not None and options.thinking != "off"
        self._media = _media_tokens(self._processor, tokenizer)
        # The processor's own belongs to the thread that encodes, and gets a token to pad with.
        self.tokenizer = copy.deepcopy(tokenizer)
        tokenizer.padding_side = "left" if pads_left else "right"
        if tokenizer.pad_token is None:
            tokenizer.pad_token = [*tokenizer.all_special_tokens, tokenizer.convert_ids_to_tokens(0)][0]
        self.pad_id = int(tokenizer.pad_token_id)
        spent = options.max_new_tokens + (options.max_reasoning_tokens if self.reasons else 0)
        self._room = context and max(context - spent - TEMPLATE_TOKENS, TEMPLATE_TOKENS)  # tokens for a prompt

    def close(self) -> None:
        self._renderer.close()

    def end_of_turn(self) -> int | None:
        """The special token that the template puts behind an answer; None where there is none."""
        words: Any = [{"type": "text", "text": MARK}] if self._sees else MARK
        asked = [{"role": "user", "content": words}, {"role": "assistant", "content": words}]
        try:
            behind = self._renderer.render_whole(asked).rpartition(MARK)[2].strip()
        except TemplateError:  # it takes no answers
            return None
        added = sorted(self.tokenizer.get_added_vocab().items(), key=lambda pair: -len(pair[0]))
        return next((number for token, number in added if behind.startswith(token)), None)

    def prepare(self, prompt: Prompt) -> PreparedPrompt:
        if prompt.images and not self._sees:
            raise EvaluationError(FailureCode.NO_IMAGE_INPUT, "the model takes no images")
        text, windows = fit_page(prompt, self._room, self._length)
        for token in self._media:  # a question that names one asks for no further image
            text = text.replace(token, f"{token[0]} {token[1:]}")
        cost = self._length(text) + TEMPLATE_TOKENS
        if not prompt.images:
            return PreparedPrompt(prompt, text, windows, (), None, None, cost)
        try:
            fitted = [fitted_size(path, self._max_pixels) for path in prompt.images]
        except (OSError, ValueError):
            return PreparedPrompt(prompt, text, windows, (), None, None, cost)  # encoding will find it broken
        sizes = tuple((width, height) for width, height, _ in fitted)
        visual = self._visual_tokens(sizes)
        reserved = VISUAL_TOKENS * len(sizes) if visual is None else visual
        return PreparedPrompt(prompt, text, windows, sizes, min(f for *_, f in fitted), visual, cost + reserved)

    def encode(self, batch: Sequence[PreparedPrompt]) -> Encoded:
        """Return a batch with its images decoded and its text tokenised. Raises EvaluationError if the template fails."""
        names = [list(zip(p.prompt.images, p.sizes, strict=False)) for p in batch]
        with ThreadPoolExecutor(OPENERS) as openers:  # each image once, however many questions are about it
            distinct = list(dict.fromkeys(name for own in names for name in own))
            loaded = dict(zip(distinct, openers.map(_image, distinct), strict=True))
        images = [[loaded[name] for name in own] for own in names]
        whole = [len(own) == len(p.prompt.images) and None not in own for p, own in zip(batch, images, strict=True)]
        good = [(p, own) for p, own, fits in zip(batch, images, whole, strict=True) if fits]
        broken = [p for p, fits in zip(batch, whole, strict=True) if not fits]
        if not good:
            return Encoded([], None, broken=broken)
        rendered = self._render([[self._message(p.text, ["image"] * len(own))] for p, own in good])
        conversations = [
            [{**self._message(p.text, own), "rendered": text}] for (p, own), text in zip(good, rendered, strict=True)
        ]
        prompts = [p for p, _ in good]
        try:
            return Encoded(prompts, self._processed(conversations), self._opened(rendered), broken)
        except PROCESSOR_ERRORS as error:
            self.refusal = f"{type(error).__name__}: {error}"
            if not any(prompt.sizes for prompt in prompts):
                raise EvaluationError(FailureCode.MODEL_ERROR, f"the processor fails on a question: {error}") from error
        # One image of a shape that the processor does not take costs its own prompt only.
        taken = [self._is_processed(conversation) for conversation in conversations]
        refused = [p for p, fits in zip(prompts, taken, strict=True) if not fits]
        fitting = [n for n, fits in enumerate(taken) if fits]
        if not fitting:
            return Encoded([], None, broken=broken, refused=refused)
        try:
            inputs = self._processed([conversations[n] for n in fitting])
        except PROCESSOR_ERRORS:  # each alone, but not all together: their images have different numbers of tiles
            return Encoded([], None, broken=broken, refused=refused, apart=[prompts[n] for n in fitting])
        opened = self._opened([rendered[n] for n in fitting])
        return Encoded([prompts[n] for n in fitting], inputs, opened, broken, refused)

    def _message(self, text: str, images: list[Any]) -> dict[str, Any]:
        if not self._sees:
            return {"role": "user", "content": text}
        shown = [{"type": "image", "image": image} for image in images]
        return {"role": "user", "content": [*shown, {"type": "text", "text": text}]}

    def _render(self, conversations: Sequence[Conversation]) -> list[str]:
        try:
            return self._renderer.render(conversations, **self._switches)
        except TemplateError as error:
            raise EvaluationError(FailureCode.TEMPLATE_ERROR, str(error)) from None

    def _opened(self, rendered: Sequence[str]) -> list[bool]:
        return [opens(text, self.tags) for text in rendered]

    def _processed(self, conversations: list[list[dict[str, Any]]]) -> Any:
        kwargs = {"padding": True, **({"return_mm_token_type_ids": True} if self.needs_media_types else {})}
        return self._processor.apply_chat_template(
            conversations,
            chat_template=PASSTHROUGH_TEMPLATE,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            **({"processor_kwargs": kwargs} if self._sees else kwargs),
        )

    def _is_processed(self, conversation: list[dict[str, Any]]) -> bool:
        try:
            self._processed([conversation])
        except PROCESSOR_ERRORS:
            return False
        return True

    def _visual_tokens(self, sizes: Sequence[tuple[int, int]]) -> int | None:
        count = getattr(self._processor, "_get_num_multimodal_tokens", None)
        if count is None:
            return None
        try:
            counted = count(image_sizes=[(height, width) for width, height in sizes]).num_image_tokens
            return sum(counted) if counted else None
        except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError):
            return None  # of this shape, or at all

    def _length(self, text: str) -> int:
        return len(self.tokenizer(text, add_special_tokens=False)["input_ids"])


def _media_tokens(processor: Any, tokenizer: Any) -> list[str]:
    """What stands for an image, a video or a sound in a prompt."""
    owners, kinds = (processor, tokenizer), ("image", "video", "audio")
    tokens = [getattr(owner, f"{kind}_token", None) for owner in owners for kind in kinds]
    return sorted({str(token) for token in tokens if token and len(str(token)) > 1}, key=lambda t: (-len(t), t))


def _image(name: tuple[Path, tuple[int, int]]) -> Any:
    """The image at this size; None where it cannot be read."""
    try:
        return load_image(*name)
    except (OSError, ValueError):
        return None


def _load_processor(loader: Any, options: EngineOptions) -> Any:
    """Load the model's tokenizer or processor, or that of its adapter, whose own code never runs."""
    folder = options.model
    if options.adapter and _has_own(options.adapter, loader):
        folder = options.adapter
    try:
        trusted = options.custom_code and folder == options.model
        return loader.from_pretrained(folder, trust_remote_code=trusted, local_files_only=True)
    except json.JSONDecodeError as error:
        raise EvaluationError(FailureCode.MODEL_ERROR, f"a file of the tokenizer or processor: {error}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EvaluationError(FailureCode.UNSUPPORTED_ARCHITECTURE, str(error)) from error


def _has_own(adapter: Path, loader: Any) -> bool:
    tokenizes = any((adapter / name).exists() for name in TOKENIZER_FILES)
    return tokenizes and (loader is AutoTokenizer or any((adapter / name).exists() for name in PROCESSORS))
