"""The pause of a worker after host faults: failures whose cause is this machine, such as a full disk."""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from submissions.queue.heartbeats import Heartbeats
from submissions.records.worker import Pause
from submissions.texts.failure_codes import FailureCode

log = logging.getLogger(__name__)

FIRST_PAUSE = 10.0  # seconds without claims after a host fault
LONGEST_PAUSE = 3600.0  # seconds
MAX_DOUBLINGS = 10  # enough for LONGEST_PAUSE; FIRST_PAUSE * 2**1100 would be too large for a float
PAUSE_NOTICE_AFTER = 3  # requests that met a host fault, after which the board shows that the worker is paused


class HostFaultPause:
    """Stop claiming requests for a while after a host fault, because the next request would probably meet it too.

    The pause doubles with each further request that fails this way, until a request gets through: it is finished, or it fails
    because of its model. From PAUSE_NOTICE_AFTER requests on, the board shows the pause. A request that fails again begins
    the pause again but does not double it, because a model may be able to cause such a failure.
    """

    def __init__(self, worker: str, heartbeats: Heartbeats, now: Callable[[], datetime]) -> None:
        self._worker = worker
        self._heartbeats = heartbeats
        self._now = now  # the time by the store's clock
        self._failed: set[str] = set()  # keys of the requests that met a host fault since one got through
        self.ends_at = 0.0  # by time.monotonic()

    @property
    def has_host_fault(self) -> bool:
        """Return whether a request met a host fault and none has got through since."""
        return bool(self._failed)

    @property
    def is_active(self) -> bool:
        """Return whether no request may be claimed now."""
        return time.monotonic() < self.ends_at

    def update(self, key: str, code: FailureCode | None) -> None:
        """Pause after a host fault, or forget earlier ones if the request got through.

        `code` is the failure of its run, or None if it did not fail. Infrastructure failures that are not host faults change
        nothing.
        """
        if code and code.is_host_fault:
            self._pause(key, code)
        elif code is None or not code.is_infrastructure:
            self._forget_faults()

    def _pause(self, key: str, code: FailureCode) -> None:
        self._failed.add(key)
        failed = len(self._failed)
        doublings = min(failed - 1, MAX_DOUBLINGS)
        seconds = min(FIRST_PAUSE * 2**doublings, LONGEST_PAUSE)
        self.ends_at = time.monotonic() + seconds
        log.warning("no request is claimed for %g s: %d met a host fault since one got through", seconds, failed)
        if failed >= PAUSE_NOTICE_AFTER:
            log.error("repeated %s: fix the cause, then requeue --all", code)
            now = self._now()
            self._heartbeats.pause(
                Pause(worker=self._worker, code=code, since=now, until=now + timedelta(seconds=seconds))
            )

    def _forget_faults(self) -> None:
        """End the pause, and begin with the shortest one after the next host fault."""
        self.ends_at = 0.0
        if len(self._failed) >= PAUSE_NOTICE_AFTER:
            self._heartbeats.resume(self._worker)
        self._failed.clear()
