"""Find the quantisation method of a checkpoint and count its weights.

Methods have the names that transformers uses (`quantization_config.quant_method`), but bitsandbytes is split by its number
of bits. For a quantised model, the method takes the place of the precision in records and tables.

Some methods pack several weights into one stored number: eight of 4 bits into a 32-bit integer. The number of parameters is
counted in weights, so that a quantised model is listed with the size of the model it was made from.
"""

import re
from collections.abc import Mapping
from math import prod
from typing import Any, get_args

from submissions.records.base import Quantization

QUANTIZATIONS: tuple[Quantization, ...] = get_args(Quantization)
# Methods that the pinned packages run on any device. If a device lacks the kernels, transformers computes in bfloat16.
RUNNABLE = {"fp8", "mxfp8", "mxfp4", "compressed-tensors", "torchao", "bitsandbytes_4bit", "bitsandbytes_8bit"}
# Ends of the names of packed tensors: of GPTQ and AWQ, of compressed-tensors, and of MXFP4.
PACKED_SUFFIXES = ("qweight", "weight_packed", "_blocks")
# All weights of torchao have names that end so. Those of 8 bits have the data types I8 and F8_…, one weight a number. Those of
# 4 bits are packed into numbers of TORCHAO_PACKED_DTYPES.
TORCHAO_SUFFIX = "_qdata"
TORCHAO_PACKED_DTYPES = ("U8", "I32")
# Bits of one stored number, by data type in safetensors.
STORED_BITS = {
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "I64": 64,
    "U64": 64,
    "F64": 64,
}
OTHER_STORED_BITS = 8  # of U8, I8 and the 8-bit floats
DEFAULT_BITS = 4  # of a packed weight, if the settings state none
# Names of tensors that are stored with the weights but are not parameters. The last part of a tensor's name has to match as a
# whole, because models have parameters such as `logit_scale` and `layer_scale`.
AUXILIARY = re.compile(
    r"""
      (?: .+_)? scales                                              # scales, down_proj_scales
    | (?: weight | input | output | activation | [qkv] | .+_proj )
      (?: _global | _activation )? _scale (?: _inv | _2 )?          # weight_scale, weight_scale_inv, input_global_scale, k_scale
    | _scale                                                        # _scale (quanto: weight._scale)
    | _ .+ _ (?: scale | zero_point | scale_and_zero )              # _weight_scale (torchao)
    | (?: weight | input | output | [qkv] ) _zero_point             # weight_zero_point
    | qzeros | (?: weight_ )? g_idx                                 # qzeros, g_idx, weight_g_idx
    | weight_shape                                                  # weight_shape: the shape before packing
    | (?: nested_ )? (?: absmax | quant_map ) | nested_offset       # absmax, nested_quant_map (bitsandbytes, 4 bits)
    | bitsandbytes__ (?: nf4 | fp4 )                                # weight.quant_state.bitsandbytes__nf4
    | SCB | weight_format                                           # SCB, weight_format (bitsandbytes, 8 bits)
    """,
    re.VERBOSE,
)


def quantization_of(config: Mapping[str, Any]) -> str | None:
    """Return the name of the quantisation method, or None if the model is not quantised.

    A method without a name is "", which the checks refuse like an unknown method.
    """
    settings = _settings(config)
    if settings is None:
        return None
    if settings.get("load_in_4bit"):
        return "bitsandbytes_4bit"
    if settings.get("load_in_8bit"):
        return "bitsandbytes_8bit"
    method = settings.get("quant_method")
    return method if isinstance(method, str) else ""


def parameters(tensors: Mapping[str, tuple[str, list[int]]], config: Mapping[str, Any]) -> int:
    """Return the number of weights in tensors, counting each weight of a packed tensor.

    `tensors` maps the name of each tensor to its data type and shape. A packed tensor `{"mlp.qweight": ("I32", [512, 4096])}`
    has 512 · 4096 · 32 bits, which are 512 · 4096 · 8 weights of 4 bits.
    """
    method = quantization_of(config)
    if method is None:
        return sum(prod(shape) for _, shape in tensors.values())
    bits = _bits(config)
    count = 0
    for name, (dtype, shape) in tensors.items():
        if AUXILIARY.fullmatch(name.rpartition(".")[2]):
            continue
        if name.endswith(TORCHAO_SUFFIX):
            is_packed = dtype in TORCHAO_PACKED_DTYPES
        elif method == "bitsandbytes_4bit" and f"{name}.absmax" in tensors:
            is_packed = True  # it keeps the plain name of a weight that it packs, and stores its scales beside it
        else:
            is_packed = name.endswith(PACKED_SUFFIXES)
        numbers = prod(shape)
        stored_bits = numbers * STORED_BITS.get(dtype, OTHER_STORED_BITS)
        # The bits of the whole tensor are divided, because a weight may cross the border of two numbers: 32 weights of 3
        # bits are in three 32-bit integers.
        count += stored_bits // bits if is_packed else numbers
    return count


def _settings(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the quantisation settings of a config, or None.

    Like transformers, look into the config of the text model too. Old compressed-tensors have `compression_config`.
    """
    text_config = config.get("text_config")
    for part in (config, text_config):
        if not isinstance(part, Mapping):
            continue
        settings = part.get("quantization_config") or part.get("compression_config")
        if isinstance(settings, Mapping):
            return settings
    return None


def _bits(config: Mapping[str, Any]) -> int:
    """Return the bits per packed weight that the settings or their layer groups state.

    GPTQ and AWQ state `{"bits": 4}`, compressed-tensors `{"config_groups": {"group_0": {"weights": {"num_bits": 4}}}}`. If
    groups differ, the smallest number is used for all, because the targets of a group need not be names of tensors. Packed
    weights of 8 bits beside others of 4 are thus counted twice: such a model is listed as too large, but never as too small.
    """
    settings = _settings(config) or {}
    stated = [settings.get("bits")]
    groups = settings.get("config_groups")
    for group in groups.values() if isinstance(groups, Mapping) else ():
        weights = group.get("weights") if isinstance(group, Mapping) else None
        if isinstance(weights, Mapping):
            stated.append(weights.get("num_bits"))
    return min((bits for bits in stated if isinstance(bits, int) and 2 <= bits <= 8), default=DEFAULT_BITS)
