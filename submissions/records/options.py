"""What can be chosen when a model is submitted. Imports no pydantic: the benchmarks and the parsers use it."""

from typing import Literal, get_args

Inputs = Literal["image", "page"]
FloatPrecision = Literal["float32", "bfloat16", "float16"]
Effort = Literal["low", "medium", "high"]  # of reasoning
Thinking = Literal["on", "off", Effort]
PRECISIONS: tuple[FloatPrecision, ...] = get_args(FloatPrecision)
THINKING: tuple[Thinking, ...] = get_args(Thinking)
EFFORTS: tuple[Effort, ...] = get_args(Effort)
MAX_REASONING_TOKENS = 8192  # new tokens, not counting those of the answer
