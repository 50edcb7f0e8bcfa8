"""Send heartbeats of a running evaluation, and back up its answers with each."""

import logging
import threading
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType

from evaluator.worker.backup import AnswerBackup
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest, Progress, Stage
from submissions.texts.errors import LostLeaseError

log = logging.getLogger(__name__)

PROGRESS_STEPS = 20  # coarse, because a model could encode a message in published progress


class Heartbeat:
    """Extend the lease of a request from a thread, at an interval and whenever a stage begins.

    Use it as a context manager around the evaluation, which calls `enter` and `report`. If another worker has taken over
    the request, `lost` is set, `interrupt` is called to stop the evaluation, and no further heartbeat is sent.
    """

    def __init__(
        self,
        queue: Queue,
        request: EvalRequest,
        backup: AnswerBackup,
        interval: timedelta,
        interrupt: Callable[[], None],
    ) -> None:
        self.lost: LostLeaseError | None = None
        self._queue = queue
        self._request = request
        self._backup = backup
        self._seconds = interval.total_seconds()
        self._interrupt = interrupt
        self._progress = Progress(stage=Stage.FETCH)
        self._done = threading.Event()  # set when the evaluation has ended
        self._wake = threading.Event()  # set to send a heartbeat at once
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def report(self, stage: str, done: int, total: int) -> None:
        """Set the progress that the next heartbeat publishes. A new stage is published at once."""
        if Stage(stage) != self._progress.stage:
            self.enter(Stage(stage))
        self._progress = Progress(stage=Stage(stage), done=coarse(done, total), total=total)

    def enter(self, stage: Stage) -> None:
        """Begin a stage, and publish that at once."""
        self._progress = Progress(stage=stage)
        self._wake.set()

    @property
    def stage(self) -> Stage:
        return self._progress.stage

    def __enter__(self) -> "Heartbeat":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._done.set()
        self._wake.set()
        self._thread.join()

    def _beat(self) -> None:
        """Send heartbeats until the evaluation has ended or the lease is lost."""
        while not self._done.is_set():
            self._wake.wait(self._seconds)
            self._wake.clear()
            if self._done.is_set():
                return
            try:
                self._queue.heartbeat(self._request, self._queue.store.now(), self._progress)
                self._backup.update()
            except LostLeaseError as error:
                self.lost = error
                self._interrupt()
                return
            except Exception as error:  # one missed heartbeat does not end the run
                log.warning("heartbeat of %s: %s", self._request.key, error)


def coarse(done: int, total: int) -> int:
    """Return `done` rounded down to one of at most PROGRESS_STEPS equal steps, or `total` if all of it is done.

    With `total` 1000: 49 -> 0, 50 -> 50, 999 -> 950, 1000 -> 1000.
    """
    done = max(0, min(done, total))
    if done == total:
        return done
    step = max(1, -(-total // PROGRESS_STEPS))  # rounded up
    return done - done % step
