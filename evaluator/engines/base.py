"""What an engine is: something that turns prompts into answers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from evaluator.core.data_types import Answer, Prompt
from evaluator.engines.options import EngineOptions

T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """Made from EngineOptions, in the inference process. Raises EvaluationError where the model cannot be loaded."""

    batch_size: int
    params: int | None  # parameters of the model; None where nobody tells

    @staticmethod
    def environment(options: EngineOptions) -> dict[str, str | float]:
        """Library versions, and the hardware with `calibration_ms`, before anything of the model is read.

        Empty where the answers come from a machine that nothing is known of.
        """
        ...

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        """One answer for each prompt, as they become ready. Raises EvaluationError where the model is at fault."""
        ...

    def close(self) -> None:
        """End what the engine has started outside of this process."""
        ...


def split_batch_on_oom(batch: Sequence[T], work: Callable[[Sequence[T]], R]) -> Iterator[tuple[Sequence[T], R]]:
    """The batch worked off whole, or in halves as often as the memory is too small for it.

    Raises torch.OutOfMemoryError or MemoryError where a single one is too much.
    """
    import torch

    try:
        yield batch, work(batch)
        return
    except (torch.OutOfMemoryError, MemoryError):
        if len(batch) == 1:
            raise
    torch.cuda.empty_cache()  # outside of the except, whose traceback would keep the tensors alive
    half = len(batch) // 2
    yield from split_batch_on_oom(batch[:half], work)
    yield from split_batch_on_oom(batch[half:], work)
