"""What a table's row says about a family, and the one function that builds every row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers

from tests.support.zoo import family
from tests.support.zoo.llama_parts import sentence_pieces
from tests.support.zoo.parts import TEXT, byte_level, save

ENDS = ("bos_token", "eos_token", "pad_token")
Settings = Mapping[str, Any]


class Id(str):
    """A token whose number is filled into a config; the empty one is the size of the vocabulary."""


SIZE = Id("")


@dataclass(frozen=True)
class Row:
    """A family, whose name is its model type: what its files say beyond the defaults of transformers."""

    name: str
    model: str  # class, of transformers as all others here
    config: Settings
    template: str
    named: Mapping[str, str]  # the tokenizer's own tokens: `eos_token`, ...
    special: Sequence[str] = ()
    extra: Mapping[str, str] = field(default_factory=dict)  # special tokens that the processor looks up by a name
    processor: str = ""  # none: the model takes no images
    settings: Settings = field(default_factory=dict)  # of the processor
    image: tuple[str, Settings] = ("", {})  # image processor and its settings
    video: str = ""  # video processor
    ear: str = ""  # feature extractor
    generation: Settings = field(default_factory=dict)
    thinks: bool = False  # its tokenizer has the reasoning tags as plain tokens
    pieces: bool = False  # its tokenizer is a SentencePiece model, not a byte-level BPE
    engine: str = "chat"


def text(**settings: Any) -> dict[str, Any]:
    """Return the config of a small decoder. Its weights are large enough for a prompt to matter."""
    return {**TEXT, "vocab_size": SIZE, "initializer_range": 0.1, **settings}


def sight(**settings: Any) -> dict[str, Any]:
    """Return the config of a small vision tower."""
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    return {**size, "initializer_range": 0.1, **settings}


def square(side: int) -> dict[str, int]:
    """Return the size of a square image."""
    return {"height": side, "width": side}


def turns(image: str, start: str, end: str, reply: str, first: str = "") -> str:
    """Return a chat template: every message `m` between `start` and `end`, its parts in order, then `reply`."""
    return (
        f"{first}{{% for m in messages %}}{start}{{% if m.content is string %}}{{{{ m.content }}}}{{% else %}}"
        f"{{% for p in m.content %}}{{% if p.type == 'image' %}}{image}"
        "{% elif p.type == 'text' %}{{ p.text }}{% endif %}{% endfor %}{% endif %}"
        f"{end}{{% endfor %}}{{% if add_generation_prompt %}}{{{{ '{reply}' }}}}{{% endif %}}"
    )


def chatml(image: str, first: str = "") -> str:
    """Return ChatML with an image written this way."""
    return turns(image, "<|im_start|>{{ m.role }}\n", "<|im_end|>\n", "<|im_start|>assistant\n", first)


def register(*rows: Row) -> None:
    """Put rows into the zoo."""
    for row in rows:
        family(row.name, engine=row.engine, takes_images=bool(row.processor))(partial(build, row))


def build(row: Row, folder: Path) -> None:
    """Write the row's model into a folder."""
    torch.manual_seed(0)
    words = _tokenizer(row)
    ids = {f"{name}_id": words.convert_tokens_to_ids(row.named[name]) for name in ENDS if name in row.named}
    config = transformers.AutoConfig.for_model(row.name, **_filled(row.config, words, ids))
    model = getattr(transformers, row.model)(config)
    model.generation_config = transformers.GenerationConfig(**{**ids, **_filled(row.generation, words, {})})
    processor = words
    if row.processor:
        named = {"image_processor": row.image, "video_processor": (row.video, {}), "feature_extractor": (row.ear, {})}
        parts = {name: getattr(transformers, kind)(**own) for name, (kind, own) in named.items() if kind}
        processor = getattr(transformers, row.processor)(**parts, tokenizer=words, **row.settings)
    processor.chat_template = row.template
    save(folder, model, processor, end=ids["eos_token_id"])


def _tokenizer(row: Row) -> Any:
    special = dict.fromkeys([*row.named.values(), *row.special, *row.extra.values()])
    settings: dict[str, Any] = {**row.named, **({"extra_special_tokens": dict(row.extra)} if row.extra else {})}
    words = (sentence_pieces if row.pieces else byte_level)(tuple(special), **settings)
    if row.thinks:
        words.add_tokens(["<think>", "</think>"])
    return words


def _filled(value: Any, words: Any, ids: Mapping[str, int]) -> Any:
    """Return a config with numbers for tokens; a decoder's part gets the ids of its ends, too."""
    if isinstance(value, Id):
        return words.convert_tokens_to_ids(str(value)) if value else len(words)
    if isinstance(value, Mapping):
        ends = ids if value.get("vocab_size") is SIZE else {}
        return {**ends, **{key: _filled(part, words, ids) for key, part in value.items()}}
    return [_filled(part, words, ids) for part in value] if isinstance(value, list) else value
