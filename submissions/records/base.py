"""Define the base class and the field types of all records.

Every record may become public, so its content is restricted: no extra fields, enums instead of free text, UTC times, finite
numbers.
"""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from submissions.records.options import FloatPrecision

MAX_PARAMS = 10**15
MAX_PIXELS = 4_194_304  # per image (2,048 × 2,048), larger ones are scaled down; a document page at 150 dpi fits
# For what is stored. Names that somebody types are checked by `hub_names.py`, which accepts fewer.
OWNER = r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}"
MODEL_ID = f"{OWNER}/{OWNER}"


def _utc(value: datetime) -> datetime:
    """Return a time in UTC. Raises ValueError if it has no time zone."""
    if value.tzinfo is None:
        raise ValueError("a time needs a time zone")
    return value.astimezone(UTC)


def _printable(value: str) -> str:
    """Return a text. Raises ValueError if it has control characters or others that cannot be shown."""
    if not value.isprintable():
        raise ValueError("it is public, and it has characters that cannot be shown")
    return value


Time = Annotated[datetime, AfterValidator(_utc)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]  # name of a benchmark or an engine
ModelId = Annotated[str, Field(pattern=f"^{MODEL_ID}$")]
Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
Key = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]  # sha256
Label = Annotated[str, Field(max_length=200)]  # untrusted text, such as a name; must be escaped when shown
PublicText = Annotated[Label, AfterValidator(_printable)]  # written by the operator
Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Metric = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]  # percent; negative below chance
MetricName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]{0,59}$")]
Positive = Annotated[float, Field(ge=0, allow_inf_nan=False)]  # 0 is allowed, too
# Quantisation methods, as transformers names them. For a quantised model, the method takes the place of the precision.
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
AS_SERVED: Literal["as_served"] = "as_served"  # the precision of a model behind an API, which is unknown
Precision = FloatPrecision | Quantization | Literal["as_served"]  # of a quantised checkpoint: its method
# repository: greedy with the penalties of the model's generation config; provider: an API that accepts no temperature.
Decoding = Literal["greedy", "repository", "provider"]


class Record(BaseModel):
    """The base class of all records. A record is immutable.

    A field that its class does not declare is an error in a new record, and is dropped from a stored one (`from_json`).
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        protected_namespaces=(),
        hide_input_in_errors=True,  # the input may be private, and errors are logged
    )

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, validated like a new record."""
        return type(self).model_validate({**self.model_dump(), **changes})

    @classmethod
    def from_json(cls, content: bytes) -> Self:
        """Parse a stored record. Fields that this version does not know are dropped.

        A field with a wrong value is an error, because a part of a result must not pass for the whole. Raises ValueError with
        a one-line reason if the content is not a JSON object with distinct keys and finite numbers, or not a record of this
        kind.
        """
        try:
            text = content.decode("utf-8")  # of bytes, json.loads would accept other encodings too
            fields = json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
            return cls.model_validate(fields, extra="ignore")
        except ValidationError as error:
            raise ValueError(first_error(error)) from None
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"not valid JSON: {error}") from None

    @classmethod
    def read_known(cls, content: bytes) -> Self:
        """Parse as much of a record as this version knows, for records of which a part is better than nothing.

        Unlike `from_json`, this also drops top-level fields whose values it cannot parse, as those of a newer version may be.
        Raises ValueError if a required field is dropped, or if the content is not a JSON object.
        """
        try:
            return cls.model_validate_json(content, extra="ignore")
        except ValidationError as error:
            errors = error.errors(include_url=False)
            if not all(item["loc"] for item in errors):  # not JSON, or not an object
                raise
            record = json.loads(content)
            for item in errors:
                record.pop(item["loc"][0], None)
            return cls.model_validate(record, extra="ignore")

    def to_bytes(self) -> bytes:
        """Return the record as indented JSON in UTF-8."""
        text = json.dumps(self.model_dump(mode="json", by_alias=True), ensure_ascii=False, indent=2, allow_nan=False)
        return text.encode() + b"\n"


def first_error(error: ValidationError) -> str:
    """Describe the first invalid field in one line."""
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in first['loc']) or 'record'}: {first['msg']}"


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object. Raises ValueError if a key appears twice: programs disagree on which of them counts."""
    if len(record := dict(pairs)) < len(pairs):
        raise ValueError("a key appears twice")
    return record


def _no_constant(name: str) -> Any:
    """Raise ValueError for NaN, Infinity and -Infinity, which json.loads accepts although they are not JSON."""
    raise ValueError(f"{name} is not a number")
