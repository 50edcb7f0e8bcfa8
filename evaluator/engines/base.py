"""The engine protocol: an engine turns prompts into answers. `evaluator/job/child.py` is the program that runs engines."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from evaluator.core.data_types import Answer, Prompt
from evaluator.engines.options import EngineOptions

T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """An engine is created from EngineOptions, in the inference process.

    Its constructor raises EvaluationError if the model cannot be loaded.
    """

    batch_size: int  # maximum number of prompts that are answered together; engines may lower it
    params: int | None  # number of parameters of the model; None if unknown

    @staticmethod
    def environment(options: EngineOptions) -> dict[str, str | float]:
        """Return library versions, hardware and `calibration_ms`. This is called before any file of the model is read.

        Return an empty dict if the answers come from a remote machine about which nothing is known.
        """
        ...

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        """Yield one answer for each prompt, in any order, as they become ready.

        Raises EvaluationError if the model fails.
        """
        ...

    def close(self) -> None:
        """Stop everything that the engine has started outside this process."""
        ...


def split_batch_on_oom(batch: Sequence[T], work: Callable[[Sequence[T]], R]) -> Iterator[tuple[Sequence[T], R]]:
    """Apply `work` to a batch, halving the batch as often as memory runs out. Yield each part with its result.

    Raises torch.OutOfMemoryError or MemoryError if memory is too small even for a single element.
    """
    import torch

    try:
        yield batch, work(batch)
        return
    except (torch.OutOfMemoryError, MemoryError):
        if len(batch) == 1:
            raise
    torch.cuda.empty_cache()  # outside the except block, where the traceback would keep the tensors alive
    half = len(batch) // 2
    yield from split_batch_on_oom(batch[:half], work)
    yield from split_batch_on_oom(batch[half:], work)
