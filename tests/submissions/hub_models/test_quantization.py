"""Test how the quantisation of a checkpoint is recognised and its weights are counted."""

from typing import Any

import pytest

from submissions.hub_models.quantization import parameters, quantization_of

GPTQ_3 = {"quant_method": "gptq", "bits": 3}
GPTQ_4 = {"quant_method": "gptq", "bits": 4}
BNB_4 = {"quant_method": "bitsandbytes", "load_in_4bit": True, "load_in_8bit": False}
BNB_8 = {"quant_method": "bitsandbytes", "load_in_4bit": False, "load_in_8bit": True}
COMPRESSED_8 = {"quant_method": "compressed-tensors", "config_groups": {"0": {"weights": {"num_bits": 8}}}}
COMPRESSED_4_8 = {
    "quant_method": "compressed-tensors",
    "config_groups": {"0": {"weights": {"num_bits": 8}}, "1": {"weights": {"num_bits": 4}}},
}
FP8 = {"quant_method": "fp8"}
MXFP4 = {"quant_method": "mxfp4"}
TORCHAO = {"quant_method": "torchao"}


@pytest.mark.parametrize(
    ("config", "method"),
    [
        ({}, None),
        ({"quantization_config": None}, None),
        ({"quantization_config": FP8}, "fp8"),
        ({"quantization_config": BNB_4}, "bitsandbytes_4bit"),
        ({"quantization_config": BNB_8}, "bitsandbytes_8bit"),
        ({"quantization_config": {"load_in_8bit": True}}, "bitsandbytes_8bit"),
        ({"quantization_config": {"load_in_4bit": False, "load_in_8bit": False}}, ""),
        ({"quantization_config": {"bits": 4}}, ""),
        ({"quantization_config": {"quant_method": 4}}, ""),
        ({"compression_config": COMPRESSED_8}, "compressed-tensors"),
        ({"text_config": {"quantization_config": FP8}}, "fp8"),
        ({"quantization_config": FP8, "text_config": {"quantization_config": GPTQ_4}}, "fp8"),
        ({"text_config": {"hidden_size": 8}}, None),
    ],
)
def test_quantization_of_reads_method(config: dict[str, Any], method: str | None) -> None:
    assert quantization_of(config) == method


@pytest.mark.parametrize(
    ("settings", "shapes", "count"),
    [
        (GPTQ_4, {"a.qweight": ("I32", [512, 4096])}, 4096 * 4096),
        (GPTQ_4, {"a.qweight": ("I16", [1024, 4096])}, 4096 * 4096),
        (GPTQ_4, {"a.qweight": ("U32", [512, 4096])}, 4096 * 4096),
        (GPTQ_4, {"a.qweight": ("I64", [256, 4096])}, 4096 * 4096),
        (GPTQ_3, {"a.qweight": ("I32", [384, 4096])}, 4096 * 4096),
        (COMPRESSED_8, {"a.weight_packed": ("I32", [4096, 1024])}, 4096 * 4096),
        (COMPRESSED_4_8, {"a.weight_packed": ("I32", [4096, 512])}, 4096 * 4096),
        (COMPRESSED_4_8, {"a.weight_packed": ("I32", [4096, 1024])}, 2 * 4096 * 4096),  # 8 bits, counted as 4
        (MXFP4, {"a.down_proj_blocks": ("U8", [32, 2880, 90, 16])}, 32 * 2880 * 2880),
        (TORCHAO, {"a._weight_qdata": ("I8", [64, 64])}, 64 * 64),
        (TORCHAO, {"a._weight_qdata": ("F8_E4M3", [64, 64])}, 64 * 64),
        (TORCHAO, {"a._weight_qdata": ("U8", [64, 32])}, 64 * 64),
        (TORCHAO, {"a._weight_qdata": ("I32", [64, 8])}, 64 * 64),
        (BNB_4, {"a.weight": ("U8", [2048, 1]), "a.weight.absmax": ("F32", [64])}, 64 * 64),
        (BNB_4, {"a.weight": ("BF16", [1024, 1]), "a.weight.absmax": ("U8", [64])}, 64 * 64),
        (BNB_4, {"norm.weight": ("BF16", [64])}, 64),
        (BNB_8, {"a.weight": ("I8", [64, 64]), "a.SCB": ("F32", [64]), "a.weight_format": ("U8", [])}, 64 * 64),
    ],
)
def test_parameters_count_packed_weights(
    settings: dict[str, Any], shapes: dict[str, tuple[str, list[int]]], count: int
) -> None:
    assert parameters(shapes, {"quantization_config": settings}) == count


@pytest.mark.parametrize(
    "name",
    [
        "a.scales",
        "a.qzeros",
        "a.g_idx",
        "a.weight_scale",
        "a.weight_scale_inv",
        "a.weight_global_scale",
        "a.weight_zero_point",
        "a.weight_g_idx",
        "a.weight_shape",
        "a.input_scale",
        "a.activation_scale",
        "attention.k_scale",
        "experts.gate_up_proj_scales",
        "experts.down_proj_activation_scale",
        "experts.gate_up_proj_scale_inv",
        "a._weight_scale",
        "a._weight_scale_and_zero",
        "a.weight._scale",
        "a.weight.absmax",
        "a.weight.nested_absmax",
        "a.weight.quant_map",
        "a.weight.quant_state.bitsandbytes__nf4",
    ],
)
def test_parameters_leave_out_scales(name: str) -> None:
    assert parameters({name: ("F32", [8, 8])}, {"quantization_config": FP8}) == 0


@pytest.mark.parametrize("name", ["logit_scale", "layers.0.layer_scale", "router.per_expert_scale", "norm.scale"])
def test_parameters_count_scales_that_the_model_learned(name: str) -> None:
    assert parameters({name: ("F32", [8])}, {"quantization_config": FP8}) == 8
