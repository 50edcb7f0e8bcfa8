"""Test the worker on a real store: from request to result, failures with their codes, and a clean stop."""

import errno
import itertools
import json
import shutil
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from pydantic import SecretStr

from evaluator.engines.registry import REGISTRY
from evaluator.results.evaluate import evaluate
from evaluator.worker.backup import AnswerBackup
from evaluator.worker.loop import Worker, start_schedule
from evaluator.worker.pause import LONGEST_PAUSE, HostFaultPause
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.model_detail import model_page
from scripts.support.engines import QUESTION_LOG, STOP_AFTER_FILE, LetterEngine, LoggingEngine, use_engine
from scripts.support.records import unreachable
from scripts.support.serving import python
from submissions.checks.model_checks import inspect_model
from submissions.checks.request import build_request
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest, Progress, Stage
from submissions.records.result import EvalResult
from submissions.records.signed_statement import verify_statement
from submissions.records.worker import Presence
from submissions.store.base import Store
from submissions.store.index import board_reader
from submissions.store.open import open_store
from submissions.store.private import PrivateStore
from submissions.texts.errors import LostLeaseError, StoreError, StoreUnavailableError
from submissions.texts.failure_codes import FailureCode
from tests.support.slow import only_first

pytestmark = pytest.mark.integration


@pytest.fixture
def without_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run without the sandbox, which does not show the engines of the tests."""
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda command, policy: command)


def submit(settings: Settings, model_id: str, benchmark: str, submitter: str = "x") -> EvalRequest:
    request = build_request(
        inspect_model(model_id, None, settings.models_dir, REGISTRY), benchmark, REGISTRY, submitter
    )
    Queue(open_store(settings.store, settings)).submit(request)
    return request


def outcome_of(request: EvalRequest, settings: Settings) -> EvalRequest:
    """Run a worker with these settings, and return the request as it is afterwards."""
    Worker(settings).run_pending()
    return Queue(open_store(settings.store)).get(request.key)


@pytest.mark.model
def test_worker_publishes_row_and_keeps_details_private(
    settings: Settings, store: Store, private: PrivateStore
) -> None:
    """Run a real model in the sandbox."""
    request = submit(settings, "tiny/extractive", "korquad-2")
    assert Worker(settings).run_pending() == 1
    assert Queue(store).get(request.key).status == "finished"
    (row,), unreadable = board_reader(store).read(store.snapshot())
    assert not unreadable
    known = (row.model, row.benchmark, row.split, row.n, row.kind)
    assert known == ("tiny/extractive", "korquad-2", "sample", 44, "verified")
    result = EvalResult.model_validate_json(store.read(row.path, store.head()))
    assert result.results["korquad-2"] == row.metrics and result.latency and result.latency.mean_ms == row.latency_ms
    left = sorted(p.name for p in settings.work_dir.iterdir())
    assert left == ["answers", "claims", "device.lock"], "no files of the request are left"

    lines = private.read(f"details/{request.key[:2]}/{request.key}.jsonl").decode().splitlines()
    details = [json.loads(line) for line in lines]
    assert len(details) == 44 and set(details[0]) == {"id", "answers", "status", "em", "f1"}
    assert not any(d["id"].startswith("korquad") for d in details), "published item ids are hashed with a key"
    public = b"".join(store.read(p, store.head()) for p in store.snapshot().files if p.endswith(".json"))
    longest = max((a for d in details for a in d["answers"]), key=len)
    assert len(longest) > 20 and longest.encode() not in public


@pytest.fixture
def two_models(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_sandbox: None) -> Settings:
    """Return settings with the models `tiny/one` and `tiny/two`, which choose different letters."""
    use_engine(monkeypatch, LetterEngine)
    for name in ("one", "two"):
        folder = shutil.copytree((settings.models_dir or Path()) / "tiny/image-text", tmp_path / "models/tiny" / name)
        with (folder / "README.md").open("a") as card:
            card.write(f"\nmodel {name}\n")
    return settings.model_copy(update={"models_dir": tmp_path / "models"})


def test_worker_does_not_pair_results_of_one_submitter(two_models: Settings, store: Store) -> None:
    for name in ("one", "two"):
        submit(two_models, f"tiny/{name}", "ko-vdc")
    assert Worker(two_models).run_pending() == 2
    rows = board_reader(store).read(store.snapshot())[0]
    assert len(rows) == 2 and not any(row.paired for row in rows)


def test_worker_pairs_result_with_other_submitter(two_models: Settings, store: Store, tmp_path: Path) -> None:
    assert two_models.models_dir
    shutil.move(two_models.models_dir / "tiny/two", two_models.models_dir / "other/two")
    first = submit(two_models, "tiny/one", "ko-vdc", "x")
    second = submit(two_models, "other/two", "ko-vdc", "y")
    assert Worker(two_models).run_pending() == 2
    rows = {row.key: row for row in board_reader(store).read(store.snapshot())[0]}
    results = {key: EvalResult.model_validate_json(store.read(row.path, store.head())) for key, row in rows.items()}
    (later,) = (result for result in results.values() if result.paired)
    (pair,) = later.paired
    assert {later.request_key, pair.other} == {first.key, second.key}
    assert not {"both", "this_only", "neither"} & {*pair.model_dump()}
    ems = [results[key].results["ko-vdc"]["em"] or 0.0 for key in (later.request_key, pair.other)]
    assert pair.interval[0] <= ems[0] - ems[1] <= pair.interval[1]


def test_worker_publishes_signed_statement(two_models: Settings, store: Store) -> None:
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    request = submit(two_models, "tiny/one", "ko-vdc")
    Worker(two_models.model_copy(update={"signing_key": SecretStr(private)})).run_pending()
    board = LiveBoard(store)
    record = board.result_json(request.key)
    envelope = board.statement(request.key)
    assert record and envelope
    assert verify_statement(record, envelope, public)["predicate"]["model"]["id"] == "tiny/one"
    page = model_page(board, "tiny/one")
    assert page and [detail.signed for detail in page.details] == [True]
    assert private.encode() not in b"".join(store.read(path, store.head()) for path in store.snapshot().files)


@pytest.mark.slow
def test_worker_skips_pair_with_unreadable_scores(two_models: Settings, store: Store, private: PrivateStore) -> None:
    first = submit(two_models, "tiny/one", "ko-vdc")
    Worker(two_models).run_pending()
    private.write(f"scores/{first.key[:2]}/{first.key}.parquet", b"torn")
    assert outcome_of(submit(two_models, "tiny/two", "ko-vdc"), two_models).status == "finished"


def _break(settings: Settings, tmp_path: Path, file: str, content: bytes | None, model: str = "extractive") -> Settings:
    models = tmp_path / "models"
    shutil.copytree(settings.models_dir or "", models)
    target = models / "tiny" / model / file
    target.unlink() if content is None else target.write_bytes(content)
    return settings.model_copy(update={"models_dir": models})


def test_worker_fails_changed_model(settings: Settings, tmp_path: Path) -> None:
    request = submit(settings, "tiny/extractive", "korquad-2")
    after = outcome_of(request, _break(settings, tmp_path, "README.md", b"changed"))
    assert after.failure and after.status == "failed"
    assert (after.failure.stage, after.failure.code) == ("fetch", "model_not_found")


def test_worker_records_stage_of_failure(settings: Settings, tmp_path: Path, dummy_engine: None) -> None:
    broken = _break(settings, tmp_path, "dummy.json", b'{"fail": "invalid_weights"}')
    after = outcome_of(submit(broken, "tiny/extractive", "korquad-2"), broken)
    assert after.failure and (after.status, after.failure.stage) == ("failed", "load")


def test_worker_quarantines_on_broken_benchmark_data(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluator.worker.pause.FIRST_PAUSE", 0.0)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/items.jsonl").write_text("{}\n")
    request = submit(settings, "tiny/extractive", "korquad-2")
    after = outcome_of(request, settings.model_copy(update={"data": {"korquad-2": str(tmp_path / "data")}}))
    assert after.failure and (after.status, after.attempt) == ("quarantined", 3)
    assert after.failure.code == "benchmark_invalid"


def test_worker_stop_returns_request_and_keeps_answers(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, without_sandbox: None
) -> None:
    use_engine(monkeypatch, LoggingEngine)
    request = submit(settings, "tiny/image-text", "ko-vdc")
    settings.work_dir.mkdir(parents=True)
    stop = settings.work_dir / STOP_AFTER_FILE
    stop.write_text("7")
    worker = Worker(settings)

    def stop_after_the_first_answer(*args: object, **kwargs: object) -> object:
        report = kwargs["on_progress"]

        def progress(stage: str, answered: int, total: int) -> None:
            report(stage, answered, total)  # type: ignore[operator]
            if answered:
                worker.stop()

        return evaluate(*args, **{**kwargs, "on_progress": progress})  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr("evaluator.worker.run.evaluate", stop_after_the_first_answer)
        worker.run_pending()
    queue = Queue(open_store(settings.store))
    assert (queue.get(request.key).status, queue.get(request.key).attempt) == ("pending", 0)
    kept = (settings.work_dir / request.key / "out/answers.jsonl").read_text().splitlines()
    assert 0 < len(kept) <= 7
    stop.unlink()
    assert outcome_of(request, settings).status == "finished"


def test_worker_heartbeats_include_progress(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dummy_engine: None
) -> None:
    settings = _break(settings, tmp_path, "dummy.json", b'{"seconds": 0.01}', "image-text")
    submit(settings, "tiny/image-text", "ko-vdc")
    reported: list[Progress] = []
    heartbeat = Queue.heartbeat

    def recording(queue: Queue, request: EvalRequest, now: datetime, progress: Progress) -> None:
        heartbeat(queue, request, now, progress)
        if progress not in reported:
            reported.append(progress)

    monkeypatch.setattr(Queue, "heartbeat", recording)
    Worker(settings.model_copy(update={"heartbeat": timedelta(milliseconds=20)})).run_pending()
    stages = [p.stage for p in reported]
    assert stages == sorted(stages, key=list(Stage).index), "the stages come in order"
    assert {Stage.LOAD, Stage.INFER} <= set(stages)
    answered = [p.done for p in reported if p.stage == Stage.INFER]
    assert answered == sorted(answered) and {p.total for p in reported if p.stage == Stage.INFER} == {80}


def test_start_schedule_never_runs_worker_twice_at_a_time(
    settings: Settings, dummy_engine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(settings, "tiny/extractive", "korquad-2")
    worker = Worker(settings)
    finished = threading.Event()

    def run_then_set() -> None:
        worker.run_pending()
        finished.set()

    monkeypatch.setattr(worker, "run_pending_or_log", run_then_set)
    scheduler = start_schedule(timedelta(seconds=1), worker)
    (job,) = scheduler.get_jobs()
    assert (job.max_instances, job.coalesce, job.misfire_grace_time) == (1, True, None)
    assert finished.wait(timeout=120)
    scheduler.shutdown()
    assert [r.status for r in Queue(open_store(settings.store)).rows()] == ["finished"]


@pytest.mark.slow
def test_worker_command_runs_once(environment: dict[str, str], settings: Settings) -> None:
    request = submit(settings, "tiny/extractive", "korquad-2")
    dummy = ("-m", "tests.support.cli", "evaluator.engines.dummy:DummyEngine")
    done = python(*dummy, "worker", "--once", environment=environment)
    assert done.returncode == 0, done.stderr
    assert f"published {request.key}" in done.stderr


def test_worker_resumes_answers_of_lost_worker(
    settings: Settings, private: PrivateStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_sandbox: None
) -> None:
    """Resume from the private store alone, as after a Job whose disk is gone."""
    use_engine(monkeypatch, LoggingEngine)
    request = submit(settings, "tiny/image-text", "ko-vdc")
    here = settings.model_copy(update={"heartbeat": timedelta(milliseconds=5), "latency_samples": 0})
    here.work_dir.mkdir(parents=True)
    (here.work_dir / STOP_AFTER_FILE).write_text("7")
    worker = Worker(here)

    def lost(*_: object) -> None:
        raise LostLeaseError("the host is gone")

    update = AnswerBackup.update

    def stop_after_some_are_copied(backup: AnswerBackup) -> None:
        update(backup)
        if private.paths("answers"):
            worker.stop()

    with monkeypatch.context() as patch:
        patch.setattr(AnswerBackup, "update", stop_after_some_are_copied)
        patch.setattr(Queue, "release", lost)
        worker.run_pending()
    parts = private.paths("answers")
    copied = b"".join(private.read(path) for path in parts).splitlines()
    assert parts and all(request.key in path for path in parts) and 0 < len(copied) <= 7
    there = settings.model_copy(update={"work_dir": tmp_path / "another host", "latency_samples": 0})
    queue = Queue(open_store(settings.store))
    queue.requeue(request.key)
    there.work_dir.mkdir()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(AnswerBackup, "restore", full)
        Worker(there).run_pending()
    assert private.paths("answers") == parts, "a full disk loses no answer"
    assert outcome_of(request, there).status == "finished"
    asked = (there.work_dir / QUESTION_LOG).read_text().split()
    assert len(asked) == len(set(asked)) and not {json.loads(line)["id"] for line in copied} & set(asked)
    assert private.paths("answers") == private.paths("leases") == []


def test_worker_fails_evaluation_past_deadline(settings: Settings, dummy_engine: None) -> None:
    slow = submit(settings, "tiny/extractive", "korquad-2")
    after = outcome_of(slow, settings.model_copy(update={"deadline": timedelta(milliseconds=1)}))
    assert after.failure and (after.status, after.failure.code) == ("failed", "deadline")
    Queue(open_store(settings.store)).requeue(slow.key)
    assert outcome_of(slow, settings).status == "finished"


def test_scheduled_worker_survives_unreachable_store(
    settings: Settings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Worker(settings)

    monkeypatch.setattr(worker._queue.store, "head", unreachable)
    worker.run_pending_or_log()
    assert "out of reach" in caplog.text


def test_worker_goes_on_if_its_presence_or_the_clean_up_cannot_be_stored(
    settings: Settings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, dummy_engine: None
) -> None:
    """Another request comes while the first one runs, and the private store fails when that ends."""
    worker = Worker(settings)
    first = submit(settings, "tiny/extractive", "korquad-2")
    report_presence = worker._heartbeats.report_presence
    reports = itertools.count()

    def fails_later(presence: Presence) -> None:
        if next(reports):
            unreachable()
        report_presence(presence)

    monkeypatch.setattr("evaluator.worker.loop.PRESENCE_EVERY", 0.0)
    monkeypatch.setattr(worker._heartbeats, "report_presence", fails_later)
    monkeypatch.setattr("evaluator.worker.loop.forget_erased", unreachable)
    run = worker._run

    def run_and_submit(request: EvalRequest) -> None:
        if request.key == first.key:
            submit(settings, "tiny/image-text", "ko-vqa")
        run(request)

    monkeypatch.setattr(worker, "_run", run_and_submit)
    assert worker.run_pending() == 2
    assert "the clean-up of the stores failed" in caplog.text and caplog.text.count("out of reach") >= 2


def test_worker_does_not_log_inference_messages(
    settings: Settings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check an error whose message contains the question, as a template can raise."""
    caplog.set_level("INFO")
    event = json.dumps({"event": "failed", "code": "template_error", "message": "PRIVATE QUESTION"})
    code = f"import sys; print({event!r}, flush=True); sys.exit(3)"
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda *_: [sys.executable, "-c", code])
    request = submit(settings, "tiny/extractive", "korquad-2")
    assert outcome_of(request, settings).failure
    assert "template_error" in caplog.text and "PRIVATE" not in caplog.text


def test_worker_restricts_folder_permissions(settings: Settings) -> None:
    Worker(settings)
    for path in (Path(settings.store), Path(settings.private_store), settings.work_dir):
        assert path.stat().st_mode & 0o777 == 0o700, path


def test_pause_has_longest_time_after_many_host_faults(settings: Settings) -> None:
    pause = HostFaultPause("worker", Heartbeats(settings), lambda: datetime.now(UTC))
    pause._failed = {f"{number:032x}" for number in range(2000)}
    before = time.monotonic()
    pause.update("another request", FailureCode.DISK_FULL)
    assert LONGEST_PAUSE - 1 < pause.ends_at - before < LONGEST_PAUSE + 60


@pytest.mark.parametrize("attempts", only_first([7, 10]))
def test_worker_pauses_longer_after_host_faults(
    attempts: int,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    dummy_engine: None,
) -> None:
    """Run on a full disk: requests stay pending, except the few that were tried."""
    queue = Queue(open_store(settings.store))
    submit(settings, "tiny/extractive", "korquad-2")
    for benchmark in ("ko-vqa", "ko-vdc", "infochartqa"):
        submit(settings, "tiny/image-text", benchmark)
    clock = [1000.0]
    monkeypatch.setattr("evaluator.worker.pause.time.monotonic", lambda: clock[0])

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    worker = Worker(settings)
    with monkeypatch.context() as patch:
        patch.setattr("evaluator.worker.run.load_items", full)
        pauses = []
        for _ in range(attempts):
            assert (worker.run_pending(), worker.run_pending()) == (1, 0), "the worker pauses after one attempt"
            assert worker.pause.has_host_fault and worker.pause.is_active
            pauses.append(worker.pause.ends_at - clock[0])
            clock[0] = worker.pause.ends_at
        expected = [10] * 3 + [20] * 3 + [40] * 3 + [80]
        assert pauses == expected[:attempts], "the pause grows with each new request, not with each attempt"
    failures = [queue.get(row.key).failure for row in queue.rows() if row.status == "quarantined"]
    assert [failure.code for failure in failures if failure] == ["disk_full"] * (attempts // 3)
    assert "repeated disk_full" in caplog.text
    (pause,) = Heartbeats(settings).pauses(queue.store.now())
    assert pause.code == "disk_full"
    clock[0] -= 1
    assert worker.pause.is_active
    worker.pause.update("key of a request that was running meanwhile", None)
    assert not worker.pause.is_active and Heartbeats(settings).pauses(queue.store.now()) == []
    queue.requeue_all()
    assert worker.run_pending() == 4 and not worker.pause.has_host_fault
    assert Heartbeats(settings).pauses(queue.store.now()) == []
    assert {row.status for row in queue.rows()} == {"finished"}


@pytest.mark.parametrize("error", [StoreUnavailableError("the Hub answers 503"), StoreError("the Hub answers 401")])
def test_worker_retries_publishing_after_store_error(
    error: StoreError, settings: Settings, monkeypatch: pytest.MonkeyPatch, dummy_engine: None
) -> None:
    """Check an outage and a token that is being replaced."""
    request = submit(settings, "tiny/extractive", "korquad-2")
    monkeypatch.setattr("evaluator.publication.publish.PUBLISH_PAUSE", 1e-6)
    publish = Queue.publish
    tries = []

    def unreachable(queue: Queue, *arguments: object) -> None:
        tries.append(1)
        if len(tries) < 20:
            raise error
        publish(queue, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Queue, "publish", unreachable)
    after = outcome_of(request, settings)
    assert (after.status, after.attempt, len(tries)) == ("finished", 1, 20)


def test_result_stays_published_if_a_store_fails_after_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, dummy_engine: None
) -> None:
    request = submit(settings, "tiny/extractive", "korquad-2")
    monkeypatch.setattr("evaluator.publication.publish.PUBLISH_PAUSE", 1e-6)
    tries = []

    def unreachable(*_: object) -> None:
        tries.append(1)
        if len(tries) < 5:
            raise StoreUnavailableError("the Hub answers 503")

    monkeypatch.setattr("evaluator.publication.publish.publish_attempts", unreachable)
    after = outcome_of(request, settings)
    assert (after.status, after.attempt, len(tries)) == ("finished", 1, 5)
    assert "dropped" not in caplog.text


def test_worker_stops_evaluation_if_lease_is_lost(
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    dummy_engine: None,
) -> None:
    settings = _break(settings, tmp_path, "dummy.json", b'{"seconds": 60}', "image-text")
    request = submit(settings, "tiny/image-text", "ko-vdc")
    queue = Queue(open_store(settings.store))
    heartbeat = Queue.heartbeat

    def taken_away(worker_queue: Queue, running: EvalRequest, now: datetime, progress: Progress) -> None:
        if progress.stage == Stage.INFER and running.lease == queue.get(request.key).lease:
            queue.requeue(request.key)  # like the operator, or another worker after the lease expired
            queue.claim("another", now)
        heartbeat(worker_queue, running, now, progress)

    monkeypatch.setattr(Queue, "heartbeat", taken_away)
    worker = Worker(settings.model_copy(update={"heartbeat": timedelta(milliseconds=20)}))
    assert worker.run_pending() == 1
    assert f"dropped {request.key}" in caplog.text
    lease = queue.get(request.key).lease
    assert lease and lease.worker == "another"
