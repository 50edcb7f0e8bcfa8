"""Report the outcomes of all checks of a submission."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from submissions.hub_models.model_facts import ModelFacts
from submissions.records.check import Check
from submissions.records.request import EvalRequest
from submissions.texts.check_names import CheckName
from submissions.texts.errors import RefusedError


@dataclass(frozen=True)
class Report:
    """The outcomes of all checks of a submission."""

    model_id: str
    facts: ModelFacts | None  # None if the model cannot be run at all
    checks: tuple[Check, ...]
    requests: Mapping[str, EvalRequest] = field(default_factory=dict)  # requests to queue, by benchmark

    def refusals(self, benchmark: str | None = None) -> list[Check]:
        """Return the failed checks of the model itself, and those of a benchmark."""
        return [c for c in self.checks if c.refusal and c.benchmark in (None, benchmark)]


class NotCheckableError(Exception):
    """Raised by a check whose input is unknown. If a file could not be read, another check reports that."""


class NotApplicableError(Exception):
    """Raised by a check that does not concern this model."""


def run_check(name: CheckName, run: Callable[[], str], benchmark: str | None = None) -> Check | None:
    """Run a check and return its outcome, or None if the check does not concern this model.

    `run` returns the detail to show. It raises RefusedError, NotCheckableError or NotApplicableError otherwise.
    """
    try:
        return Check(name, detail=run(), benchmark=benchmark)
    except RefusedError as refused:
        return Check(name, refused.code, refused.detail, benchmark)
    except NotCheckableError:
        return Check(name, benchmark=benchmark, skipped=True)
    except NotApplicableError:
        return None
