"""`make simulate PARTS=queue`: simulate how long a year of submissions waits, by the number of devices.

The queue is real; the store is in memory and the clock is simulated. Duration and devices of an evaluation are the estimates
of `python -m evaluator estimate` for an A100. The seed is fixed.
"""

import heapq
import random
import statistics
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from rich.console import Console
from rich.progress import track
from rich.table import Table

from evaluator.results.estimate import DEVICES, estimate
from scripts.support.evaluated import evaluated
from scripts.support.records import request_numbered
from submissions.queue.leases import SKEW
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest, Failure, Stage
from submissions.store.base import Changes, Commit, Snapshot, blob_id
from submissions.texts.errors import ConflictError
from submissions.texts.failure_codes import FailureCode

START = datetime.fromisoformat("2026-01-05T00:00:00+00:00")
YEAR = timedelta(days=365)
BURST = timedelta(days=1)
FIRST_DAY_SHARE = 0.1  # of a year's models arrive on the first day, but at most BURST_MODELS
BURST_MODELS = 200
SIZES = {0.5: 10, 2: 20, 4: 20, 8: 30, 14: 10, 32: 7, 72: 3}  # billions of parameters → models of 100
REASONING = 0.2  # share of models that reason
FAILED, PREEMPTED, LOST = 0.05, 0.05, 0.01  # share of runs
BENCHMARKS = ("ko-vqa", "ko-vdc", "korquad-2", "infochartqa")
LEASE = timedelta(minutes=30)
A100 = next(device for device in DEVICES if device.name == "A100")


class MemoryStore:
    """A store in a dictionary. The simulation sets its clock."""

    url = "memory"

    def __init__(self) -> None:
        self.write_lock = threading.Lock()
        self.failed_attempts = 0
        self.clock = START
        self._head = 0
        self._files = dict[str, str]()
        self._blobs: dict[str, bytes] = {}
        self._changed: frozenset[str] = frozenset()

    def head(self) -> str:
        return str(self._head)

    def snapshot(self, head: str | None = None) -> Snapshot:
        return Snapshot(self.head(), self._files, str(self._head - 1), self._changed)

    def read(self, path: str, head: str) -> bytes:
        return self._blobs[self._files[path]]

    def entries(self, folder: str, head: str) -> int:
        return 0  # folders never get full, as `make simulate` shows

    def session(self) -> AbstractContextManager[None]:
        return nullcontext()

    def prefetch(self, paths: Collection[str], snapshot: Snapshot) -> None:
        """Do nothing, because all files are in memory."""

    def commit(self, changes: Changes, parent: str, message: str) -> str:
        if parent != self.head():
            raise ConflictError("the store has moved")
        for path, content in changes.items():
            self._blobs.pop(self._files.pop(path, ""), None)
            if content is not None:
                self._files[path] = blob = blob_id(content)
                self._blobs[blob] = content
        self._head += 1
        self._changed = frozenset(changes)
        return self.head()

    def history(self, head: str) -> Iterator[Commit]:
        return iter(())

    def tidy(self, grace_s: float = 0.0) -> None:
        """Do nothing, because there is no history."""

    def now(self) -> datetime:
        return self.clock


@dataclass
class Model:
    params: int
    reasons: bool
    left: dict[str, float] = field(default_factory=dict)  # benchmark → share of its questions that are not answered yet


@dataclass
class Year:
    """Simulate a year with a number of models and a number of devices."""

    models: int
    devices: int
    waits: list[float] = field(default_factory=list)  # hours from submission to result
    lost: set[str] = field(default_factory=set)  # requests whose host is lost
    busy: float = 0.0  # device hours
    until: datetime = START

    def run(self) -> None:
        rng = random.Random(self.models)
        store = MemoryStore()
        queue = Queue(store, YEAR, 3)  # as if every running evaluation sent its heartbeats
        made = [self._model(rng) for _ in range(self.models)]
        burst = min(BURST_MODELS, int(self.models * FIRST_DAY_SHARE))
        arrivals = [START + (BURST if n < burst else YEAR) * rng.random() for n in range(self.models)]
        events = [(at, 0, number, None) for number, at in enumerate(sorted(arrivals))]
        ends: list[tuple[datetime, int, int, EvalRequest | None]] = list(events)
        free = self.devices
        order = 1
        waiting = list[EvalRequest]()
        while ends:
            now, _, number, request = heapq.heappop(ends)
            store.clock = now
            if request is None and number >= 0:
                queue.submit_all(self._requests(number, now))
            elif request:
                free += number
                if not self._finish(queue, request, made, rng, now):
                    order += 1
                    heapq.heappush(ends, (now + LEASE + SKEW, order, 0, request))
            while free and (waiting or (claimed := queue.claim(f"worker-{order}", now))):
                if not waiting:
                    assert claimed
                    waiting.append(claimed)
                model = made[int(waiting[0].model_id.rpartition("-")[2])]
                devices, hours = self._takes(model, waiting[0].benchmark)
                if devices > free:
                    break  # a request that needs several devices is not overtaken by one that needs one
                order += 1
                free -= devices
                self.busy += devices * hours
                heapq.heappush(ends, (now + timedelta(hours=hours), order, devices, waiting.pop()))
            self.until = now

    def _takes(self, model: Model, benchmark: str) -> tuple[int, float]:
        whole = estimate(model.params, 2 * model.params, benchmark, A100, reasons=model.reasons)
        return min(whole.devices, self.devices), whole.seconds / 3600 * model.left.get(benchmark, 1.0)

    def _finish(
        self, queue: Queue, request: EvalRequest, models: list[Model], rng: random.Random, now: datetime
    ) -> bool:
        """End a run. Return False if its host is lost, which is noticed when the lease expires; answers are kept."""
        model = models[int(request.model_id.rpartition("-")[2])]
        chance = rng.random()
        if request.key in self.lost:
            self.lost.remove(request.key)
            queue.fail(request, Failure(stage=Stage.INFER, code=FailureCode.WORKER_LOST), now)
        elif chance < LOST:
            model.left[request.benchmark] = 0.5 * model.left.get(request.benchmark, 1.0)
            self.lost.add(request.key)
            return False
        elif chance < LOST + PREEMPTED:
            model.left[request.benchmark] = 0.5 * model.left.get(request.benchmark, 1.0)
            queue.release(request)
        else:
            if chance < LOST + PREEMPTED + FAILED:
                queue.fail(request, Failure(stage=Stage.INFER, code=FailureCode.MODEL_ERROR), now)
            else:
                queue.publish(request, evaluated(request, 50.0), now)
            self.waits.append((now - request.submitted_at) / timedelta(hours=1))
        return True

    @staticmethod
    def _model(rng: random.Random) -> Model:
        (billions,) = rng.choices(list(SIZES), list(SIZES.values()))
        return Model(int(billions * 1e9), rng.random() < REASONING)

    @staticmethod
    def _requests(number: int, now: datetime) -> list[EvalRequest]:
        return [
            request_numbered(
                number * len(BENCHMARKS) + place,
                model_id=f"owner-{number % 300}/Model-{number}",
                benchmark=benchmark,
                submitted_at=now,
                submitted_by=f"{number % 300:016x}",
            )
            for place, benchmark in enumerate(BENCHMARKS)
        ]


def queue_part(models: Sequence[int], devices: Sequence[int]) -> None:
    table = Table("models", "A100s", "p50", "p90", "p99", "last after", "busy", "device hours")
    cases = [Year(model_count, device_count) for model_count in models for device_count in devices]
    for year in track(cases, "years"):
        year.run()
        cuts = statistics.quantiles(year.waits, n=100)
        span = (year.until - START) / timedelta(hours=1)
        table.add_row(
            f"{year.models:,}",
            f"{year.devices}",
            *(_hours(cuts[place]) for place in (49, 89, 98)),
            f"{span / 24:.0f} d",
            f"{year.busy / (span * year.devices):.0%}",
            f"{year.busy:,.0f}",
        )
    Console().print(table)


def _hours(hours: float) -> str:
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:,.0f} d"
