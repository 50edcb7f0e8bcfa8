"""What an engine is: something that turns prompts into answers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from evaluator.data_types import Answer, Decoding, ModelError, Prompt
from submissions.records import MAX_REASONING_TOKENS, Thinking

MAX_PIXELS = 4_194_304  # of an image (2,048 × 2,048): a larger one is scaled down; a document page at 150 dpi fits

ROOM = 1.25  # device memory a model takes, in sizes of its weights

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class ApiOptions:
    """Where an OpenAI-compatible server is, and what it may be asked. Prices are for a million tokens, in and out."""

    base_url: str | None = None
    model: str | None = None  # its name there; the model's folder where the server is our own
    spawn: str | None = None  # command that starts it, with {model} and {port}
    page_chars: int | None = None  # longer pages are read in windows
    links: bool = False  # name public images by their links instead of sending them
    key: str = "HANNUN_API_KEY"  # the environment variable that holds its key
    reasons: bool = False  # whether it writes reasoning, for which it then has a budget
    timeout: float = 600.0  # seconds for one request
    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    prices: tuple[float, float] = (0.0, 0.0)

    @property
    def remote(self) -> bool:
        """Whether the server is somebody else's, of whose weights and machine nothing is known."""
        return self.spawn is None


@dataclass(frozen=True)
class EngineOptions:
    model: Path
    precision: str
    max_new_tokens: int
    batch_size: int | None = None  # None: as the engine sees fit for the device
    max_pixels: int = MAX_PIXELS
    api: ApiOptions | None = None
    max_reasoning_tokens: int = MAX_REASONING_TOKENS  # beside those of the answer
    thinking: Thinking | None = None  # None: the model's template has no switch for it
    decoding: Decoding = "greedy"
    adapter: Path | None = None  # a LoRA adapter's folder, to be put on the model
    custom_code: bool = False  # whether the Python files in the model's folder may run
    spent: tuple[int, int] = (0, 0)  # tokens in and out that earlier answers of this job took


class Engine(Protocol):
    batch_size: int
    params: int | None

    def close(self) -> None:
        """End what the engine has started outside of this process."""
        ...

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        """One answer for each prompt, as they become ready. Raises ModelError where the model itself is at fault."""
        ...


def from_pretrained(loader: Any, options: EngineOptions, config: Any = None, generation_config: Any = None) -> Any:
    """A model in evaluation mode on the best devices: safetensors only, no code from its folder unless that is allowed,
    all weights there, its adapter merged. `config` may be that of a part of it, `generation_config` stands for the
    folder's own.

    Raises ModelError.
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
    except ImportError:
        raise
    except (OSError, RuntimeError, KeyError) as error:
        raise ModelError("invalid_weights", str(error)) from error
    if missing := sorted(info["missing_keys"]):
        raise ModelError("invalid_weights", f"{len(missing)} weights are missing, {missing[0]} first")
    if options.adapter:
        model = _with_adapter(model, options.adapter)
    placed = plan is not None or getattr(model, "is_quantized", False)
    return model.eval() if placed else model.eval().to(best_device())


def placement(weight_bytes: int) -> str | None:
    """How transformers is to place a model: over all devices where one is too small for it, else on one (None)."""
    import torch

    if not torch.cuda.is_available():
        return None
    devices = [torch.cuda.get_device_properties(n).total_memory for n in range(torch.cuda.device_count())]
    return "auto" if len(devices) > 1 and weight_bytes * ROOM > min(devices) else "cuda"


def _with_adapter(model: Any, folder: Path) -> Any:
    """The model with a LoRA adapter merged into it; one that is quantised keeps it beside its weights.

    Raises ModelError.
    """
    from peft import PeftModel
    from safetensors import SafetensorError

    try:
        _resize(model, folder / "adapter_model.safetensors")
        adapted = PeftModel.from_pretrained(model, str(folder), is_trainable=False)
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, SafetensorError) as error:
        raise ModelError("invalid_weights", f"the adapter does not fit its base model: {error}") from error
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
    if len(sizes) == 1 and (size := sizes.pop()) != model.get_input_embeddings().num_embeddings:
        model.resize_token_embeddings(size, mean_resizing=False)


def _weight_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.safetensors"))


def _best_attention(precision: str) -> str | None:
    """FlashAttention where it is installed and can run; else as transformers sees fit, which is SDPA if it can."""
    from transformers.utils import is_flash_attn_2_available

    fits = best_device() == "cuda" and precision in ("float16", "bfloat16") and is_flash_attn_2_available()
    return "flash_attention_2" if fits else None


def best_device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def load_config(options: EngineOptions) -> Any:
    """The model's config. Raises ModelError where the pinned transformers does not know the architecture."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(options.model, trust_remote_code=options.custom_code, local_files_only=True)
    except ImportError:
        raise
    except (OSError, ValueError, KeyError) as error:
        raise ModelError("unsupported_architecture", str(error)) from error


def halving(batch: Sequence[T], work: Callable[[Sequence[T]], R]) -> Iterator[tuple[Sequence[T], R]]:
    """The batch worked off whole, or in halves as often as the memory is too small for it.

    Raises torch.OutOfMemoryError or MemoryError where a single one is too much.
    """
    import torch

    try:
        yield batch, work(batch)
        return
    except (torch.OutOfMemoryError, MemoryError):
        if len(batch) == 1:
            raise
    torch.cuda.empty_cache()  # outside of the except, whose traceback would keep the tensors alive
    half = len(batch) // 2
    yield from halving(batch[:half], work)
    yield from halving(batch[half:], work)


def check_known(highest: int, model: Any) -> None:
    """Raises ModelError where a tokenizer names a token that the model has no embedding for."""
    size = model.get_input_embeddings().num_embeddings
    if highest >= size:
        raise ModelError("invalid_weights", f"the tokenizer names tokens up to {highest:,}, the model knows {size:,}")


def check_finite(scores: Any) -> None:
    """Raises ModelError where a model's output holds NaN."""
    if scores.isnan().any():
        raise ModelError("nan_logits", "the model's output holds NaN")
