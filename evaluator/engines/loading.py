"""Loading a model by transformers: safely, onto the best devices, with its adapter."""

from pathlib import Path
from typing import Any

from evaluator.core.errors import EvaluationError
from evaluator.engines.hardware import best_device
from evaluator.engines.options import EngineOptions
from submissions.hub_models.model_facts import MEMORY_PER_WEIGHT_BYTE
from submissions.texts.failure_codes import FailureCode


def from_pretrained(loader: Any, options: EngineOptions, config: Any = None, generation_config: Any = None) -> Any:
    """A model in evaluation mode on the best devices: safetensors only, no code from its folder unless that is allowed,
    all weights there, its adapter merged. `config` may be that of a part of it, `generation_config` stands for the
    folder's own.

    Raises EvaluationError.
    """
    import torch

    plan = placement(_weight_bytes(options.model))
    try:
        model, info = loader.from_pretrained(
            options.model,
            config=config,
            dtype=getattr(torch, options.precision, "auto"),  # a quantised checkpoint says itself
            attn_implementation=_best_attention(options.precision),
            use_safetensors=True,
            trust_remote_code=options.custom_code,
            local_files_only=True,
            output_loading_info=True,
            adapter_kwargs={"subfolder": "no-adapter"},  # one that lies beside a whole model is not put on it
            **({"generation_config": generation_config} if generation_config else {}),
            **({"device_map": plan} if plan else {}),
        )
    except (OSError, RuntimeError, KeyError) as error:
        raise EvaluationError(_loading_failure(error), str(error)) from error
    if missing := sorted(info["missing_keys"]):
        raise EvaluationError(FailureCode.INVALID_WEIGHTS, f"{len(missing)} weights are missing, {missing[0]} first")
    if options.adapter:
        model = _with_adapter(model, options.adapter)
    placed = plan is not None or getattr(model, "is_quantized", False)
    return model.eval() if placed else model.eval().to(best_device())


def _loading_failure(error: Exception) -> FailureCode:
    """Weights that do not fit into the memory may be sound: CUDA, torch's allocator and the system each say it in words
    of their own."""
    short = any(
        words in str(error).lower() for words in ("out of memory", "can't allocate memory", "cannot allocate memory")
    )
    return FailureCode.OUT_OF_MEMORY if short else FailureCode.INVALID_WEIGHTS


def placement(weight_bytes: int) -> str | None:
    """The `device_map` for a model of so many bytes: "auto" (all GPUs) where the smallest GPU is too small for it, "cuda"
    for one GPU, None without a GPU."""
    import torch

    if not torch.cuda.is_available():
        return None
    devices = [torch.cuda.get_device_properties(n).total_memory for n in range(torch.cuda.device_count())]
    return "auto" if len(devices) > 1 and weight_bytes * MEMORY_PER_WEIGHT_BYTE > min(devices) else "cuda"


def _with_adapter(model: Any, folder: Path) -> Any:
    """The model with a LoRA adapter merged into it; one that is quantised keeps it beside its weights.

    Raises EvaluationError.
    """
    from peft import PeftModel
    from safetensors import SafetensorError

    try:
        _resize(model, folder / "adapter_model.safetensors")
        adapted = PeftModel.from_pretrained(model, str(folder), is_trainable=False)
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, SafetensorError) as error:
        code = _loading_failure(error)
        said = "the adapter does not fit its base model: " if code == FailureCode.INVALID_WEIGHTS else ""
        raise EvaluationError(code, f"{said}{error}") from error
    return adapted if getattr(model, "is_quantized", False) else adapted.merge_and_unload()


def _resize(model: Any, weights: Path) -> None:
    """Give the model as many embeddings as an adapter that was trained with more tokens has."""
    from safetensors import safe_open

    ends = {id(part) for part in (model.get_input_embeddings(), model.get_output_embeddings()) if part is not None}
    names = {name.rpartition(".")[2] for name, part in model.named_modules() if id(part) in ends}
    with safe_open(weights, "pt") as file:
        sizes = {
            file.get_slice(key).get_shape()[0]
            for key in file.keys()  # noqa: SIM118 - no mapping
            if key.endswith("weight") and "lora_" not in key and names & set(key.split("."))
        }
    if len(sizes) == 1 and (size := sizes.pop()) != model.get_input_embeddings().weight.shape[0]:
        model.resize_token_embeddings(size, mean_resizing=False)


def _weight_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.safetensors"))


def _best_attention(precision: str) -> str | None:
    """FlashAttention where it is installed and can run; else as transformers sees fit, which is SDPA if it can."""
    from transformers.utils import is_flash_attn_2_available

    fits = best_device() == "cuda" and precision in ("float16", "bfloat16") and is_flash_attn_2_available()
    return "flash_attention_2" if fits else None


def load_config(options: EngineOptions) -> Any:
    """The model's config. Raises EvaluationError where the pinned transformers does not know the architecture."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(options.model, trust_remote_code=options.custom_code, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise EvaluationError(FailureCode.UNSUPPORTED_ARCHITECTURE, str(error)) from error


def check_token_ids(highest: int, model: Any) -> None:
    """Raises EvaluationError where a tokenizer names a token that the model has no embedding for."""
    size = model.get_input_embeddings().weight.shape[0]
    if highest >= size:
        raise EvaluationError(
            FailureCode.INVALID_WEIGHTS, f"the tokenizer names tokens up to {highest:,}, the model knows {size:,}"
        )


def check_no_nan(scores: Any) -> None:
    """Raises EvaluationError where a model's output holds NaN."""
    if scores.isnan().any():
        raise EvaluationError(FailureCode.NAN_LOGITS, "the model's output holds NaN")
