"""Compare the sizes in a model's configuration with its weights, for the checks before a model is queued.

A config may name a billion layers beside a megabyte of weights. Building such a model would never finish. The sizes are
lower bounds of what such a config implies, so that no honest model is refused.
"""

from collections.abc import Iterator, Mapping
from typing import Any

# The names under which architectures store each size.
LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers", "decoder_layers", "depth")
WIDTHS = ("hidden_size", "d_model", "n_embd", "embed_dim", "dim")
INNER_WIDTHS = ("intermediate_size", "ffn_dim", "d_ff", "n_inner", "moe_intermediate_size")
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")
# Factor over the stored weights; layers may share weights (ALBERT), and not every size in a config is used.
TOLERANCE = 10
ALWAYS_ALLOWED_PARAMS = 2 * 10**9  # a model of this size is built in seconds, whatever its weights
MAX_LAYERS = 1000  # every layer takes time for each token, however small it is
IMAGE_SIDES = ("height", "width")  # of the images that a processor produces, in its settings
MAX_IMAGE_SIDE = 16_384  # pixels
# Names of the tokens that a processor writes for an image, whatever its size.
IMAGE_TOKENS = ("num_additional_image_tokens", "image_seq_length", "num_image_tokens")
MAX_IMAGE_TOKENS = 65_536
SIZE_CAP = 10**12  # larger sizes are replaced by this one, so that products and messages stay short


def implied_size(config: Mapping[str, Any]) -> tuple[int, int]:
    """Return the number of layers and a lower bound of the number of parameters that a config implies.

    A config may have parts, such as `text_config`. Each number is the maximum over all parts.
    """
    layers, parameters = 0, 0
    for part in _parts(config):
        depth = _largest(part, LAYERS)
        width = _largest(part, WIDTHS)
        inner_width = _largest(part, INNER_WIDTHS)
        experts = _largest(part, EXPERTS)
        embedding_width = _largest(part, ("embedding_size",)) or width
        layers = max(layers, depth)
        # A layer has at least its largest matrix: attention, a feed-forward network, or experts. An expert counts as a
        # single vector of the width, since some models (Doge) have such small ones.
        per_layer = max(width * width, width * inner_width, width * experts)
        embeddings = _largest(part, ("vocab_size",)) * min(embedding_width, width)
        parameters = max(parameters, depth * per_layer, embeddings)
    return layers, parameters


def describe_excess_size(config: Mapping[str, Any], parameters: int) -> str:
    """Describe a config's size if it far exceeds the number of stored parameters, else return an empty string.

    The description is shown to the submitter: "80,000,000,000 > 1,000,000 parameters".
    """
    layers, implied = implied_size(config)
    if layers > MAX_LAYERS:
        return f"{layers:,} > {MAX_LAYERS:,} layers"
    if implied > max(ALWAYS_ALLOWED_PARAMS, TOLERANCE * parameters):
        return f"{implied:,} > {parameters:,} parameters"
    return ""


def describe_excess_image_setting(settings: Mapping[str, Any]) -> str:
    """Describe the first image size in a processor's settings that exceeds its limit, else return an empty string."""
    limits = {**dict.fromkeys(IMAGE_SIDES, MAX_IMAGE_SIDE), **dict.fromkeys(IMAGE_TOKENS, MAX_IMAGE_TOKENS)}
    for part in _parts(settings):
        for name, limit in limits.items():
            value = part.get(name)
            if type(value) is int and value > limit:
                return f"{name}: {min(value, SIZE_CAP):,} > {limit:,}"
    return ""


def _parts(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a config and all configs nested in it. A loop, because files may be nested too deeply for recursion."""
    pending: list[Any] = [config]
    while pending:
        part = pending.pop()
        if isinstance(part, Mapping):
            yield part
            pending += part.values()


def _largest(part: Mapping[str, Any], names: tuple[str, ...]) -> int:
    """Return the largest size that a part has under one of these names, at most SIZE_CAP, or 0 if there is none."""
    stated = (part.get(name) for name in names)
    sizes = (value for value in stated if type(value) is int and value > 0)
    return min(max(sizes, default=0), SIZE_CAP)
