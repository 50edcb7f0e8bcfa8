"""Turn prompts into inputs of a chat model: apply its chat template, decode images, and run its processor.

There are two steps. `ChatInputs.prepare` fits a prompt's page to the context and estimates its cost in tokens, by which
`chat.py` forms batches. `ChatInputs.encode` turns a batch into tensors, and sorts out the prompts that cannot be in it.
`served_model.py` uses the first step only, because a server renders and encodes prompts itself.

The chat template is untrusted code. It is rendered in a process of its own (TemplateRenderer), and the processor gets
PASSTHROUGH_TEMPLATE instead, which prints the rendered text.
"""

import copy
import json
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from transformers import AutoProcessor, AutoTokenizer

from evaluator.core.data_types import Prompt
from evaluator.core.errors import EvaluationError
from evaluator.core.memory import is_out_of_memory
from evaluator.engines.decoding import token_ids
from evaluator.engines.images import fitted_size, load_image
from evaluator.engines.options import EngineOptions
from evaluator.engines.output import control_tokens
from evaluator.engines.pages import fit_page
from submissions.hub_models.model_facts import TEST_QUESTION, folder_template
from submissions.hub_models.reasoning import Tags, prompt_ends_in_reasoning, reasoning_tags_of, switch_values
from submissions.hub_models.repository import PROCESSORS
from submissions.hub_models.template_renderer import Conversation, TemplateRenderer, default_template
from submissions.texts.errors import TemplateError
from submissions.texts.failure_codes import FailureCode

TEMPLATE_TOKENS = 64  # reserved for the chat template itself
DEFAULT_VISUAL_TOKENS = 1024  # reserved for an image if the processor does not report its number of tokens
IMAGE_THREADS = 4  # that decode images
# Raised by processors for images with a shape that they do not support.
PROCESSOR_ERRORS = (ValueError, RuntimeError, TypeError, IndexError, ZeroDivisionError)
PROBE_ANSWER = "대답입니다"  # "This is the answer", which does not occur in any chat template
# Prints text that is already rendered, so that the processor adds only images and token ids.
PASSTHROUGH_TEMPLATE = "{% for message in messages %}{{ message['rendered'] }}{% endfor %}"
TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")


@dataclass(frozen=True)
class PreparedPrompt:
    """A prompt with its final text and image sizes."""

    prompt: Prompt
    text: str
    windows: int | None  # number of page windows kept; None: the whole page
    sizes: tuple[tuple[int, int], ...]  # of the images, within the pixel budget
    resize: float | None  # scale of the most reduced image
    visual_tokens: int | None  # None if the processor does not report them
    cost: int  # estimated number of tokens: text, template and images


class SizedImage(NamedTuple):
    """An image file, and the size at which a model gets it."""

    path: Path
    size: tuple[int, int]  # width and height in pixels


@dataclass(frozen=True)
class Encoded:
    """An encoded batch, and the prompts that could not be encoded with it."""

    batch: list[PreparedPrompt]
    inputs: Any  # the processor's BatchFeature with one row for each prompt of the batch; None if the batch is empty
    begins_in_reasoning: list[bool] = field(default_factory=list)  # whether each prompt ends inside the reasoning
    broken: list[PreparedPrompt] = field(default_factory=list)  # images unreadable: an infrastructure failure
    refused: list[PreparedPrompt] = field(default_factory=list)  # images rejected by the model's processor
    unbatchable: list[PreparedPrompt] = field(default_factory=list)  # images do not batch: encode one by one


class ChatInputs:
    """The processor and chat template of a model."""

    def __init__(
        self, options: EngineOptions, takes_images: bool, context: int | None, *, pads_left: bool = True
    ) -> None:
        """Load the processor and find out how the template marks reasoning and the ends of answers.

        Args:
            options: The options of the evaluation.
            takes_images: Whether the model takes images. If not, only its tokenizer is loaded.
            context: The number of tokens that the model can read and write together, or None if unknown.
            pads_left: Whether a batch is padded in front of the prompts, as decoder-only models need it.

        Raises EvaluationError if the processor cannot be loaded or the model has no chat template.
        """
        self._takes_images = takes_images
        # Whether the model takes `mm_token_type_ids`, which mark image tokens. `ChatEngine` sets it once a model is loaded.
        self.needs_media_types = False
        self.refusal = ""  # why an image was rejected last, here or by the model
        self._max_pixels = options.max_pixels
        self._processor = _load_processor(AutoProcessor if takes_images else AutoTokenizer, options)
        image_processor = getattr(self._processor, "image_processor", None)
        # The name of its class is recorded with the result.
        self.image_processor = type(image_processor).__name__ if image_processor is not None else None
        # Some image models have a tokenizer as their processor.
        tokenizer = getattr(self._processor, "tokenizer", self._processor)
        templates = getattr(self._processor, "chat_template", None) or getattr(tokenizer, "chat_template", None)
        template = default_template(templates)
        if options.adapter:  # an adapter may have been trained with a template of its own
            template = folder_template(options.adapter)[0] or template
        if not template:
            raise EvaluationError(FailureCode.NO_CHAT_TEMPLATE, "the model has no chat template")
        self.switches = switch_values(template, options.thinking)
        self._renderer = TemplateRenderer(template, tokenizer.special_tokens_map)
        self.tags: Tags | None = reasoning_tags_of(template, self._renderer, self._message(TEST_QUESTION, []))
        self.reasons = self.tags is not None and options.thinking != "off"  # whether the model writes reasoning
        self._media = _media_tokens(self._processor, tokenizer)
        # There are two tokenizers, because padding is a setting of a tokenizer and not of one call. `encode`, which runs in
        # another thread, uses the one of the processor, which pads. All other methods use `self.tokenizer`, a copy that does
        # not: with a shared one they could get padded tokens.
        self.tokenizer = copy.deepcopy(tokenizer)
        self.pad_id = _set_padding(tokenizer, pads_left=pads_left)
        # Tokens that the model may generate for a prompt: its answer, and the reasoning before it.
        self.budget = options.max_new_tokens + (options.max_reasoning_tokens if self.reasons else 0)
        self._room = prompt_room(context, self.budget) if context else None

    def close(self) -> None:
        self._renderer.close()

    def stop_tokens(self, model_stops: Iterable[int]) -> set[int]:
        """Return the ids of all tokens that end an answer: those of the model's config, the tokenizer and the template."""
        stops = {*model_stops, *token_ids([self.tokenizer.eos_token_id, self._end_of_turn()])}
        # The tokens between reasoning and answer (`Tags.separator`) must not end the output. Harmony's begin with <|end|>.
        if self.reasons and self.tags:
            stops -= {*self.tokenizer(self.tags.separator, add_special_tokens=False)["input_ids"]}
        return stops

    def control_tokens(self, stops: Collection[int]) -> dict[int, str]:
        """Return the tokens that are removed from answers, by id. `stops` end an answer."""
        return control_tokens(self.tokenizer, self._media, stops)

    def prompts_end_in_reasoning(self) -> bool:
        """Return whether the template ends a prompt inside the reasoning, so that the model continues it."""
        return self._end_in_reasoning(self._render([[self._message(TEST_QUESTION, [])]]))[0]

    def _end_of_turn(self) -> int | None:
        """Return the id of the added token that the template puts after an answer, or None if it puts none."""
        content: Any = [{"type": "text", "text": PROBE_ANSWER}] if self._takes_images else PROBE_ANSWER
        conversation = [{"role": "user", "content": content}, {"role": "assistant", "content": content}]
        try:
            _, answer, after = self._renderer.render_whole(conversation).rpartition(PROBE_ANSWER)
        except TemplateError:  # the template does not accept answers
            return None
        if not answer:  # the template changes the text of an answer, for example to JSON
            return None
        suffix = after.strip()
        longest_first = sorted(self.tokenizer.get_added_vocab().items(), key=lambda pair: -len(pair[0]))
        return next((token_id for token, token_id in longest_first if suffix.startswith(token)), None)

    def prepare(self, prompt: Prompt) -> PreparedPrompt:
        """Return the prompt with its page fitted to the context, its image sizes and its estimated cost.

        Raises EvaluationError if the prompt has images and the model takes none.
        """
        if prompt.images and not self._takes_images:
            raise EvaluationError(FailureCode.NO_IMAGE_INPUT, "the model takes no images")
        text, windows = fit_page(prompt, self._room, self._length)
        # A media token in a question must not be taken for a further image: "<image>" becomes "< image>".
        for token in self._media:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        cost = self._length(text) + TEMPLATE_TOKENS
        without_images = PreparedPrompt(prompt, text, windows, sizes=(), resize=None, visual_tokens=None, cost=cost)
        if not prompt.images:
            return without_images
        try:
            fitted = [fitted_size(path, self._max_pixels) for path in prompt.images]
        except OSError:
            return without_images  # `encode` finds fewer sizes than images and reports the prompt as broken
        sizes = tuple((width, height) for width, height, _ in fitted)
        visual_tokens = self._visual_tokens(sizes)
        reserved = DEFAULT_VISUAL_TOKENS * len(sizes) if visual_tokens is None else visual_tokens
        return replace(
            without_images,
            sizes=sizes,
            resize=min(scale for _, _, scale in fitted),
            visual_tokens=visual_tokens,
            cost=cost + reserved,
        )

    def encode(self, batch: Sequence[PreparedPrompt]) -> Encoded:
        """Decode the images and tokenise the texts of a batch.

        Prompts whose images cannot be read, are rejected by the processor or do not fit into one batch are returned in
        lists of their own. Raises EvaluationError if the template fails, or the processor fails on a text.
        """
        readable: list[PreparedPrompt] = []
        images: list[list[Any]] = []  # of each readable prompt
        broken: list[PreparedPrompt] = []
        for prepared, own_images in zip(batch, _load_images(batch), strict=True):
            if own_images is None:
                broken.append(prepared)
            else:
                readable.append(prepared)
                images.append(own_images)
        if not readable:
            return Encoded([], None, broken=broken)
        # The renderer gets a placeholder for each image, the processor the images themselves.
        placeholders = [["image"] * len(own_images) for own_images in images]
        rendered = self._render([[self._message(p.text, own)] for p, own in zip(readable, placeholders, strict=True)])
        conversations = [
            [{**self._message(prepared.text, own_images), "rendered": text}]
            for prepared, own_images, text in zip(readable, images, rendered, strict=True)
        ]
        try:
            return Encoded(readable, self._process(conversations), self._end_in_reasoning(rendered), broken)
        except PROCESSOR_ERRORS as error:
            if is_out_of_memory(error):
                raise
        # An image with an unsupported shape must fail only its own prompt.
        accepted: list[int] = []  # indexes in `readable`
        refused: list[PreparedPrompt] = []
        for index, (prepared, conversation) in enumerate(zip(readable, conversations, strict=True)):
            error_alone = self._processor_error(conversation)
            if error_alone is None:
                accepted.append(index)
            elif prepared.sizes:
                self.refusal = error_alone
                refused.append(prepared)
            else:
                raise EvaluationError(FailureCode.MODEL_ERROR, f"the processor fails on a question: {error_alone}")
        if not accepted:
            return Encoded([], None, broken=broken, refused=refused)
        accepted_prompts = [readable[index] for index in accepted]
        try:
            inputs = self._process([conversations[index] for index in accepted])
        except PROCESSOR_ERRORS:  # each works alone: their numbers of tiles differ, or memory is too small for all
            return Encoded([], None, broken=broken, refused=refused, unbatchable=accepted_prompts)
        begins_in_reasoning = self._end_in_reasoning([rendered[index] for index in accepted])
        return Encoded(accepted_prompts, inputs, begins_in_reasoning, broken, refused)

    def _message(self, text: str, images: list[Any]) -> dict[str, Any]:
        """Return a user message: the images, then the text, or a plain string for a model that takes no images."""
        if not self._takes_images:
            return {"role": "user", "content": text}
        parts = [{"type": "image", "image": image} for image in images]
        return {"role": "user", "content": [*parts, {"type": "text", "text": text}]}

    def _render(self, conversations: Sequence[Conversation]) -> list[str]:
        """Apply the chat template. Raises EvaluationError if the template fails."""
        try:
            return self._renderer.render(conversations, **self.switches)
        except TemplateError as error:
            raise EvaluationError(FailureCode.TEMPLATE_ERROR, str(error)) from None

    def _end_in_reasoning(self, rendered: Sequence[str]) -> list[bool]:
        """Return for each rendered prompt whether it ends inside the reasoning."""
        return [prompt_ends_in_reasoning(text, self.tags) for text in rendered]

    def _process(self, conversations: list[list[dict[str, Any]]]) -> Any:
        """Return the model's inputs for rendered conversations, one row for each, as PyTorch tensors."""
        kwargs = {"padding": True}
        if self.needs_media_types:
            kwargs["return_mm_token_type_ids"] = True
        if self._writes_begin(conversations[0]):
            kwargs["add_special_tokens"] = False  # otherwise the tokenizer would add a second beginning-of-text token
        return self._processor.apply_chat_template(
            conversations,
            chat_template=PASSTHROUGH_TEMPLATE,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            **({"processor_kwargs": kwargs} if self._takes_images else kwargs),
        )

    def _writes_begin(self, conversation: list[dict[str, Any]]) -> bool:
        """Return whether the template of an image model writes the beginning-of-text token.

        A processor lets its tokenizer add one unless the text starts with it. That is not enough: a template may write a
        space or a line break first. `apply_chat_template` of a tokenizer, which text models use, never adds one.
        """
        begin = getattr(self.tokenizer, "bos_token", None)
        if not self._takes_images or not begin:
            return False
        return str(conversation[0]["rendered"]).lstrip().startswith(begin)

    def _processor_error(self, conversation: list[dict[str, Any]]) -> str | None:
        """Return the error with which the processor rejects a conversation, or None if it accepts it."""
        try:
            self._process([conversation])
        except PROCESSOR_ERRORS as error:
            if is_out_of_memory(error):
                raise
            return f"{type(error).__name__}: {error}"
        return None

    def _visual_tokens(self, sizes: Sequence[tuple[int, int]]) -> int | None:
        """Return how many tokens the model uses for images of these sizes, or None if the processor cannot say."""
        count = getattr(self._processor, "_get_num_multimodal_tokens", None)
        if count is None:
            return None
        try:
            counted = count(image_sizes=[(height, width) for width, height in sizes]).num_image_tokens
            return sum(counted) if counted else None
        except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError):
            return None  # not reported for this shape, or not at all

    def _length(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return len(self.tokenizer(text, add_special_tokens=False)["input_ids"])


def prompt_room(context: int, budget: int) -> int:
    """Return how many of a model's `context` tokens a prompt may have: what `budget` leaves, and at least half."""
    return max(context - budget - TEMPLATE_TOKENS, context // 2)


def _set_padding(tokenizer: Any, *, pads_left: bool) -> int:
    """Let a tokenizer pad on one side, and return the id of its padding token.

    A tokenizer without one gets its first special token or, if it has none, the token with id 0. Padding is masked.
    """
    tokenizer.padding_side = "left" if pads_left else "right"
    if tokenizer.pad_token is None:
        special = tokenizer.all_special_tokens
        tokenizer.pad_token = special[0] if special else tokenizer.convert_ids_to_tokens(0)
    return int(tokenizer.pad_token_id)


def _media_tokens(processor: Any, tokenizer: Any) -> list[str]:
    """Return the placeholder tokens for images, videos and audio, longest first."""
    owners = (processor, tokenizer)
    kinds = ("image", "video", "audio")
    tokens = [getattr(owner, f"{kind}_token", None) for owner in owners for kind in kinds]
    return sorted({str(token) for token in tokens if token and len(str(token)) > 1}, key=lambda t: (-len(t), t))


def _load_images(batch: Sequence[PreparedPrompt]) -> list[list[Any] | None]:
    """Return the images of each prompt, or None for a prompt with an image that cannot be read.

    An image that several prompts share is decoded once.
    """
    # Not strict: `prepare` leaves the sizes empty if it cannot read an image, and the images are then too few below.
    sized = [[SizedImage(*pair) for pair in zip(p.prompt.images, p.sizes, strict=False)] for p in batch]
    distinct = list(dict.fromkeys(image for own_images in sized for image in own_images))
    with ThreadPoolExecutor(IMAGE_THREADS) as threads:
        loaded = dict(zip(distinct, threads.map(_load_image, distinct), strict=True))
    found: list[list[Any] | None] = []
    for prepared, own_images in zip(batch, sized, strict=True):
        images = [loaded[image] for image in own_images]
        is_complete = len(images) == len(prepared.prompt.images) and None not in images
        found.append(images if is_complete else None)
    return found


def _load_image(image: SizedImage) -> Any:
    """Return an image at its size, or None if it cannot be read."""
    try:
        return load_image(image.path, image.size)
    except OSError:
        return None


def _load_processor(loader: Any, options: EngineOptions) -> Any:
    """Load the tokenizer or processor of the adapter if it has one, else of the model. Code of adapters never runs."""
    folder = options.model
    if options.adapter and _has_processor(options.adapter, loader):
        folder = options.adapter
    try:
        trusted = options.custom_code and folder == options.model
        return loader.from_pretrained(folder, trust_remote_code=trusted, local_files_only=True)
    except json.JSONDecodeError as error:
        raise EvaluationError(
            FailureCode.MODEL_ERROR, f"a file of the tokenizer or processor is not valid JSON: {error}"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EvaluationError(FailureCode.UNSUPPORTED_ARCHITECTURE, str(error)) from error


def _has_processor(adapter: Path, loader: Any) -> bool:
    """Return whether an adapter's folder has what `loader` loads: a tokenizer, and for image models a processor too."""
    has_tokenizer = any((adapter / name).exists() for name in TOKENIZER_FILES)
    return has_tokenizer and (loader is AutoTokenizer or any((adapter / name).exists() for name in PROCESSORS))
