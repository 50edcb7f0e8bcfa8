"""What is to be evaluated: one model on one benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evaluator.benchmarks.base import Benchmark
from evaluator.data_types import Decoding, Item, Prompt
from evaluator.datasets.source import Source
from evaluator.engines.base import MAX_PIXELS, ApiOptions
from submissions.records import MAX_REASONING_TOKENS, Dataset, EvalRequest


@dataclass(frozen=True)
class Task:
    """One model on one benchmark."""

    request: EvalRequest
    model: Path  # folder with its files
    benchmark: Benchmark
    source: Source
    limit: int | None = None
    batch_size: int | None = None
    api: ApiOptions | None = None  # where the engine is a server
    max_pixels: int = MAX_PIXELS  # of an image; a larger one is scaled down
    alone: int = 100  # questions asked again one at a time, for latency and to see that batches change nothing
    max_score_changes: float = 0.02  # share of those whose score may differ
    cache: Path | None = None  # folder of answers kept from earlier runs
    sandbox: bool = True  # without it a stranger's model could do what this user can
    adapter: Path | None = None  # folder with a LoRA adapter's files, whose base `model` is
    max_new_tokens: int | None = None  # of an answer; None: as the benchmark has it
    max_reasoning_tokens: int = MAX_REASONING_TOKENS  # before it
    decoding: Decoding = "greedy"
    blind: bool = False  # ask without images and pages: what is right all the same was never read from them

    @property
    def answer_tokens(self) -> int:
        return self.max_new_tokens or self.benchmark.max_new_tokens


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


def spread(items: Sequence[Item], count: int) -> list[Item]:
    """That many items, evenly spread over all."""
    count = min(count, len(items))
    return [items[n * len(items) // count] for n in range(count)]
