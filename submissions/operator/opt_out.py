"""Opt out owners or models from evaluation, at the owner's request."""

from datetime import datetime

from submissions.queue.admission import opted_out_name
from submissions.queue.queue import Queue
from submissions.records.operator import OptOut
from submissions.records.request import Status
from submissions.store.base import Changes, Snapshot, transact
from submissions.store.index import with_requests
from submissions.texts.errors import QueueError


def opt_out(queue: Queue, name: str, now: datetime) -> list[str]:
    """Record the opt-out of an owner or a model and cancel its pending requests. Return their keys."""
    record = OptOut(name=name, since=now)

    def decide(snapshot: Snapshot) -> tuple[Changes, str, list[str]]:
        rows = queue.rows(snapshot)
        pending = [row for row in rows if row.status == Status.PENDING]
        # Those that this opt-out covers.
        covered = [row for row in pending if opted_out_name(row.model_id, {record.path})]
        cancelled = [queue.get(row.key, snapshot) for row in covered]
        changes = with_requests(rows, cancelled, []) if cancelled else {}
        return {record.path: record.to_bytes(), **changes}, f"Opt out {name}", [request.key for request in cancelled]

    return transact(queue.store, decide)


def opt_in(queue: Queue, name: str) -> None:
    """Remove an opt-out. Raises QueueError if there is none."""

    def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
        if (path := OptOut.path_of(name)) not in snapshot.files:
            raise QueueError(f"{name} has not opted out")
        return {path: None}, f"Opt in {name}", None

    transact(queue.store, decide)
