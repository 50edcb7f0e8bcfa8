"""What crosses a boundary: requests, leases and what the operator decides; results are in submissions.results.

Every record may become public, so it is closed: no extra fields, enums instead of prose, UTC times, finite numbers.
"""

import hashlib
import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from submissions.catalog import BENCHMARKS, ENGINES, FloatPrecision, Thinking
from submissions.failure_codes import FailureCode

DEFAULT_REVISION = "main"
MAX_PARAMS = 10**15
# Defaults of the protocol. Rows with another budget of reasoning have no rank.

MAX_PIXELS = 4_194_304  # of an image (2,048 × 2,048): a larger one is scaled down; a document page at 150 dpi fits
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


def _known_engine(value: str) -> str:
    if value not in ENGINES:
        raise ValueError(f"unknown engine; one of {', '.join(ENGINES)}")
    return value


Time = Annotated[datetime, AfterValidator(_utc)]
BenchmarkName = Annotated[str, AfterValidator(_known_benchmark)]
ModelId = Annotated[str, Field(pattern=f"^{MODEL_ID}$")]
Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
Key = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]  # sha256
Label = Annotated[str, Field(max_length=200)]  # a name printed by others; escaped wherever it is shown
Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Metric = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]  # a chance-corrected score may be below 0
Positive = Annotated[float, Field(ge=0, allow_inf_nan=False)]
# Quantised checkpoints, by transformers' own names; they are where an unquantised model has its precision.
Quantization = Literal[
    "fp8",
    "mxfp8",
    "mxfp4",
    "compressed-tensors",
    "torchao",
    "bitsandbytes_4bit",
    "bitsandbytes_8bit",
    "gptq",
    "awq",
    "auto-round",
    "aqlm",
    "bitnet",
    "eetq",
    "fbgemm_fp8",
    "fp_quant",
    "higgs",
    "hqq",
    "nvfp4",
    "quanto",
    "quark",
    "spqr",
    "vptq",
]
AS_SERVED: Literal["as_served"] = "as_served"  # by an API, which does not say
Precision = FloatPrecision | Quantization | Literal["as_served"]  # a quantised checkpoint's is its method
EngineName = Annotated[str, AfterValidator(_known_engine)]
# repository: with the penalties of the model's own generation config; provider: an API that takes no temperature.
Decoding = Literal["greedy", "repository", "provider"]


class Record(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        protected_namespaces=(),
        hide_input_in_errors=True,  # it may be private, and errors are logged
    )

    def evolve(self, **changes: Any) -> Self:
        """A copy with some fields changed, validated like a new record."""
        return type(self).model_validate({**self.model_dump(), **changes})

    @classmethod
    def read_known(cls, content: bytes) -> Self:
        """A record that a newer version may have written: what is not known of it is left out, where it may be missing.

        Raises ValueError.
        """
        try:
            return cls.model_validate_json(content)
        except ValidationError as error:
            faults = error.errors(include_url=False)
            if not all(fault["loc"] for fault in faults):  # no JSON, or no record
                raise
            record = json.loads(content)
            for fault in faults:
                record.pop(fault["loc"][0], None)
            return cls.model_validate(record)

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
    LAUNCH = "launch"  # claimed, and no machine has begun
    FETCH = "fetch"
    LOAD = "load"
    INFER = "infer"
    MEASURE = "measure"  # some questions again, one at a time
    SCORE = "score"
    PUBLISH = "publish"


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
    """One (model, revision, precision, benchmark, benchmark version), at `requests/{status}/{key[:2]}/{key}.json`.

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
    submitted_by: Label  # a pseudonym, as is that of the organisation: submissions.queue.pseudonyms
    organisation: Label | None = None  # a mark by which the operator knows whether the submitter belongs to the owner
    submitted_at: Time
    share: bool = False  # whether the result is to be offered to the model's repository, if its owner asks
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
        return self.path_of(self.key, self.status)

    @staticmethod
    def path_of(key: str, status: Status) -> str:
        return f"requests/{status}/{key[:2]}/{key}.json"  # submissions.store.shards says why


class Presence(Record):
    """When a worker last looked at the queue, at `workers/` of the private store."""

    worker: Label
    seen_at: Time


class Upkeep(Record):
    """The last upkeep of the store, at `tidied.json` of the private store."""

    at: Time
    done: bool = True  # False while it is under way, and for good if it failed


class Pause(Record):
    """A worker that takes no request for a while, at `paused/` of the private store."""

    worker: Label
    code: FailureCode  # what has gone wrong again and again
    since: Time
    until: Time


class OptOut(Record):
    """An owner's wish that none of its models, or one of them, be evaluated, at `opt-outs/`."""

    name: Annotated[str, Field(pattern=f"^({MODEL_ID}|{OWNER})$")]
    since: Time

    @staticmethod
    def path_of(name: str) -> str:
        return f"opt-outs/{name.lower()}.json"  # the Hub takes names in any letter case


class Retirement(Record):
    """Why a result has no rank any more, at `retired/`. The result stays where it is, and all of its numbers public."""

    key: Key
    reason: Label
    since: Time
    until: Time | None = None  # it has its rank again since then

    @staticmethod
    def path_of(key: str) -> str:
        return f"retired/{key[:2]}/{key}.json"


class Commitment(Record):
    """What is public of a drawn set before any model is asked, at `fresh/`; the seed once it is revealed."""

    quarter: Annotated[str, Field(pattern=r"^\d{4}Q[1-4]$")]
    n: int = Field(ge=1)
    seed_sha256: Digest
    generator_sha256: Digest  # of the code that draws, and the fonts
    set_sha256: Digest  # of all files of the set, see evaluator.fresh.draw
    libraries: dict[Label, Label]
    committed_at: Time
    seed: Label | None = None
    revealed_at: Time | None = None

    @property
    def path(self) -> str:
        return self.path_of(self.quarter)

    @staticmethod
    def path_of(quarter: str) -> str:
        return f"fresh/{quarter}.json"


class CodeApproval(Record):
    """Python files that the operator has read and lets run, at `approvals/{owner}/{name}/{revision}.json`."""

    model_id: ModelId
    revision: Sha
    files: dict[Label, Digest]  # sha256 by name
    approved_at: Time

    @staticmethod
    def path_of(model_id: str, revision: str) -> str:
        return f"approvals/{model_id}/{revision}.json"
