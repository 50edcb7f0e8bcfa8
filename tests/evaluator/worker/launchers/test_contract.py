"""Test what every launcher does: launch, progress, cancel, preemption, exit without a result, collecting the result,
and a job whose launcher is killed."""

import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

import pytest

from evaluator.worker.backup import AnswerBackup
from evaluator.worker.launchers.base import JobLauncher
from evaluator.worker.loop import Worker
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest, Lease, Stage
from submissions.store.index import board_reader
from submissions.store.open import open_private_store, open_store
from tests.evaluator.worker.launchers.conftest import Place
from tests.evaluator.worker.test_loop import submit

pytestmark = pytest.mark.integration

QUESTIONS = 80  # for the samples of ko-vdc


def when_answered(place: Place, count: int, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Call `act` once, as soon as the private store has `count` answers.

    This is checked when a launcher looks at its job or, if the job runs in this process, at the job's heartbeat.
    """
    done: list[bool] = []
    once = threading.Lock()
    hold = JobLauncher._extend_lease
    update = AnswerBackup.update

    def look() -> None:
        with once:  # several threads may call this
            if not done and len(copied(place.settings)) >= count:
                done.append(True)
                act()

    def hold_and_look(launcher: JobLauncher, request: EvalRequest) -> None:
        hold(launcher, request)
        look()

    def update_and_look(backup: AnswerBackup) -> None:
        update(backup)
        look()

    monkeypatch.setattr(JobLauncher, "_extend_lease", hold_and_look)
    monkeypatch.setattr(AnswerBackup, "update", update_and_look)


def copied(settings: Settings) -> list[str]:
    """Return the ids of the answers in the private store."""
    private = open_private_store(settings)
    return [json.loads(line)["id"] for path in private.paths("answers") for line in private.read(path).splitlines()]


def queue_of(settings: Settings) -> Queue:
    return Queue(open_store(settings.store, settings))


def rows_of(settings: Settings) -> list[str]:
    store = open_store(settings.store, settings)
    return [row.key for row in board_reader(store).read(store.snapshot())[0]]


def test_launcher_collects_result(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    request = submit(place.settings, "tiny/image-text", "ko-vdc")
    stages: list[Stage] = []
    write = Heartbeats.write

    def recording(heartbeats: Heartbeats, key: str, lease: Lease) -> None:
        write(heartbeats, key, lease)
        stages.extend([lease.progress.stage] if lease.progress else [])

    monkeypatch.setattr(Heartbeats, "write", recording)
    assert Worker(place.settings).run_pending() == 1
    after = queue_of(place.settings).get(request.key)
    assert (after.status, after.attempt) == ("finished", 1)
    assert rows_of(place.settings) == [request.key]
    assert stages[0] == (Stage.FETCH if place.settings.launcher == "local" else Stage.LAUNCH)
    private = open_private_store(place.settings)
    assert private.paths("answers") == private.paths("leases") == []


def test_launcher_stop_returns_request(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.answers_end_after(7)
    request = submit(place.settings, "tiny/image-text", "ko-vdc")
    worker = Worker(place.settings)
    when_answered(place, 7, worker.stop, monkeypatch)
    worker.run_pending()
    after = queue_of(place.settings).get(request.key)
    assert (after.status, after.attempt, after.lease) == ("pending", 0, None)
    place.answers_end_after(None)
    Worker(place.settings).run_pending()
    assert queue_of(place.settings).get(request.key).status == "finished"
    nothing_asked_twice(place)


def test_launcher_preemption_returns_request(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (send_preemption := place.preempt):
        pytest.skip("this launcher reports no preemptions")
    place.answers_end_after(7)
    request = submit(place.settings, "tiny/image-text", "ko-vdc")
    worker = Worker(place.settings)

    def preempt() -> None:
        send_preemption()
        place.answers_end_after(None)

    when_answered(place, 7, preempt, monkeypatch)
    assert worker.run_pending() == 2
    after = queue_of(place.settings).get(request.key)
    assert (after.status, after.attempt) == ("finished", 1), "a preemption does not count as an attempt"
    nothing_asked_twice(place)


def test_launcher_retries_job_without_result(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.answers_end_after(7)
    request = submit(place.settings, "tiny/image-text", "ko-vdc")
    worker = Worker(place.settings)

    def kill() -> None:
        place.kill(request.key)
        place.answers_end_after(None)

    when_answered(place, 7, kill, monkeypatch)
    assert worker.run_pending() == 2
    after = queue_of(place.settings).get(request.key)
    assert after.status == "finished" and after.attempt <= 2
    assert rows_of(place.settings) == [request.key]
    nothing_asked_twice(place)


def test_launcher_kill_leaves_one_result(place: Place) -> None:
    """Kill the launcher: the job finishes or returns its request, and there is exactly one result."""
    request = submit(place.settings, "tiny/image-text", "ko-vdc")
    commands = place.settings.commands.model_dump_json() if place.settings.commands else ""
    jobs = place.settings.jobs.model_dump_json() if place.settings.jobs else ""
    variables = {
        "HANNUN_LAUNCHER": place.settings.launcher,
        "HANNUN_COMMANDS": commands,
        "HANNUN_JOBS": jobs,
        "HANNUN_STORE": place.settings.store,
        "HANNUN_PRIVATE_STORE": place.settings.private_store,
    }
    begun = "running" if place.settings.launcher == "local" else "launched"
    with subprocess.Popen(
        [sys.executable, "-m", "evaluator", "worker", "--once"],
        cwd=ROOT, env=os.environ | variables, stderr=subprocess.PIPE, text=True,
    ) as launcher:  # fmt: skip
        assert launcher.stderr
        line = next(line for line in launcher.stderr if begun in line)
        assert request.key in line
        launcher.kill()
    for pid in place.jobs(request.key):
        with suppress(ProcessLookupError):  # the process has ended already
            select.select([os.pidfd_open(pid)], [], [], 60)
    queue = queue_of(place.settings)
    if queue.get(request.key).status == "running":  # it ran in the launcher's process, or its command never started
        queue.requeue(request.key)
    Worker(place.settings).run_pending()
    assert queue.get(request.key).status == "finished"
    assert rows_of(place.settings) == [request.key]
    nothing_asked_twice(place)


def nothing_asked_twice(place: Place) -> None:
    asked = place.asked()
    assert len(asked) == len(set(asked)) == QUESTIONS
