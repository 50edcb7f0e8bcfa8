"""Submit a model: run every check, then queue it in one commit. The page, the API and the command line call this.

Functions here return codes and values. The texts for them are in submissions.texts.
"""

import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from submissions.checks.benchmark_checks import benchmark_checks
from submissions.checks.model_checks import KeptReports, check_model
from submissions.checks.option_checks import option_checks
from submissions.checks.report import Report
from submissions.checks.request import build_request
from submissions.checks.submission import Outcome, Submission
from submissions.config.settings import Settings
from submissions.hub_models.devices import device_memory
from submissions.hub_models.model_facts import ModelFacts
from submissions.queue.admission import opt_out_check, request_checks
from submissions.queue.pseudonyms import Pseudonyms
from submissions.queue.queue import Queue
from submissions.queue.quota import Quota, Submitter
from submissions.queue.wait_time import waits
from submissions.records.check import Check
from submissions.records.index_rows import QueueRow
from submissions.records.operator import CodeApproval
from submissions.records.registry import Registry
from submissions.records.request import EvalRequest
from submissions.store.base import Snapshot
from submissions.texts.errors import StoreError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Context:
    """A submission and the state of the store that it is checked against."""

    submission: Submission
    benchmarks: tuple[str, ...]  # those of the submission that exist, or all if it chooses none
    submitter: Submitter | None
    snapshot: Snapshot
    rows: Sequence[QueueRow]
    quota: Quota | None  # None for the command line and a board without sign-in, where a name proves nothing

    def is_approved(self, model_id: str, revision: str) -> bool:
        """Return whether the operator allows the Python files of this commit to run."""
        return CodeApproval.path_of(model_id, revision) in self.snapshot.files


class SubmissionService:
    """Checks and queues submissions. A board, or a command, has one."""

    def __init__(self, queue: Queue, settings: Settings, registry: Registry) -> None:
        self._queue = queue
        self._settings = settings
        self._registry = registry
        self._pseudonyms = Pseudonyms(settings)
        self._kept = KeptReports()

    def check(self, submission: Submission, submitter: Submitter | None = None) -> Report:
        """Run every check, for all benchmarks if none is chosen. Names of unknown benchmarks are left out.

        Raises StoreError if the store is unavailable.
        """
        return self._report(self._context(submission, submitter))

    def submit(self, submission: Submission, submitter: Submitter) -> tuple[list[Outcome], Report | None]:
        """Check a model and queue it for each benchmark.

        Return the outcomes and the report of the checks. The report is None if no check was run.
        """
        if not any(name in self._registry.benchmarks for name in submission.benchmarks):
            return [Outcome("no_benchmark")], None
        try:
            context = self._context(submission, submitter)
            report = self._report(context)
        except StoreError as error:
            log.warning("%s", error)
            return [Outcome("store_unavailable")], None
        if refusals := report.refusals():  # of the model, its options or its owner
            return [Outcome("refused", refusals=tuple(refusals))], report
        try:
            tried = self._enqueue(report, context)
        except StoreError as error:
            log.warning("%s", error)
            tried = {name: Outcome("store_unavailable", name) for name in report.requests}
        return [tried.get(name) or _refused(name, report.refusals(name)) for name in context.benchmarks], report

    def _context(self, submission: Submission, submitter: Submitter | None) -> _Context:
        snapshot = self._queue.store.snapshot()
        settings = self._settings
        quota = None
        if submitter and submitter.authenticated:
            quota = Quota(
                limits=settings.quota,
                window=settings.quota_window,
                erased_pseudonyms=self._pseudonyms.erased_pseudonyms(submitter.name, datetime.now(UTC)),
                is_from_member=self._pseudonyms.belongs,
                guessable=frozenset(name for name, info in self._registry.benchmarks.items() if info.can_be_guessed),
            )
        chosen = dict.fromkeys(submission.benchmarks or self._registry.benchmarks)
        known = tuple(name for name in chosen if name in self._registry.benchmarks)
        return _Context(submission, known, submitter, snapshot, self._queue.rows(snapshot), quota)

    def _report(self, context: _Context) -> Report:
        """Run the checks of the model, of its options and of each benchmark. Build a request for each that passed all."""
        submission = context.submission
        settings = self._settings
        report = check_model(
            submission.model_id,
            submission.revision,
            settings.models_dir,
            self._registry,
            max_bytes=settings.max_model_bytes,
            is_approved=context.is_approved,
            kept=self._kept,
        )
        opt_out = opt_out_check(report.model_id, context.snapshot.files)
        facts = report.facts
        if facts is None:
            # The model may not have been found. Then its owner is unknown, so a passed check for an opt-out proves nothing.
            opt_out = replace(opt_out, skipped=not opt_out.refusal)
            return replace(report, checks=(*report.checks, opt_out))
        # The memory of a worker on another machine is known only if the operator has set it.
        memory = settings.device_memory or (device_memory() if settings.worker == "on" else None)
        shared = [*option_checks(facts, submission.precision, submission.thinking, memory), opt_out]
        report = replace(report, checks=(*report.checks, *shared))
        model_passed = not report.refusals()  # with its options, and its owner has not opted out
        # A check must not give anybody a pseudonym, so one is only looked up. `_enqueue` makes it.
        pseudonym = self._pseudonyms.find(context.submitter.name) if context.submitter else None
        options_passed = not any(check.refusal for check in shared)  # with the opt-out
        requests: dict[str, EvalRequest] = {}
        for benchmark in context.benchmarks:
            of_benchmark = list(benchmark_checks(facts, benchmark, self._registry))
            # Duplicates and the quota are checked on a request, also for a model that is refused itself, but not if an option,
            # the opt-out or the benchmark refuses it. Only a request for which everything passed may be queued.
            if options_passed and not any(check.refusal for check in of_benchmark):
                request = self._request(facts, benchmark, context, pseudonym or "")
                of_benchmark += request_checks(request, context.snapshot, context.rows, context.quota)
                if model_passed and not any(check.refusal for check in of_benchmark):
                    requests[benchmark] = request
            report = replace(report, checks=(*report.checks, *of_benchmark))
        return replace(report, requests=requests)

    def _request(self, facts: ModelFacts, benchmark: str, context: _Context, pseudonym: str) -> EvalRequest:
        """Return the request for one benchmark.

        If the submitter belongs to the model's owner, `owner_mark` is a keyed hash. Otherwise it is a random value of the
        same form, so that the public record does not show which. Later only the owner's submissions lead to an offer of the
        result to the model's repository.
        """
        submission = context.submission
        submitter = context.submitter
        request = build_request(
            facts,
            benchmark,
            self._registry,
            pseudonym,
            requested_revision=submission.revision,
            precision=submission.precision,
            thinking=submission.thinking,
            share=submission.share,
        )
        if submitter is None or not submitter.authenticated:
            return request
        owner = submitter.organisation(facts.model_id)
        mark = self._pseudonyms.owner_mark(owner, request.key) if owner else secrets.token_hex(8)
        return request.evolve(owner_mark=mark)

    def _enqueue(self, report: Report, context: _Context) -> dict[str, Outcome]:
        """Queue the requests that passed in one commit. Raises StoreError if the commit fails."""
        if not report.requests or context.submitter is None:
            return {}
        pseudonym = self._pseudonyms.find_or_make(context.submitter.name)
        requests = [request.evolve(submitted_by=pseudonym) for request in report.requests.values()]
        # The commit repeats some checks, because another submission may have been queued in the meantime.
        late_refusals = self._queue.submit_all(requests, context.quota)
        try:
            wait_by_key = waits(self._queue.rows(), datetime.now(UTC))
        except StoreError:  # the commit has already queued the requests
            wait_by_key = {}
        outcomes: dict[str, Outcome] = {}
        for request, refusal in zip(requests, late_refusals, strict=True):
            name = request.benchmark
            if refusal:
                outcomes[name] = _refused(name, [refusal])
            else:
                outcomes[name] = Outcome("accepted", name, key=request.key, wait=wait_by_key.get(request.key))
        return outcomes


def _refused(benchmark: str, refusals: Sequence[Check]) -> Outcome:
    """Return the outcome for a refused benchmark, with the key of the same request if it was submitted earlier."""
    earlier_key = next((check.request for check in refusals if check.request), None)
    return Outcome("refused", benchmark, tuple(refusals), earlier_key)


def can_be_submitted(report: Report) -> bool:
    """Return whether at least one of the chosen benchmarks, or of all if none was chosen, accepts the model."""
    return bool(report.requests)
