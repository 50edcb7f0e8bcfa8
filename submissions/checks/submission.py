"""What somebody submits, and what came of it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote

from submissions.hub_models.open_repository import MAX_REVISION
from submissions.queue.wait_time import Wait
from submissions.records.base import Precision
from submissions.records.check import Check
from submissions.records.options import PRECISIONS, THINKING, Thinking

# The address of a model on the Hub, or of a page or a file of it: https://huggingface.co/OWNER/NAME/tree/main?library=vllm.
ADDRESS = re.compile(
    r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/(?P<id>[^/?#\s]+/[^/?#\s]+)"
    r"(?:/(?:tree|blob|resolve|raw|commit|commits)/(?P<revision>[^/?#\s]+))?(?:[/?#].*)?",
    re.IGNORECASE,
)
# First parts of addresses with two parts that are not those of a model: huggingface.co/datasets/squad.
NOT_OWNERS = {
    "datasets", "spaces", "buckets", "models", "collections", "papers", "organizations", "tasks", "docs", "blog", "api",
    "learn", "posts", "settings", "login", "join", "new", "chat", "pricing", "enterprise",
}  # fmt: skip
MAX_ADDRESS = 2000  # characters
MAX_ID = 250  # characters; a valid ID has 193 at most, so one that was cut is refused

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

        `model` is an ID or an address on the Hub, whose revision is taken unless another is given. Unknown values of
        `precision` and `thinking` are ignored, and `share` has to be true or "1". A revision that is too long keeps one
        character more than is allowed, so that the checks refuse it. Cut to the limit, it might be the name of another one.
        """
        names = [str(name)[:MAX_ID] for name in benchmarks]
        model_id, revision_in_address = named_model(str(model or "")[:MAX_ADDRESS])
        return cls(
            model_id=model_id[:MAX_ID],
            benchmarks=tuple(dict.fromkeys(names)),
            revision=str(revision or "").strip()[: MAX_REVISION + 1] or revision_in_address,
            precision=next((p for p in PRECISIONS if p == precision), None),
            thinking=next((mode for mode in THINKING if mode == thinking), None),
            share=share is True or share == "1",
        )


def named_model(text: str) -> tuple[str, str | None]:
    """Return the model ID and the revision that a text names. The revision is None if it names none.

    `"https://huggingface.co/o/m/tree/v1" -> ("o/m", "v1")`, `"o/m" -> ("o/m", None)`. A text that is neither an ID nor the
    address of a model, such as that of a data set, is returned as the ID, which the check of the model refuses.
    """
    text = text.strip()
    address = ADDRESS.fullmatch(text)
    if not address or address["id"].partition("/")[0].lower() in NOT_OWNERS:
        return text.rstrip("/"), None
    revision = unquote(address["revision"] or "")[: MAX_REVISION + 1]  # refs%2Fpr%2F1 for the commit of a pull request
    return address["id"], revision or None


@dataclass(frozen=True)
class Outcome:
    """The outcome for one benchmark of a submission, or for the whole submission if `benchmark` is None."""

    code: OutcomeCode
    benchmark: str | None = None
    refusals: tuple[Check, ...] = ()  # failed checks, in the order they were run
    key: str | None = None  # of the queued request, or of the same request submitted earlier
    wait: Wait | None = None  # of a queued request; None if a worker has already claimed it
