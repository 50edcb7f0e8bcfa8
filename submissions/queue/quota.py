"""Limit how many evaluations a submitter may request."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from submissions.records.index_rows import QueueRow
from submissions.records.request import EvalRequest

# Evaluations of a benchmark that the setting `quota` does not name (submissions/config/settings.py, with the window).
DEFAULT_QUOTA = 1


@dataclass(frozen=True)
class Submitter:
    """A person who submits. Quotas apply only to submitters authenticated by an identity provider."""

    name: str
    organisations: frozenset[str] = frozenset()
    authenticated: bool = True

    def organisation(self, model_id: str) -> str | None:
        """Return the owner of a model if the submitter is that owner or belongs to it, or else None."""
        owner = model_id.partition("/")[0]
        return owner if self.authenticated and owner in {self.name, *self.organisations} else None


@dataclass(frozen=True)
class Quota:
    """The number of evaluations of a benchmark that a submitter may request within a time window.

    All members of an organisation share the quota for its own models. The default, one submission in 7 days, is
    KorQuAD's own rule (https://korquad.github.io). The reasoning modes of one model count as one submission, unless their
    results together would reveal the answers of a private test set. Failed requests count too, because a model can provoke
    what looks like an infrastructure failure. The operator gives a submission back by cancelling the request.
    """

    limits: Mapping[str, int]  # by benchmark
    window: timedelta
    erased_pseudonyms: frozenset[str] = frozenset()  # earlier pseudonyms of the submitter
    # Pseudonyms.owner_mark, which tells whether the submitter of a request belongs to the model's owner. None: nobody does.
    owner_mark: Callable[[str, str], str] | None = None
    guessable: frozenset[str] = frozenset()  # benchmarks on which each reasoning mode of a model counts

    def free_at(self, rows: Iterable[QueueRow], request: EvalRequest) -> datetime | None:
        """Return when the submitter may submit this request, or None if they may now."""
        counted = self._counted(rows, request)
        limit = self.limit(request.benchmark)
        if len(counted) < limit:
            return None
        return counted[-limit] + self.window  # then that one leaves the window, and fewer than `limit` are left in it

    def left(self, rows: Iterable[QueueRow], request: EvalRequest) -> int:
        """Return how many evaluations of the request's benchmark its submitter may still request now."""
        return max(0, self.limit(request.benchmark) - len(self._counted(rows, request)))

    def limit(self, benchmark: str) -> int:
        """Return the number of evaluations of a benchmark that are allowed within the window."""
        return self.limits.get(benchmark, DEFAULT_QUOTA)

    def _counted(self, rows: Iterable[QueueRow], request: EvalRequest) -> list[datetime]:
        """Return when the requests that count against the quota were submitted, oldest first."""
        since = request.submitted_at - self.window
        same_person = {request.submitted_by, *self.erased_pseudonyms}
        counted: list[datetime] = []
        for row in rows:
            if row.benchmark != request.benchmark or row.submitted_at <= since:
                continue
            if _other_mode(row, request) and row.benchmark not in self.guessable:
                continue
            if row.submitted_by in same_person or self._both_of_owner(row, request):
                counted.append(row.submitted_at)
        return sorted(counted)

    def _both_of_owner(self, row: QueueRow, request: EvalRequest) -> bool:
        """Return whether both requests are for models of one owner and were submitted by members of that owner."""
        owner = request.model_id.partition("/")[0]
        return (
            self.owner_mark is not None
            and row.model_id.partition("/")[0] == owner
            and request.owner_mark == self.owner_mark(owner, request.key)
            and row.owner_mark == self.owner_mark(owner, row.key)
        )


def _other_mode(row: QueueRow, request: EvalRequest) -> bool:
    """Return whether both are for the same model, revision and precision, but in different reasoning modes."""
    alike = (row.model_id, row.revision, row.precision) == (request.model_id, request.revision, request.precision)
    return alike and row.thinking != request.thinking
