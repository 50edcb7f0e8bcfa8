"""Define the options of a submission. Does not import pydantic, so that benchmarks and parsers load quickly."""

from typing import Literal, get_args

Inputs = Literal["image", "page"]
ResultKind = Literal["verified", "reported"]  # measured here, or published by others
FloatPrecision = Literal["float32", "bfloat16", "float16"]
Effort = Literal["low", "medium", "high"]  # reasoning effort
Thinking = Literal["on", "off", Effort]
PRECISIONS: tuple[FloatPrecision, ...] = get_args(FloatPrecision)
THINKING: tuple[Thinking, ...] = get_args(Thinking)
EFFORTS: tuple[Effort, ...] = get_args(Effort)
MAX_REASONING_TOKENS = 8192  # per answer, not counting the answer itself
