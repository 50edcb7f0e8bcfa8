"""The outcome of one check of a submission."""

from dataclasses import dataclass

from submissions.texts.check_names import CheckName
from submissions.texts.refusals import RefusalCode


@dataclass(frozen=True)
class Check:
    """One check: it passed, or `refusal` says why not, or what it needs could not be read (`skipped`)."""

    name: CheckName
    refusal: RefusalCode | None = None
    detail: str = ""  # the same in every language: a size, a licence, a commit
    benchmark: str | None = None  # None: it applies to all of them
    skipped: bool = False
    request: str | None = None  # the key of the same request, if it was submitted before
