"""Find the quantisation method of a checkpoint and count its weights.

Methods have the names that transformers uses (`quantization_config.quant_method`), but bitsandbytes is split by its number
of bits. For a quantised model, the method takes the place of the precision in records and tables.

Some methods pack several weights into one stored number: eight of 4 bits into a 32-bit integer. The number of parameters is
counted in weights, so that a quantised model is listed with the size of the model it was made from.
"""

from collections.abc import Mapping
from math import prod
from typing import Any, get_args

from submissions.records.base import Quantization

QUANTIZATIONS: tuple[Quantization, ...] = get_args(Quantization)
# Methods that the pinned packages run on any device. If a device lacks the kernels, transformers computes in bfloat16.
RUNNABLE = {"fp8", "mxfp8", "mxfp4", "compressed-tensors", "torchao", "bitsandbytes_4bit", "bitsandbytes_8bit"}
# Ends of the names of packed tensors: of GPTQ and AWQ, of compressed-tensors, and of MXFP4.
PACKED_SUFFIXES = ("qweight", "weight_packed", "_blocks")
STORED_BITS = {"I32": 32, "F32": 32, "I64": 64, "BF16": 16, "F16": 16}  # of one number, by data type in safetensors
OTHER_STORED_BITS = 8  # of U8, I8 and the 8-bit floats
# Ends of the names of tensors that are stored with the weights but are not parameters, such as scales.
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

    `shapes` maps the name of each tensor to its data type and shape. A packed tensor `{"mlp.qweight": ("I32", [512, 4096])}`
    of 4 bits per weight has 512 · 4096 · 8 weights.
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
        is_packed = name.endswith(PACKED_SUFFIXES) or (method == "bitsandbytes_4bit" and f"{name}.absmax" in shapes)
        stored_bits = STORED_BITS.get(dtype, OTHER_STORED_BITS)
        weights_per_number = stored_bits // bits if is_packed and stored_bits > bits else 1
        count += prod(shape) * weights_per_number
    return count


def _settings(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the quantisation settings of a config, or None. Old compressed-tensors have `compression_config`."""
    settings = config.get("quantization_config") or config.get("compression_config")
    return settings if isinstance(settings, Mapping) else None


def _bits(config: Mapping[str, Any]) -> int:
    """Return the bits per weight: the smallest number in the settings or their layer groups, or 4 if there is none.

    GPTQ and AWQ state `{"bits": 4}`, compressed-tensors `{"config_groups": {"group_0": {"weights": {"num_bits": 4}}}}`.
    """
    settings = _settings(config) or {}
    stated = [settings.get("bits")]
    groups = settings.get("config_groups")
    for group in groups.values() if isinstance(groups, Mapping) else ():
        weights = group.get("weights") if isinstance(group, Mapping) else None
        if isinstance(weights, Mapping):
            stated.append(weights.get("num_bits"))
    return min((bits for bits in stated if isinstance(bits, int) and bits in (2, 3, 4, 8)), default=4)
