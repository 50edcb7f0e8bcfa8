"""What is to be evaluated: one model on one benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Item, Prompt
from evaluator.datasets.source import Source
from evaluator.engines.options import EngineOptions
from submissions.records.request import EvalRequest
from submissions.records.result import Dataset

T = TypeVar("T")


@dataclass(frozen=True)
class Task:
    """One model on one benchmark."""

    request: EvalRequest
    options: EngineOptions
    benchmark: Benchmark
    source: Source
    limit: int | None = None  # only so many items
    latency_samples: int = (
        100  # questions asked again one at a time, for latency and to see that batches change nothing
    )
    max_score_changes: float = 0.02  # share of those whose score may differ
    cache: Path | None = None  # folder of answers kept from earlier runs
    sandbox: bool = True  # without it a stranger's model could do what this user can
    devices: Sequence[str] | None = None  # by the names of CUDA_VISIBLE_DEVICES; None: those that this process sees
    price_per_hour: float | None = None  # of the machine, in US dollars
    blind: bool = False  # ask without images and pages: what is right all the same was never read from them

    @property
    def remote(self) -> bool:
        return self.options.remote


def options_of(request: EvalRequest, model: Path, benchmark: Benchmark, **others: Any) -> EngineOptions:
    """How a request asks for its model to be run; `others` are fields of EngineOptions, None for the default."""
    named = {name: value for name, value in others.items() if value is not None}
    return EngineOptions(
        **{
            "model": model,
            "precision": request.precision,
            "max_new_tokens": benchmark.max_new_tokens,
            "engine": "api" if named.get("api") else request.engine,
            "revision": request.revision,
            "thinking": request.thinking,
            "base_revision": request.base_revision,
            "custom_code": request.custom_code,
            **named,
        }
    )


def load_items(task: Task) -> tuple[list[Item], Dataset]:
    """The items to ask, and what is said of their set. Raises DataError naming file and row."""
    items = task.benchmark.load(task.source.path)
    split = task.source.split
    if task.limit and task.limit < len(items):
        items, split = items[: task.limit], f"{split}[:{task.limit}]"  # another split: never ranked with the whole
    if task.blind:
        split = f"{split}/blind"
    return items, Dataset(id=task.source.id, revision=task.source.revision, split=split, n=len(items))


def prompts_of(task: Task, item: Item) -> list[Prompt]:
    """What the model is asked for an item."""
    prompts = task.benchmark.prompts(item)
    if task.blind:
        return [replace(p, images=(), links=(), crops=(), page=None if p.page is None else "") for p in prompts]
    return prompts


def evenly_spaced(items: Sequence[T], count: int) -> list[T]:
    """That many items, evenly spaced over all."""
    count = min(count, len(items))
    return [items[n * len(items) // count] for n in range(count)]
