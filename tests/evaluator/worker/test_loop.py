"""The worker against a real store: request → result, failures with their codes, a clean stop."""

import errno
import json
import shutil
import subprocess
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from pydantic import SecretStr

from evaluator.engines.registry import REGISTRY
from evaluator.results.evaluate import evaluate
from evaluator.worker.backup import AnswerBackup
from evaluator.worker.loop import Worker, start_schedule
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.model_detail import model_page
from submissions.checks.model_checks import inspect_model
from submissions.checks.request import build_request
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest, Progress, Stage
from submissions.records.result import EvalResult
from submissions.records.statement import verify_statement
from submissions.store.base import Store
from submissions.store.index import board_reader
from submissions.store.open import open_store
from submissions.store.private import PrivateStore
from submissions.texts.errors import LostLeaseError, StoreError, StoreUnavailableError
from tests.support.engines import QUESTION_LOG, STOP_AFTER_FILE, LetterEngine, LoggingEngine, use_engine

pytestmark = pytest.mark.integration


@pytest.fixture
def without_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """For engines of the tests, which the sandbox does not show."""
    monkeypatch.setattr("evaluator.job.process.sandbox_command", lambda command, policy: command)


def submit(settings: Settings, model_id: str, benchmark: str, submitter: str = "x") -> EvalRequest:
    request = build_request(
        inspect_model(model_id, None, settings.models_dir, REGISTRY), benchmark, REGISTRY, submitter
    )
    Queue(open_store(settings.store, settings)).submit(request)
    return request


@pytest.mark.model
def test_a_request_becomes_a_row_and_its_details_stay_private(
    settings: Settings, store: Store, private: PrivateStore
) -> None:
    """By a real model, in the sandbox."""
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
    assert left == ["answers", "claims", "device.lock"], "nothing of the request is left behind"

    lines = private.read(f"details/{request.key[:2]}/{request.key}.jsonl").decode().splitlines()
    details = [json.loads(line) for line in lines]
    assert len(details) == 44 and set(details[0]) == {"id", "answers", "status", "em", "f1"}
    assert not any(d["id"].startswith("korquad") for d in details), "item ids leave keyed"
    public = b"".join(store.read(p, store.head()) for p in store.snapshot().files if p.endswith(".json"))
    longest = max((a for d in details for a in d["answers"]), key=len)
    assert len(longest) > 20 and longest.encode() not in public


@pytest.fixture
def two_models(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_sandbox: None) -> Settings:
    """`tiny/one` and `tiny/two`, which choose other letters."""
    use_engine(monkeypatch, LetterEngine)
    for name in ("one", "two"):
        folder = shutil.copytree((settings.models_dir or Path()) / "tiny/image-text", tmp_path / "models/tiny" / name)
        with (folder / "README.md").open("a") as card:
            card.write(f"\nmodel {name}\n")
    return settings.model_copy(update={"models_dir": tmp_path / "models"})


def test_results_of_one_submitter_are_not_paired(two_models: Settings, store: Store) -> None:
    for name in ("one", "two"):
        submit(two_models, f"tiny/{name}", "ko-vdc")
    assert Worker(two_models).run_pending() == 2
    rows = board_reader(store).read(store.snapshot())[0]
    assert len(rows) == 2 and not any(row.paired for row in rows)


def test_result_is_paired_with_one_of_a_stranger(two_models: Settings, store: Store, tmp_path: Path) -> None:
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


def test_a_result_is_published_with_its_signed_statement(two_models: Settings, store: Store) -> None:
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    request = submit(two_models, "tiny/one", "ko-vdc")
    Worker(two_models.model_copy(update={"signing_key": SecretStr(private)})).run_pending()
    board = LiveBoard(store)
    record, envelope = board.result_json(request.key), board.statement(request.key)
    assert record and envelope
    assert verify_statement(record, envelope, public)["predicate"]["model"]["id"] == "tiny/one"
    page = model_page(board, "tiny/one")
    assert page and [detail.signed for detail in page.details] == [True]
    assert private.encode() not in b"".join(store.read(path, store.head()) for path in store.snapshot().files)


def test_scores_that_cannot_be_read_cost_only_their_pair(
    two_models: Settings, store: Store, private: PrivateStore
) -> None:
    first = submit(two_models, "tiny/one", "ko-vdc")
    Worker(two_models).run_pending()
    private.write(f"scores/{first.key[:2]}/{first.key}.parquet", b"torn")
    second = submit(two_models, "tiny/two", "ko-vdc")
    Worker(two_models).run_pending()
    assert Queue(store).get(second.key).status == "finished"


def _break(settings: Settings, tmp_path: Path, file: str, content: bytes | None, model: str = "extractive") -> Settings:
    models = tmp_path / "models"
    shutil.copytree(settings.models_dir or "", models)
    target = models / "tiny" / model / file
    target.unlink() if content is None else target.write_bytes(content)
    return settings.model_copy(update={"models_dir": models})


def test_a_model_that_changed_after_submission_fails_at_once(settings: Settings, tmp_path: Path) -> None:
    request = submit(settings, "tiny/extractive", "korquad-2")
    changed = _break(settings, tmp_path, "README.md", b"changed")
    Worker(changed).run_pending()
    after = Queue(open_store(settings.store)).get(request.key)
    assert after.failure and (after.status, after.failure.stage, after.failure.code) == (
        "failed",
        "fetch",
        "model_not_found",
    )


def test_a_model_that_cannot_run_fails_with_its_stage(settings: Settings, tmp_path: Path, dummy_engine: None) -> None:
    broken = _break(settings, tmp_path, "dummy.json", b'{"fail": "invalid_weights"}')
    request = submit(broken, "tiny/extractive", "korquad-2")
    Worker(broken).run_pending()
    after = Queue(open_store(settings.store)).get(request.key)
    assert after.failure and (after.status, after.failure.stage) == ("failed", "load")


def test_broken_benchmark_data_is_our_fault(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluator.worker.loop.FIRST_PAUSE", 0.0)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/items.jsonl").write_text("{}\n")
    request = submit(settings, "tiny/extractive", "korquad-2")
    Worker(settings.model_copy(update={"data": {"korquad-2": str(tmp_path / "data")}})).run_pending()
    after = Queue(open_store(settings.store)).get(request.key)
    assert after.failure and (after.status, after.failure.code, after.attempt) == (
        "quarantined",
        "benchmark_invalid",
        3,
    )


def test_stopping_hands_the_request_back_with_its_answers(
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
    Worker(settings).run_pending()
    assert queue.get(request.key).status == "finished"


def test_heartbeats_have_the_progress(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dummy_engine: None
) -> None:
    settings = _break(settings, tmp_path, "dummy.json", b'{"seconds": 0.01}', "image-text")
    submit(settings, "tiny/image-text", "ko-vdc")
    told: list[Progress] = []
    heartbeat = Queue.heartbeat

    def listen(queue: Queue, request: EvalRequest, now: datetime, progress: Progress) -> None:
        heartbeat(queue, request, now, progress)
        if progress not in told:
            told.append(progress)

    monkeypatch.setattr(Queue, "heartbeat", listen)
    Worker(settings.model_copy(update={"heartbeat": timedelta(milliseconds=20)})).run_pending()
    stages = [p.stage for p in told]
    assert stages == sorted(stages, key=list(Stage).index), "one stage after the other"
    assert {Stage.LOAD, Stage.INFER} <= set(stages)
    answered = [p.done for p in told if p.stage == Stage.INFER]
    assert answered == sorted(answered) and {p.total for p in told if p.stage == Stage.INFER} == {80}


def test_the_schedule_runs_one_round_at_a_time(
    settings: Settings, dummy_engine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(settings, "tiny/extractive", "korquad-2")
    worker, finished = Worker(settings), threading.Event()

    def round_then_tell() -> None:
        worker.run_pending()
        finished.set()

    monkeypatch.setattr(worker, "round", round_then_tell)
    scheduler = start_schedule(timedelta(seconds=1), worker)
    (job,) = scheduler.get_jobs()
    assert (job.max_instances, job.coalesce, job.misfire_grace_time) == (1, True, None)
    assert finished.wait(timeout=120)
    scheduler.shutdown()
    assert [r.status for r in Queue(open_store(settings.store)).rows()] == ["finished"]


def test_worker_once_from_the_command_line(environment: dict[str, str], settings: Settings) -> None:
    request = submit(settings, "tiny/extractive", "korquad-2")
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.cli", "evaluator.engines.dummy:DummyEngine", "worker", "--once"],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"published {request.key}" in done.stderr


def test_a_worker_on_another_machine_goes_on_from_the_answers_of_one_that_was_lost(
    settings: Settings, private: PrivateStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_sandbox: None
) -> None:
    """As in a Job, whose disk ends with it: only the private store is left."""
    use_engine(monkeypatch, LoggingEngine)
    request = submit(settings, "tiny/image-text", "ko-vdc")
    here = settings.model_copy(update={"heartbeat": timedelta(milliseconds=5), "alone": 0})
    here.work_dir.mkdir(parents=True)
    (here.work_dir / STOP_AFTER_FILE).write_text("7")
    worker = Worker(here)

    def lost(own: Queue, *_: object) -> None:
        raise LostLeaseError("the machine is gone")

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
    there = settings.model_copy(update={"work_dir": tmp_path / "another machine", "alone": 0})
    queue = Queue(open_store(settings.store))
    queue.requeue(request.key)
    there.work_dir.mkdir()
    Worker(there).run_pending()
    assert queue.get(request.key).status == "finished"
    asked = (there.work_dir / QUESTION_LOG).read_text().split()
    assert len(asked) == len(set(asked)) and not {json.loads(line)["id"] for line in copied} & set(asked)
    assert private.paths("answers") == private.paths("leases") == []


def test_an_evaluation_past_its_deadline_fails_and_the_next_goes_on(settings: Settings, dummy_engine: None) -> None:
    slow = submit(settings, "tiny/extractive", "korquad-2")
    hurried = settings.model_copy(update={"deadline": timedelta(milliseconds=1)})
    Worker(hurried).run_pending()
    queue = Queue(open_store(settings.store))
    after = queue.get(slow.key)
    assert after.failure and (after.status, after.failure.code) == ("failed", "deadline")
    queue.requeue(slow.key)
    Worker(settings).run_pending()
    assert queue.get(slow.key).status == "finished"


def test_a_store_out_of_reach_is_left_to_the_next_round(
    settings: Settings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Worker(settings)

    def away(*_: object) -> str:
        raise StoreUnavailableError("the store is out of reach")

    monkeypatch.setattr(worker._queue.store, "head", away)
    worker.round()
    assert "out of reach" in caplog.text


def test_what_the_inference_process_says_is_in_no_log(
    settings: Settings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A template can raise an error with the question in it."""
    caplog.set_level("INFO")
    event = json.dumps({"event": "failed", "code": "template_error", "message": "PRIVATE QUESTION"})
    code = f"import sys; print({event!r}, flush=True); sys.exit(3)"
    monkeypatch.setattr("evaluator.job.process.sandbox_command", lambda *_: [sys.executable, "-c", code])
    request = submit(settings, "tiny/extractive", "korquad-2")
    Worker(settings).run_pending()
    assert Queue(open_store(settings.store)).get(request.key).failure
    assert "template_error" in caplog.text and "PRIVATE" not in caplog.text


def test_stores_and_work_are_the_operators_alone(settings: Settings) -> None:
    Worker(settings)
    for path in (Path(settings.store), Path(settings.private_store), settings.work_dir):
        assert path.stat().st_mode & 0o777 == 0o700, path


def test_after_faults_of_ours_the_worker_pauses_longer_and_longer_and_says_so(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, dummy_engine: None
) -> None:
    """A full disk: what is pending stays so but for the few requests that were tried."""
    queue = Queue(open_store(settings.store))
    for model in ("tiny/extractive", "tiny/image-text"):
        for benchmark in ("korquad-2",) if model == "tiny/extractive" else ("ko-vqa", "ko-vdc", "infochartqa"):
            submit(settings, model, benchmark)
    clock = [1000.0]
    monkeypatch.setattr("evaluator.worker.loop.time.monotonic", lambda: clock[0])

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    worker = Worker(settings)
    with monkeypatch.context() as patch:
        patch.setattr("evaluator.worker.run.load_items", full)
        pauses = []
        for _ in range(10):
            assert worker.run_pending() == 1, "one try, then a pause"
            assert worker.run_pending() == 0
            pauses.append(worker._pause_until - clock[0])
            clock[0] = worker._pause_until
        assert pauses == [10] * 3 + [20] * 3 + [40] * 3 + [80], "longer with each other request, not with each attempt"
    failures = [queue.get(row.key).failure for row in queue.rows() if row.status == "quarantined"]
    assert [failure.code for failure in failures if failure] == ["disk_full"] * 3
    assert "disk_full again and again" in caplog.text
    (pause,) = Heartbeats(settings).pauses(queue.store.now())
    assert pause.code == "disk_full"
    queue.requeue_all()
    assert worker.run_pending() == 4
    assert Heartbeats(settings).pauses(queue.store.now()) == []
    assert {row.status for row in queue.rows()} == {"finished"}


@pytest.mark.parametrize("error", [StoreUnavailableError("the Hub answers 503"), StoreError("the Hub answers 401")])
def test_finished_run_survives_store_errors_while_publishing(
    error: StoreError, settings: Settings, monkeypatch: pytest.MonkeyPatch, dummy_engine: None
) -> None:
    """An outage, or a token that is being replaced."""
    request = submit(settings, "tiny/extractive", "korquad-2")
    monkeypatch.setattr("evaluator.worker.publish.PUBLISH_PAUSE", 1e-6)
    publish, tries = Queue.publish, []

    def away(queue: Queue, *arguments: object) -> None:
        tries.append(1)
        if len(tries) < 20:
            raise error
        publish(queue, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Queue, "publish", away)
    Worker(settings).run_pending()
    after = Queue(open_store(settings.store)).get(request.key)
    assert (after.status, after.attempt, len(tries)) == ("finished", 1, 20)


def test_a_lost_lease_stops_the_evaluation_at_the_next_heartbeat(
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    dummy_engine: None,
) -> None:
    settings = _break(settings, tmp_path, "dummy.json", b'{"seconds": 60}', "image-text")
    request = submit(settings, "tiny/image-text", "ko-vdc")
    queue, heartbeat = Queue(open_store(settings.store)), Queue.heartbeat

    def taken_away(own: Queue, running: EvalRequest, now: datetime, progress: Progress) -> None:
        if progress.stage == Stage.INFER and running.lease == queue.get(request.key).lease:
            queue.requeue(request.key)  # by the operator, or by another worker that took the lease for lost
            queue.claim("another", now)
        heartbeat(own, running, now, progress)

    monkeypatch.setattr(Queue, "heartbeat", taken_away)
    worker = Worker(settings.model_copy(update={"heartbeat": timedelta(milliseconds=20)}))
    assert worker.run_pending() == 1
    assert f"dropped {request.key}" in caplog.text
    lease = queue.get(request.key).lease
    assert lease and lease.worker == "another"
