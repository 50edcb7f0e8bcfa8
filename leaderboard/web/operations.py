"""Routes for monitoring: liveness (`/healthz`), readiness (`/readyz`), and metrics for Prometheus (`/metrics`).

The metrics are described in docs/operate.md; `assets/deploy/rules.yaml` has alerts on them.
"""

import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fastapi import APIRouter, Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from leaderboard.data.live_board import LiveBoard
from leaderboard.data.view import View
from leaderboard.web.late_app import LateApp
from submissions.config.paths import nearest_existing
from submissions.records.request import Status
from submissions.store.folders import ENTRIES_PER_FOLDER, folder_sizes

MAX_UPKEEP_TIME = timedelta(hours=1)  # an upkeep that has not ended by then has failed
_NO_STORE = {"Cache-Control": "no-store"}  # the state of this moment must not be cached


def operations(board: LiveBoard, api: LateApp, disk: Path) -> APIRouter:
    """Return the routes for monitoring.

    `api` is Gradio's application, whose failure is reported. `disk` is a folder in the file system whose free space is
    reported.
    """
    router = APIRouter()
    registry = CollectorRegistry()
    registry.register(_BoardCollector(board, disk))

    @router.get("/healthz")
    async def alive() -> Response:  # runs in the event loop, so it answers even if all threads are busy
        return Response("ok\n", media_type="text/plain", headers=_NO_STORE)

    @router.get("/readyz")
    async def ready() -> Response:
        board.view()  # starts a refresh in the background
        if since := board.stale_since:
            when = f"since {since:%Y-%m-%dT%H:%M:%SZ}" if board.last_reached else "and was never reached"
            return Response(f"the store is out of reach {when}\n", 503, _NO_STORE, "text/plain")
        if since := board.workers.private_failing_since:
            reason = f"the private store is out of reach since {since:%Y-%m-%dT%H:%M:%SZ}; the log has the error\n"
            return Response(reason, 503, _NO_STORE, "text/plain")
        if api.failure:
            reason = "the API for programs could not be started; the log has the error; restart the board\n"
            return Response(reason, 503, _NO_STORE, "text/plain")
        return Response("ok\n", media_type="text/plain", headers=_NO_STORE)

    @router.get("/metrics")
    def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4, headers=_NO_STORE)

    return router


def _free_space(folder: Path) -> int:
    """Return the free bytes on a folder's disk. The folder does not need to exist yet."""
    return shutil.disk_usage(nearest_existing(folder)).free


class _BoardCollector(Collector):
    """Collects the metrics from the board's current view, each time that they are requested."""

    def __init__(self, board: LiveBoard, disk: Path) -> None:
        self._board = board
        self._disk = disk
        self._counted_head = ""  # the commit of the store at which the entries below were counted, which takes long
        self._fullest_folder_entries = 0

    def collect(self) -> Iterator[Metric]:
        view = self._board.view()
        now = datetime.now(UTC)
        pending = [row.submitted_at for row in view.queue if row.status == Status.PENDING]
        oldest_pending = (now - min(pending)).total_seconds() if pending else 0.0
        yield from self._requests(view, oldest_pending)
        yield from self._workers(now, oldest_pending)
        yield from self._store(view, now)
        yield from self._durations(view)

    def _requests(self, view: View, oldest_pending: float) -> Iterator[Metric]:
        counts = Counter(row.status for row in view.queue)
        requests = GaugeMetricFamily("hannun_requests", "Open and recent requests by state.", labels=["status"])
        for status in Status:
            requests.add_metric([status], counts[status])
        yield requests
        yield GaugeMetricFamily("hannun_oldest_pending_seconds", "Age of the oldest pending request.", oldest_pending)

    def _workers(self, now: datetime, oldest_pending: float) -> Iterator[Metric]:
        workers = self._board.workers
        heartbeats = GaugeMetricFamily(
            "hannun_heartbeat_age_seconds",
            "Seconds since the last heartbeat of a worker's running evaluation; of several, the oldest one.",
            labels=["worker"],
        )
        oldest: dict[str, datetime] = {}  # by worker, which may run several evaluations
        for lease in workers.leases.values():
            oldest[lease.worker] = min(lease.heartbeat_at, oldest.get(lease.worker, lease.heartbeat_at))
        for worker, heartbeat_at in oldest.items():
            heartbeats.add_metric([worker], (now - heartbeat_at).total_seconds())
        yield heartbeats

        times = [worker.seen_at for worker in workers.workers]
        yield GaugeMetricFamily(
            "hannun_worker_seen_age_seconds",
            "Seconds since any worker was last seen; if none ever was, the age of the oldest pending request.",
            (now - max(times)).total_seconds() if times else oldest_pending,
        )

        paused = GaugeMetricFamily(
            "hannun_worker_paused", "1 while a worker takes no requests after failures.", labels=["worker", "code"]
        )
        for pause in workers.pauses:
            paused.add_metric([pause.worker, pause.code], 1)
        yield paused

    def _store(self, view: View, now: datetime) -> Iterator[Metric]:
        reached = self._board.last_reached
        age = (now - reached).total_seconds() if reached else float("inf")
        yield GaugeMetricFamily("hannun_refresh_age_seconds", "Seconds since the store last answered.", age)
        failing_since = self._board.workers.private_failing_since
        yield GaugeMetricFamily(
            "hannun_private_store_failing_seconds",
            "Seconds since the private store can no longer be read or written; 0 if it can.",
            (now - failing_since).total_seconds() if failing_since else 0.0,
        )
        yield CounterMetricFamily(
            "hannun_store_errors",
            "Failed attempts to reach the store, including those that were retried.",
            self._board.failed_attempts,
        )
        yield GaugeMetricFamily(
            "hannun_commits_last_hour", "Commits to the store within the last hour.", self._board.commits_of_last_hour()
        )
        if self._counted_head != view.snapshot.head:
            self._fullest_folder_entries = max(folder_sizes(view.snapshot).values(), default=0)
            self._counted_head = view.snapshot.head
        yield GaugeMetricFamily(
            "hannun_fullest_folder_entries",
            f"Entries (files and folders) in the fullest folder of the store; the Hub allows {ENTRIES_PER_FOLDER:,}.",
            self._fullest_folder_entries,
        )
        yield GaugeMetricFamily("hannun_disk_free_bytes", "Free bytes on the board's disk.", _free_space(self._disk))
        upkeep = self._board.workers.upkeep
        failed = upkeep is not None and not upkeep.done and now - upkeep.at > MAX_UPKEEP_TIME
        yield GaugeMetricFamily(
            "hannun_upkeep_failed", "1 after an upkeep of the store that did not finish.", int(failed)
        )
        if diagnosis := self._board.workers.diagnosis:
            found = GaugeMetricFamily("hannun_doctor_faults", "Faults that the last doctor found.", labels=["host"])
            found.add_metric([diagnosis.host], len(diagnosis.faults))
            yield found
        yield GaugeMetricFamily(
            "hannun_unreadable_records", "Records that cannot be read and are left out.", len(view.unreadable)
        )

    def _durations(self, view: View) -> Iterator[Metric]:
        durations = SummaryMetricFamily(
            "hannun_evaluation_seconds", "Seconds from claim to end of recent evaluations.", labels=["benchmark"]
        )
        seconds_by_benchmark: dict[str, list[float]] = {}
        for row in view.queue:
            if row.status == Status.FINISHED and row.started_at and row.finished_at:
                seconds = (row.finished_at - row.started_at).total_seconds()
                seconds_by_benchmark.setdefault(row.benchmark, []).append(seconds)
        for benchmark, seconds_each in seconds_by_benchmark.items():
            durations.add_metric([benchmark], len(seconds_each), sum(seconds_each))
        yield durations
