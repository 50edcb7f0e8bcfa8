"""Decide whether a request may be queued.

The report shows these checks, and the commit that queues the request repeats them.
"""

from collections.abc import Container, Iterable, Iterator

from submissions.queue.quota import Quota
from submissions.records.check import Check
from submissions.records.index_rows import QueueRow
from submissions.records.operator import OptOut
from submissions.records.request import EvalRequest, Status
from submissions.store.base import Snapshot
from submissions.texts.check_names import CheckName
from submissions.texts.refusals import RefusalCode


def opted_out_name(model_id: str, paths: Container[str]) -> str | None:
    """Return the owner or model ID under which a model was opted out, or None if it was not.

    `paths` contains the paths of the opt-outs that count, for example all paths of the store.
    """
    owner = model_id.partition("/")[0]
    return next((name for name in (owner, model_id) if OptOut.path_of(name) in paths), None)


def opt_out_check(model_id: str, paths: Container[str]) -> Check:
    """Check that the model was not opted out. `paths` are as in `opted_out_name`."""
    name = opted_out_name(model_id, paths)
    return Check(CheckName.OPT_OUT, RefusalCode.OPTED_OUT if name else None, name or "")


def request_checks(
    request: EvalRequest, snapshot: Snapshot, rows: Iterable[QueueRow], quota: Quota | None
) -> Iterator[Check]:
    """Check that a request is new and within the quota of its submitter, or skip the quota if it is None.

    `rows` may contain requests that are not yet in `snapshot`: those of the same commit that passed before.
    """
    benchmark = request.benchmark
    rows = list(rows)
    status = status_of(request.key, snapshot)
    if status is None and any(row.key == request.key for row in rows):
        status = Status.PENDING
    if status:
        detail = f"{status}, {request.key[:8]}"
        yield Check(CheckName.NEW, RefusalCode.SUBMITTED, detail, benchmark, request=request.key)
    else:
        yield Check(CheckName.NEW, benchmark=benchmark)
    if quota is None:
        yield Check(CheckName.QUOTA, benchmark=benchmark, skipped=True)
    elif free_at := quota.free_at(rows, request):
        yield Check(CheckName.QUOTA, RefusalCode.QUOTA_SPENT, f"{free_at:%Y-%m-%d %H:%M} UTC", benchmark)
    else:
        left = f"{quota.left(rows, request)} / {quota.limit(benchmark)}"
        yield Check(CheckName.QUOTA, detail=left, benchmark=benchmark)


def first_refusal(
    request: EvalRequest, snapshot: Snapshot, rows: Iterable[QueueRow], quota: Quota | None, opt_outs: Container[str]
) -> Check | None:
    """Return the first check that a request fails, or None if it may be queued.

    `opt_outs` contains the paths of the opt-outs, as in `opted_out_name`. For all else see `request_checks`.
    """
    checks = [*request_checks(request, snapshot, rows, quota), opt_out_check(request.model_id, opt_outs)]
    return next((check for check in checks if check.refusal), None)


def status_of(key: str, snapshot: Snapshot) -> Status | None:
    """Return the status of the request with this key, or None if there is no such request."""
    return next((status for status in Status if EvalRequest.path_of(key, status) in snapshot.files), None)
