"""Read the types and sizes of a model's language model and vision encoder from its config.json, for the page of the model.

The page shows them beside what the maker declares about the model's lineage, and how many tensors of its declared base the
model has (`with_base_tensors`). Anybody may have written the config, so only short names and plausible sizes are taken from
it.
"""

import re
from collections.abc import Mapping
from typing import Any

from submissions.hub_models.repository import Shapes
from submissions.records.architecture import Architecture

# What the fields of Architecture accept (`TypeName` and `Size` beside it).
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_MAX_SIZE = 10**9
MAX_PREFIX = 3  # parts that a name may have in front; "model.language_model." is two
# The names under which architectures nest the config of a part, and store its sizes. The thinker of Qwen2.5-Omni
# contains the other parts.
THINKER_CONFIGS = ("thinker_config",)
TEXT_CONFIGS = ("text_config", "llm_config", "language_config")
VISION_CONFIGS = ("vision_config", "visual", "vision_tower_config", "vit_config")
LAYERS = ("num_hidden_layers", "depth", "n_layer", "num_layers")
WIDTHS = ("hidden_size", "embed_dim", "n_embd", "d_model")


def shown_architecture(config: Mapping[str, Any]) -> Architecture:
    """Return the types and sizes that a parsed `config.json` shows. Values of another form count as not stated."""
    parts = _nested(config, THINKER_CONFIGS) or config
    text = _nested(parts, TEXT_CONFIGS) or parts
    vision = _nested(parts, VISION_CONFIGS) or {}
    text_width = _size(text, WIDTHS)
    classes = config.get("architectures")
    return Architecture(
        class_name=_name(classes[0]) if isinstance(classes, list) and classes else None,
        text_type=_name(text.get("model_type")),
        text_layers=_size(text, LAYERS),
        text_width=text_width,
        vocabulary=_size(text, ("vocab_size",)) or _size(config, ("vocab_size",)),
        vision_type=_name(vision.get("model_type")),
        vision_layers=_size(vision, LAYERS),
        vision_width=_vision_width(vision, text_width),
    )


def with_base_tensors(shown: Architecture, own: Shapes, base: Shapes) -> Architecture:
    """Add how many tensors of the declared base the model has, by name and shape, to its architecture.

    The declared base is the model that the card names as the one this was made from. `own` and `base` are the shapes of the
    tensors of the model and of the base.
    """
    if not own or not base:
        return shown
    base_tensors = set(base.items())  # names with shapes
    candidates: set[tuple[str, tuple[int, ...]]] = set()  # each own tensor under all names that the base may give it
    for name, shape in own.items():
        candidates.update(possible_base_keys(name, shape))
    return shown.evolve(base_tensors=len(base_tensors), base_tensors_found=len(candidates & base_tensors))


def possible_base_keys(name: str, shape: tuple[int, ...]) -> list[tuple[str, tuple[int, ...]]]:
    """Return a tensor under its own name and under those that its base may give it, each with the shape.

    A language model that became a part of a larger model has a prefix before its names: `model.layers.0.mlp` becomes
    `language_model.model.layers.0.mlp` or `model.language_model.layers.0.mlp`. So up to MAX_PREFIX parts at the beginning
    are left out one by one, with and without `model` in their place.
    """
    parts = name.split(".")
    names = [".".join(parts[start:]) for start in range(min(MAX_PREFIX + 1, len(parts)))]
    names += [f"model.{rest}" for rest in names[1:]]
    return [(candidate, shape) for candidate in dict.fromkeys(names)]


def _nested(config: Mapping[str, Any], names: tuple[str, ...]) -> Mapping[str, Any] | None:
    """Return the first of the named fields that is a nested config."""
    return next((config[name] for name in names if isinstance(config.get(name), dict)), None)


def _vision_width(vision: Mapping[str, Any], text_width: int | None) -> int | None:
    """Return the width of a vision encoder.

    In some configs, such as that of Qwen2-VL, `hidden_size` is the width of the encoder's output, which is the language
    model's, and `embed_dim` is its own: {"hidden_size": 3584, "embed_dim": 1280} beside a text width of 3584 -> 1280.
    """
    width = _size(vision, WIDTHS)
    if width == text_width:
        return _size(vision, ("embed_dim",)) or width
    return width


def _name(value: object) -> str | None:
    """Return a value if it is a short name, such as "qwen2_vl", or None."""
    return value if isinstance(value, str) and _NAME.fullmatch(value) else None


def _size(config: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """Return the first of the named fields that is a whole number of a plausible size."""
    for name in names:
        value = config.get(name)
        if type(value) is int and 0 < value <= _MAX_SIZE:
            return value
    return None
