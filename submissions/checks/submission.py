"""What somebody submits, and what came of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from submissions.queue.wait_time import Wait
from submissions.records.base import Precision
from submissions.records.check import Check
from submissions.records.options import PRECISIONS, THINKING, Thinking

HUB = "https://huggingface.co/"
MAX_ID, MAX_REVISION = 250, 100  # characters

OutcomeCode = Literal["accepted", "refused", "store_unavailable", "no_benchmark"]


@dataclass(frozen=True)
class Submission:
    """A model and the options it is submitted with."""

    model_id: str
    benchmarks: tuple[str, ...]
    revision: str | None = None  # branch, tag or commit; None: the newest commit
    precision: Precision | None = None  # None: that of the checkpoint
    thinking: Thinking | None = None  # None: the default of the chat template
    share: bool = False  # whether the result may be offered to the model's repository

    @classmethod
    def parse(
        cls,
        model: Any,
        benchmarks: Iterable[Any],
        revision: Any = None,
        precision: Any = None,
        thinking: Any = None,
        share: Any = False,
    ) -> "Submission":
        """Parse untrusted values from a form or an API call.

        `model` is an ID or an address on the Hub. Unknown values of `precision` and `thinking` are ignored.
        """
        names = [str(name)[:MAX_ID] for name in benchmarks]
        return cls(
            model_id=str(model or "")[:MAX_ID].strip().removeprefix(HUB).rstrip("/"),
            benchmarks=tuple(dict.fromkeys(names)),
            revision=str(revision or "")[:MAX_REVISION].strip() or None,
            precision=next((p for p in PRECISIONS if p == precision), None),
            thinking=next((mode for mode in THINKING if mode == thinking), None),
            share=bool(share),
        )


@dataclass(frozen=True)
class Outcome:
    """The outcome for one benchmark of a submission, or for the whole submission if `benchmark` is None."""

    code: OutcomeCode
    benchmark: str | None = None
    refusals: tuple[Check, ...] = ()  # failed checks, in the order they were run
    key: str | None = None  # of the queued request, or of the same request submitted earlier
    wait: Wait | None = None  # of a queued request; None if a worker has already claimed it
