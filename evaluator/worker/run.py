"""Evaluate one claimed request, from fetching the model to publishing the result, on this host or another.

A launcher on this host creates a ClaimedRun itself. A launcher elsewhere starts `python -m evaluator worker --claimed
KEY:NONCE`, which creates it with `take_over`. The steps of a run:

  heartbeat.py    extends the lease of the request meanwhile, and backs up its answers (backup.py)
  prepare.py      fetches the model and makes the task
  results/        `evaluate` asks the questions and scores the answers
  publication/    `publish` writes the result and ends the request

A run ends in one of four ways: with a result; with a failure, which is written to the queue; handed back to the queue,
if this worker stops; or dropped, if another worker has taken over the request.
"""

import logging
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evaluator.core.data_types import Item
from evaluator.core.errors import EvaluationError, EvaluationStopped, ModelServerError
from evaluator.core.files import is_disk_full, remove_path
from evaluator.core.signals import STOP_NOTICE_SECONDS
from evaluator.job.folder import Job, tail_of
from evaluator.publication.publish import offer, publish
from evaluator.results.evaluate import Evaluation, answer_shard, evaluate
from evaluator.results.shard import Shard
from evaluator.results.task import Task, load_items
from evaluator.worker.backup import AnswerBackup
from evaluator.worker.base_weights import with_equal_tensors
from evaluator.worker.heartbeat import Heartbeat
from evaluator.worker.prepare import prepare_task
from evaluator.worker.work_dir import prepare_work_dir
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.open import open_queue
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest, Failure, Progress, Stage, Status
from submissions.records.result import Dataset
from submissions.store.open import open_private_store, open_store
from submissions.store.private import PrivateStore
from submissions.texts.errors import LostLeaseError, SettingsError, StoreError
from submissions.texts.failure_codes import FailureCode

log = logging.getLogger(__name__)


class ClaimedRun:
    """Evaluate a claimed request, or a shard of it."""

    def __init__(
        self,
        settings: Settings,
        queue: Queue,
        private: PrivateStore,
        request: EvalRequest,
        *,
        shard: Shard | None = None,
        devices: Sequence[str] | None = None,
    ) -> None:
        """Prepare the run. `devices` are names as in CUDA_VISIBLE_DEVICES, by default those that this process sees."""
        self._settings = settings
        self._queue = queue
        self._private = private
        self._request = request
        self._shard = shard
        self._devices = devices
        self._job_dir = settings.work_dir / (f"{request.key}.{shard.number}" if shard else request.key)
        self._backup = AnswerBackup(private, request.key, request.attempt, self._job_dir, shard)
        self._ended = False  # whether the request has its outcome, so that its answers are not needed any more
        self._stopped = threading.Event()  # set by a stop
        self._interrupted = threading.Event()  # set by a stop, the deadline, or a lost lease

    def stop(self) -> None:
        """Stop the run, keep its answers and hand the request back to the queue."""
        self._stopped.set()
        self._interrupted.set()

    def run(self) -> FailureCode | None:
        """Evaluate, and write the outcome to the queue. Return the failure code, or None.

        A shard saves its answers in the private store and writes no outcome, which the run over the whole set does. Raises
        StoreError if the store cannot be reached: the request is claimed again after its lease has expired, and its
        answers are kept.
        """
        request = self._request
        shard = f"shard {self._shard} of " if self._shard else ""
        log.info("running %s%s: %s on %s", shard, request.key, request.model_id, request.benchmark)
        try:
            if self._stopped.is_set():
                self._release()
                return None
            try:
                self._queue.heartbeat(request, self._queue.store.now(), Progress(stage=Stage.FETCH))
            except StoreError:
                # Heartbeats are in the private store. Without it no answers and details can be written, but the queue may
                # still work, so the request is handed back at once.
                self._release()
                raise
            beat = Heartbeat(self._queue, request, self._backup, self._settings.heartbeat, self._interrupted.set)
            with beat:
                failure = self._evaluate(beat)
            self._clean_up()
            return failure
        except LostLeaseError as error:
            log.warning("dropped %s: %s", request.key, error)
            return None

    def _evaluate(self, heartbeat: Heartbeat) -> FailureCode | None:
        """Evaluate until the deadline. Return the failure code, or None.

        Raises LostLeaseError if another worker has taken over the request, StoreError if a store fails.
        """
        deadline = threading.Timer(self._settings.deadline.total_seconds(), self._interrupted.set)
        deadline.daemon = True
        deadline.start()
        try:
            self._evaluate_and_publish(heartbeat)
            return None
        except (LostLeaseError, StoreError):
            raise
        except Exception as error:
            return self._record_end(error, heartbeat)
        finally:
            deadline.cancel()

    def _evaluate_and_publish(self, heartbeat: Heartbeat) -> None:
        """Go through the stages of an evaluation. Those of a shard end with its answers."""
        self._backup.restore()
        # The queue of private evaluations is in a store of its own. Errata and approvals of code are in the public one.
        public = open_store(self._settings.store, self._settings) if self._queue.is_private else self._queue.store
        task = prepare_task(self._request, self._settings, public, self._private, self._interrupted, self._devices)
        if self._queue.is_private:  # a withdrawn evaluation must leave no answers behind
            task = replace(task, cache=None)
        heartbeat.enter(Stage.LOAD)
        items, dataset = load_items(task)
        if self._shard:
            shard_items = self._shard.of(items)
            answer_shard(task, shard_items, self._job_dir, on_progress=heartbeat.report, stop=self._interrupted)
            return
        evaluation = self._evaluate_all(task, items, dataset, heartbeat)
        heartbeat.enter(Stage.PUBLISH)
        # Add how many tensors the model shares with its declared base. If they cannot be compared, the result stays as it is.
        result = with_equal_tensors(evaluation.result, task.options.model, self._settings, self._interrupted)
        evaluation = replace(evaluation, result=result)
        publish(evaluation, task, items, self._queue, public, self._private, self._settings, self._interrupted)
        self._ended = True
        if not self._queue.is_private:  # to the model's repository, where a private result must not appear
            offer(self._request, evaluation.result, self._settings)

    def _evaluate_all(self, task: Task, items: Sequence[Item], dataset: Dataset, heartbeat: Heartbeat) -> Evaluation:
        """Return the evaluation of the whole set.

        If this worker's own model server fails (HANNUN_SERVER), the built-in engine runs the model instead.
        """

        def evaluate_with(task: Task) -> Evaluation:
            return evaluate(
                task,
                items,
                dataset,
                self._job_dir,
                on_progress=heartbeat.report,
                stop=self._interrupted,
                worker=self._request.lease.worker if self._request.lease else None,
            )

        try:
            return evaluate_with(task)
        except ModelServerError as error:
            if self._request.api:  # a remote server, whose model nothing else can run
                raise
            reason = self._keep_log_and_describe(error)
            log.warning("%s: its server failed%s; the built-in engine runs it", self._request.key, reason)
        options = replace(task.options, engine=self._request.engine, api=None)
        return evaluate_with(replace(task, options=options))

    def _record_end(self, error: Exception, heartbeat: Heartbeat) -> FailureCode | None:
        """End a run without a result: hand the request back if this worker stops, otherwise mark it failed.

        Return the failure code, or None if this worker stops or `error` ended a shard. Raises LostLeaseError if the lease
        was lost, which then is the reason of the error.
        """
        if heartbeat.lost:
            raise heartbeat.lost from None
        # A stop of the whole process group may end the engine before its signal reaches this process. So wait a moment for the
        # signal before the error counts as a failure.
        if self._stopped.wait(STOP_NOTICE_SECONDS):
            self._release()
            return None
        code = failure_code(error)
        if not isinstance(error, (EvaluationError, EvaluationStopped, SettingsError)):
            log.error("evaluating %s", self._request.key, exc_info=error)  # unexpected: with its traceback
        key = self._request.key
        stage = heartbeat.stage
        reason = self._keep_log_and_describe(error)
        if self._shard:
            log.warning("shard %s of %s at %s with %s%s", self._shard, key, stage, code, reason)
            return None
        after = self._queue.fail(self._request, Failure(stage=stage, code=code), self._queue.store.now())
        self._ended = after.status != Status.PENDING  # otherwise the next attempt resumes from the answers so far
        log.warning("%s at %s with %s, now %s%s", key, stage, code, after.status, reason)
        return code

    def _keep_log_and_describe(self, error: Exception) -> str:
        """Keep the evaluation's log, and return how a log line about the failure ends.

        For example ": the server answers 500 (log: /work/logs/KEY.log)", without the message if it may quote a question.
        """
        hidden = isinstance(error, EvaluationError) and error.may_quote_questions
        reason = "" if hidden else f": {error}"
        kept = self._keep_log()
        return f"{reason} (log: {kept})" if kept else reason

    def _keep_log(self) -> Path | None:
        """Copy the end of the evaluation's log out of its folder, which is removed later. Return the copy, if any.

        It stays on this machine, because it may quote questions.
        """
        content = tail_of(Job(self._job_dir).log)
        if not content.strip():
            return None
        kept = self._settings.work_dir / "logs" / f"{self._job_dir.name}.log"
        try:
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(content, encoding="utf-8")
        except OSError:
            return None  # a full disk must not hide the failure itself
        return kept

    def _release(self) -> None:
        """Hand the request back to the queue."""
        if not self._shard:  # the run over the whole set releases the request
            self._queue.release(self._request)
            log.info("handed back %s", self._request.key)

    def _clean_up(self) -> None:
        """Back up the answers for the next attempt, or delete them and the job if the request has its outcome.

        A shard deletes only its job folder. The run over the whole set reads the shard's answers from the backup, and still
        needs the heartbeats of the lease.
        """
        try:
            if self._shard:
                self._backup.update()
                remove_path(self._job_dir)
                return
            if self._ended:
                remove_path(self._job_dir)
                self._backup.remove()
            else:
                self._backup.update()
            if self._request.lease:
                Heartbeats(self._settings).remove(self._request.key, self._request.lease)
        except (StoreError, OSError) as error:
            log.warning("after %s: %s", self._request.key, error)


def failure_code(error: Exception) -> FailureCode:
    """Return the failure code for an exception that ended an evaluation.

    EvaluationStopped then means the deadline, because `_record_end` has handled a lost lease and a stop of the worker.
    """
    if isinstance(error, EvaluationStopped):
        return FailureCode.DEADLINE
    if isinstance(error, EvaluationError):
        return error.code
    return FailureCode.DISK_FULL if is_disk_full(error) else FailureCode.INTERNAL_ERROR


def take_over(settings: Settings, claim: str, shard: Shard | None = None, *, is_private: bool = False) -> ClaimedRun:
    """Return the run of a request that a launcher has claimed in the public or the private queue, given as `KEY:NONCE`.

    Raises LostLeaseError if another worker holds the lease, QueueError if the request does not exist, SandboxError
    without a sandbox, SettingsError for unusable settings, and StoreError if a store fails.
    """
    prepare_work_dir(settings)
    key, _, nonce = claim.partition(":")
    queue = open_queue(settings, is_private=is_private)
    request = queue.get(key)
    if request.status != Status.RUNNING or request.lease is None or request.lease.nonce != nonce:
        raise LostLeaseError(f"request {key} is not held by {nonce or 'nobody'} any more")
    return ClaimedRun(settings, queue, open_private_store(settings), request, shard=shard)
