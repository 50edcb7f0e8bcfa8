"""How many evaluations a person may ask for."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from submissions.records.index_rows import QueueRow
from submissions.records.request import EvalRequest


@dataclass(frozen=True)
class Submitter:
    """Who submits. Quotas are for those whom a provider of identities has authenticated for."""

    name: str
    organisations: frozenset[str] = frozenset()
    authenticated: bool = True

    def organisation(self, model_id: str) -> str | None:
        """The owner of a model, where the submitter is that owner or belongs to it."""
        owner = model_id.partition("/")[0]
        return owner if self.authenticated and owner in {self.name, *self.organisations} else None


@dataclass(frozen=True)
class Quota:
    """Evaluations a submitter, and an organisation for its own models, may have of a benchmark within a window.

    One of KorQuAD's own rules (https://korquad.github.io): one submission in 7 days. Failed ones count too, since a
    model can provoke what looks like an infrastructure failure; the operator gives one back by cancelling it.
    """

    limits: Mapping[str, int]
    window: timedelta
    former: frozenset[str] = frozenset()  # further pseudonyms of the submitter
    mark: Callable[[str, str], str] | None = None  # see Pseudonyms.mark; None: nobody belongs to an owner

    def free_at(self, rows: Iterable[QueueRow], request: EvalRequest) -> datetime | None:
        """When the submitter of this request may submit it, or None: now."""
        counted, limit = self._counted(rows, request), self.limit(request.benchmark)
        return counted[-limit] + self.window if len(counted) >= limit else None

    def left(self, rows: Iterable[QueueRow], request: EvalRequest) -> int:
        """How many evaluations of its benchmark the submitter of this request may still have now."""
        return max(0, self.limit(request.benchmark) - len(self._counted(rows, request)))

    def limit(self, benchmark: str) -> int:
        return self.limits.get(benchmark, 1)

    def _counted(self, rows: Iterable[QueueRow], request: EvalRequest) -> list[datetime]:
        """When what counts against the quota was submitted, oldest first."""
        since = request.submitted_at - self.window
        return sorted(
            row.submitted_at
            for row in rows
            if row.benchmark == request.benchmark
            and row.submitted_at > since
            and not _other_mode(row, request)
            and (row.submitted_by in {request.submitted_by, *self.former} or self._both_of_owner(row, request))
        )

    def _both_of_owner(self, row: QueueRow, request: EvalRequest) -> bool:
        """Return whether both are for models of one owner, and by submitters who belong to it."""
        owner = request.model_id.partition("/")[0]
        return (
            self.mark is not None
            and row.model_id.partition("/")[0] == owner
            and request.organisation == self.mark(owner, request.key)
            and row.organisation == self.mark(owner, row.key)
        )


def _other_mode(row: QueueRow, request: EvalRequest) -> bool:
    """Whether it is the same model, asked to reason where the request is not, or the other way round."""
    alike = (row.model_id, row.revision, row.precision) == (request.model_id, request.revision, request.precision)
    return alike and row.thinking != request.thinking
