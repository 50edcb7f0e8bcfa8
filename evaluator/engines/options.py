"""Options for loading and asking a model: set by the evaluation, stored in the job folder, read by the engine."""

from dataclasses import dataclass
from pathlib import Path

from evaluator.core.data_types import RequestedDecoding
from submissions.config.api_options import ApiOptions
from submissions.records.base import MAX_PIXELS
from submissions.records.options import MAX_REASONING_TOKENS, Thinking

VERSION = r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,60}"  # of a model server, as it reports it
SERVER_LOG_PREFIX = "server: "  # of the lines in a job's log that have messages of a server
PIXELS_VERSION = 2  # raised whenever images.py makes other pixels of the same file, because answers depend on them
# Options that do not change an answer. `config_fingerprint` leaves them out, so that the answers of a job are used again if
# only these options differ. Folders are among them, because the revisions identify their content. `max_tokens` of the API
# options is a budget of the whole evaluation, not the length of an answer.
NON_SEMANTIC_OPTIONS = frozenset({"model", "adapter", "batch_size", "spent"})
NON_SEMANTIC_API_OPTIONS = frozenset({"replicas", "timeout", "max_requests", "max_tokens", "max_cost", "prices", "key"})


@dataclass(frozen=True)
class EngineOptions:
    """Everything that an engine needs besides the prompts."""

    model: Path  # folder with the model's files
    precision: str
    max_new_tokens: int  # of an answer, without reasoning
    batch_size: int | None = None  # None: the engine's default for the device
    max_pixels: int = MAX_PIXELS  # of an image; larger images are scaled down
    api: ApiOptions | None = None  # set if a server answers
    max_reasoning_tokens: int = MAX_REASONING_TOKENS  # in addition to max_new_tokens
    thinking: Thinking | None = None  # None: the model's chat template has no switch for it
    decoding: RequestedDecoding = "greedy"
    adapter: Path | None = None  # folder of a LoRA adapter for the model
    custom_code: bool = False  # whether the Python files in the model's folder may run
    spent: tuple[int, int] = (0, 0)  # prompt and completion tokens of earlier answers of this job
    engine: str = "chat"
    revision: str = ""  # 40 hex: the commit, or the content hash of a local folder
    base_revision: str | None = None  # revision of the base model, if there is an adapter

    @property
    def asks_for_reasoning(self) -> bool:
        """Whether a model is asked to reason, by the options of an API or by `thinking`."""
        return (self.api is not None and self.api.reasons) or self.thinking not in (None, "off")

    @property
    def remote(self) -> bool:
        """Whether a remote server answers, whose weights and hardware are unknown."""
        return self.api is not None and self.api.spawn is None
