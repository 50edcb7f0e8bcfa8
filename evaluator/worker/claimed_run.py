"""One claimed request, from its model's files to the publication: what a launcher runs, here or on another machine."""

import errno
import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial

from httpx2 import HTTPError
from tenacity import (
    RetryCallState,
    Retrying,
    before_sleep_log,
    retry_if_exception_type,
    sleep_using_event,
    wait_random_exponential,
)

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.errors import EvaluationError, EvaluationStopped
from evaluator.core.files import remove_path
from evaluator.core.signals import STOP_NOTICE_SECONDS
from evaluator.datasets.leak_check import check_public
from evaluator.datasets.source import DRAWN, open_source
from evaluator.engines.options import ApiOptions
from evaluator.hub.eval_results import offer_result
from evaluator.hub.model_download import fetch_model
from evaluator.results.evaluate import Evaluation, answer_shard, evaluate
from evaluator.results.item_scores import ItemScores
from evaluator.results.private_records import AnswerBackup, save_details, save_item_scores
from evaluator.results.published_pairs import with_pairs
from evaluator.results.shard import Shard
from evaluator.results.task import Task, load_items, options_of
from evaluator.worker.work_dir import prepare_work_dir
from submissions.config.settings import API_KEY, Settings
from submissions.operator.code_approval import find_approval
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest, Failure, Progress, Stage, Status
from submissions.records.result import EvalResult
from submissions.records.statement import sign
from submissions.store.open import open_private_store, open_store
from submissions.store.private import PrivateStore
from submissions.texts.errors import LostLeaseError, SettingsError, StoreError
from submissions.texts.failure_codes import FailureCode

log = logging.getLogger(__name__)

PUBLISH_PAUSE = 5.0  # seconds at most before the second try, doubled from try to try; the wait is drawn below it


class ClaimedRun:
    """Evaluates a request that is claimed already, or a shard of it."""

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
        """`devices` as CUDA_VISIBLE_DEVICES names them; None: those that this process sees."""
        assert request.lease
        self._settings = settings
        self._queue = queue
        self._private = private
        self._heartbeats = Heartbeats(settings)
        self._request = request
        self._lease = request.lease
        self._shard = shard
        self._devices = devices
        self._job_dir = settings.work_dir / (f"{request.key}.{shard.number}" if shard else request.key)
        self._backup = AnswerBackup(private, request.key, request.attempt, self._job_dir, shard)
        self._stage = Stage.FETCH
        self._stopped = threading.Event()
        self._interrupted = threading.Event()  # by a stop, the deadline, or a lost lease
        self._lost: LostLeaseError | None = None  # why, where another worker has the request now
        self._failure: FailureCode | None = None

    def stop(self) -> None:
        """Stop, the answers kept, and hand the request back."""
        self._stopped.set()
        self._interrupted.set()

    def run(self) -> FailureCode | None:
        """Every end is written to the queue; returns the code where it is a failure. A shard ends with its answers in the
        private store, and leaves every end to the run that follows.

        Raises StoreError where the store is out of reach: the request is taken up again once its lease has run out,
        and its answers are kept.
        """
        what = f"shard {self._shard} of " if self._shard else ""
        log.info("running %s%s: %s on %s", what, self._request.key, self._request.model_id, self._request.benchmark)
        try:
            if self._stopped.is_set():
                self._release()
                return None
            try:
                self._queue.heartbeat(self._request, self._now(), Progress(stage=Stage.FETCH))
            except StoreError:  # answers and details would find no place either
                self._release()
                raise
            with self._heartbeat() as tell:
                self._evaluate(tell)
            self._clean_up()
        except LostLeaseError as error:
            log.warning("dropped %s: %s", self._request.key, error)
        return self._failure

    def _release(self) -> None:
        if not self._shard:  # the run over the whole set does so
            self._queue.release(self._request)
            log.info("handed back %s", self._request.key)

    def _clean_up(self) -> None:
        """The end is written: what is left of the run here, for the next attempt, is copied once more, or goes."""
        try:
            if self._job_dir.exists():
                self._backup.update()
            elif not self._shard:
                self._backup.remove()
            if self._shard:
                remove_path(self._job_dir)
            else:
                self._heartbeats.remove(self._request.key, self._lease)
        except (StoreError, OSError) as error:
            log.warning("after %s: %s", self._request.key, error)

    def _evaluate(self, tell: Callable[[Progress], None]) -> None:
        request = self._request

        def progress(name: str, answered: int, total: int) -> None:
            self._stage = Stage(name)
            tell(Progress(stage=self._stage, done=coarse(answered, total), total=total))

        deadline = threading.Timer(self._settings.deadline.total_seconds(), self._interrupted.set)
        deadline.daemon = True
        deadline.start()
        try:
            self._backup.restore()
            task = self._task()
            self._stage = Stage.LOAD
            items, dataset = load_items(task)
            if self._shard:
                shard = self._shard.of(items)
                answer_shard(task, shard, self._job_dir, on_progress=progress, stop=self._interrupted)
                return
            run = partial(
                evaluate,
                items=items,
                dataset=dataset,
                job_dir=self._job_dir,
                on_progress=progress,
                stop=self._interrupted,
                worker=self._lease.worker,
            )
            try:
                evaluation = run(task)
            except EvaluationError as error:
                if error.code != FailureCode.SERVER_FAILED or request.api or task.options.api is None:
                    raise
                log.warning("%s: its server failed (%s); the built-in engine runs it", request.key, error)
                built_in = replace(task, options=replace(task.options, engine=request.engine, api=None))
                evaluation = run(built_in)
            self._stage = Stage.PUBLISH
            check_public([evaluation.result.to_bytes(), request.to_bytes()], items, task.source.path)
            self._publish(evaluation, ItemScores.of(task.benchmark, items, evaluation.details, request.submitted_by))
            remove_path(self._job_dir)
            self._offer(evaluation.result)
        except (LostLeaseError, StoreError):
            raise
        except Exception as error:
            self._end(error)
        finally:
            deadline.cancel()

    def _end(self, error: Exception) -> None:
        """Write how an evaluation without a result ended: handed back if this worker stops, else failed."""
        if self._lost:
            raise self._lost from None
        # What a stop of the whole process group has ended looks like a failure for a moment.
        if self._stopped.wait(STOP_NOTICE_SECONDS):
            self._release()
        elif isinstance(error, EvaluationStopped):
            self._fail(FailureCode.DEADLINE, error)
        elif isinstance(error, EvaluationError):
            self._fail(error.code, error)
        else:
            if not isinstance(error, SettingsError):
                log.error("evaluating %s", self._request.key, exc_info=error)
            full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            self._fail(FailureCode.DISK_FULL if full else FailureCode.INTERNAL_ERROR, error)

    def _publish(self, evaluation: Evaluation, scores: ItemScores | None) -> None:
        """Save details and scores, then publish the result.

        While the store fails, for instance because its token was replaced, this is retried until the deadline: the answers
        took hours of a GPU. The heartbeat goes on meanwhile.
        """

        own = self._settings.details_key
        secret = own.get_secret_value().encode() if own else None

        def attempt() -> None:
            result = evaluation.result
            save_details(self._private, self._request.key, evaluation.details, secret)
            if scores:
                save_item_scores(self._private, self._request.key, scores)
                result = with_pairs(result, scores, self._queue.store, self._private)
            key = self._settings.signing_key
            statement = sign(result, key.get_secret_value()) if key else None
            self._queue.publish(self._request, result, self._now(), statement)

        def interrupted(_: RetryCallState) -> bool:
            return self._interrupted.is_set()

        Retrying(
            retry=retry_if_exception_type(StoreError),
            wait=wait_random_exponential(multiplier=PUBLISH_PAUSE, max=300),
            stop=interrupted,
            sleep=sleep_using_event(self._interrupted),
            before_sleep=before_sleep_log(log, logging.WARNING),
            reraise=True,
        )(attempt)
        log.info("published %s", self._request.key)

    def _task(self) -> Task:
        """Raises EvaluationError where the model cannot be had, or its code may not run."""
        request, settings = self._request, self._settings
        fetch = partial(fetch_model, settings=settings, stop=self._interrupted)
        adapter, code = None, None
        if request.api:
            model = settings.work_dir / "no-model"
            model.mkdir(parents=True, exist_ok=True)
        else:
            own = (request.model_id, request.revision)
            base = (request.base_model, request.base_revision) if request.base_revision else own
            if request.custom_code and (code := find_approval(self._queue.store, str(base[0]), str(base[1]))) is None:
                raise EvaluationError(FailureCode.CODE_NOT_APPROVED, f"the code of {base[0]}@{base[1]} is not approved")
            adapter = fetch(*own) if request.base_revision else None
            model = fetch(str(base[0]), str(base[1]), code=code)
        benchmark = BENCHMARKS[request.benchmark]
        data = settings.data.get(request.benchmark) or (DRAWN if benchmark.drawn else None)
        options = options_of(
            request,
            model,
            benchmark,
            adapter=adapter,
            api=self._api(),
            max_reasoning_tokens=settings.max_reasoning_tokens,
            max_pixels=settings.max_pixels,
        )
        return Task(
            request,
            options,
            benchmark,
            source=open_source(request.benchmark, data, settings),
            limit=settings.limit,
            latency_samples=settings.alone,
            max_score_changes=settings.max_score_changes,
            cache=settings.work_dir / "answers",
            devices=self._devices,
            price_per_hour=settings.price_per_hour,
        )

    def _api(self) -> ApiOptions | None:
        """The server that answers, where it is not the built-in engine. Raises EvaluationError where it is not known."""
        request, settings = self._request, self._settings
        if request.api:
            if (known := settings.apis.get(request.api)) is None:
                raise EvaluationError(FailureCode.API_REFUSED, f"HANNUN_APIS does not name {request.api}")
            if known.key != API_KEY and not os.environ.get(known.key):
                message = f"HANNUN_APIS {request.api}: the variable {known.key} is not set"
                raise EvaluationError(FailureCode.API_REFUSED, message)
            return ApiOptions(
                base_url=known.base_url,
                replicas=tuple(known.replicas),
                model=known.model,
                key=known.key,
                prices=known.prices or (0.0, 0.0),
                max_cost=known.max_cost,
                page_chars=known.page_chars,
                reasons=known.reasons,
            )
        # A server loads what lies in one folder; adapters are merged by the built-in engine.
        if settings.server and request.engine == "chat" and not request.base_revision:
            return ApiOptions(spawn=settings.server)
        return None

    def _offer(self, result: EvalResult) -> None:
        """To the model's repository. The result stands whether that works or not."""
        try:
            if address := offer_result(self._request, result, self._settings):
                log.info("offered %s: %s", self._request.key, address)
        except (HTTPError, StoreError) as error:
            log.warning("offering %s: %s", self._request.key, error)

    def _fail(self, code: FailureCode, error: Exception) -> None:
        # What a server says may hold a question; that ours does not start is said by our own engine.
        hidden = isinstance(error, EvaluationError) and error.quoted and code != FailureCode.SERVER_FAILED
        key, said = self._request.key, "" if hidden else f": {error}"
        if self._shard:
            log.warning("shard %s of %s at %s with %s%s", self._shard, key, self._stage, code, said)
            return
        after = self._queue.fail(self._request, Failure(stage=self._stage, code=code), self._now())
        if after.status != Status.PENDING:  # else the next attempt goes on from the answers so far
            remove_path(self._job_dir)
        log.warning("%s at %s with %s, now %s%s", key, self._stage, code, after.status, said)
        self._failure = code

    def _now(self) -> datetime:
        return self._queue.store.now()

    @contextmanager
    def _heartbeat(self) -> Iterator[Callable[[Progress], None]]:
        """Signs of life at the interval, and one more whenever a stage is entered; the answers so far are copied with
        each. Gives what tells the progress."""
        done, wake = threading.Event(), threading.Event()
        now = Progress(stage=Stage.FETCH)

        def tell(progress: Progress) -> None:
            nonlocal now
            entered, now = progress.stage != now.stage, progress
            if entered:
                wake.set()

        def beat() -> None:
            while not done.is_set():
                wake.wait(self._settings.heartbeat.total_seconds())
                wake.clear()
                if done.is_set():
                    return
                try:
                    self._queue.heartbeat(self._request, self._now(), now)
                    self._backup.update()
                except LostLeaseError as error:
                    self._lost = error
                    self._interrupted.set()
                    return
                except Exception as error:  # one missed beat is no reason to stop
                    log.warning("heartbeat of %s: %s", self._request.key, error)

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield tell
        finally:
            done.set()
            wake.set()
            thread.join()


def take_over(settings: Settings, claim: str, shard: Shard | None = None) -> ClaimedRun:
    """The run of a request that a launcher has claimed, as `KEY:NONCE`.

    Raises LostLeaseError where the lease is another's by now, QueueError where there is no such request, SandboxError,
    SettingsError, StoreError.
    """
    prepare_work_dir(settings)
    key, _, nonce = claim.partition(":")
    store = open_store(settings.store, settings)
    queue = Queue(store, settings.lease, settings.max_attempts, Heartbeats(settings))
    request = queue.get(key)
    if request.status != Status.RUNNING or request.lease is None or request.lease.nonce != nonce:
        raise LostLeaseError(f"request {key} is not held by {nonce or 'nobody'} any more")
    return ClaimedRun(settings, queue, open_private_store(settings), request, shard=shard)


def coarse(done: int, total: int) -> int:
    """How far it is, in twentieths of the total: what is published while a model runs could be a message of its own."""
    done, step = max(0, min(done, total)), max(1, -(-total // 20))
    return done if done == total else done - done % step
