"""Every engine, by name. A new one is a file in this folder and an entry here.

Engines import torch, so their classes are imported by name, and in the inference process only.
"""

from typing import NamedTuple

from evaluator.benchmarks import BENCHMARKS
from submissions.records.options import Inputs
from submissions.records.registry import Registry


class EngineEntry(NamedTuple):
    location: str  # module:class
    inputs: tuple[Inputs, ...]  # what it can ask about
    class_names: tuple[str, ...] = ()  # parts of the class names of the models it runs; without any, only by --engine
    generates: bool = True  # whether its answers are generated, and so depend on how they are decoded


ENGINES: dict[str, EngineEntry] = {
    "chat": EngineEntry("evaluator.engines.chat:ChatEngine", ("image", "page")),
    "extractive": EngineEntry(
        "evaluator.engines.extractive:ExtractiveEngine",
        ("page",),
        class_names=("ForQuestionAnswering",),
        generates=False,
    ),
    "api": EngineEntry("evaluator.engines.api:ApiEngine", ("image", "page")),
}

REGISTRY = Registry(BENCHMARKS, ENGINES)
