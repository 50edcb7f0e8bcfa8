"""What crosses a boundary: requests, results and the rows that summarise them.

Everything here may become public, so it is closed: no extra fields, enums instead of prose, UTC times,
finite numbers. Scores are percentages from 0 to 100, times are milliseconds where the name ends in `_ms`.
"""

import hashlib
import json
from dataclasses import fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator
from pydantic.dataclasses import dataclass

from submissions.catalog import BENCHMARKS
from submissions.models.quantization import Quantization

MAX_PARAMS = 10**15
MAX_REASONING_TOKENS = 8192  # of an answer; rows with another budget have no rank
# The Hub's own pattern lets Hangul look-alikes and a trailing newline through; this one is ASCII, end to end.
OWNER = r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}"
MODEL_ID = f"{OWNER}/{OWNER}"


def _utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("a time needs its zone")
    return value.astimezone(UTC)


def _known_benchmark(value: str) -> str:
    if value not in BENCHMARKS:
        raise ValueError(f"unknown benchmark; one of {', '.join(BENCHMARKS)}")
    return value


Time = Annotated[datetime, AfterValidator(_utc)]
BenchmarkName = Annotated[str, AfterValidator(_known_benchmark)]
ModelId = Annotated[str, Field(pattern=f"^{MODEL_ID}$")]
Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
Key = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Label = Annotated[str, Field(max_length=200)]  # a name printed by others; escaped wherever it is shown
Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Metric = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]  # a chance-corrected score may be below 0
Positive = Annotated[float, Field(ge=0, allow_inf_nan=False)]
FloatPrecision = Literal["float32", "bfloat16", "float16"]
Precision = FloatPrecision | Quantization  # a quantised checkpoint's is its method
EngineName = Literal["chat", "extractive", "api"]
Thinking = Literal["on", "off"]  # whether a model that can be told to reason was told to; None for all others
# repository: with the penalties of the model's own generation config; provider: an API that takes no temperature.
Decoding = Literal["greedy", "repository", "provider"]


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, protected_namespaces=())

    def evolve(self, **changes: Any) -> Self:
        """A copy with some fields changed, validated like a new record."""
        return type(self).model_validate({**self.model_dump(), **changes})

    def to_bytes(self) -> bytes:
        text = json.dumps(self.model_dump(mode="json", by_alias=True), ensure_ascii=False, indent=2, allow_nan=False)
        return text.encode() + b"\n"


class Status(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    QUARANTINED = "quarantined"


class Stage(StrEnum):
    FETCH = "fetch"
    LOAD = "load"
    INFER = "infer"
    MEASURE = "measure"  # some questions again, one at a time
    SCORE = "score"
    PUBLISH = "publish"


class FailureCode(StrEnum):
    """Why an evaluation ended without a result. `ours` tells whose fault it was."""

    MODEL_NOT_FOUND = "model_not_found"
    MODEL_TOO_LARGE = "model_too_large"
    DISK_FULL = "disk_full"
    UNSUPPORTED_ARCHITECTURE = "unsupported_architecture"
    MISSING_LIBRARY = "missing_library"
    CODE_NOT_APPROVED = "code_not_approved"
    INVALID_WEIGHTS = "invalid_weights"
    NO_CHAT_TEMPLATE = "no_chat_template"
    TEMPLATE_ERROR = "template_error"
    NO_IMAGE_INPUT = "no_image_input"
    NAN_LOGITS = "nan_logits"
    MODEL_ERROR = "model_error"
    OUT_OF_MEMORY = "out_of_memory"
    PROCESS_KILLED = "process_killed"
    WORKER_LOST = "worker_lost"
    HUB_UNAVAILABLE = "hub_unavailable"
    BENCHMARK_INVALID = "benchmark_invalid"
    BATCH_VARIANCE = "batch_variance"  # of older records: now such a run is made again in smaller batches
    API_REFUSED = "api_refused"
    BUDGET_SPENT = "budget_spent"
    DEADLINE = "deadline"
    WITHHELD = "withheld"
    SERVER_FAILED = "server_failed"
    INTERNAL_ERROR = "internal_error"

    @property
    def ours(self) -> bool:
        return self in _OURS

    @property
    def lasting(self) -> bool:
        """Whether another try would end the same way, until the operator has done something."""
        return self in _LASTING


_OURS = {
    FailureCode.DISK_FULL,
    FailureCode.MISSING_LIBRARY,
    FailureCode.CODE_NOT_APPROVED,
    FailureCode.OUT_OF_MEMORY,
    FailureCode.PROCESS_KILLED,
    FailureCode.WORKER_LOST,
    FailureCode.HUB_UNAVAILABLE,
    FailureCode.BENCHMARK_INVALID,
    FailureCode.API_REFUSED,
    FailureCode.BUDGET_SPENT,
    FailureCode.SERVER_FAILED,
    FailureCode.WITHHELD,
    FailureCode.INTERNAL_ERROR,
}


_LASTING = {
    FailureCode.MISSING_LIBRARY,
    FailureCode.CODE_NOT_APPROVED,
    FailureCode.API_REFUSED,
    FailureCode.BUDGET_SPENT,
}


class Failure(Record):
    stage: Stage
    code: FailureCode


class Progress(Record):
    """How far an evaluation is: of a stage's steps, how many are done. 0 of 0 where it has none to count."""

    stage: Stage
    done: int = Field(default=0, ge=0)
    total: int = Field(default=0, ge=0)


class Lease(Record):
    worker: Label
    nonce: Key
    heartbeat_at: Time
    expires_at: Time
    progress: Progress | None = None


def request_key(
    model_id: str,
    revision: str,
    precision: str,
    benchmark: str,
    version: str,
    thinking: Thinking | None = None,
    base: str | None = None,
) -> str:
    """First 32 hex digits of the sha256 of the tuple: the same submission twice is the same file.

    `base` is an adapter's base model with its commit.
    """
    parts = [model_id, revision, precision, benchmark, version]
    parts += [f"thinking={thinking}"] if thinking else []
    parts += [f"base={base}"] if base else []
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:32]


class EvalRequest(Record):
    """One (model, revision, precision, benchmark, benchmark version), at `requests/{status}/{key}.json`.

    A model that can reason or not has a request for each, an adapter one for each commit of its base model.
    """

    key: Key
    model_id: ModelId
    requested_revision: Label
    revision: Sha
    precision: Precision
    benchmark: BenchmarkName
    benchmark_version: Label
    engine: EngineName
    model_type: Label
    params: int | None = Field(default=None, ge=0, le=MAX_PARAMS)
    license: Label | None = None
    submitted_by: Label
    organisation: Label | None = None  # the submitter's, where it owns the model: its members share their quota
    submitted_at: Time
    share: bool = False  # whether the result may be offered to the model's repository
    thinking: Thinking | None = None
    base_model: ModelId | None = None  # an adapter's, or what the card of a quantised model names
    base_revision: Sha | None = None  # an adapter's only
    custom_code: bool = False  # whether it needs the Python files of its repository, which the operator approved
    api: Annotated[str, Field(pattern=f"^{OWNER}$")] | None = None  # the operator's name for a model behind an API
    status: Status = Status.PENDING
    attempt: int = Field(default=0, ge=0)
    lease: Lease | None = None
    started_at: Time | None = None
    finished_at: Time | None = None
    failure: Failure | None = None

    @property
    def path(self) -> str:
        return f"requests/{self.status}/{self.key}.json"


class OptOut(Record):
    """An owner's wish that none of its models, or one of them, be evaluated, at `opt-outs/`."""

    name: Annotated[str, Field(pattern=f"^({MODEL_ID}|{OWNER})$")]
    since: Time

    @staticmethod
    def path_of(name: str) -> str:
        return f"opt-outs/{name.lower()}.json"  # the Hub takes names in any letter case


class CodeApproval(Record):
    """Python files that the operator has read and lets run, at `approvals/{owner}/{name}/{revision}.json`."""

    model_id: ModelId
    revision: Sha
    files: dict[Label, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]]  # sha256 by name
    approved_at: Time

    @staticmethod
    def path_of(model_id: str, revision: str) -> str:
        return f"approvals/{model_id}/{revision}.json"


class Generation(Record):
    """How answers were decoded. Budgets are new tokens; what may share a rank has the same of all but `dropped`."""

    decoding: Decoding = "greedy"
    max_answer_tokens: int = Field(ge=1)
    max_reasoning_tokens: int | None = Field(default=None, ge=0)  # None: the model does not reason
    dropped: list[Annotated[str, Field(pattern=r"^[a-z0-9_]{1,60}$")]] = []  # of its generation config


class Reasoning(Record):
    """What a reasoning model wrote before its answers, in tokens, as its own tokenizer or its server counts them."""

    tokens_mean: Positive
    tokens_per_right: Positive | None = None  # all of them / answers that are right; None where none is
    unfinished: int = Field(default=0, ge=0)  # answers that never came: the reasoning was cut off


class Cost(Record):
    """What asking a model behind an API took. The price is the operator's: a million tokens, in and out."""

    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
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
    engine: EngineName | None = None
    server: Label | None = None  # the program that answered, where it was not the engine itself
    api_model: Label | None = None  # what an API says which model, of which version, answered
    thinking: Thinking | None = None
    base_model: ModelId | None = None
    base_sha: Sha | None = None
    custom_code: bool = False
    batch_size: int | None = Field(default=None, ge=1)
    max_new_tokens: int | None = Field(default=None, ge=1)
    weights: Literal["open", "closed"] | None = None  # whether anybody may have them; None: not known
    role: Literal["model", "human", "baseline"] = "model"  # humans and baselines are references, not ranked


class Dataset(Record):
    id: Label
    revision: Label | None
    split: Label  # "test", "dev", "sample", …: rows of different splits are never ranked together
    n: int | None = Field(default=None, ge=0)


class Bucket(Record):
    n: int | None = Field(default=None, ge=0)
    em: Percent | None = None
    f1: Percent | None = None


class AnswerCounts(Record):
    ok: int = Field(default=0, ge=0)
    empty: int = Field(default=0, ge=0)
    refused: int = Field(default=0, ge=0)
    truncated: int = Field(default=0, ge=0)
    unparsed: int = Field(default=0, ge=0)
    infra_error: int = Field(default=0, ge=0)


ALONE_PROTOCOL = "one at a time"  # a latency's, where each question was asked alone


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
    batches_tried: list[int] = []  # of which the answers were thrown away


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
    results: dict[BenchmarkName, dict[str, Metric | None]]
    versions: dict[BenchmarkName, str]
    n_samples: dict[BenchmarkName, dict[Literal["original", "effective"], int | None]] = Field(alias="n-samples")
    date: Positive | None
    git_hash: Label | None = None
    total_evaluation_time_seconds: Positive | None = None
    outcome: Literal["scored", "out_of_memory", "not_reported"] = "scored"
    dataset: Dataset
    intervals: dict[str, tuple[Percent, Percent]] = {}
    breakdown: dict[str, dict[str, Bucket]] = {}
    answers: AnswerCounts | None = None
    inputs: Inputs | None = None
    latency: Latency | None = None
    batch_invariance: BatchInvariance | None = None
    generation: Generation | None = None
    reasoning: Reasoning | None = None
    cost: Cost | None = None
    environment: dict[str, Label] = {}
    provenance: Provenance
    reproduce: Annotated[str, Field(max_length=1000)] | None = None

    @field_validator("results")
    @classmethod
    def _one_benchmark(cls, value: dict[str, Any]) -> dict[str, Any]:
        if len(value) != 1:
            raise ValueError("a result holds exactly one benchmark")
        scores = next(iter(value.values()))
        if any(v is not None and v < 0 and not name.endswith("_corrected") for name, v in scores.items()):
            raise ValueError("only a chance-corrected score may be below 0")
        return value

    @property
    def benchmark(self) -> str:
        return next(iter(self.results))

    @property
    def path(self) -> str:
        return f"results/{self.config.model_name}/{self.request_key}.json"


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class BoardRow:
    """What the board needs of a result, flat: one row of `index/board/{benchmark}/{yyyy-mm}.parquet`.

    A dataclass with slots: the board holds tens of thousands, and each takes a third of a model's memory.
    """

    path: str
    blob: str  # the git blob id of the record this row was made from: how a stale row is noticed
    key: Key
    benchmark: BenchmarkName
    benchmark_version: str
    model: Label
    revision: str | None
    organisation: Label | None
    role: str
    params: int | None
    license: Label | None
    precision: str | None
    split: str
    dataset: str
    n: int | None
    em: float | None
    f1: float | None
    em_strict: float | None
    em_low: float | None
    em_high: float | None
    f1_low: float | None
    f1_high: float | None
    latency_ms: float | None  # the median where questions were asked one at a time, else the mean
    hardware: Label | None
    date: float | None
    outcome: str
    kind: str
    source: Label | None
    source_url: str | None
    breakdown: str  # JSON, as in the result
    weights: str | None = None
    thinking: str | None = None
    base_model: str | None = None
    custom_code: bool | None = None
    server: Label | None = None
    decoding: str | None = None
    max_answer_tokens: int | None = None
    max_reasoning_tokens: int | None = None
    reasoning_tokens: float | None = None  # per answer
    reasoning_per_right: float | None = None  # tokens per right answer


def board_row(result: EvalResult, path: str, blob: str) -> BoardRow:
    scores = result.results[result.benchmark]
    em_low, em_high = result.intervals.get("em", (None, None))
    f1_low, f1_high = result.intervals.get("f1", (None, None))
    return BoardRow(
        path=path,
        blob=blob,
        key=result.request_key,
        benchmark=result.benchmark,
        benchmark_version=result.versions[result.benchmark],
        model=result.config.model_name,
        revision=result.config.model_sha,
        organisation=result.config.organisation,
        role=result.config.role,
        params=result.config.params,
        weights=result.config.weights,
        license=result.config.license,
        precision=result.config.model_dtype,
        split=result.dataset.split,
        dataset=result.dataset.id,
        n=result.dataset.n,
        em=scores.get("em"),
        f1=scores.get("f1"),
        em_strict=scores.get("em_strict"),
        em_low=em_low,
        em_high=em_high,
        f1_low=f1_low,
        f1_high=f1_high,
        latency_ms=_typical_ms(result.latency) if result.latency else None,
        hardware=result.latency.hardware if result.latency else None,
        date=result.date,
        outcome=result.outcome,
        kind=result.provenance.kind,
        source=result.provenance.source,
        source_url=result.provenance.source_url,
        breakdown=json.dumps(
            {axis: {k: b.model_dump() for k, b in buckets.items()} for axis, buckets in result.breakdown.items()}
        ),
        thinking=result.config.thinking,
        base_model=result.config.base_model,
        custom_code=result.config.custom_code or None,
        server=result.config.server,
        decoding=result.generation.decoding if result.generation else None,
        max_answer_tokens=result.generation.max_answer_tokens if result.generation else None,
        max_reasoning_tokens=result.generation.max_reasoning_tokens if result.generation else None,
        reasoning_tokens=result.reasoning.tokens_mean if result.reasoning else None,
        reasoning_per_right=result.reasoning.tokens_per_right if result.reasoning else None,
    )


def _typical_ms(latency: Latency) -> float:
    return latency.mean_ms if latency.protocol != ALONE_PROTOCOL or latency.p50_ms is None else latency.p50_ms


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class QueueRow:
    """What the queue view needs of a request: one row of `index/queue.parquet`."""

    path: str
    blob: str
    key: Key
    model_id: str
    revision: str
    precision: str
    benchmark: str
    params: int | None
    thinking: str | None = None
    custom_code: bool | None = None
    submitted_by: str
    organisation: str | None = None
    submitted_at: Time
    status: str
    attempt: int
    started_at: Time | None
    finished_at: Time | None
    failure_stage: str | None
    failure_code: str | None


def queue_row(request: EvalRequest, path: str, blob: str) -> QueueRow:
    own = {"path", "blob", "failure_stage", "failure_code"}
    return QueueRow(
        path=path,
        blob=blob,
        failure_stage=request.failure.stage if request.failure else None,
        failure_code=request.failure.code if request.failure else None,
        **request.model_dump(include={field.name for field in fields(QueueRow)} - own),
    )
