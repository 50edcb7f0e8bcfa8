"""Load a model with transformers: safely, onto the best devices, with its adapter."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from evaluator.core.errors import EvaluationError
from evaluator.core.memory import is_out_of_memory
from evaluator.engines.hardware import best_device
from evaluator.engines.options import EngineOptions
from submissions.hub_models.model_facts import MEMORY_PER_WEIGHT_BYTE
from submissions.texts.failure_codes import FailureCode


def from_pretrained(loader: Any, options: EngineOptions, config: Any = None, generation_config: Any = None) -> Any:
    """Load a model with its adapter in evaluation mode onto the best devices.

    Only safetensors are read, all weights must be present, and code from the model's folder runs only if allowed.
    `config` may be the config of a part of the model; `generation_config` replaces the one in the folder.

    Raises EvaluationError if the weights are invalid or do not fit into memory.
    """
    import torch

    device_map = placement(_weight_bytes(options.model))
    load = partial(
        loader.from_pretrained,
        options.model,
        config=config,
        # The precision of a quantised checkpoint is its method, such as "fp8", which is not a dtype of torch.
        dtype=getattr(torch, options.precision, "auto"),
        use_safetensors=True,
        trust_remote_code=options.custom_code,
        local_files_only=True,
        output_loading_info=True,
        adapter_kwargs={"subfolder": "no-adapter"},  # ignore an adapter stored in the folder of a full model
        **({"generation_config": generation_config} if generation_config else {}),
        **({"device_map": device_map} if device_map else {}),
    )
    try:
        model, info = _with_best_attention(load, options.precision)
    except (OSError, RuntimeError, KeyError) as error:
        raise EvaluationError(_loading_failure(error), str(error)) from error
    if missing := sorted(info["missing_keys"]):
        raise EvaluationError(FailureCode.INVALID_WEIGHTS, f"{len(missing)} weights are missing, {missing[0]} first")
    if options.adapter:
        model = _apply_adapter(model, options.adapter)
    return model.eval()


def _with_best_attention(load: Callable[..., Any], precision: str) -> Any:
    """Load with the fastest attention, or without it if the architecture does not support it.

    `load` is the loader's `from_pretrained` with all other arguments. It returns the model and its loading info.
    """
    if attention := _best_attention(precision):
        with suppress(ImportError, ValueError):
            return load(attn_implementation=attention)
    return load(attn_implementation=None)


def _loading_failure(error: Exception) -> FailureCode:
    """Return OUT_OF_MEMORY if memory is too small, else INVALID_WEIGHTS."""
    return FailureCode.OUT_OF_MEMORY if is_out_of_memory(error) else FailureCode.INVALID_WEIGHTS


def placement(weight_bytes: int) -> str | None:
    """Return the `device_map` for a model with this size of weights.

    It is "auto" (all GPUs) if there are several and the smallest is too small for the model, else "cuda" (one GPU), and
    None without a GPU.
    """
    import torch

    if not torch.cuda.is_available():
        return None
    devices = [torch.cuda.get_device_properties(n).total_memory for n in range(torch.cuda.device_count())]
    return "auto" if len(devices) > 1 and weight_bytes * MEMORY_PER_WEIGHT_BYTE > min(devices) else "cuda"


def _apply_adapter(model: Any, folder: Path) -> Any:
    """Return the model with a LoRA adapter merged into its weights.

    A quantised model keeps the adapter beside its weights, because merging would round them again. Raises EvaluationError
    if the adapter does not fit the model or memory runs out.
    """
    from peft import PeftModel
    from safetensors import SafetensorError

    try:
        _resize_embeddings(model, folder / "adapter_model.safetensors")
        adapted = PeftModel.from_pretrained(model, str(folder), is_trainable=False)
        # `from_pretrained` only warns if names do not match. Loading again returns them.
        loaded = adapted.load_adapter(str(folder), "default", is_trainable=False)
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, SafetensorError) as error:
        code = _loading_failure(error)
        prefix = "the adapter does not fit its base model: " if code == FailureCode.INVALID_WEIGHTS else ""
        raise EvaluationError(code, f"{prefix}{error}") from error
    unused = [name for name in loaded.unexpected_keys if "lora_" in name]
    for names, problem in ((loaded.missing_keys, "missing"), (unused, "of no layer of the base model")):
        if names:
            message = f"the adapter does not fit its base model: {len(names)} weights are {problem}, {min(names)} first"
            raise EvaluationError(FailureCode.INVALID_WEIGHTS, message)
    return adapted if getattr(model, "is_quantized", False) else adapted.merge_and_unload()


def _resize_embeddings(model: Any, weights: Path) -> None:
    """Resize the model's embeddings to those of an adapter that was trained with additional tokens.

    The file of such an adapter has whole embedding weights besides its LoRA weights, for example
    "base_model.model.model.embed_tokens.weight" and "base_model.model.lm_head.weight".
    """
    from safetensors import safe_open

    embeddings = {id(module) for module in (model.get_input_embeddings(), model.get_output_embeddings())}
    # The last parts of their names in the model, such as "embed_tokens" and "lm_head".
    names = {name.rpartition(".")[2] for name, module in model.named_modules() if id(module) in embeddings}
    with safe_open(weights, "pt") as file:
        sizes = {
            file.get_slice(key).get_shape()[0]
            for key in file.keys()  # noqa: SIM118 - safe_open is not a mapping
            if key.endswith("weight") and "lora_" not in key and names & set(key.split("."))
        }
    if len(sizes) != 1:  # the file has no embeddings, or input and output embeddings of different sizes
        return
    size = sizes.pop()
    if size != model.get_input_embeddings().weight.shape[0]:
        model.resize_token_embeddings(size, mean_resizing=False)


def _weight_bytes(folder: Path) -> int:
    """Return the size of all weights in a model's folder."""
    return sum(path.stat().st_size for path in folder.glob("*.safetensors"))


def _best_attention(precision: str) -> str | None:
    """Return "flash_attention_2" if it is installed and supported, else None: transformers then uses SDPA if it can."""
    from transformers.utils import is_flash_attn_2_available

    fits = best_device() == "cuda" and precision in ("float16", "bfloat16") and is_flash_attn_2_available()
    return "flash_attention_2" if fits else None


def load_config(options: EngineOptions) -> Any:
    """Return the model's config. Raises EvaluationError if the pinned transformers does not know the architecture."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(options.model, trust_remote_code=options.custom_code, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise EvaluationError(FailureCode.UNSUPPORTED_ARCHITECTURE, str(error)) from error


def check_token_ids(highest: int, model: Any) -> None:
    """Raise EvaluationError if the highest token id has no embedding in the model."""
    size = model.get_input_embeddings().weight.shape[0]
    if highest >= size:
        raise EvaluationError(
            FailureCode.INVALID_WEIGHTS,
            f"the tokenizer returned token id {highest:,}, but the model has {size:,} embeddings",
        )


def check_no_nan(scores: Any) -> None:
    """Raise EvaluationError if a model's output contains NaN."""
    if scores.isnan().any():
        raise EvaluationError(FailureCode.NAN_LOGITS, "the model's output contains NaN")
