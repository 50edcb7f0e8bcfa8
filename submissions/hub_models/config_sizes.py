"""Compare the sizes in a model's configuration with its weights, for the checks before a model is queued.

A config may name a billion layers beside a megabyte of weights. Building such a model would never finish. The sizes are
lower bounds of what such a config implies, so that no honest model is refused.
"""

from collections.abc import Iterator, Mapping
from typing import Any

# The names under which architectures store each size.
LAYERS = (
    "num_hidden_layers",
    "num_layers",
    "n_layer",
    "n_layers",
    "encoder_layers",
    "decoder_layers",
    "depth",
    "depths",
)
WIDTHS = ("hidden_size", "d_model", "n_embd", "embed_dim", "dim")
INNER_WIDTHS = ("intermediate_size", "ffn_dim", "d_ff", "n_inner", "moe_intermediate_size")
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")
# How many times the stored parameters a config may imply: layers may share weights (ALBERT), and not every size is used.
TOLERANCE = 10
ALWAYS_ALLOWED_PARAMS = 2 * 10**9  # a model of this size is built in seconds, whatever its weights
MAX_LAYERS = 1000  # every layer takes time for each token, however small it is
# Names of image sides in a processor's settings. Sizes may also be objects: {"crop_size": {"height": 336, …}}.
IMAGE_SIDES = ("height", "width", "size", "crop_size", "image_size", "max_height", "max_width")
MAX_IMAGE_SIDE = 16_384  # pixels
# Some processors (CLIP) mean a side by these names, others (Qwen2-VL) a number of pixels. The limit is that of pixels,
# because the settings do not show which is meant.
IMAGE_EDGES = ("shortest_edge", "longest_edge", "min_pixels", "max_pixels")
MAX_IMAGE_PIXELS = MAX_IMAGE_SIDE**2
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
        depth = max(_depth(part.get(name)) for name in LAYERS)
        width = _largest(part, WIDTHS)
        inner_width = _largest(part, INNER_WIDTHS)
        experts = _largest(part, EXPERTS)
        embedding_width = _largest(part, ("embedding_size",)) or width
        layers = max(layers, depth)
        # A layer has at least its largest matrix: attention, a feed-forward network, or experts. An expert counts as a
        # single vector of the width, since some models (Doge) have such small ones.
        per_layer = max(width * width, width * inner_width, width * experts)
        # ALBERT's embeddings are narrower than its layers. The smaller of both widths keeps this a lower bound.
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
    limits = {
        MAX_IMAGE_SIDE: IMAGE_SIDES,
        MAX_IMAGE_PIXELS: IMAGE_EDGES,
        MAX_IMAGE_TOKENS: IMAGE_TOKENS,
    }
    for part in _parts(settings):
        for limit, names in limits.items():
            for name in names:
                size = max(_sizes(part.get(name)), default=0)
                if size > limit:
                    return f"{name}: {size:,} > {limit:,}"
    return ""


def _parts(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a config and all configs nested in it. A loop, because files may be nested too deeply for recursion."""
    pending: list[Any] = [config]
    while pending:
        part = pending.pop()
        if isinstance(part, Mapping):
            yield part
            pending += part.values()
        elif isinstance(part, list):
            pending += part


def _largest(part: Mapping[str, Any], names: tuple[str, ...]) -> int:
    """Return the largest size that a part has under one of these names, at most SIZE_CAP, or 0 if there is none."""
    stated = [part.get(name) for name in names]
    # Not from lists: the largest width and the largest inner width may be of different layers, whose product is not a lower
    # bound.
    return max(_sizes([value for value in stated if not isinstance(value, list)]), default=0)


def _depth(value: Any) -> int:
    """Return a number of layers. A list has that of each stage, as in Swin's `"depths": [2, 2, 18, 2]`."""
    return min(sum(_sizes(value)), SIZE_CAP)


def _sizes(value: Any) -> list[int]:
    """Return the positive integers that a value is or lists, each at most SIZE_CAP."""
    values = value if isinstance(value, list) else [value]
    return [min(size, SIZE_CAP) for size in values if type(size) is int and size > 0]
