"""What crosses a boundary: requests, leases and what the operator decides; results are in submissions.records.result.

Every record may become public, so it is closed: no extra fields, enums instead of prose, UTC times, finite numbers.
"""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from submissions.records.options import FloatPrecision

MAX_PARAMS = 10**15
MAX_PIXELS = 4_194_304  # of an image (2,048 × 2,048): a larger one is scaled down; a document page at 150 dpi fits
# The Hub's own pattern lets Hangul look-alikes and a trailing newline through; this one is ASCII, end to end.
OWNER = r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}"
MODEL_ID = f"{OWNER}/{OWNER}"


def _utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("a time needs its zone")
    return value.astimezone(UTC)


Time = Annotated[datetime, AfterValidator(_utc)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]  # of a benchmark or an engine
ModelId = Annotated[str, Field(pattern=f"^{MODEL_ID}$")]
Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
Key = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]  # sha256
Label = Annotated[str, Field(max_length=200)]  # a name printed by others; escaped wherever it is shown
Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Metric = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]  # a score above chance may be below 0
MetricName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]{0,59}$")]
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
