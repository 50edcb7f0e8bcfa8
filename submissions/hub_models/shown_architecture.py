"""Read the types and sizes of a model's parts from its configuration, which anybody may have written."""

import re
from collections.abc import Mapping
from typing import Any

from submissions.records.architecture import Architecture

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_MAX_SIZE = 10**9
TEXT_CONFIGS = ("text_config", "llm_config", "language_config", "thinker_config")
VISION_CONFIGS = ("vision_config", "visual", "vision_tower_config", "vit_config")
LAYERS = ("num_hidden_layers", "depth", "n_layer", "num_layers")
WIDTHS = ("hidden_size", "embed_dim", "n_embd", "d_model")


def shown_architecture(config: Mapping[str, Any]) -> Architecture:
    """Return the types and sizes that a parsed `config.json` shows. Values of another form count as not stated."""
    text = _nested(config, TEXT_CONFIGS) or config
    vision = _nested(config, VISION_CONFIGS) or {}
    classes = config.get("architectures")
    return Architecture(
        class_name=_name(classes[0]) if isinstance(classes, list) and classes else None,
        text_type=_name(text.get("model_type")),
        text_layers=_size(text, LAYERS),
        text_width=_size(text, WIDTHS),
        vocabulary=_size(text, ("vocab_size",)) or _size(config, ("vocab_size",)),
        vision_type=_name(vision.get("model_type")),
        vision_layers=_size(vision, LAYERS),
        vision_width=_size(vision, WIDTHS),
    )


def _nested(config: Mapping[str, Any], names: tuple[str, ...]) -> Mapping[str, Any] | None:
    return next((config[name] for name in names if isinstance(config.get(name), dict)), None)


def _name(value: object) -> str | None:
    return value if isinstance(value, str) and _NAME.fullmatch(value) else None


def _size(config: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """Return the first of the named fields that is a whole number of a plausible size."""
    for name in names:
        value = config.get(name)
        if type(value) is int and 0 < value <= _MAX_SIZE:
            return value
    return None
