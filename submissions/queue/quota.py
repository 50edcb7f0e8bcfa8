"""Limit how many evaluations a submitter may request."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from submissions.records.index_rows import QueueRow
from submissions.records.request import EvalRequest

# Submissions to a benchmark that the setting `quota` does not name (submissions/config/settings.py, with the window).
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


@dataclass(eq=False)
class _Submission:
    """Requests that count as one: the same model, each in another reasoning mode, submitted within one window."""

    started_at: datetime  # when the first of them was submitted
    modes: set[str | None]  # None: as in the model's template


@dataclass(frozen=True)
class Quota:
    """The number of submissions to a benchmark that a person may make within a time window.

    All members of an organisation together may make the same number for its own models. A member's submission for the
    organisation counts twice: for that person and for the organisation. The default, one submission in 7 days, is KorQuAD's
    own rule (https://korquad.github.io).

    The reasoning modes of one model count as one submission. On some benchmarks (`guessable`), many results could reveal the
    answers of the private test set. There a model could give another guess in each mode, so each mode counts.

    Failed and quarantined requests count too, because a model can provoke what looks like an infrastructure failure. The
    operator gives a submission back by cancelling a quarantined request; a failed one cannot be cancelled.
    """

    limits: Mapping[str, int]  # by benchmark
    window: timedelta
    erased_pseudonyms: frozenset[str] = frozenset()  # earlier pseudonyms of the submitter
    # Whether the submitter of a request belongs to the owner of its model. The public records show this only to
    # somebody who has the private store (`Pseudonyms.belongs`). None: no submission counts for an organisation.
    is_from_member: Callable[[QueueRow | EvalRequest], bool] | None = None
    guessable: frozenset[str] = frozenset()  # benchmarks on which each reasoning mode counts

    def free_at(self, rows: Iterable[QueueRow], request: EvalRequest) -> datetime | None:
        """Return when the submitter may submit this request, or None if they may now. `rows` are those of the queue."""
        limit = self.limit(request.benchmark)
        free: list[datetime] = []
        for started in self._counted(rows, request):
            if len(started) >= limit:
                # Of the newest `limit` submissions, the oldest leaves the window first. Then one fewer than `limit` is in it.
                free.append(started[-limit] + self.window)
        return max(free, default=None)

    def left(self, rows: Iterable[QueueRow], request: EvalRequest) -> int:
        """Return how many submissions to the request's benchmark are left, this one included."""
        used = max(len(started) for started in self._counted(rows, request))
        return max(0, self.limit(request.benchmark) - used)

    def limit(self, benchmark: str) -> int:
        """Return the number of submissions to a benchmark that are allowed within the window."""
        return self.limits.get(benchmark, DEFAULT_QUOTA)

    def _counted(self, rows: Iterable[QueueRow], request: EvalRequest) -> tuple[list[datetime], list[datetime]]:
        """Return when the submissions that count for the person, and those that count for the organisation, were started.

        The two are separate limits: kim submits a model in one mode, and lee of the same organisation in the other. This is
        one submission of the organisation, but also one of lee, who has submitted nothing before.
        """
        same_person = {request.submitted_by, *self.erased_pseudonyms}
        of_person: list[QueueRow] = []
        of_organisation: list[QueueRow] = []
        for row in rows:
            if row.benchmark != request.benchmark:
                continue
            if row.submitted_by in same_person:
                of_person.append(row)
            if self._count_for_one_organisation(row, request):
                of_organisation.append(row)
        return self._started(of_person, request), self._started(of_organisation, request)

    def _started(self, rows: Iterable[QueueRow], request: EvalRequest) -> list[datetime]:
        """Return when each submission in the window before a request was started, oldest first.

        A submission that the request joins is left out, because the request then uses up nothing.
        """
        submissions: list[_Submission] = []
        newest: dict[tuple[str, str, str], _Submission] = {}  # the newest submission of each model
        for row in sorted(rows, key=lambda row: row.submitted_at):
            submission = newest.get(_model(row))
            if submission and self._joins(row, submission):
                submission.modes.add(row.thinking)
            else:
                submission = _Submission(row.submitted_at, {row.thinking})
                submissions.append(submission)
                newest[_model(row)] = submission
        earlier = newest.get(_model(request))
        if earlier and self._joins(request, earlier):
            submissions.remove(earlier)
        since = request.submitted_at - self.window
        return [submission.started_at for submission in submissions if submission.started_at > since]

    def _joins(self, request: QueueRow | EvalRequest, submission: _Submission) -> bool:
        """Return whether a request is a part of an earlier submission of the same model, and not a new submission.

        It is if it came within the window in a mode that the submission does not have yet. The same mode may be submitted again,
        for example when the base model of an adapter has another commit, and begins a new submission.
        """
        return (
            request.benchmark not in self.guessable
            and request.submitted_at < submission.started_at + self.window
            and request.thinking not in submission.modes
        )

    def _count_for_one_organisation(self, row: QueueRow, request: EvalRequest) -> bool:
        """Return whether both models have the same owner, and both submitters belong to it."""
        if self.is_from_member is None or _owner(row) != _owner(request):
            return False
        return self.is_from_member(request) and self.is_from_member(row)


def _owner(request: QueueRow | EvalRequest) -> str:
    return request.model_id.partition("/")[0]


def _model(request: QueueRow | EvalRequest) -> tuple[str, str, str]:
    """Return what the requests for the modes of one model have in common."""
    return request.model_id, request.revision, request.precision
