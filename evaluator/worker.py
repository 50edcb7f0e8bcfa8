"""The worker: claims a request, evaluates it, publishes the result."""

import errno
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from apscheduler.schedulers.background import BackgroundScheduler
from filelock import FileLock, Timeout
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
from evaluator.datasets.leak_check import check_public
from evaluator.datasets.source import check_place, open_source
from evaluator.engines.options import ApiOptions
from evaluator.errors import EvaluationError, EvaluationStopped
from evaluator.files import keep_newest, remove_path
from evaluator.hub.eval_results import offer_result
from evaluator.hub.model_download import fetch_model
from evaluator.private_records import AnswerBackup, remove_answers_except, save_details
from evaluator.run.evaluate import Evaluation, evaluate
from evaluator.run.task import Task, load_items, options_of
from evaluator.sandbox.policy import detect_backend
from submissions.errors import ConflictError, LostLeaseError, StoreError, StoreUnavailableError
from submissions.failure_codes import FailureCode
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.queue.upkeep import tidy_if_due
from submissions.records import EvalRequest, Failure, Pause, Presence, Progress, Stage, Status
from submissions.results import EvalResult
from submissions.settings import Settings
from submissions.store.open import open_private_store, open_store

log = logging.getLogger(__name__)

TIDY_EVERY = 86_400.0  # seconds
PRESENCE_EVERY = 60.0  # seconds
FIRST_PAUSE, LONGEST_PAUSE = 10.0, 3600.0  # seconds after a fault of ours
FAULTS_TOLD = 3  # requests in a row, from which on the board says that the worker pauses
PUBLISH_PAUSE = 5.0  # seconds, doubled from try to try


class Worker:
    """Evaluates one request at a time. Two workers may share a store; the queue keeps them apart."""

    def __init__(self, settings: Settings) -> None:
        """Raises SandboxError: nothing that strangers sent is run outside of one; SettingsError; StoreError."""
        detect_backend()
        for benchmark, data in settings.data.items():
            check_place(benchmark, data, settings)
        settings.work_dir.mkdir(parents=True, exist_ok=True)
        settings.work_dir.chmod(0o700)
        self._settings = settings
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._private = open_private_store(settings)
        self._heartbeats = Heartbeats(settings)
        store = open_store(settings.store, settings)
        self._queue = Queue(store, settings.lease, settings.max_attempts, self._heartbeats)
        self._device = FileLock(settings.work_dir / "device.lock")
        self.stopped = threading.Event()
        self._tidy_at = self._present_until = 0.0
        self._interrupted = threading.Event()  # the running evaluation is to stop
        self._lost: LostLeaseError | None = None  # why, where another worker has the request now
        self._faults: set[str] = set()  # requests that met a fault of this machine, in a row
        self._pause_until = 0.0

    def stop(self) -> None:
        """Stop a running evaluation, its answers kept, and hand its request back."""
        self.stopped.set()
        self._interrupted.set()

    def round(self) -> None:
        """Evaluate what is pending; while the store is out of reach, leave it to the next round."""
        try:
            self.run_pending()
        except StoreError as error:
            log.warning("%s", error)

    def run_pending(self) -> int:
        """Evaluate until nothing is pending; returns how many requests were taken. Raises StoreError."""
        taken = 0
        self._tell_presence()
        if time.monotonic() >= self._tidy_at:
            self._tidy()
            self._tidy_at = time.monotonic() + TIDY_EVERY
        with self._device_lock():
            while not self.stopped.is_set() and time.monotonic() >= self._pause_until and self.run_one():
                taken += 1
        return taken

    def run_one(self) -> bool:
        """Evaluate the next request, if there is one. Every end is written to the queue.

        Raises StoreError where the store is out of reach: the request is taken up again once its lease has run out,
        and its answers are kept.
        """
        request = self._queue.claim(self._name, self._now())
        if request is None:
            return False
        log.info("running %s: %s on %s", request.key, request.model_id, request.benchmark)
        job_dir = self._settings.work_dir / request.key
        backup = AnswerBackup(self._private, request.key, request.attempt, job_dir)
        assert request.lease
        try:
            self._heartbeats.write(request.key, request.lease)
        except StoreError:  # answers and details would find no place either
            self._queue.release(request)
            raise
        try:
            with self._heartbeat(request, backup) as tell:
                self._evaluate(request, job_dir, backup, tell)
            self._clean_up(request, job_dir, backup)
        except LostLeaseError as error:
            log.warning("dropped %s: %s", request.key, error)
        finally:  # after the last heartbeat, which may still have asked to stop
            self._lost = None
            if not self.stopped.is_set():
                self._interrupted.clear()
        self._make_room()
        return True

    def _clean_up(self, request: EvalRequest, job_dir: Path, backup: AnswerBackup) -> None:
        """The end is written: what is left of the run here, for the next attempt, is copied once more, or goes."""
        assert request.lease
        try:
            if job_dir.exists():
                backup.update()
            else:
                backup.remove()
            self._heartbeats.remove(request.key, request.lease)
        except (StoreError, OSError) as error:
            log.warning("after %s: %s", request.key, error)

    def _tell_presence(self) -> None:
        if time.monotonic() >= self._present_until:
            self._heartbeats.present(Presence(worker=self._name, seen_at=self._now()))
            self._present_until = time.monotonic() + PRESENCE_EVERY

    def _tidy(self) -> None:
        self._private.remove_leftovers()
        if tidy_if_due(self._queue.store, self._private, self._now()):
            log.info("tidied %s", self._queue.store.url)
        rows = self._queue.rows()
        self._heartbeats.tidy((row.key for row in rows if row.status == Status.RUNNING), self._now())
        remove_answers_except(
            self._private, {row.key for row in rows if row.status in (Status.PENDING, Status.RUNNING)}
        )

    def _make_room(self) -> None:
        """Remove the models and kept answers that were used longest ago, where there are more than there may be."""
        folder = self._settings.work_dir
        kept = (*folder.glob("models/*/*"), *folder.glob("answers/*.jsonl"))
        for path in keep_newest(kept, self._settings.max_cache_bytes):
            log.info("removed %s to make room", path)

    def _evaluate(
        self, request: EvalRequest, job_dir: Path, backup: AnswerBackup, tell: Callable[[Progress], None]
    ) -> None:
        stage = Stage.FETCH

        def progress(name: str, answered: int, total: int) -> None:
            nonlocal stage
            stage = Stage(name)
            tell(Progress(stage=stage, done=coarse(answered, total), total=total))

        deadline = threading.Timer(self._settings.deadline.total_seconds(), self._interrupted.set)
        deadline.daemon = True
        deadline.start()
        try:
            backup.restore()
            task = self._task(request)
            stage = Stage.LOAD
            items, dataset = load_items(task)
            run = partial(
                evaluate,
                items=items,
                dataset=dataset,
                job_dir=job_dir,
                on_progress=progress,
                stop=self._interrupted,
                worker=self._name,
            )
            try:
                evaluation = run(task)
            except EvaluationError as error:
                if error.code != FailureCode.SERVER_FAILED or request.api or task.options.api is None:
                    raise
                log.warning("%s is run by the built-in engine, since its server failed", request.key)
                built_in = replace(task, options=replace(task.options, engine=request.engine, api=None))
                evaluation = run(built_in)
            stage = Stage.PUBLISH
            check_public([evaluation.result.to_bytes(), request.to_bytes()], items, task.source.path)
            self._publish(request, evaluation)
            self._recover()
            remove_path(job_dir)
            self._offer(request, evaluation.result)
        except EvaluationStopped as error:
            if self._lost:
                raise self._lost from None
            if self.stopped.is_set():
                self._queue.release(request)
                log.info("handed back %s", request.key)
            else:
                self._fail(request, stage, FailureCode.DEADLINE, error)
        except (LostLeaseError, StoreError):
            raise
        except EvaluationError as error:
            self._fail(request, stage, error.code, error)
        except Exception as error:
            log.exception("evaluating %s", request.key)
            full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            self._fail(request, stage, FailureCode.DISK_FULL if full else FailureCode.INTERNAL_ERROR, error)
        finally:
            deadline.cancel()

    def _publish(self, request: EvalRequest, evaluation: Evaluation) -> None:
        """Details, then the result. While the store is out of reach this is tried again until the deadline, for hours of
        a GPU are in it; the heartbeat goes on meanwhile."""

        own = self._settings.details_key
        secret = own.get_secret_value().encode() if own else None

        def attempt() -> None:
            save_details(self._private, request.key, evaluation.details, secret)
            self._queue.publish(request, evaluation.result, self._now())

        def interrupted(_: RetryCallState) -> bool:
            return self._interrupted.is_set()  # by a stop, the deadline, or a lost lease

        Retrying(
            retry=retry_if_exception_type((StoreUnavailableError, ConflictError)),
            wait=wait_random_exponential(multiplier=PUBLISH_PAUSE, max=300),
            stop=interrupted,
            sleep=sleep_using_event(self._interrupted),
            before_sleep=before_sleep_log(log, logging.WARNING),
            reraise=True,
        )(attempt)
        log.info("published %s", request.key)

    def _task(self, request: EvalRequest) -> Task:
        """Raises EvaluationError where the model cannot be had, or its code may not run."""
        fetch = partial(fetch_model, settings=self._settings)
        adapter, code = None, None
        if request.api:
            model = self._settings.work_dir / "no-model"
            model.mkdir(parents=True, exist_ok=True)
        else:
            own = (request.model_id, request.revision)
            base = (request.base_model, request.base_revision) if request.base_revision else own
            if request.custom_code and (code := self._queue.approval(str(base[0]), str(base[1]))) is None:
                raise EvaluationError(FailureCode.CODE_NOT_APPROVED, f"the code of {base[0]}@{base[1]} is not approved")
            adapter = fetch(*own) if request.base_revision else None
            model = fetch(str(base[0]), str(base[1]), code=code)
        benchmark, settings = BENCHMARKS[request.benchmark], self._settings
        options = options_of(
            request,
            model,
            benchmark,
            adapter=adapter,
            api=self._api(request),
            max_reasoning_tokens=settings.max_reasoning_tokens,
            max_pixels=settings.max_pixels,
        )
        return Task(
            request,
            options,
            benchmark,
            source=open_source(request.benchmark, settings.data.get(request.benchmark), settings),
            limit=settings.limit,
            latency_samples=settings.alone,
            max_score_changes=settings.max_score_changes,
            cache=settings.work_dir / "answers",
        )

    def _api(self, request: EvalRequest) -> ApiOptions | None:
        """The server that answers, where it is not the built-in engine. Raises EvaluationError where it is not known."""
        if request.api:
            if (known := self._settings.apis.get(request.api)) is None:
                raise EvaluationError(FailureCode.API_REFUSED, f"HANNUN_APIS does not name {request.api}")
            return ApiOptions(
                base_url=known.base_url,
                model=known.model,
                key=known.key,
                prices=known.prices or (0.0, 0.0),
                max_cost=known.max_cost,
                page_chars=known.page_chars,
                reasons=known.reasons,
            )
        # A server loads what lies in one folder; adapters are merged by the built-in engine.
        if self._settings.server and request.engine == "chat" and not request.base_revision:
            return ApiOptions(spawn=self._settings.server)
        return None

    def _offer(self, request: EvalRequest, result: EvalResult) -> None:
        """To the model's repository. The result stands whether that works or not."""
        try:
            if address := offer_result(request, result, self._settings):
                log.info("offered %s: %s", request.key, address)
        except HTTPError as error:
            log.warning("offering %s: %s", request.key, error)

    def _fail(self, request: EvalRequest, stage: Stage, code: FailureCode, error: Exception) -> None:
        after = self._queue.fail(request, Failure(stage=stage, code=code), self._now())
        if after.status != Status.PENDING:  # else the next attempt goes on from the answers so far
            remove_path(self._settings.work_dir / request.key)
        said = "" if isinstance(error, EvaluationError) and error.quoted else f": {error}"
        log.warning("%s at %s with %s, now %s%s", request.key, stage, code, after.status, said)
        if code.of_the_machine:
            self._pause(request.key, code)
        elif not code.ours:
            self._recover()

    def _pause(self, key: str, code: FailureCode) -> None:
        """After a fault of the machine the next request would most likely meet the same: with each other request that does,
        twice as long until the next try, and after a few on the board too. One request alone, of a model that knows how to
        bring such a fault about, does not make it longer."""
        self._faults.add(key)
        seconds = min(FIRST_PAUSE * 2 ** (len(self._faults) - 1), LONGEST_PAUSE)
        self._pause_until = time.monotonic() + seconds
        log.warning("no request is taken for %g s: %d in a row met a fault of ours", seconds, len(self._faults))
        if len(self._faults) >= FAULTS_TOLD:
            log.error("%s again and again: mend it, then requeue --all", code)
            now = self._now()
            self._heartbeats.pause(
                Pause(worker=self._name, code=code, since=now, until=now + timedelta(seconds=seconds))
            )

    def _recover(self) -> None:
        if len(self._faults) >= FAULTS_TOLD:
            self._heartbeats.resume(self._name)
        self._faults.clear()

    def _now(self) -> datetime:
        """By the store's clock: a worker whose own is wrong neither loses leases nor steals them."""
        return self._queue.store.now()

    @contextmanager
    def _device_lock(self) -> Iterator[None]:
        """One evaluation at a time on this machine's device: a second worker waits, or stops waiting when stopped."""
        while not self.stopped.is_set():
            try:
                with self._device.acquire(timeout=1):
                    yield
                    return
            except Timeout:
                continue
        yield

    @contextmanager
    def _heartbeat(self, request: EvalRequest, backup: AnswerBackup) -> Iterator[Callable[[Progress], None]]:
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
                    self._queue.heartbeat(request, self._now(), now)
                    backup.update()
                    self._tell_presence()
                except LostLeaseError as error:
                    self._lost = error
                    self._interrupted.set()
                    return
                except Exception as error:  # one missed beat is no reason to stop
                    log.warning("heartbeat of %s: %s", request.key, error)

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield tell
        finally:
            done.set()
            wake.set()
            thread.join()


def coarse(done: int, total: int) -> int:
    """How far it is, in twentieths of the total: what is published while a model runs could be a message of its own."""
    done, step = max(0, min(done, total)), max(1, -(-total // 20))
    return done if done == total else done - done % step


def start_schedule(interval: timedelta, worker: Worker) -> BackgroundScheduler:
    """Look at the queue now and every `interval`. A round that takes longer is not joined by a second one."""
    scheduler = BackgroundScheduler(timezone=UTC)
    scheduler.add_job(
        worker.round,
        "interval",
        seconds=interval.total_seconds(),
        next_run_time=datetime.now(UTC),
        max_instances=1,
        coalesce=True,
        misfire_grace_time=None,
    )
    scheduler.start()
    return scheduler


def run_every(interval: timedelta, worker: Worker) -> None:
    """Evaluate what is queued, again and again, until the worker is stopped."""
    scheduler = start_schedule(interval, worker)
    worker.stopped.wait()
    scheduler.shutdown(wait=True)
