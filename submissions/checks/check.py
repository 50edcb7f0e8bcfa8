"""One check, its outcome, and the report of all of them."""

from collections.abc import Callable
from dataclasses import dataclass

from submissions.errors import RefusedError
from submissions.messages import CheckName, RefusalCode
from submissions.models.model_facts import ModelFacts


@dataclass(frozen=True)
class Check:
    """The outcome of one check: it passed, or `refusal` says why not, or what it needs could not be read."""

    name: CheckName
    refusal: RefusalCode | None = None
    detail: str = ""  # the same in every language: a size, a licence, a commit
    benchmark: str | None = None  # None: it holds for all of them
    skipped: bool = False
    request: str | None = None  # the key of the request that was there before


@dataclass(frozen=True)
class Report:
    model_id: str
    facts: ModelFacts | None  # None where the model cannot be run at all
    checks: tuple[Check, ...]

    def refusals(self, benchmark: str | None = None) -> list[Check]:
        """The checks that failed: the model's own, and the benchmark's."""
        return [c for c in self.checks if c.refusal and c.benchmark in (None, benchmark)]


class NotCheckableError(Exception):
    """What this check needs could not be read; another check says so."""


class NotApplicableError(Exception):
    """The check does not concern this model."""


def run_check(name: CheckName, run: Callable[[], str], benchmark: str | None = None) -> Check | None:
    """The outcome of a check whose `run` returns the detail or raises; None where it does not concern this model."""
    try:
        return Check(name, detail=run(), benchmark=benchmark)
    except RefusedError as refused:
        return Check(name, refused.code, refused.detail, benchmark)
    except NotCheckableError:
        return Check(name, benchmark=benchmark, skipped=True)
    except NotApplicableError:
        return None
