"""The way into the queue, for the page and the command line alike: every check, then the commit."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from submissions.checks.benchmark_checks import build_request, check_fit, check_options
from submissions.checks.model_checks import Check, Report, check_model
from submissions.messages import CheckName, RefusalCode
from submissions.models.devices import device_memory
from submissions.models.model_facts import ModelFacts
from submissions.models.repository import Refused
from submissions.queue.queue import Queue
from submissions.queue.quota import Quota, Submitter, opted_out
from submissions.records import CodeApproval, EvalRequest, Precision, Thinking
from submissions.settings import Settings
from submissions.store.base import Snapshot


class Admission:
    def __init__(self, queue: Queue, settings: Settings) -> None:
        self._queue = queue
        self._settings = settings
        self._quota = Quota(settings.quota, settings.quota_window)

    def check(
        self,
        model_id: str,
        benchmarks: Sequence[str],
        submitter: Submitter | None = None,
        revision: str | None = None,
        precision: Precision | None = None,
        thinking: Thinking | None = None,
    ) -> Report:
        """Every check, of the model and for each benchmark. Raises StoreError.

        Without a submitter whom somebody vouches for there is no quota to look at.
        """
        snapshot = self._queue.store.snapshot()
        settings = self._settings

        def approved(approved_id: str, commit: str) -> bool:
            return CodeApproval.path_of(approved_id, commit) in snapshot.files

        report = check_model(model_id, revision, settings.models_dir, settings.max_model_bytes, approved)
        owner = opted_out(report.model_id, snapshot)
        refusal = RefusalCode.OPTED_OUT if owner else None
        willing = Check(CheckName.WILLING, refusal, owner or "", skipped=not (report.facts or owner))
        if report.facts is None:
            return replace(report, checks=(*report.checks, willing))
        # Where the worker is elsewhere, only its operator knows what it has.
        memory = settings.device_memory or (device_memory() if settings.worker == "on" else None)
        options = check_options(report.facts, precision, thinking, memory)
        own = [
            check
            for benchmark in benchmarks
            for check in self._fit(report.facts, benchmark, submitter, precision, thinking, snapshot)
        ]
        return replace(report, checks=(*report.checks, *options, willing, *own))

    def submit(
        self,
        facts: ModelFacts,
        benchmark: str,
        submitter: Submitter,
        revision: str | None = None,
        precision: Precision | None = None,
        share: bool = False,
        thinking: Thinking | None = None,
    ) -> EvalRequest:
        """Queue a model that has passed.

        Raises AlreadySubmitted, OptedOut, QuotaSpent, StoreError.
        """
        organisation = submitter.organisation(facts.model_id)
        request = build_request(facts, benchmark, submitter.name, revision, precision, share, organisation, thinking)
        self._queue.submit(request, self._quota if submitter.vouched else None)
        return request

    def _fit(
        self,
        facts: ModelFacts,
        benchmark: str,
        submitter: Submitter | None,
        precision: Precision | None,
        thinking: Thinking | None,
        snapshot: Snapshot,
    ) -> Iterable[Check]:
        yield from check_fit(facts, benchmark)
        try:
            name = submitter.name if submitter else ""
            organisation = submitter.organisation(facts.model_id) if submitter else None
            request = build_request(
                facts, benchmark, name, precision=precision, organisation=organisation, thinking=thinking
            )
        except Refused:
            return
        known = self._queue.find(request.key, snapshot)
        yield Check(
            CheckName.NEW,
            RefusalCode.SUBMITTED if known else None,
            f"{known.status}, {known.key[:8]}" if known else "",
            benchmark,
        )
        limited = submitter is not None and submitter.vouched
        rows = self._queue.rows(snapshot) if limited else []
        free_at = self._quota.free_at(rows, request) if limited else None
        left = f"{self._quota.left(rows, request)} / {self._quota.limit(benchmark)}" if limited else ""
        yield Check(
            CheckName.QUOTA,
            RefusalCode.QUOTA_SPENT if free_at else None,
            f"{free_at:%Y-%m-%d %H:%M} UTC" if free_at else left,
            benchmark,
            skipped=not limited,
        )
