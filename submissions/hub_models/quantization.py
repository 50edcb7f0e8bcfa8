"""Find the quantisation method of a checkpoint and count its weights.

Methods have the names that transformers uses (`quantization_config.quant_method`), but bitsandbytes is split by its number
of bits. For a quantised model, the method takes the place of the precision.
"""

from collections.abc import Mapping
from math import prod
from typing import Any, get_args

from submissions.records.base import Quantization

QUANTIZATIONS: tuple[Quantization, ...] = get_args(Quantization)
# Methods that the pinned packages run on any device. If a device lacks the kernels, transformers computes in bfloat16.
RUNNABLE = {"fp8", "mxfp8", "mxfp4", "compressed-tensors", "torchao", "bitsandbytes_4bit", "bitsandbytes_8bit"}
PACKED_SUFFIXES = ("qweight", "weight_packed", "_blocks")  # tensors that hold several weights in one stored number
STORED_BITS = {"I32": 32, "F32": 32, "I64": 64, "BF16": 16, "F16": 16}  # of one number, by data type; of others: 8
# Tensors that are stored with the weights but are not parameters.
AUXILIARY_SUFFIXES = (
    "scales",
    "scale",
    "scale_inv",
    "zeros",
    "zero_point",
    "g_idx",
    "shape",
    "absmax",
    "quant_map",
    "state",
    "SCB",
    "weight_format",
    "bitsandbytes__nf4",
    "bitsandbytes__fp4",
    "nested_offset",
)


def quantization_of(config: Mapping[str, Any]) -> str | None:
    """Return the name of the quantisation method, "" if it has no name, or None if the model is not quantised."""
    settings = _settings(config)
    if settings is None:
        return None
    method = settings.get("quant_method")
    if method == "bitsandbytes" or (method is None and ("load_in_4bit" in settings or "load_in_8bit" in settings)):
        return "bitsandbytes_8bit" if settings.get("load_in_8bit") else "bitsandbytes_4bit"
    return method if isinstance(method, str) else ""


def parameters(shapes: Mapping[str, tuple[str, list[int]]], config: Mapping[str, Any]) -> int:
    """Return the number of weights in tensors, counting each weight of a packed tensor.

    `shapes` maps the name of each tensor to its data type and shape.
    """
    method = quantization_of(config)
    if method is None:
        return sum(prod(shape) for _, shape in shapes.values())
    bits = _bits(config)
    count = 0
    for name, (dtype, shape) in shapes.items():
        if name.endswith(AUXILIARY_SUFFIXES):
            continue
        # bitsandbytes keeps the plain name of a weight that it packs, and stores its scales beside it as `.absmax`.
        packed = name.endswith(PACKED_SUFFIXES) or (method == "bitsandbytes_4bit" and f"{name}.absmax" in shapes)
        stored_bits = STORED_BITS.get(dtype, 8)
        weights_per_number = stored_bits // bits if packed and stored_bits > bits else 1
        count += prod(shape) * weights_per_number
    return count


def _settings(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    settings = config.get("quantization_config") or config.get("compression_config")
    return settings if isinstance(settings, Mapping) else None


def _bits(config: Mapping[str, Any]) -> int:
    """Return the bits per weight: the smallest number in the settings or their layer groups, or 4 if there is none."""
    settings = _settings(config) or {}
    found = [settings.get("bits")]
    by_name = settings.get("config_groups")  # of compressed-tensors
    groups = list(by_name.values()) if isinstance(by_name, Mapping) else []
    for group in groups:
        weights = group.get("weights") if isinstance(group, Mapping) else None
        if isinstance(weights, Mapping):
            found.append(weights.get("num_bits"))
    return min((bits for bits in found if isinstance(bits, int) and bits in (2, 3, 4, 8)), default=4)
