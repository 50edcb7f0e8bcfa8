"""The registry: every benchmark and every engine there is, by name.

A new benchmark is one line here and one file in evaluator/benchmarks; a new engine one line here and one file in
evaluator/engines. What a benchmark measures and how stands in its own file: this floor knows only what is checked before
a model is queued.
"""

from typing import Literal, NamedTuple, get_args

Inputs = Literal["image", "page"]
FloatPrecision = Literal["float32", "bfloat16", "float16"]
# How much a model is asked to reason, if it can be asked: at all, or with which effort.
Effort = Literal["low", "medium", "high"]
Thinking = Literal["on", "off", Effort]
PRECISIONS: tuple[FloatPrecision, ...] = get_args(FloatPrecision)
THINKING: tuple[Thinking, ...] = get_args(Thinking)
EFFORTS: tuple[Effort, ...] = get_args(Effort)
MAX_REASONING_TOKENS = 8192  # new tokens, beside those of the answer


class BenchmarkEntry(NamedTuple):
    version: str  # raised whenever items, prompts or scoring change: scores of two versions never mix
    inputs: Inputs  # what a model must be able to take in
    min_context: int  # tokens for a question, its image and the answer; pages are read in windows
    location: str  # module:class


class EngineEntry(NamedTuple):
    location: str  # module:class
    inputs: tuple[Inputs, ...]  # what it can ask about
    heads: tuple[str, ...] = ()  # words in the class names of the models it runs; without any, only by --engine
    generates: bool = True  # whether its answers are generated, and so decoded in one way or another


BENCHMARKS: dict[str, BenchmarkEntry] = {
    "ko-vqa": BenchmarkEntry("2", "image", 2048, "evaluator.benchmarks.ko_vqa:KoVQA"),
    "ko-vdc": BenchmarkEntry("2", "image", 2048, "evaluator.benchmarks.ko_vdc:KoVDC"),
    "korquad-2": BenchmarkEntry("1", "page", 256, "evaluator.benchmarks.korquad2:KorQuAD2"),
    "ko-ocrag": BenchmarkEntry("1", "image", 8192, "evaluator.benchmarks.ko_ocrag:KoOCRAG"),
    "infochartqa": BenchmarkEntry("2", "image", 2048, "evaluator.benchmarks.infochartqa:InfoChartQA"),
    # The quarter whose set is drawn, and the version of its prompts and rules.
    "ko-fresh": BenchmarkEntry("2026Q4.2", "image", 2048, "evaluator.benchmarks.ko_fresh:KoFresh"),
}

ENGINES: dict[str, EngineEntry] = {
    "chat": EngineEntry("evaluator.engines.chat:ChatEngine", ("image", "page")),
    "extractive": EngineEntry(
        "evaluator.engines.extractive:ExtractiveEngine", ("page",), heads=("ForQuestionAnswering",), generates=False
    ),
    "api": EngineEntry("evaluator.engines.api:ApiEngine", ("image", "page")),
}


def engine_of(class_names: list[str]) -> str:
    """The engine that runs a model whose config names these classes."""
    for name, engine in ENGINES.items():
        if any(head in class_name for head in engine.heads for class_name in class_names):
            return name
    return "chat"


def benchmarks_of(engine: str) -> list[str]:
    """The benchmarks whose inputs this engine can ask about."""
    return [name for name, benchmark in BENCHMARKS.items() if benchmark.inputs in ENGINES[engine].inputs]
