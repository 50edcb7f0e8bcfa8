"""How large a model's configuration says it is, to compare with the weights that are there.

A config may name a billion layers beside a megabyte of weights, and building such a model takes for ever.
"""

from collections.abc import Iterator, Mapping
from typing import Any

LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers", "decoder_layers", "depth")
WIDTHS = ("hidden_size", "d_model", "n_embd", "embed_dim", "dim")
INNER = ("intermediate_size", "ffn_dim", "d_ff", "n_inner", "moe_intermediate_size")
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")
TOLERANCE = 10  # layers may share their weights (ALBERT), and configs have sizes that a model does not use
HARMLESS = 2 * 10**9  # parameters; so many are built in seconds, whatever the weights are
MAX_LAYERS = 1000  # of any model; each takes its time for each token, however small it is
EDGES, MAX_EDGE = ("height", "width"), 16_384  # pixels that a processor may scale an image to
IMAGE_TOKENS, MAX_IMAGE_TOKENS = ("num_additional_image_tokens", "image_seq_length", "num_image_tokens"), 65_536
LARGEST = 10**12  # what a larger size is taken for


def implied_size(config: Mapping[str, Any]) -> tuple[int, int]:
    """Return the number of layers and a lower bound of the parameters that a config implies.

    Both are those of the largest part, such as `text_config`.
    """
    layers, parameters = 0, 0
    for part in _parts(config):
        depth, width = _largest(part, LAYERS), _largest(part, WIDTHS)
        inner, experts = _largest(part, INNER), _largest(part, EXPERTS)
        embedded = _largest(part, ("embedding_size",)) or width
        layers = max(layers, depth)
        each = max(width * width, width * inner, width * experts)  # an expert may be a single row, as Doge's are
        parameters = max(parameters, depth * each, _largest(part, ("vocab_size",)) * min(embedded, width))
    return layers, parameters


def oversized(config: Mapping[str, Any], parameters: int) -> str:
    """Return what a config implies if it is far more than the parameters there, else an empty string."""
    layers, implied = implied_size(config)
    if layers > MAX_LAYERS:
        return f"{layers:,} > {MAX_LAYERS:,} layers"
    if implied > max(HARMLESS, TOLERANCE * parameters):
        return f"{implied:,} > {parameters:,} parameters"
    return ""


def oversized_images(settings: Mapping[str, Any]) -> str:
    """Return what a processor's settings ask for if no image is as large, else an empty string."""
    for part in _parts(settings):
        for names, most in ((EDGES, MAX_EDGE), (IMAGE_TOKENS, MAX_IMAGE_TOKENS)):
            for name in names:
                if type(value := part.get(name)) is int and value > most:
                    return f"{name}: {min(value, LARGEST):,} > {most:,}"
    return ""


def _parts(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    waiting: list[Any] = [config]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            yield part
            waiting += part.values()


def _largest(part: Mapping[str, Any], names: tuple[str, ...]) -> int:
    """Return the largest of a part's sizes that have one of these names, 0 if there is none."""
    sizes = (value for name in names if type(value := part.get(name)) is int and value > 0)
    return min(max(sizes, default=0), LARGEST)
