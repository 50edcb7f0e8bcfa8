"""Submit a model: run every check, then queue it in one commit. The page, the API and the command line call this.

Returns codes and values; texts are in submissions.texts.
"""

import logging
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from submissions.checks.benchmark_checks import benchmark_checks, option_checks
from submissions.checks.model_checks import check_model
from submissions.checks.report import Report
from submissions.checks.request import build_request
from submissions.config.settings import Settings
from submissions.hub_models.devices import device_memory
from submissions.hub_models.model_facts import ModelFacts
from submissions.queue.admission import opt_out_check, request_checks
from submissions.queue.pseudonyms import Pseudonyms
from submissions.queue.queue import Queue
from submissions.queue.quota import Quota, Submitter
from submissions.queue.wait_time import Wait, waits
from submissions.records.base import Precision
from submissions.records.check import Check
from submissions.records.index_rows import QueueRow
from submissions.records.operator import CodeApproval
from submissions.records.options import PRECISIONS, THINKING, Thinking
from submissions.records.registry import Registry
from submissions.records.request import EvalRequest
from submissions.store.base import Snapshot
from submissions.texts.errors import RefusedError, StoreError

log = logging.getLogger(__name__)

HUB = "https://huggingface.co/"
MAX_ID, MAX_REVISION = 250, 100  # characters

OutcomeCode = Literal["accepted", "refused", "store_unavailable", "no_benchmark"]


@dataclass(frozen=True)
class Submission:
    """What a person asks for."""

    model_id: str
    benchmarks: tuple[str, ...]
    revision: str | None = None  # branch, tag or commit; None: the newest
    precision: Precision | None = None  # None: as the checkpoint says
    thinking: Thinking | None = None  # None: the default of its template
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
        """Parse the values of a form or a program. A model is an ID or its address on the Hub; unknown options are ignored."""
        return cls(
            model_id=str(model or "")[:MAX_ID].strip().removeprefix(HUB).rstrip("/"),
            benchmarks=tuple(dict.fromkeys(str(name)[:MAX_ID] for name in benchmarks)),
            revision=str(revision or "")[:MAX_REVISION].strip() or None,
            precision=next((p for p in PRECISIONS if p == precision), None),
            thinking=next((mode for mode in THINKING if mode == thinking), None),
            share=bool(share),
        )


@dataclass(frozen=True)
class Outcome:
    """The outcome of a submission to one benchmark, or of all of it if `benchmark` is None."""

    code: OutcomeCode
    benchmark: str | None = None
    refusals: tuple[Check, ...] = ()  # why it was refused, the first reason first
    key: str | None = None  # of the request that was queued, or was there before
    wait: Wait | None = None  # of one that was queued; None if a worker has taken it already


@dataclass(frozen=True)
class _Context:
    """What one submission is checked against."""

    submission: Submission
    submitter: Submitter | None
    snapshot: Snapshot
    rows: Sequence[QueueRow]
    quota: Quota | None  # None: without a submitter who is signed in there is none

    def is_approved(self, model_id: str, revision: str) -> bool:
        return CodeApproval.path_of(model_id, revision) in self.snapshot.files


class SubmissionService:
    def __init__(self, queue: Queue, settings: Settings, registry: Registry) -> None:
        self._queue = queue
        self._settings = settings
        self._registry = registry
        self._pseudonyms = Pseudonyms(settings)

    def check(self, submission: Submission, submitter: Submitter | None = None) -> Report:
        """Run every check, for all benchmarks if none is chosen. Raises StoreError."""
        return self._report(self._context(submission, submitter))

    def submit(self, submission: Submission, submitter: Submitter) -> tuple[list[Outcome], Report | None]:
        """Check a model and queue it for each benchmark. Return an outcome for each, and the report of the checks."""
        if not any(name in self._registry.benchmarks for name in submission.benchmarks):
            return [Outcome("no_benchmark")], None
        report, queued = None, dict[str, Outcome]()
        try:
            context = self._context(submission, submitter)
            report = self._report(context)
            if not report.refusals():
                queued = self._enqueue(report, context)
        except StoreError as error:
            log.warning("%s", error)
            if report is None:
                return [Outcome("store_unavailable")], None
            queued = {name: Outcome("store_unavailable", name) for name in report.requests}
        if refusals := report.refusals():
            return [Outcome("refused", refusals=tuple(refusals))], report
        return [queued.get(name) or _refused(name, report.refusals(name)) for name in submission.benchmarks], report

    def _context(self, submission: Submission, submitter: Submitter | None) -> _Context:
        snapshot, settings, quota = self._queue.store.snapshot(), self._settings, None
        if submitter and submitter.authenticated:
            former = self._pseudonyms.former(submitter.name, datetime.now(UTC))
            quota = Quota(settings.quota, settings.quota_window, former, self._pseudonyms.mark)
        return _Context(submission, submitter, snapshot, self._queue.rows(snapshot), quota)

    def _report(self, context: _Context) -> Report:
        submission, settings = context.submission, self._settings
        report = check_model(
            submission.model_id,
            submission.revision,
            settings.models_dir,
            self._registry,
            max_bytes=settings.max_model_bytes,
            is_approved=context.is_approved,
        )
        opt_out = opt_out_check(report.model_id, context.snapshot)
        if report.facts is None:
            return replace(report, checks=(*report.checks, replace(opt_out, skipped=not opt_out.refusal)))
        # If the worker is elsewhere, only its operator knows what it has.
        memory = settings.device_memory or (device_memory() if settings.worker == "on" else None)
        checks = [*option_checks(report.facts, submission.precision, submission.thinking, memory), opt_out]
        pseudonym = self._pseudonyms.find(context.submitter.name) if context.submitter else None
        requests: dict[str, EvalRequest] = {}
        for benchmark in submission.benchmarks or self._registry.benchmarks:
            checks += benchmark_checks(report.facts, benchmark, self._registry)
            try:
                request = self._request(report.facts, benchmark, context, pseudonym or "")
            except RefusedError:  # by one of the checks before
                continue
            checks += request_checks(request, context.snapshot, context.rows, context.quota)
            requests[benchmark] = request
        report = replace(report, checks=(*report.checks, *checks))
        passed = {name: request for name, request in requests.items() if not report.refusals(name)}
        return replace(report, requests=passed)

    def _request(self, facts: ModelFacts, benchmark: str, context: _Context, pseudonym: str) -> EvalRequest:
        """Return the request. Raises RefusedError.

        A result is offered to the model's repository only if its owner submits. Nothing in the public record reveals
        whether they do.
        """
        asked, submitter = context.submission, context.submitter
        request = build_request(
            facts,
            benchmark,
            self._registry,
            pseudonym,
            requested_revision=asked.revision,
            precision=asked.precision,
            thinking=asked.thinking,
            share=asked.share,
        )
        if submitter is None or not submitter.authenticated:
            return request
        owner = submitter.organisation(facts.model_id)
        return request.evolve(organisation=self._pseudonyms.mark(owner, request.key) if owner else secrets.token_hex(8))

    def _enqueue(self, report: Report, context: _Context) -> dict[str, Outcome]:
        """Queue the requests that passed, in one commit. Raises StoreError if it did not land."""
        if not report.requests or context.submitter is None:
            return {}
        pseudonym = self._pseudonyms.find_or_make(context.submitter.name)
        requests = [request.evolve(submitted_by=pseudonym) for request in report.requests.values()]
        refusals = self._queue.submit_all(requests, context.quota)
        try:
            wait = waits(self._queue.rows(), datetime.now(UTC))
        except StoreError:  # it was reachable for the commit, so the requests are queued
            wait = {}
        # What another submission did between the checks and the commit is decided in the commit.
        return {
            request.benchmark: _refused(request.benchmark, [late])
            if late
            else Outcome("accepted", request.benchmark, key=request.key, wait=wait.get(request.key))
            for request, late in zip(requests, refusals, strict=True)
        }


def _refused(benchmark: str, refusals: Sequence[Check]) -> Outcome:
    known = next((check.request for check in refusals if check.request), None)
    return Outcome("refused", benchmark, tuple(refusals), known)


def can_be_submitted(report: Report, benchmarks: Sequence[str]) -> bool:
    """Return whether every check passed, or if no benchmark was chosen, whether one would accept the model."""
    return not any(check.refusal for check in report.checks) if benchmarks else bool(report.requests)
