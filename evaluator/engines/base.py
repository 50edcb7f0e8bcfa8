"""What an engine is: something that turns prompts into answers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from evaluator.types import Answer, ModelError, Prompt


@dataclass(frozen=True)
class EngineOptions:
    model: Path
    precision: str
    max_new_tokens: int
    batch_size: int | None = None  # None: as the engine sees fit for the device


class Engine(Protocol):
    batch_size: int
    params: int

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        """One answer for each prompt, as they become ready. Raises ModelError where the model itself is at fault."""
        ...


def from_pretrained(loader: Any, options: EngineOptions) -> Any:
    """A model in evaluation mode on the best device: safetensors only, no code from its folder, all weights there.

    Raises ModelError.
    """
    import torch

    try:
        model, info = loader.from_pretrained(
            options.model,
            dtype=getattr(torch, options.precision),
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
        )
    except (OSError, RuntimeError, KeyError) as error:
        raise ModelError("invalid_weights", str(error)) from error
    if missing := sorted(info["missing_keys"]):
        raise ModelError("invalid_weights", f"{len(missing)} weights are missing, {missing[0]} first")
    return model.eval().to(best_device())


def best_device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def load_config(options: EngineOptions) -> Any:
    """The model's config. Raises ModelError where the pinned transformers does not know the architecture."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(options.model, trust_remote_code=False, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError("unsupported_architecture", str(error)) from error


def check_finite(scores: Any) -> None:
    """Raises ModelError where a model's output holds NaN."""
    if scores.isnan().any():
        raise ModelError("nan_logits", "the model's output holds NaN")
