"""The result of one evaluation, as it becomes public. Closed like every record, see submissions.records.base.

Scores are percentages from 0 to 100, times are milliseconds where the name ends in `_ms`.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from submissions.records.base import (
    MAX_PARAMS,
    Decoding,
    Key,
    Label,
    Metric,
    MetricName,
    ModelId,
    Name,
    Percent,
    Positive,
    Precision,
    Record,
    Sha,
)
from submissions.records.options import Thinking


class Generation(Record):
    """How answers were decoded. Budgets are new tokens; what may share a rank has the same of all but `dropped`."""

    decoding: Decoding = "greedy"
    max_answer_tokens: int = Field(ge=1)
    max_reasoning_tokens: int | None = Field(default=None, ge=0)  # None: the model does not reason
    dropped: list[Annotated[str, Field(pattern=r"^[a-z0-9_]{1,60}$")]] = Field(
        default_factory=list
    )  # of its generation config


class Reasoning(Record):
    """What a reasoning model wrote before its answers, in tokens, as its own tokenizer or its server counts them."""

    tokens_mean: Positive
    tokens_per_right: Positive | None = None  # all of them / answers that are right; None where none is
    unfinished: int = Field(default=0, ge=0)  # answers that never came: the reasoning was cut off


class Cost(Record):
    """What an evaluation took. The price is the operator's: of a million tokens in and out, or of an hour of the machine."""

    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    device_seconds: Positive | None = None  # of all devices together, while questions were answered
    devices: int | None = Field(default=None, ge=1)  # side by side for each question
    total: Positive | None = None
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"


class ResultConfig(Record):
    model_name: Label
    model_sha: Sha | None
    model_dtype: Precision | None
    model_type: Label | None = None
    organisation: Label | None = None
    params: int | None = Field(default=None, ge=0, le=MAX_PARAMS)
    license: Label | None = None
    engine: Name | None = None
    server: Label | None = None  # the program that answered, where it was not the engine itself
    api_model: Label | None = None  # what an API says which model, of which version, answered
    thinking: Thinking | None = None
    base_model: ModelId | None = None
    base_sha: Sha | None = None
    custom_code: bool = False
    requested_revision: Label | None = None  # branch, tag or commit that was asked for; None: the newest of main
    batch_size: int | None = Field(default=None, ge=1)
    max_new_tokens: int | None = Field(default=None, ge=1)
    weights: Literal["open", "closed"] | None = None  # whether anybody may have them; None: not known
    published_as: Label | None = None  # the name that a reported number was printed under, where it is another
    released: Annotated[str, Field(pattern=r"^\d{4}-\d{2}$")] | None = None  # the model, year and month
    role: Literal["model", "human", "baseline"] = "model"  # humans and baselines are references, not ranked


class Dataset(Record):
    id: Label
    revision: Label | None
    split: Label  # "test", "dev", "sample", …: rows of different splits are never ranked together
    n: int | None = Field(default=None, ge=0)


class Bucket(Record):
    """The scores of a part of the questions, by metric; only `n` for a count of answers."""

    n: int | None = Field(default=None, ge=0)
    scores: dict[MetricName, Metric] = Field(default_factory=dict)


class AnswerCounts(Record):
    ok: int = Field(default=0, ge=0)
    empty: int = Field(default=0, ge=0)
    refused: int = Field(default=0, ge=0)
    truncated: int = Field(default=0, ge=0)
    unparsed: int = Field(default=0, ge=0)  # of older records
    infra_error: int = Field(default=0, ge=0)


SINGLE_PROTOCOL = "one at a time"  # a latency's, where each question was asked alone


class Latency(Record):
    protocol: Label
    n: int | None = Field(default=None, ge=0)
    mean_ms: Positive
    p50_ms: Positive | None = None
    p95_ms: Positive | None = None
    hardware: Label | None = None
    calibration_ms: Positive | None = None  # a small fixed model's, on the same machine


class Inputs(Record):
    """What of the questions the model was shown."""

    visual_tokens_mean: Positive | None = None
    resized: int = Field(default=0, ge=0)  # prompts with an image scaled down to the pixel budget
    windowed: int = Field(default=0, ge=0)  # prompts whose page was read in windows


class BatchInvariance(Record):
    """Questions asked again one at a time, and how many of their answers and scores were other ones.

    Past the limit everything is asked again in smaller batches, at last of one; `batches_tried` are their sizes.
    """

    n: int = Field(ge=1)
    answers_changed: int = Field(ge=0)
    scores_changed: int = Field(ge=0)
    batches_tried: list[int] = Field(default_factory=list)  # of which the answers were thrown away


class PairedScores(Record):
    """This result beside another one, on the same questions.

    No counts, and coarse on purpose: from exact ones whoever knows the answers of many submissions could compute which of
    them are right (docs/security.md).
    """

    other: Key  # the other result's
    # Of the difference of the headline, this minus the other: 95 %, in points, rounded outward.
    interval: tuple[int, int]
    p_at_most: Annotated[float, Field(ge=0, le=1)]  # two-sided p value, rounded up; not corrected for other comparisons

    @property
    def sign(self) -> int:
        """1 if this result scored more, -1 if less, 0 if that cannot be seen."""
        total = sum(self.interval)
        return (total > 0) - (total < 0)

    def seen_from_other(self, this: str) -> "PairedScores":
        """Return the same from the other result's side; `this` is this one's key."""
        low, high = self.interval
        return self.model_copy(update={"other": this, "interval": (-high, -low)})


class Provenance(Record):
    kind: Literal["verified", "reported"]
    source: Label | None = None  # where a reported number was printed
    source_url: Annotated[str, Field(max_length=500, pattern=r"^https://[^\s\"'<>]+$")] | None = None
    worker: Label | None = None


class EvalResult(Record):
    """The scores of one request, at `results/{owner}/{name}/{key}.json`.

    The top keys are those that lm-eval and the Open LLM Leaderboard write, so that their readers work
    (https://github.com/EleutherAI/lm-evaluation-harness); `date` is in seconds since 1970, as there.
    """

    schema_version: Literal[1] = 1
    request_key: Key
    config: ResultConfig
    results: dict[Name, dict[MetricName, Metric | None]]
    headline: MetricName  # the metric that this result is ranked by
    versions: dict[Name, str]
    n_samples: dict[Name, dict[Literal["original", "effective"], int | None]] = Field(alias="n-samples")
    date: Positive | None
    git_hash: Label | None = None
    total_evaluation_time_seconds: Positive | None = None
    outcome: Literal["scored", "out_of_memory", "not_reported"] = "scored"
    dataset: Dataset
    intervals: dict[MetricName, tuple[Percent, Percent]] = Field(default_factory=dict)
    standard_errors: dict[MetricName, Percent] = Field(default_factory=dict)
    breakdown: dict[str, dict[str, Bucket]] = Field(default_factory=dict)
    answers: AnswerCounts | None = None
    inputs: Inputs | None = None
    latency: Latency | None = None
    batch_invariance: BatchInvariance | None = None
    generation: Generation | None = None
    reasoning: Reasoning | None = None
    cost: Cost | None = None
    paired: list[PairedScores] = Field(default_factory=list)  # with results that were there before
    environment: dict[str, Label] = Field(default_factory=dict)
    provenance: Provenance
    reproduce: Annotated[str, Field(max_length=1000)] | None = None

    @field_validator("results")
    @classmethod
    def _one_benchmark(cls, value: dict[str, Any]) -> dict[str, Any]:
        if len(value) != 1:
            raise ValueError("a result holds exactly one benchmark")
        return value

    @property
    def benchmark(self) -> str:
        return next(iter(self.results))

    @staticmethod
    def path_of(model_id: str, key: str) -> str:
        return f"results/{model_id}/{key}.json"

    @staticmethod
    def statement_path_of(key: str) -> str:
        """Of the signed statement, see submissions.records.statement."""
        return f"statements/{key[:2]}/{key}.json"

    @property
    def path(self) -> str:
        return self.path_of(self.config.model_name, self.request_key)
