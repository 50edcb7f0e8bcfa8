"""Test the limits on requests to a model server."""

import time

import pytest

from evaluator.engines.server_pool import MAX_REST_SECONDS, ServerLoad


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_slow_down_counts_outage_once(clock: list[float]) -> None:
    load = ServerLoad(8)
    for _ in range(8):
        load.slow_down(rest=True)
    assert (load.room, load.rests_until) == (2, 102.0)


def test_slow_down_caps_rest_of_server(clock: list[float]) -> None:
    load = ServerLoad(8)
    for _ in range(2000):
        clock[0] = load.rests_until + 1
        load.slow_down(rest=True)
    assert load.rests_until == clock[0] + MAX_REST_SECONDS
    load.speed_up()
    assert load.rests_until == 0.0
