"""A text model in the quantised forms that run without a GPU, each made by its own library."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig, TorchAoConfig

from tests.support.zoo import FAMILIES, Family, register_family
from tests.support.zoo import llama as llama
from tests.support.zoo.parts import CARD, change_json

Quantise = Callable[[Path, Path], None]


def quantised(name: str) -> Callable[[Quantise], Quantise]:
    """Register a function that writes the quantised model, given the folders of the original and of the result."""

    def build(quantise: Quantise, folder: Path) -> None:
        with TemporaryDirectory() as scratch:
            plain = Path(scratch) / "plain"
            FAMILIES["llama3"].build(plain)
            folder.mkdir(parents=True, exist_ok=True)
            AutoTokenizer.from_pretrained(plain).save_pretrained(folder)
            quantise(plain, folder)
        card = CARD.replace("---\nA", "base_model: zoo/llama3\n---\nA")
        (folder / "README.md").write_text(card, encoding="utf-8")

    def register(quantise: Quantise) -> Quantise:
        register_family(Family(name, partial(build, quantise), takes_images=False))
        return quantise

    return register


def _loaded(plain: Path, **settings: Any) -> Any:
    return AutoModelForCausalLM.from_pretrained(plain, dtype=torch.float32, **settings)


@quantised("llama_torchao")
def llama_torchao(plain: Path, folder: Path) -> None:
    from torchao.quantization import Int8WeightOnlyConfig

    method = TorchAoConfig(Int8WeightOnlyConfig(version=2))
    _loaded(plain, quantization_config=method).save_pretrained(folder)


@quantised("llama_bitsandbytes")
def llama_bitsandbytes(plain: Path, folder: Path) -> None:
    _loaded(plain, quantization_config=BitsAndBytesConfig(load_in_4bit=True)).save_pretrained(folder)


@quantised("llama_compressed_tensors")
def llama_compressed_tensors(plain: Path, folder: Path) -> None:
    """Write eight bits by channel, as llm-compressor packs them."""
    from compressed_tensors.compressors import ModelCompressor
    from compressed_tensors.quantization import QuantizationConfig, apply_quantization_config

    weights = {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "channel"}
    method = QuantizationConfig(
        config_groups={"group_0": {"targets": ["Linear"], "weights": weights}},
        ignore=["lm_head"],
        format="pack-quantized",
        quantization_status="initialized",
    )
    model = _loaded(plain)
    apply_quantization_config(model, method)
    for module in model.modules():
        if hasattr(module, "weight_scale"):
            module.weight_scale.data.copy_(module.weight.detach().abs().amax(1, keepdim=True) / 127)
    compressor = ModelCompressor.from_pretrained_model(model, quantization_format="pack-quantized")
    compressor.compress_model(model)
    model.save_pretrained(folder)
    compressor.update_config(str(folder))


@quantised("llama_fp8")
def llama_fp8(plain: Path, folder: Path) -> None:
    """Write blocks of 128 × 128 in eight-bit floats with a scale each, as DeepSeek and Qwen publish theirs."""
    weights: dict[str, Any] = {}
    for name, weight in load_file(plain / "model.safetensors").items():
        if name.endswith("proj.weight"):
            weights[name] = weight.to(torch.float8_e4m3fn)
            weights[f"{name}_scale_inv"] = torch.ones(*[-(-size // 128) for size in weight.shape])
        else:
            weights[name] = weight.to(torch.bfloat16)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((plain / "config.json").read_text(encoding="utf-8"))
    method = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
    change_json(folder / "config.json", **config | {"dtype": "bfloat16", "quantization_config": method})
