"""The declaration of a family, and the one function that builds a model from it."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.models.auto.feature_extraction_auto import FEATURE_EXTRACTOR_MAPPING_NAMES
from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES
from transformers.models.auto.processing_auto import PROCESSOR_MAPPING_NAMES
from transformers.models.auto.video_processing_auto import VIDEO_PROCESSOR_MAPPING_NAMES

from tests.support.zoo import Family, register_family
from tests.support.zoo.parts import as_version_4, change_json, save, teach
from tests.support.zoo.tokenizer_parts import THOUGHTS, byte_level

Settings = Mapping[str, Any]
Words = Callable[[], Any]
# A file that transformers 4 did not write for every model with a video processor.
VIDEO_FILE = "video_preprocessor_config.json"


class Id(str):
    """A token whose id is filled into a config."""


class Named(str):
    """A token by its name in the tokenizer, as `eos_token`; its id is filled in, and the key left out if there is none."""


@dataclass(frozen=True)
class Size:
    """The size of the vocabulary, and this many more, as published embeddings are often rounded up."""

    more: int = 0


SIZE = Size()
ENDS = {f"{name}_id": Named(name) for name in ("bos_token", "eos_token", "pad_token")}


# The classes of transformers for a model type, and what processors call theirs.
AUTO: Mapping[str, Mapping[str, Any]] = {
    "Processor": PROCESSOR_MAPPING_NAMES,
    "ImageProcessor": IMAGE_PROCESSOR_MAPPING_NAMES,
    "VideoProcessor": VIDEO_PROCESSOR_MAPPING_NAMES,
    "FeatureExtractor": FEATURE_EXTRACTOR_MAPPING_NAMES,
}
KINDS = {"image_processor": "ImageProcessor", "video_processor": "VideoProcessor"}
KINDS |= {"feature_extractor": "FeatureExtractor", "audio_processor": "FeatureExtractor"}


@dataclass(frozen=True)
class Part:
    """A part of a processor: what its class name begins with, if not as the family's do, and its settings."""

    kind: str
    settings: Settings


def part(kind: str = "", **settings: Any) -> Part:
    """Return a part of a processor."""
    return Part(kind, settings)


def of(**settings: Any) -> dict[str, Any]:
    """Return a part of a config."""
    return settings


CHATML_ENDS = of(eos_token="<|im_end|>", pad_token="<|endoftext|>")


def decoder(**settings: Any) -> dict[str, Any]:
    """Return the config of a decoder of about 100,000 parameters."""
    size = of(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
    return {**size, "max_position_embeddings": 8192, "vocab_size": SIZE, **settings}


def text(**settings: Any) -> dict[str, Any]:
    """Return the config of a small decoder with the tokenizer's ends, whose weights are large enough for a prompt to matter."""
    return decoder(**{"initializer_range": 0.1, **ENDS, **settings})


def tower(**settings: Any) -> dict[str, Any]:
    """Return the config of a small vision tower."""
    return of(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2) | settings


def sight(**settings: Any) -> dict[str, Any]:
    """Return the config of a small vision tower, whose weights are large enough for an image to matter."""
    return tower(**{"initializer_range": 0.1, **settings})


def grid(**settings: Any) -> dict[str, Any]:
    """Return the config of a small vision tower of Qwen's kind."""
    return of(depth=2, hidden_size=32, intermediate_size=64, num_heads=2) | settings


def rope(**settings: Any) -> dict[str, Any]:
    """Return the config of a rotary embedding."""
    return {"rope_parameters": {"rope_type": "default", **settings}}


def square(side: int) -> dict[str, int]:
    """Return the size of a square image."""
    return {"height": side, "width": side}


def edges(shortest: int, longest: int) -> dict[str, int]:
    """Return the smallest and the largest number of pixels, given as the sides of squares."""
    return {"shortest_edge": shortest**2, "longest_edge": longest**2}


# Experts, and attention that is compressed, sparse or linear.
EXPERTS = of(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32)
ROUTED = of(n_routed_experts=4, num_experts_per_tok=2, moe_intermediate_size=32, n_shared_experts=1)
LATENT = of(kv_lora_rank=16, q_lora_rank=16, qk_nope_head_dim=16, v_head_dim=16, num_key_value_heads=4)
INDEXED = of(index_head_dim=16, index_n_heads=2)
LINEAR = of(linear_key_head_dim=16, linear_value_head_dim=16, linear_num_key_heads=2, linear_num_value_heads=4)


def ids(**tokens: str) -> dict[str, Id]:
    """Return a part of a config with the ids of these tokens."""
    return {name: Id(token) for name, token in tokens.items()}


def ends(bos: str, eos: str, pad: str = "") -> dict[str, Any]:
    """Return the tokens by these names, without the empty ones, as arguments of `tokens`."""
    named = of(bos=bos, eos=eos, pad=pad)
    return {name: token for name, token in named.items() if token}


def tokens(
    *special: str, spaced: Sequence[str] = (), thinks: bool = False, plain: Sequence[str] = (), **settings: Any
) -> Words:
    """Return a maker of a byte-level tokenizer.

    Arguments:
        special: Special tokens, separated by spaces.
        spaced: Special tokens that contain spaces.
        thinks: Whether the reasoning tags are plain tokens.
        plain: Other plain tokens.
        settings: Arguments of `byte_level`; tokens by their names, with `bos` for `bos_token` and so on.
    """
    named = {f"{name}_token" if len(name) == 3 else name: value for name, value in settings.items()}
    split = [*(token for group in special for token in group.split()), *spaced]
    return partial(byte_level, split, [*plain, *(THOUGHTS if thinks else ())], **named)


@dataclass(frozen=True)
class Row:
    """A family: what its files say beyond the defaults of transformers.

    Creating a row adds it to the zoo, and so does `dataclasses.replace`, which makes a variant with another name.
    """

    name: str
    words: Words  # makes its tokenizer
    template: str | None = None
    _: KW_ONLY
    kind: str = ""  # model type, if it is not the name
    text: Settings | None = None  # config of the decoder,
    vision: Settings | None = None  # of the vision tower,
    config: Settings = field(default_factory=dict)  # and what is beside them
    model: str = ""  # class, if its name is not regular
    processor: Part = Part("", {})
    image: Part | None = None  # image processor; none: the model takes no images
    video: Part = Part("", {})  # video processor, for a processor that has one
    audio: Part = Part("", {})  # feature extractor, for a processor that has one
    generation: Settings | None = field(default_factory=dict)  # beside ENDS; None: as transformers makes it
    end: str | None = ""  # token that ends answers, if it is not the tokenizer's; None: as likely as others
    say: Sequence[str] = ()  # tokens that follow each other, beginning with the last of a prompt
    seed: int = 0
    adapt: Callable[[Any], Any] | None = None  # changes the model
    image_seq_length: int | None = None  # set on the image processor
    version_4: str = ""  # tokenizer class in a folder as transformers 4 wrote it
    template_file: str = "chat_template.json"  # in such a folder
    changes: Mapping[str, Settings] = field(default_factory=dict)  # of JSON files, by their stem; None removes a key
    without: Sequence[str] = ()  # files
    files: Mapping[str, str | Callable[[], bytes]] = field(default_factory=dict)  # with these contents
    after: Callable[[Path], None] | None = None
    engine: str = "chat"

    def __post_init__(self) -> None:
        register_family(Family(self.name, partial(build, self), self.engine, bool(self.image)))


def build(row: Row, folder: Path) -> None:
    """Write the row's model into a folder."""
    torch.manual_seed(row.seed)
    words = row.words()
    processor = _processor(row, words) if row.image else words  # may add tokens
    towers = {"text_config": row.text, "vision_config": row.vision}
    config = {**{name: tower for name, tower in towers.items() if tower}, **row.config}
    heads = {"chat": "ForConditionalGeneration" if row.image else "ForCausalLM", "extractive": "ForQuestionAnswering"}
    model_class = getattr(transformers, row.model or _stem(row) + heads[row.engine])
    model = model_class(transformers.AutoConfig.for_model(row.kind or row.name, **_filled(config, words)))
    end = None
    if row.engine == "chat" and row.generation is not None:
        model.generation_config = transformers.GenerationConfig(**_filled({**ENDS, **row.generation}, words))
    if row.engine == "chat" and row.end is not None:
        end = words.get_vocab()[row.end or words.eos_token]
    if row.say:
        teach(model, [words.get_vocab()[token] for token in row.say])
    if row.template:
        processor.chat_template = row.template
    save(folder, row.adapt(model) if row.adapt else model, processor, end=end)
    _rewrite(row, words, folder)


def _stem(row: Row) -> str:
    """Return what the names of the model type's classes begin with."""
    return str(transformers.CONFIG_MAPPING[row.kind or row.name].__name__).removesuffix("Config")


def _processor(row: Row, words: Any) -> Any:
    """Return the processor with all the parts that it takes."""
    processor = _class(row, "Processor", row.processor.kind)
    taken = inspect.signature(processor.__init__).parameters
    parts = {"image_processor": row.image or part(), "video_processor": row.video}
    parts |= {"feature_extractor": row.audio, "audio_processor": row.audio}
    made = {
        name: _class(row, KINDS[name], own.kind, row.processor.kind)(**own.settings)
        for name, own in parts.items()
        if name in taken
    }
    if row.image_seq_length:
        made["image_processor"].image_seq_length = row.image_seq_length
    return processor(**made, tokenizer=words, **row.processor.settings)


def _class(row: Row, kind: str, name: str, *others: str) -> Any:
    """Return the class of a processor's part: by `name`, else what transformers has for the model type, or a relative."""
    own = AUTO[kind].get(row.kind or row.name)
    own = own.get("torchvision") if isinstance(own, Mapping) else own
    stems = [name] if name else [_stem(row), *others]
    names = [*([] if name or not own else [own]), *(stem + kind for stem in stems)]
    return next(getattr(transformers, each) for each in names if hasattr(transformers, each))


def _rewrite(row: Row, words: Any, folder: Path) -> None:
    """Bring the written folder into the form in which the makers publish theirs."""
    if row.version_4:
        as_version_4(folder, row.version_4, row.template_file)
    for stem, changes in row.changes.items():
        change_json(folder / f"{stem}.json", **_filled(changes, words))
    for name in row.without:
        (folder / name).unlink()
    for name, content in row.files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content())
    if row.after:
        row.after(folder)


def _filled(value: Any, words: Any) -> Any:
    """Return a config with ids for tokens."""
    if isinstance(value, Size):
        return len(words) + value.more
    if isinstance(value, Id):
        return words.get_vocab()[value]
    if isinstance(value, Named):
        return getattr(words, f"{value}_id")
    if isinstance(value, Mapping):
        filled = {key: _filled(part, words) for key, part in value.items()}
        return {key: part for key, part in filled.items() if part is not None or value[key] is None}
    return [_filled(part, words) for part in value] if isinstance(value, list) else value
