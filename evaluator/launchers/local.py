"""`HANNUN_LAUNCHER=local`: evaluations on this machine's devices, one on each, or on several where a model is large."""

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from filelock import FileLock, Timeout

from evaluator.claimed_run import ClaimedRun
from evaluator.run.shard import Shard
from evaluator.work_dir import make_room, prepare_work_dir
from submissions.failure_codes import FailureCode
from submissions.models.devices import Device, visible_devices
from submissions.models.model_facts import memory_needed
from submissions.queue.queue import Queue
from submissions.records import EvalRequest
from submissions.settings import Settings
from submissions.store.open import open_private_store

LOOK_SECONDS = 1.0  # between looks for a device that another worker has


class LocalLauncher:
    def __init__(self, settings: Settings, queue: Queue) -> None:
        """Raises SandboxError, SettingsError, StoreError."""
        prepare_work_dir(settings)
        self._settings = settings
        self._queue = queue
        self._private = open_private_store(settings)
        self._devices = visible_devices()
        self._pool = DevicePool([])
        self._running: set[ClaimedRun] = set()
        self._stopped = threading.Event()

    @contextmanager
    def slots(self) -> Iterator[int]:
        """The devices that no other worker of this machine has; a machine without GPUs counts as one."""
        folder = self._settings.work_dir
        with ExitStack() as held:
            own: list[Device] = []
            while not own and not self._stopped.is_set():
                for device in self._devices or [Device("")]:
                    lock = FileLock(folder / (f"device-{device.name}.lock" if device.name else "device.lock"))
                    try:
                        held.enter_context(lock.acquire(timeout=0))
                    except Timeout:
                        continue
                    own.append(device)
                if not own:
                    self._stopped.wait(LOOK_SECONDS)
            self._pool = DevicePool(own)
            yield len(own)

    def run(self, request: EvalRequest, shard: Shard | None = None) -> FailureCode | None:
        needed = memory_needed(request.params, request.precision)
        with self._pool.take(needed) as devices:
            names = [device.name for device in devices] if self._devices else None
            run = ClaimedRun(self._settings, self._queue, self._private, request, shard=shard, devices=names)
            self._running.add(run)
            try:
                if self._stopped.is_set():
                    run.stop()
                return run.run()
            finally:
                self._running.discard(run)
                make_room(self._settings)

    def stop(self) -> None:
        self._stopped.set()
        for run in self._running.copy():
            run.stop()


class DevicePool:
    """Devices that evaluations take and give back."""

    def __init__(self, devices: Sequence[Device]) -> None:
        self._count = len(devices)
        self._least = min((device.memory for device in devices if device.memory), default=None)
        self._free = list(devices)
        self._turn = threading.Lock()  # who waits for several is not passed by who wants one
        self._given_back = threading.Condition()

    @contextmanager
    def take(self, memory: int | None) -> Iterator[list[Device]]:
        """Devices with that many bytes together, once they are free; one where that is not known, all where that is too
        much: the device then says so."""
        wanted = math.ceil(memory / self._least) if memory and self._least else 1
        with self._turn, self._given_back:
            self._given_back.wait_for(lambda: len(self._free) >= min(wanted, self._count))
            taken = [self._free.pop(0) for _ in range(min(wanted, self._count))]
        try:
            yield taken
        finally:
            with self._given_back:
                self._free += taken
                self._given_back.notify_all()
