"""How a model is loaded and asked: what the evaluation decides, the job folder holds and the engine reads."""

from dataclasses import dataclass
from pathlib import Path

from evaluator.core.data_types import RequestedDecoding
from submissions.config.api_options import ApiOptions
from submissions.records.base import MAX_PIXELS
from submissions.records.options import MAX_REASONING_TOKENS, Thinking

# Options that change no answer. The folders are among them: revisions say what is in those.
NON_SEMANTIC_OPTIONS = frozenset({"model", "adapter", "batch_size", "spent"})
NON_SEMANTIC_API_OPTIONS = frozenset({"replicas", "timeout", "max_requests", "max_tokens", "max_cost", "prices", "key"})


@dataclass(frozen=True)
class EngineOptions:
    """Everything an engine needs to know besides the prompts."""

    model: Path  # folder with the model's files
    precision: str
    max_new_tokens: int  # of an answer
    batch_size: int | None = None  # None: as the engine sees fit for the device
    max_pixels: int = MAX_PIXELS  # of an image; a larger one is scaled down
    api: ApiOptions | None = None  # where a server answers
    max_reasoning_tokens: int = MAX_REASONING_TOKENS  # beside those of the answer
    thinking: Thinking | None = None  # None: the model's template has no switch for it
    decoding: RequestedDecoding = "greedy"
    adapter: Path | None = None  # folder of a LoRA adapter that is put on the model
    custom_code: bool = False  # whether the Python files in the model's folder may run
    spent: tuple[int, int] = (0, 0)  # tokens in and out that earlier answers of this job took
    engine: str = "chat"
    revision: str = ""  # 40 hex: the commit, or the content hash of a local folder
    base_revision: str | None = None  # that of the model an adapter is put on

    @property
    def asks_for_reasoning(self) -> bool:
        """Whether a server elsewhere is given a budget for reasoning."""
        return (self.api is not None and self.api.reasons) or self.thinking not in (None, "off")

    @property
    def remote(self) -> bool:
        """Whether a server elsewhere answers, of whose weights and machine nothing is known."""
        return self.api is not None and self.api.spawn is None
