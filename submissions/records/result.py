"""Define the public record of an evaluation's result.

Scores are percentages from 0 to 100. Fields with names that end in `_ms` are milliseconds.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from submissions.records.architecture import Architecture
from submissions.records.base import (
    MAX_PARAMS,
    Decoding,
    Digest,
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
    Time,
)
from submissions.records.options import ResultKind, Thinking
from submissions.records.version_0_1 import from_0_1


class Generation(Record):
    """How answers were decoded. Budgets are numbers of new tokens.

    Results with other budgets than the standard ones, or with the decoding "repository", are not ranked (`Benchmark.ranks`).
    """

    decoding: Decoding = "greedy"
    max_answer_tokens: int = Field(ge=1)
    max_reasoning_tokens: int | None = Field(default=None, ge=0)  # None: the model does not reason
    # Settings of the model's generation config that were not applied, such as repetition_penalty.
    dropped: list[Annotated[str, Field(pattern=r"^[a-z0-9_]{1,60}$")]] = Field(default_factory=list)


class Reasoning(Record):
    """The length of a model's reasoning in tokens, as counted by its tokenizer or its server."""

    tokens_mean: Positive
    tokens_per_right: Positive | None = None  # all reasoning tokens / correct answers; None if no answer is correct
    unfinished: int = Field(default=0, ge=0)  # answers that are empty because the reasoning was cut off


class Cost(Record):
    """The tokens, device time and money that the answers to the items took.

    Questions that were asked again, to measure latency, are left out. The operator sets the price: per million input and output
    tokens, or per hour of the machine.
    """

    # The number of items. `dataset.n` has fewer if an erratum withdrew some. None in records of earlier releases.
    items: int | None = Field(default=None, ge=1)
    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    device_seconds: Positive | None = None  # summed over all devices, while questions were answered
    devices: int | None = Field(default=None, ge=1)  # used together for each question
    total: Positive | None = None
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"


class ResultConfig(Record):
    """The model that was evaluated, and the options it was run with."""

    model_name: Label  # OWNER/NAME, or the name at the source of a reported number
    model_sha: Sha | None  # the evaluated revision
    model_dtype: Precision | None  # called precision everywhere else; lm-eval's readers expect this name
    model_type: Label | None = None
    shown: Architecture | None = None  # the types and sizes of its parts that its config.json shows
    organisation: Label | None = None
    params: int | None = Field(default=None, ge=0, le=MAX_PARAMS)
    license: Label | None = None
    engine: Name | None = None
    server: Label | None = None  # the model server that answered, if the engine used one
    api_model: Label | None = None  # model and version as reported by the API
    thinking: Thinking | None = None
    base_model: ModelId | None = None
    base_sha: Sha | None = None
    custom_code: bool = False
    requested_revision: Label | None = None  # submitted branch, tag or commit; None: the newest commit of main
    batch_size: int | None = Field(default=None, ge=1)
    max_new_tokens: int | None = Field(default=None, ge=1)
    weights: Literal["open", "closed"] | None = None  # whether the weights are public; None: unknown
    published_as: Label | None = None  # the model's name at the source of a reported number, if it differs
    released: Annotated[str, Field(pattern=r"^\d{4}-\d{2}$")] | None = None  # year and month of the model's release
    role: Literal["model", "human", "baseline"] = "model"  # humans and baselines are shown for reference and not ranked


class Dataset(Record):
    """The test set of an evaluation."""

    id: Label
    revision: Label | None
    split: Label  # such as "test", "dev" or "sample"; different splits are never ranked together
    n: int | None = Field(default=None, ge=0)


class Bucket(Record):
    """The scores of a part of the items, by metric.

    A count of answers, such as how often option A was chosen (`Card.histogram`), is a bucket with `n` only.
    """

    n: int | None = Field(default=None, ge=0)
    scores: dict[MetricName, Metric] = Field(default_factory=dict)


class AnswerCounts(Record):
    """The number of items by outcome. Of an item that was asked several times, the first outcome that is not ok counts."""

    ok: int = Field(default=0, ge=0)
    empty: int = Field(default=0, ge=0)
    refused: int = Field(default=0, ge=0)
    truncated: int = Field(default=0, ge=0)
    infra_error: int = Field(default=0, ge=0)


MAX_SHOWN_ANSWER = 300  # characters of an answer that are published


class PublicAnswer(Record):
    """A model's answers to a public item, shortened, and whether they are right."""

    answers: list[str]
    right: bool


PublicAnswers = dict[str, PublicAnswer]  # by item id

SINGLE_PROTOCOL = "one at a time"  # the protocol of a latency measured without batching


class Latency(Record):
    """The time per answer, and the memory that one question at a time needs."""

    protocol: Label
    n: int | None = Field(default=None, ge=0)
    mean_ms: Positive
    p50_ms: Positive | None = None
    p95_ms: Positive | None = None
    hardware: Label | None = None
    calibration_ms: Positive | None = None  # of a small fixed model on the same machine
    # Peak memory, in GB of 2^30 bytes over all GPUs, that the framework reserved while questions were asked one at a time.
    gpu_memory_gb: Positive | None = None


class Inputs(Record):
    """How the questions were presented to the model."""

    visual_tokens_mean: Positive | None = None
    resized: int = Field(default=0, ge=0)  # prompts with an image that was scaled down to the pixel limit
    windowed: int = Field(default=0, ge=0)  # prompts with a page that was split into windows


class BatchInvariance(Record):
    """How many answers and scores changed when `n` questions were asked again one at a time.

    The number of scores is None if it could reveal answers of a private test set: a model that answers differently in a
    batch and alone would learn which of its two answers is right. If too many scores change, all questions are asked again
    in smaller batches, finally one at a time.
    """

    n: int = Field(ge=1)
    answers_changed: int = Field(ge=0)
    scores_changed: int | None = Field(default=None, ge=0)
    batches_tried: list[int] = Field(default_factory=list)  # batch sizes whose answers were discarded


class PairedScores(Record):
    """A paired comparison of this result with another one on the same items.

    It is deliberately coarse and has no counts. From exact values, anyone who knows the answers of many submissions could
    compute which of them are correct (docs/security.md).
    """

    other: Key  # key of the other result
    # 95 % interval of the headline difference, this minus the other, in percentage points, rounded outward.
    interval: tuple[int, int]
    p_at_most: Annotated[float, Field(ge=0, le=1)]  # two-sided p value, rounded up; not corrected for other comparisons

    @property
    def sign(self) -> int:
        """Return 1 if this result scored higher, -1 if lower, or 0 if the interval is symmetric around 0."""
        total = sum(self.interval)
        return (total > 0) - (total < 0)

    def seen_from_other(self, this: str) -> "PairedScores":
        """Return the comparison from the side of the other result. `this` is the key of this result."""
        low, high = self.interval
        return self.model_copy(update={"other": this, "interval": (-high, -low)})


class Provenance(Record):
    """The origin of a result: evaluated by this installation (verified), or published elsewhere (reported)."""

    kind: ResultKind
    source: Label | None = None  # where a reported number was published
    source_url: Annotated[str, Field(max_length=500, pattern=r"^https://[^\s\"'<>]+$")] | None = None
    worker: Label | None = None


class Earlier(Record):
    """The scores of a result before an erratum of its test set, in percent."""

    version: Label  # of the benchmark
    scores: dict[MetricName, Metric | None]
    until: Time


class EvalResult(Record):
    """The result of one request, stored at `results/{owner}/{name}/{key}.json`.

    Top-level keys have the same names as in lm-eval and the Open LLM Leaderboard, so that tools that read those also read
    this record (https://github.com/EleutherAI/lm-evaluation-harness). As there, `date` is in seconds since 1970.
    """

    schema_version: Literal[1] = 1
    request_key: Key
    config: ResultConfig
    results: dict[Name, dict[MetricName, Metric | None]]  # by benchmark, exactly one, and metric; None: does not apply
    headline: MetricName  # the metric that this result is ranked by
    versions: dict[Name, str]  # of the benchmark, by its name
    n_samples: dict[Name, dict[Literal["original", "effective"], int | None]] = Field(alias="n-samples")
    date: Positive | None  # when the evaluation was finished
    git_hash: Label | None = None  # commit of this project's code
    total_evaluation_time_seconds: Positive | None = None
    outcome: Literal["scored", "out_of_memory", "not_reported"] = "scored"
    dataset: Dataset
    intervals: dict[MetricName, tuple[Metric, Metric]] = Field(default_factory=dict)  # 95 %
    standard_errors: dict[MetricName, Percent] = Field(default_factory=dict)
    breakdown: dict[str, dict[str, Bucket]] = Field(default_factory=dict)  # by axis and bucket, such as kind and chart
    answers: AnswerCounts | None = None
    answers_sha256: Digest | None = None  # of all answers, which are published later (evaluator.results.answer_rows)
    inputs: Inputs | None = None
    latency: Latency | None = None
    batch_invariance: BatchInvariance | None = None
    generation: Generation | None = None
    reasoning: Reasoning | None = None
    cost: Cost | None = None
    paired: list[PairedScores] = Field(default_factory=list)  # with earlier results
    earlier: list[Earlier] = Field(default_factory=list)  # before errata, oldest first
    environment: dict[str, Label] = Field(default_factory=dict)
    provenance: Provenance
    reproduce: Annotated[str, Field(max_length=4000)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_0_1(cls, record: Any) -> Any:
        return from_0_1(record)

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
    def answers_path_of(key: str) -> str:
        """Return the path of the answers to public items, see PublicAnswers."""
        return f"answers/{key[:2]}/{key}.json"

    @staticmethod
    def statement_path_of(key: str) -> str:
        """Return the path of the signed statement, see submissions.records.signed_statement."""
        return f"statements/{key[:2]}/{key}.json"

    @property
    def path(self) -> str:
        return self.path_of(self.config.model_name, self.request_key)
