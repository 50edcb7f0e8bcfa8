"""The report of all checks of a submission, and how one check is run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from submissions.hub_models.model_facts import ModelFacts
from submissions.records.check import Check
from submissions.records.request import EvalRequest
from submissions.texts.check_names import CheckName
from submissions.texts.errors import RefusedError


@dataclass(frozen=True)
class Report:
    model_id: str
    facts: ModelFacts | None  # None if the model cannot be run at all
    checks: tuple[Check, ...]
    requests: Mapping[str, EvalRequest] = field(default_factory=dict)  # to be queued, by benchmark

    def refusals(self, benchmark: str | None = None) -> list[Check]:
        """Return the failed checks of the model itself, and those of a benchmark."""
        return [c for c in self.checks if c.refusal and c.benchmark in (None, benchmark)]


class NotCheckableError(Exception):
    """What this check needs could not be read; another check reports that."""


class NotApplicableError(Exception):
    """The check does not concern this model."""


def run_check(name: CheckName, run: Callable[[], str], benchmark: str | None = None) -> Check | None:
    """Run a check that returns its detail or raises. Return None if it does not concern this model."""
    try:
        return Check(name, detail=run(), benchmark=benchmark)
    except RefusedError as refused:
        return Check(name, refused.code, refused.detail, benchmark)
    except NotCheckableError:
        return Check(name, benchmark=benchmark, skipped=True)
    except NotApplicableError:
        return None
