"""Define the outcome of one check of a submission."""

from dataclasses import dataclass

from submissions.texts.check_names import CheckName
from submissions.texts.refusals import RefusalCode


@dataclass(frozen=True)
class Check:
    """The outcome of a check: passed, failed (with a `refusal`), or `skipped` because its input was unreadable."""

    name: CheckName
    refusal: RefusalCode | None = None
    detail: str = ""  # not translated: a size, a licence, a commit
    benchmark: str | None = None  # None: the check applies to all benchmarks
    skipped: bool = False
    request: str | None = None  # key of the earlier request, if the same one was submitted before
