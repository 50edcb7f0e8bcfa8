"""Quantised checkpoints: which method a config names, and whether the evaluator has what it needs.

Names are transformers' own (`quantization_config.quant_method`; bitsandbytes by its number of bits), and stand where an
unquantised model has its precision.
"""

from collections.abc import Mapping
from math import prod
from typing import Any, get_args

from submissions.records.base import Quantization

QUANTIZATIONS: tuple[Quantization, ...] = get_args(Quantization)
# Run by the pinned packages on any device; where a device lacks the kernels, transformers computes in bfloat16.
RUNNABLE = {"fp8", "mxfp8", "mxfp4", "compressed-tensors", "torchao", "bitsandbytes_4bit", "bitsandbytes_8bit"}
PACKED = ("qweight", "weight_packed", "_blocks")  # several weights stand in one stored number
# Stored beside the weights, and no parameters themselves.
BESIDE = (
    *("scales", "scale", "scale_inv", "zeros", "zero_point", "g_idx", "shape", "absmax", "quant_map", "state"),
    *("SCB", "weight_format", "bitsandbytes__nf4", "bitsandbytes__fp4", "nested_offset"),
)


def quantization_of(config: Mapping[str, Any]) -> str | None:
    """The method's name as transformers has it; "" for one that has none, None for an unquantised model."""
    settings = _settings(config)
    if settings is None:
        return None
    method = settings.get("quant_method")
    if method == "bitsandbytes" or (method is None and ("load_in_4bit" in settings or "load_in_8bit" in settings)):
        return "bitsandbytes_8bit" if settings.get("load_in_8bit") else "bitsandbytes_4bit"
    return method if isinstance(method, str) else ""


def parameters(shapes: Mapping[str, tuple[str, list[int]]], config: Mapping[str, Any]) -> int:
    """How many weights tensors hold, given by name with data type and shape, those of a quantised model unpacked."""
    method = quantization_of(config)
    if method is None:
        return sum(prod(shape) for _, shape in shapes.values())
    bits, count = _bits(config), 0
    for name, (dtype, shape) in shapes.items():
        if name.endswith(BESIDE):
            continue
        stored = {"I32": 32, "F32": 32, "I64": 64, "BF16": 16, "F16": 16}.get(dtype, 8)
        packed = name.endswith(PACKED) or (method == "bitsandbytes_4bit" and f"{name}.absmax" in shapes)
        count += prod(shape) * (stored // bits if packed and stored > bits else 1)
    return count


def _settings(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    settings = config.get("quantization_config") or config.get("compression_config")
    return settings if isinstance(settings, Mapping) else None


def _bits(config: Mapping[str, Any]) -> int:
    """Of a weight: as the settings say, or the groups of layers in them, the smallest; else 4."""
    settings = _settings(config) or {}
    groups = settings.get("config_groups")
    weights = (
        [g.get("weights") for g in groups.values() if isinstance(g, Mapping)] if isinstance(groups, Mapping) else []
    )
    named = [settings.get("bits"), *(w.get("num_bits") for w in weights if isinstance(w, Mapping))]
    return min((bits for bits in named if isinstance(bits, int) and bits in (2, 3, 4, 8)), default=4)
