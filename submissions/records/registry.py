"""The benchmarks and engines of an installation, as the checks see them.

The packages above declare them and pass a `Registry` in when a program starts, so this package names none.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from submissions.records.options import Inputs


class BenchmarkInfo(Protocol):
    """What is checked of a benchmark before a model is queued for it."""

    @property
    def version(self) -> str:
        """Raised whenever items, prompts or scoring change: scores of two versions are never compared."""
        ...

    @property
    def inputs(self) -> Inputs:
        """What a model must be able to read."""
        ...

    @property
    def min_context(self) -> int:
        """Tokens for a question, its image and the answer; pages are read in windows."""
        ...


class EngineInfo(Protocol):
    """What is checked of an engine."""

    @property
    def inputs(self) -> Collection[Inputs]: ...

    @property
    def class_names(self) -> Collection[str]:
        """Parts of the class names of the models it runs, such as ForQuestionAnswering."""
        ...


@dataclass(frozen=True)
class Registry:
    """All benchmarks and engines, by name."""

    benchmarks: Mapping[str, BenchmarkInfo]
    engines: Mapping[str, EngineInfo]

    def engine_for(self, class_names: Iterable[str]) -> str:
        """Return the engine that runs a model whose config names these classes."""
        for name, engine in self.engines.items():
            if any(part in class_name for part in engine.class_names for class_name in class_names):
                return name
        return "chat"

    def benchmarks_for(self, engine: str) -> list[str]:
        """Return the benchmarks whose questions this engine can ask."""
        return [name for name, info in self.benchmarks.items() if info.inputs in self.engines[engine].inputs]
