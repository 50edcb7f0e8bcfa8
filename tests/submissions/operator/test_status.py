"""Test the summary that `python -m submissions status` prints."""

from scripts.support.records import Make
from submissions.config.settings import Settings
from submissions.operator.status import SHOWN_WORKERS, status_lines
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records.worker import Presence
from submissions.store.base import Store


def _lines(store: Store, settings: Settings) -> str:
    return "\n".join(status_lines(Queue(store), settings))


def test_running_request_without_a_heartbeat_is_listed(
    store: Store, settings: Settings, heartbeats: Heartbeats, make_request: Make
) -> None:
    queue = Queue(store)
    queue.submit(make_request())
    claimed = queue.claim("worker", store.now())
    assert claimed and claimed.lease
    assert f"running   {claimed.key} without a heartbeat so far" in _lines(store, settings)
    heartbeats.write(claimed.key, claimed.lease)
    assert f"running   {claimed.key} by worker, heartbeat 0s ago" in _lines(store, settings)


def test_workers_beyond_those_shown_are_counted(store: Store, settings: Settings, heartbeats: Heartbeats) -> None:
    assert "none seen yet" in _lines(store, settings)
    for number in range(SHOWN_WORKERS + 2):
        heartbeats.report_presence(Presence(worker=f"w{number}", seen_at=store.now()))
    lines = _lines(store, settings)
    assert lines.count("worker    ") == SHOWN_WORKERS and "and 2 seen earlier" in lines
