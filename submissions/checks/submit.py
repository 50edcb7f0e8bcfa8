"""Submitting a model: every check, then the commit that queues it. The page, the API and the command line call this.

What comes out are codes and values, no text in any language.
"""

import logging
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal

from submissions.catalog import BENCHMARKS, PRECISIONS, THINKING, Thinking
from submissions.checks.benchmark_checks import check_benchmark, check_options
from submissions.checks.check import Check, Report
from submissions.checks.model_checks import check_model
from submissions.checks.request import build_request
from submissions.errors import (
    AlreadySubmittedError,
    OptedOutError,
    QueueError,
    QuotaSpentError,
    RefusedError,
    StoreError,
)
from submissions.messages import CheckName, RefusalCode
from submissions.models.devices import device_memory
from submissions.models.model_facts import ModelFacts
from submissions.queue.pseudonyms import Pseudonyms
from submissions.queue.queue import Queue
from submissions.queue.quota import Quota, Submitter, opted_out
from submissions.queue.wait_time import Wait, waits
from submissions.records import CodeApproval, EvalRequest, Precision
from submissions.settings import Settings
from submissions.store.base import Snapshot

log = logging.getLogger(__name__)

HUB = "https://huggingface.co/"
MAX_ID, MAX_REVISION = 250, 100  # characters
# What another submission may have done between the checks and the commit.
_LATE: dict[type[QueueError], tuple[CheckName, RefusalCode]] = {
    AlreadySubmittedError: (CheckName.NEW, RefusalCode.SUBMITTED),
    QuotaSpentError: (CheckName.QUOTA, RefusalCode.QUOTA_SPENT),
    OptedOutError: (CheckName.OPT_OUT, RefusalCode.OPTED_OUT),
}

PseudonymOf = Callable[[str], str | None]
OutcomeCode = Literal["accepted", "refused", "store_unavailable", "no_benchmark"]


@dataclass(frozen=True)
class Submission:
    """What somebody asks for."""

    model_id: str
    benchmarks: tuple[str, ...]
    revision: str | None = None  # branch, tag or commit; None: the newest
    precision: Precision | None = None  # None: as the checkpoint says
    thinking: Thinking | None = None  # None: as the model's template has it
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
        """From a form or a program, whatever it sends: a model is an ID or its address on the Hub, and what is not
        known is left out."""
        wanted = [str(benchmark) for benchmark in benchmarks]
        return cls(
            model_id=str(model or "")[:MAX_ID].strip().removeprefix(HUB).rstrip("/"),
            benchmarks=tuple(name for name in BENCHMARKS if name in wanted),
            revision=str(revision or "")[:MAX_REVISION].strip() or None,
            precision=next((p for p in PRECISIONS if p == precision), None),
            thinking=next((mode for mode in THINKING if mode == thinking), None),
            share=bool(share),
        )


@dataclass(frozen=True)
class Outcome:
    """What became of a submission to one benchmark; or of all of it, where `benchmark` is None."""

    code: OutcomeCode
    benchmark: str | None = None
    refusals: tuple[Check, ...] = ()  # why it was refused, the first reason first
    key: str | None = None  # of the request that was queued, or was there before
    wait: Wait | None = None  # of one that was queued; None where a worker has taken it already


class SubmissionService:
    def __init__(self, queue: Queue, settings: Settings) -> None:
        self._queue = queue
        self._settings = settings
        self._pseudonyms = Pseudonyms(settings)

    def check(self, submission: Submission, submitter: Submitter | None = None) -> Report:
        """Every check, of the model and for each benchmark, of all benchmarks where none is chosen. Raises StoreError.

        Without a submitter who is authenticated there is no quota to check.
        """
        snapshot = self._queue.store.snapshot()
        settings = self._settings

        def is_approved(model_id: str, commit: str) -> bool:
            return CodeApproval.path_of(model_id, commit) in snapshot.files

        report = check_model(
            submission.model_id, submission.revision, settings.models_dir, settings.max_model_bytes, is_approved
        )
        owner = opted_out(report.model_id, snapshot)
        refusal = RefusalCode.OPTED_OUT if owner else None
        opt_out = Check(CheckName.OPT_OUT, refusal, owner or "", skipped=not (report.facts or owner))
        if report.facts is None:
            return replace(report, checks=(*report.checks, opt_out))
        # Where the worker is elsewhere, only its operator knows what it has.
        memory = settings.device_memory or (device_memory() if settings.worker == "on" else None)
        options = check_options(report.facts, submission.precision, submission.thinking, memory)
        pseudonym = cache(self._pseudonyms.find)
        own = [
            check
            for benchmark in submission.benchmarks or BENCHMARKS
            for check in self._benchmark_checks(report.facts, benchmark, submission, submitter, pseudonym, snapshot)
        ]
        return replace(report, checks=(*report.checks, *options, opt_out, *own))

    def submit(self, submission: Submission, submitter: Submitter) -> tuple[list[Outcome], Report | None]:
        """Check and queue a model on each benchmark. Returns an outcome for each, and what was checked, if it was."""
        if not submission.benchmarks:
            return [Outcome("no_benchmark")], None
        try:
            report = self.check(submission, submitter)
        except StoreError as error:
            log.warning("%s", error)
            return [Outcome("store_unavailable")], None
        if refusals := report.refusals():
            return [Outcome("refused", refusals=tuple(refusals))], report
        return self._queue_all(report, submission, submitter), report

    def _queue_all(self, report: Report, submission: Submission, submitter: Submitter) -> list[Outcome]:
        assert report.facts
        pseudonym = cache(self._pseudonyms.find_or_make)
        passed = [name for name in submission.benchmarks if not report.refusals(name)]
        outcomes = {
            name: Outcome(
                "refused", name, tuple(refused), next((check.request for check in refused if check.request), None)
            )
            for name in submission.benchmarks
            if (refused := report.refusals(name))
        }
        try:
            requests = [self._request(report.facts, name, submission, submitter, pseudonym) for name in passed]
            refusals = self._queue.submit_all(requests, self._quota_of(submitter))
            wait = self._waits()
            for request, late in zip(requests, refusals, strict=True):
                outcomes[request.benchmark] = _outcome(request, late, wait.get(request.key))
        except StoreError as error:
            log.warning("%s", error)
            outcomes |= {name: Outcome("store_unavailable", name) for name in passed}
        return [outcomes[name] for name in submission.benchmarks]

    def _waits(self) -> dict[str, Wait]:
        """None are known where the store has gone after it took the requests."""
        try:
            return waits(self._queue.rows(), datetime.now(UTC))
        except StoreError:
            return {}

    def _request(
        self,
        facts: ModelFacts,
        benchmark: str,
        submission: Submission,
        submitter: Submitter | None,
        pseudonym: PseudonymOf,
    ) -> EvalRequest:
        """Return the request. Raises RefusedError.

        A result is offered to the model's repository only if its owner submits; neither that nor anything else in the public
        record says whether they do.
        """
        request = build_request(
            facts,
            benchmark,
            pseudonym(submitter.name) if submitter else None,
            submission.revision,
            submission.precision,
            submission.share,
            thinking=submission.thinking,
        )
        if submitter is None or not submitter.authenticated:
            return request
        owner = submitter.organisation(facts.model_id)
        mark = self._pseudonyms.mark(owner, request.key) if owner else secrets.token_hex(8)
        return request.evolve(organisation=mark)

    def _quota_of(self, submitter: Submitter) -> Quota | None:
        """Return the quota of a submitter, None for those whom nobody has authenticated. Raises StoreError."""
        if not submitter.authenticated:
            return None
        former = self._pseudonyms.former(submitter.name, datetime.now(UTC))
        return Quota(self._settings.quota, self._settings.quota_window, former, self._pseudonyms.mark)

    def _benchmark_checks(
        self,
        facts: ModelFacts,
        benchmark: str,
        submission: Submission,
        submitter: Submitter | None,
        pseudonym: PseudonymOf,
        snapshot: Snapshot,
    ) -> Iterator[Check]:
        yield from check_benchmark(facts, benchmark)
        try:
            request = self._request(facts, benchmark, submission, submitter, pseudonym)
        except RefusedError:
            return
        known = self._queue.find(request.key, snapshot)
        yield Check(
            CheckName.NEW,
            RefusalCode.SUBMITTED if known else None,
            f"{known.status}, {known.key[:8]}" if known else "",
            benchmark,
            request=known.key if known else None,
        )
        quota = self._quota_of(submitter) if submitter else None
        if quota is None:
            yield Check(CheckName.QUOTA, benchmark=benchmark, skipped=True)
            return
        rows = self._queue.rows(snapshot)
        if free_at := quota.free_at(rows, request):
            yield Check(CheckName.QUOTA, RefusalCode.QUOTA_SPENT, f"{free_at:%Y-%m-%d %H:%M} UTC", benchmark)
        else:
            left = f"{quota.left(rows, request)} / {quota.limit(benchmark)}"
            yield Check(CheckName.QUOTA, detail=left, benchmark=benchmark)


def _outcome(request: EvalRequest, late: QueueError | None, wait: Wait | None) -> Outcome:
    if late is None:
        return Outcome("accepted", request.benchmark, key=request.key, wait=wait)
    if type(late) not in _LATE:
        raise late
    key = late.request.key if isinstance(late, AlreadySubmittedError) else None
    return Outcome("refused", request.benchmark, (Check(*_LATE[type(late)]),), key)


def can_be_submitted(report: Report, benchmarks: Sequence[str]) -> bool:
    """Whether every check passed; where no benchmark was chosen, whether one would take the model."""
    if benchmarks:
        return not any(check.refusal for check in report.checks)
    return any(not report.refusals(benchmark) for benchmark in BENCHMARKS)
