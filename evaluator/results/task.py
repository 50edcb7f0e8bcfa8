"""Describe the evaluation of one model on one benchmark: its task, items and prompts.

The worker (`prepare_task`) and `python -m evaluator run` make a `Task`, load its items, and pass both to `evaluate`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Item, Prompt
from evaluator.datasets.source import Source
from evaluator.engines.images import check_pictures
from evaluator.engines.options import EngineOptions
from submissions.records.request import EvalRequest
from submissions.records.result import Dataset

T = TypeVar("T")


@dataclass(frozen=True)
class Task:
    """Everything that an evaluation of one model on one benchmark needs."""

    request: EvalRequest  # what was submitted, or what the command line says in its place
    options: EngineOptions  # what the inference process is started with, see `options_of`
    benchmark: Benchmark
    source: Source  # where the items are
    limit: int | None = None  # only the first items
    latency_samples: int = 100  # questions asked again one at a time, to measure latency and the effect of batching
    max_score_changes: float = 0.02  # share of the latency samples whose score may depend on batching
    cache: Path | None = None  # folder of answers from earlier runs
    sandbox: bool = True  # without it, an untrusted model has all rights of this user
    devices: Sequence[str] | None = None  # as in CUDA_VISIBLE_DEVICES; None: those visible to this process
    price_per_hour: float | None = None  # of the machine, in US dollars
    blind: bool = False  # ask without images and pages; correct answers then show shortcuts in the data

    @property
    def remote(self) -> bool:
        """Whether a server answers that was not started here."""
        return self.options.remote

    @property
    def version(self) -> str:
        """The version of the benchmark with the errata of its set."""
        return self.source.corrections.version_of(self.benchmark)


def options_of(request: EvalRequest, model: Path, benchmark: Benchmark, **others: Any) -> EngineOptions:
    """Return the engine options of a request.

    `model` is the folder of the model's files. `others` are fields of EngineOptions that override those that follow from the
    request and the benchmark; a field that is None does not override.
    """
    overrides = {name: value for name, value in others.items() if value is not None}
    requested: dict[str, Any] = {
        "model": model,
        "precision": request.precision,
        "max_new_tokens": benchmark.max_new_tokens,
        "engine": "api" if overrides.get("api") else request.engine,
        "revision": request.revision,
        "thinking": request.thinking,
        "base_revision": request.base_revision,
        "custom_code": request.custom_code,
    }
    return EngineOptions(**requested | overrides)


def load_items(task: Task) -> tuple[list[Item], Dataset]:
    """Return the items to ask, corrected by the errata, and the published description of their set.

    Raises DataError, naming file and row, if the set cannot be used.
    """
    items = task.source.corrections.apply(task.benchmark, task.benchmark.load(task.source.path))
    split = task.source.split
    if task.limit and task.limit < len(items):
        # Another split name, so that the result is never ranked with results on the whole set.
        items = items[: task.limit]
        split = f"{split}[:{task.limit}]"
    if task.blind:
        split = f"{split}/blind"
    else:
        check_pictures(items)
    return items, Dataset(id=task.source.id, revision=task.source.revision, split=split, n=len(items))


def prompts_of(task: Task, item: Item) -> list[Prompt]:
    """Return the prompts of an item, without images and with an empty page if the task is blind."""
    prompts = task.benchmark.prompts(item)
    if not task.blind:
        return prompts
    return [
        replace(prompt, images=(), links=(), crops=(), page=None if prompt.page is None else "") for prompt in prompts
    ]


def evenly_spaced(items: Sequence[T], count: int) -> list[T]:
    """Return `count` items, evenly spaced over all of them, or all if there are fewer: (0…9, 3) -> [0, 3, 6]."""
    count = min(count, len(items))
    return [items[n * len(items) // count] for n in range(count)]
