"""Evaluate a model in private until its maker agrees to publish the result, or to have it deleted.

The maker is the person or organisation that made the model. The queue, the records and the results of private evaluations
are in a store of their own, which no page reads. Details and item scores are in the private store, as those of public
results are.

A private request has the same key as a public one for the same model and benchmark. Both keep their files in the private
store under this key, so the files are deleted only if no public evaluation uses them.
"""

import shutil
from pathlib import Path
from typing import NamedTuple

from submissions.config.settings import Settings
from submissions.operator.private_attempts import publish_attempts
from submissions.queue.admission import opted_out_name, status_of
from submissions.queue.queue import Queue
from submissions.records.operator import OptOut
from submissions.records.request import EvalRequest, Status
from submissions.records.result import EvalResult
from submissions.store.base import Changes, Snapshot, Store, transact
from submissions.store.index import rebuild_index, with_requests, with_result
from submissions.store.private import PrivateStore
from submissions.texts.errors import QueueError, StoreError


class FinishedEvaluation(NamedTuple):
    """What the private queue has of a finished evaluation."""

    request: EvalRequest
    result: EvalResult
    record: bytes  # of the result, as it is stored
    statement: bytes | None  # signed; None if the worker did not sign the result
    answers: bytes | None  # None if they were not kept


def finished_evaluation(queue: Queue, key: str) -> FinishedEvaluation:
    """Return a finished private evaluation. Raises QueueError if there is none with this key, or it has no result."""
    snapshot = queue.store.snapshot()
    request = queue.get(key, snapshot)
    if request.status != Status.FINISHED:
        raise QueueError(f"private evaluation {key} is {request.status} and has no result")
    record = queue.store.read(EvalResult.path_of(request.model_id, key), snapshot.head)
    return FinishedEvaluation(
        request=request,
        result=EvalResult.from_json(record),
        record=record,
        statement=_read_if_there(queue.store, EvalResult.statement_path_of(key), snapshot),
        answers=_read_if_there(queue.store, EvalResult.answers_path_of(key), snapshot),
    )


def _read_if_there(store: Store, path: str, snapshot: Snapshot) -> bytes | None:
    return store.read(path, snapshot.head) if path in snapshot.files else None


def publish_private(private_queue: Queue, public_queue: Queue, private: PrivateStore, key: str) -> EvalResult:
    """Publish the result of a private evaluation, whose maker has agreed, and delete it from the private queue.

    The record stays as it is, so that the maker's copy and its signature agree with what is public. Raises QueueError if
    there is no result, this release would write its record differently, the model was opted out, or the same request is
    public already; StoreError if a store fails.
    """
    finished = finished_evaluation(private_queue, key)
    request = finished.request
    result = finished.result
    if result.to_bytes() != finished.record:
        raise QueueError(f"{key}: its record was written by another release; use that release to publish it")

    def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
        status = status_of(key, snapshot)
        if status == Status.FINISHED and _read_if_there(public_queue.store, result.path, snapshot) == finished.record:
            return {}, "", None  # it was published before, but not deleted, because the process was stopped
        if status:
            raise QueueError(f"{key} is public already: somebody has submitted the same model; withdraw this one")
        if opted_out_name(request.model_id, snapshot.files):
            raise QueueError(f"{request.model_id} was opted out of the board")
        rows = public_queue.rows(snapshot)
        changes = dict(with_requests(rows, before=[], after=[request]))
        changes |= with_result(public_queue.store, snapshot, result)
        if finished.statement:
            changes[EvalResult.statement_path_of(key)] = finished.statement
        if finished.answers:
            changes[EvalResult.answers_path_of(key)] = finished.answers
        return changes, f"Publish {key}", None

    transact(public_queue.store, decide)
    publish_attempts(public_queue.store, private, request.model_id)
    _delete(private_queue, request)
    return result


def withdraw_private(private_queue: Queue, public: Store, private: PrivateStore, settings: Settings, key: str) -> None:
    """Delete a private evaluation with its answers, except for its place in the count of the model's attempts (`private_attempts.py`).

    Raises QueueError if there is no such evaluation or it is running, StoreError if a store fails.
    """
    request = private_queue.get(key)
    public_status = status_of(key, public.snapshot())
    if Status.RUNNING in (request.status, public_status):
        raise QueueError(f"{key} is running; stop the worker, or wait until it has ended")
    if public_status != Status.FINISHED:  # otherwise the files belong to the public result
        _remove_files(private, settings.work_dir, key)
    _delete(private_queue, request)


def withdraw_opted_out(
    private_queue: Queue, public: Store, private: PrivateStore, settings: Settings, name: str
) -> list[str]:
    """Delete the pending private evaluations of an owner or a model. Return their keys. Raises StoreError.

    The files of one that is also running or finished in public stay, because they belong to that evaluation.
    """
    rows = [row for row in private_queue.rows() if row.status == Status.PENDING]
    only_this = {OptOut.path_of(name)}  # as if the store had no other opt-out
    keys = [row.key for row in rows if opted_out_name(row.model_id, only_this)]
    snapshot = public.snapshot()
    for key in keys:
        if status_of(key, snapshot) not in (Status.RUNNING, Status.FINISHED):
            _remove_files(private, settings.work_dir, key)
        _delete(private_queue, private_queue.get(key))
    return keys


def _remove_files(private: PrivateStore, work_dir: Path, key: str) -> None:
    """Delete what an evaluation has left in the private store and on this host."""
    for stored in private.paths(""):
        if key in stored:
            private.delete(stored)
    for path in sorted(work_dir.rglob(f"*{key}*"), reverse=True):  # what is in a folder comes before the folder
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _delete(queue: Queue, request: EvalRequest) -> None:
    """Delete a request with its result, and the history that has them.

    The index is rebuilt too, because its segments have rows of the deleted records. Raises QueueError if the request has
    another status meanwhile, StoreError if the store fails.
    """
    key = request.key
    own = (
        EvalResult.path_of(request.model_id, key),
        EvalResult.statement_path_of(key),
        EvalResult.answers_path_of(key),
    )

    def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
        if queue.get(key, snapshot).status != request.status:
            raise QueueError(f"{key} has changed meanwhile; try again")
        changes = dict(with_requests(queue.rows(snapshot), before=[request], after=[]))
        changes |= {path: None for path in own if path in snapshot.files}
        return changes, "Delete a private evaluation", None

    transact(queue.store, decide)
    _, unreadable = rebuild_index(queue.store)
    queue.store.tidy(grace_s=0)  # without the hour in which readers can still use older snapshots
    if unreadable:
        raise StoreError(f"{queue.store.url}: {unreadable[0].path} cannot be read")
