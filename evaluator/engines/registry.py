"""The registry of engines, by name. To add an engine, add a file to this folder and an entry here.

Engines import torch, so their classes are imported lazily by name, in the inference process only.
"""

from typing import NamedTuple

from evaluator.benchmarks import BENCHMARKS
from evaluator.sandbox.policy import isolated_command
from submissions.records.options import Inputs
from submissions.records.registry import CHAT_ENGINE, Registry


class EngineEntry(NamedTuple):
    """How to find an engine, and which benchmarks and models it can run."""

    location: str  # module:class
    inputs: tuple[Inputs, ...]  # kinds of input it accepts
    class_name_parts: tuple[str, ...] = ()  # parts of the class names of its models; `chat` runs all others
    generates: bool = True  # whether answers are generated, so that they depend on decoding


ENGINES: dict[str, EngineEntry] = {
    CHAT_ENGINE: EngineEntry("evaluator.engines.chat:ChatEngine", ("image", "page")),
    "extractive": EngineEntry(
        "evaluator.engines.extractive:ExtractiveEngine",
        ("page",),
        class_name_parts=("ForQuestionAnswering",),
        generates=False,
    ),
    "api": EngineEntry("evaluator.engines.api:ApiEngine", ("image", "page")),
}

# `isolated_command` runs the helper processes of the submission checks, such as the template renderer, in a sandbox.
REGISTRY = Registry(BENCHMARKS, ENGINES, isolated_command)
