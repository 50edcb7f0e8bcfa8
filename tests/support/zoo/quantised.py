"""A text model in the quantised forms that run without a GPU, each made by its own library."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig, TorchAoConfig

from tests.support.zoo import family
from tests.support.zoo.llama import llama3
from tests.support.zoo.parts import CARD, change_json

BASE = "zoo/llama3"


def _quantised(folder: Path, write: Callable[[Path, Path], None]) -> None:
    """The model as `write` makes it from the unquantised one."""
    with TemporaryDirectory() as scratch:
        plain = Path(scratch) / "plain"
        llama3(plain)
        folder.mkdir(parents=True, exist_ok=True)
        AutoTokenizer.from_pretrained(plain).save_pretrained(folder)
        write(plain, folder)
    (folder / "README.md").write_text(CARD.replace("---\nA", f"base_model: {BASE}\n---\nA"), encoding="utf-8")


def _loaded(plain: Path, **settings: Any) -> Any:
    return AutoModelForCausalLM.from_pretrained(plain, **settings)


@family("llama_torchao", takes_images=False)
def llama_torchao(folder: Path) -> None:
    def write(plain: Path, folder: Path) -> None:
        from torchao.quantization import Int8WeightOnlyConfig

        method = TorchAoConfig(Int8WeightOnlyConfig(version=2))
        _loaded(plain, dtype=torch.float32, quantization_config=method).save_pretrained(folder)

    _quantised(folder, write)


@family("llama_bitsandbytes", takes_images=False)
def llama_bitsandbytes(folder: Path) -> None:
    def write(plain: Path, folder: Path) -> None:
        method = BitsAndBytesConfig(load_in_4bit=True)
        _loaded(plain, dtype=torch.float32, quantization_config=method).save_pretrained(folder)

    _quantised(folder, write)


@family("llama_compressed_tensors", takes_images=False)
def llama_compressed_tensors(folder: Path) -> None:
    """Eight bits by channel, as llm-compressor packs them."""

    def write(plain: Path, folder: Path) -> None:
        from compressed_tensors.compressors import ModelCompressor
        from compressed_tensors.quantization import QuantizationConfig, apply_quantization_config

        weights = {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "channel"}
        method = QuantizationConfig(
            config_groups={"group_0": {"targets": ["Linear"], "weights": weights}},
            ignore=["lm_head"],
            format="pack-quantized",
            quantization_status="initialized",
        )
        model = _loaded(plain, dtype=torch.float32)
        apply_quantization_config(model, method)
        for module in model.modules():
            if hasattr(module, "weight_scale"):
                module.weight_scale.data.copy_(module.weight.detach().abs().amax(1, keepdim=True) / 127)
        compressor = ModelCompressor.from_pretrained_model(model, quantization_format="pack-quantized")
        compressor.compress_model(model)
        model.save_pretrained(folder)
        compressor.update_config(str(folder))

    _quantised(folder, write)


@family("llama_fp8", takes_images=False)
def llama_fp8(folder: Path) -> None:
    """Blocks of 128 × 128 in eight-bit floats with a scale each, as DeepSeek and Qwen publish theirs."""

    def write(plain: Path, folder: Path) -> None:
        weights: dict[str, Any] = {}
        for name, weight in load_file(plain / "model.safetensors").items():
            if name.endswith("proj.weight"):
                blocks = [-(-size // 128) for size in weight.shape]
                weights[name] = weight.to(torch.float8_e4m3fn)
                weights[f"{name}_scale_inv"] = torch.ones(*blocks)
            else:
                weights[name] = weight.to(torch.bfloat16)
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        config = json.loads((plain / "config.json").read_text(encoding="utf-8"))
        method = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
        change_json(folder / "config.json", **config | {"dtype": "bfloat16", "quantization_config": method})

    _quantised(folder, write)
