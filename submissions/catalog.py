"""The benchmarks a request may name. A new benchmark adds one line here and one file in evaluator/benchmarks."""

from typing import Literal, NamedTuple

Inputs = Literal["image", "page"]


class Spec(NamedTuple):
    version: str  # raised whenever items, prompts or scoring change: scores of two versions never mix
    inputs: Inputs  # what a model must be able to take in
    min_context: int  # tokens for a question, its image and the answer; pages are read in windows


BENCHMARKS: dict[str, Spec] = {
    "ko-vqa": Spec("1", "image", 2048),
    "ko-vdc": Spec("1", "image", 2048),
    "korquad-2": Spec("1", "page", 256),
    "infochartqa": Spec("1", "image", 2048),
}
