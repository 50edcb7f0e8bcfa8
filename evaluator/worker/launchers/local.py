"""`HANNUN_LAUNCHER=local`: run evaluations on this host's devices, one device each, or several for a large model."""

import logging
import math
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta

from filelock import FileLock, Timeout

from evaluator.results.shard import Shard
from evaluator.worker.launchers.held_claims import HeldClaims
from evaluator.worker.run import ClaimedRun
from evaluator.worker.work_dir import make_room, prepare_work_dir
from submissions.config.settings import Settings
from submissions.hub_models.devices import Device, visible_devices
from submissions.hub_models.model_facts import memory_needed
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest, Progress, Stage
from submissions.store.open import open_private_store
from submissions.texts.errors import LostLeaseError, StoreError
from submissions.texts.failure_codes import FailureCode

log = logging.getLogger(__name__)

POLL_SECONDS = 1.0  # between attempts to get a device that another worker holds


class LocalLauncher:
    """Runs evaluations in this process and its children. It holds one lock file for each device that it uses."""

    def __init__(self, settings: Settings, queue: Queue) -> None:
        """Raises SandboxError without a sandbox, SettingsError for unusable settings, StoreError if a store fails."""
        prepare_work_dir(settings)
        self._settings = settings
        self._queue = queue
        self._private = open_private_store(settings)
        self._devices = visible_devices()  # the GPUs of this host, or none
        self._pool = DevicePool([])  # empty until `slots` is entered, then with the devices that no other worker holds
        self._running: set[ClaimedRun] = set()
        self._stopped = threading.Event()
        self._claims = HeldClaims(settings.work_dir / ("private-claims" if queue.is_private else "claims"))

    @contextmanager
    def slots(self) -> Iterator[int]:
        """Yield the number of devices that no other worker of this host holds. A host without GPUs counts as one device.

        Requests of killed workers of this host go back to the queue first.
        """
        self._take_back_abandoned()
        folder = self._settings.work_dir
        with ExitStack() as held:
            free: list[Device] = []
            while not free and not self._stopped.is_set():
                for device in self._devices or [Device("")]:
                    name = (device.uuid or device.name).replace("/", "-")
                    lock = FileLock(folder / (f"device-{name}.lock" if name else "device.lock"))
                    try:
                        held.enter_context(lock.acquire(timeout=0))
                    except Timeout:
                        continue
                    free.append(device)
                if not free:
                    self._stopped.wait(POLL_SECONDS)
            self._pool = DevicePool(free)
            yield len(free)

    def _take_back_abandoned(self) -> None:
        """Put the requests of killed workers of this host back into the queue, before their leases expire."""
        if nonces := self._claims.abandoned():
            for key in self._queue.take_back(nonces):
                log.info("took back %s of a worker that was killed", key)
            for nonce in nonces:
                self._claims.forget(nonce)

    def run(self, request: EvalRequest, shard: Shard | None = None) -> FailureCode | None:
        assert request.lease
        # A mark tells the next worker of this host that a claim is still held. Shards share a lease and so would share a mark,
        # and the first one to end would remove it from the others. They have none.
        if shard:
            return self._run(request, shard)
        with self._claims.hold(request.lease.nonce):
            return self._run(request, None)

    def _run(self, request: EvalRequest, shard: Shard | None) -> FailureCode | None:
        """Wait for devices with enough memory, and evaluate the request on them."""
        memory = memory_needed(request.params, request.precision)

        def send_heartbeat() -> None:
            try:
                self._queue.heartbeat(request, self._queue.store.now(), Progress(stage=Stage.LAUNCH))
            except StoreError as error:
                log.warning("heartbeat of %s: %s", request.key, error)

        try:
            with self._pool.take(memory, self._settings.heartbeat, send_heartbeat) as devices:
                names = [device.name for device in devices] if self._devices else None
                run = ClaimedRun(self._settings, self._queue, self._private, request, shard=shard, devices=names)
                self._running.add(run)
                try:
                    if self._stopped.is_set():  # perhaps `stop` was called before the run was added
                        run.stop()
                    return run.run()
                finally:
                    self._running.discard(run)
                    make_room(self._settings)
        except LostLeaseError as error:  # while waiting for a device
            log.warning("dropped %s: %s", request.key, error)
            return None

    def stop(self) -> None:
        self._stopped.set()
        for run in self._running.copy():
            run.stop()


class DevicePool:
    """Lend devices to evaluations, in the order in which they asked."""

    def __init__(self, devices: Sequence[Device]) -> None:
        self._count = len(devices)
        self._smallest_memory = min((device.memory for device in devices if device.memory), default=None)  # bytes
        self._free = list(devices)
        # First come, first served: an evaluation that needs several devices is not overtaken by one that needs one.
        self._turns: deque[object] = deque()
        self._changed = threading.Condition()

    @contextmanager
    def take(
        self, memory: int | None, every: timedelta, waiting: Callable[[], None] = lambda: None
    ) -> Iterator[list[Device]]:
        """Wait for devices that have `memory` bytes in total, and yield them.

        If `memory` is None, this is one device. If all devices have less, this is all of them, and the evaluation then
        fails with an out-of-memory error. `waiting` is called at the interval `every` while devices are not free.
        """
        turn = object()
        needed = math.ceil(memory / self._smallest_memory) if memory and self._smallest_memory else 1
        count = min(self._count, needed)
        with self._changed:
            self._turns.append(turn)
        try:
            while (taken := self._try_to_take(turn, count, every)) is None:
                waiting()
        finally:
            with self._changed:
                self._turns.remove(turn)
                self._changed.notify_all()
        try:
            yield taken
        finally:
            with self._changed:
                self._free += taken
                self._changed.notify_all()

    def _try_to_take(self, turn: object, count: int, timeout: timedelta) -> list[Device] | None:
        """Return `count` devices once it is this turn and they are free, or None if that takes longer than `timeout`."""
        with self._changed:
            is_ready = self._changed.wait_for(
                lambda: self._turns[0] is turn and len(self._free) >= count, timeout.total_seconds()
            )
            return [self._free.pop(0) for _ in range(count)] if is_ready else None
