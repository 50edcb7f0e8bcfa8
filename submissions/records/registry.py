"""Describe the benchmarks and engines of an installation for the checks.

`submissions` imports no benchmark and no engine. The programs that know them build a `Registry` at start-up and pass it in.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from submissions.records.options import Inputs

CHAT_ENGINE = "chat"  # runs the models that no other engine claims


class BenchmarkInfo(Protocol):
    """The properties of a benchmark that are checked before a model is queued for it."""

    @property
    def version(self) -> str:
        """Return the version, which is increased when items, prompts or scoring change.

        Scores of different versions are never compared.
        """
        ...

    @property
    def inputs(self) -> Inputs:
        """Return the kind of input that a model must accept: one, while an engine may accept several."""
        ...

    @property
    def min_context(self) -> int:
        """Return the tokens needed for a question, its image and the answer. Long pages are split into windows."""
        ...

    @property
    def data_stays(self) -> bool:
        """Return whether the terms of the test set forbid taking it abroad."""
        ...

    @property
    def can_be_guessed(self) -> bool:
        """Return whether many results of one person could reveal the answers of its private test set."""
        ...


class EngineInfo(Protocol):
    """The properties of an engine that are checked before a model is queued for it."""

    @property
    def inputs(self) -> Collection[Inputs]:
        """Return all kinds of input that the engine accepts. A benchmark has only one of them."""
        ...

    @property
    def class_name_parts(self) -> Collection[str]:
        """Return substrings of the class names of models that it runs, such as ForQuestionAnswering."""
        ...


@dataclass(frozen=True)
class Registry:
    """What this package has to know of the evaluator: all benchmarks and engines by name, and the sandbox."""

    benchmarks: Mapping[str, BenchmarkInfo]
    engines: Mapping[str, EngineInfo]
    # Takes the command that renders chat templates (`template_renderer.py`) and its environment variables, and returns the
    # command that does so in a sandbox. The variables are passed because a sandbox starts with none.
    isolate: Callable[[Sequence[str], Mapping[str, str]], list[str]]

    def engine_for(self, class_names: Iterable[str]) -> str:
        """Return the name of the engine whose `class_name_parts` occur in one of these class names, or the chat engine.

        `class_names` are the `architectures` of a model's config: ["BertForQuestionAnswering"] -> "extractive".
        """
        for name, engine in self.engines.items():
            if any(part in class_name for part in engine.class_name_parts for class_name in class_names):
                return name
        return CHAT_ENGINE

    def benchmarks_for(self, engine: str) -> list[str]:
        """Return the names of the benchmarks whose inputs an engine accepts."""
        return [name for name, info in self.benchmarks.items() if info.inputs in self.engines[engine].inputs]
