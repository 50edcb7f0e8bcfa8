"""Test that a model cannot harm the parent process by what it writes: floods, deep folders and false claims."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from evaluator.core.data_types import MAX_ANSWER, Answer, Prompt
from evaluator.core.errors import EvaluationError, EvaluationStopped
from evaluator.core.files import keep_newest, remove_path, size_of
from evaluator.engines.options import EngineOptions
from evaluator.job.folder import Job
from evaluator.job.process import run_inference
from evaluator.results.score_answers import check_times
from evaluator.sandbox.control_group import ControlGroup, control_group
from evaluator.sandbox.policy import SandboxPolicy, sandbox_command
from evaluator.worker.heartbeat import coarse
from evaluator.worker.loop import Worker
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.records.result import EvalResult
from submissions.store.open import open_private_store, open_store
from submissions.texts.failure_codes import FailureCode
from tests.evaluator.worker.test_loop import submit
from tests.support.slow import every_nth

pytestmark = pytest.mark.integration

ENVIRONMENT = {"event": "environment", "values": {"hardware": "x"}}
LOADED = {"event": "loaded", "batch_size": 4, "params": 7}


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    prompts = [Prompt(str(n), f"{n}?") for n in range(8)]
    job = Job.prepare(tmp_path / "job", EngineOptions(tmp_path, "float32", 8), prompts)
    yield job
    remove_path(job.folder)  # pytest cannot remove such deep folders


def run_as_model(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda *_: [sys.executable, "-c", code])


def failure_of(job: Job, message: str = "", alone: int = 0) -> FailureCode:
    """Return the code with which the inference process fails."""
    with pytest.raises(EvaluationError, match=message) as error:
        run_inference(job, 0, 8, alone, lambda *_: None)
    return error.value.code


def events(*reported: Mapping[str, object], exit_code: int = 0) -> str:
    lines = "".join(json.dumps(event) + "\n" for event in reported)
    return f"import sys; sys.stdout.write({lines!r}); sys.stdout.flush(); sys.exit({exit_code})"


FLOODS = {
    "bytes": "[open({out!r} + f'/{{n}}', 'wb').write(b'x' * 2**20) for n in range(64)]",
    "a sparse file": "open({out!r} + '/sparse', 'wb').truncate(2**29)",
    "empty files": "[open({out!r} + f'/{{n}}', 'wb') for n in range(20_000)]",
    "stderr": "while True: sys.stderr.write('x' * 2**20)",
    "nested folders": "os.chdir({out!r}); [(os.mkdir('d'), os.chdir('d')) for _ in range(20_000)]",
}


@pytest.mark.parametrize("flood", every_nth(FLOODS, 3))
def test_run_inference_ends_on_flood_of_output(job: Job, monkeypatch: pytest.MonkeyPatch, flood: str) -> None:
    monkeypatch.setattr("evaluator.job.process.OUT_BYTES", 32 * 2**20)
    monkeypatch.setattr("evaluator.job.watchdog.SIZE_CHECK_SECONDS", 0.1)
    run_as_model(
        monkeypatch, f"import os, sys, time\n{FLOODS[flood].format(out=str(job.out.resolve()))}\ntime.sleep(600)"
    )
    assert failure_of(job, "wrote more than") == "model_error"
    remove_path(job.folder)
    assert not job.folder.exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return the folder of a file system of 1 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder], capture_output=True).returncode:
        pytest.skip("this user may not mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.parametrize("reported", [[], [ENVIRONMENT, LOADED]])
def test_run_inference_on_full_disk_is_infrastructure_failure(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch, reported: list[dict[str, object]]
) -> None:
    job = Job.prepare(small_disk / "job", EngineOptions(small_disk, "float32", 8), [Prompt("1", "?")])
    failed = {"event": "failed", "code": "model_error", "message": "OSError: [Errno 28] No space left on device"}
    fill = f"with open({str(job.out / 'answers')!r}, 'wb') as file:\n  file.write(bytes(2**21))"
    lines = "".join(json.dumps(event) + "\n" for event in [*reported, failed])
    run_as_model(monkeypatch, f"print({lines!r}, end='', flush=True)\n{fill}")
    assert failure_of(job, "no space is left") == "disk_full"


KILL = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
FULL = "x = [bytearray(2**20) for _ in range(2**12)]"


@pytest.mark.parametrize("loaded", [True, False])
def test_run_inference_kill_is_infrastructure_failure(job: Job, loaded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check SIGKILL, whether it comes from an operator, a scheduler or the kernel."""
    reported = [ENVIRONMENT, *([LOADED] if loaded else [])]
    lines = "".join(json.dumps(event) + "\n" for event in reported)

    def killed_inside(command: Sequence[str], policy: SandboxPolicy) -> list[str]:
        return sandbox_command([sys.executable, "-c", f"print({lines!r}, end='', flush=True); {KILL}"], policy)

    monkeypatch.setattr("evaluator.job.command.sandbox_command", killed_inside)
    assert failure_of(job, "signal 9") == "process_killed"
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(EvaluationStopped):
        run_inference(job, 0, 8, 0, lambda *_: None, stop)


@pytest.mark.parametrize(("loaded", "code"), [(True, "model_error"), (False, "out_of_memory")])
def test_run_inference_distinguishes_memory_limit_from_kill(
    job: Job, loaded: bool, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with control_group(2**30, 100) as group:
        if group.version == "none":
            pytest.skip("no control group can be created here")
    program = events(ENVIRONMENT, *([LOADED] if loaded else [])).replace("sys.exit(0)", FULL)
    run_as_model(monkeypatch, program)
    monkeypatch.setattr("evaluator.job.process.control_group", lambda *_: control_group(2**28, 100))
    assert failure_of(job, "memory") == code


@pytest.mark.parametrize("loaded", [True, False])
def test_memory_of_container_is_not_the_models_fault(job: Job, loaded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process of the container may have taken it; in a container there is no group of the model's own."""
    with control_group(2**28, 100) as container:
        if container.version == "none":
            pytest.skip("no control group can be created here")
        program = events(ENVIRONMENT, *([LOADED] if loaded else [])).replace("sys.exit(0)", FULL)
        command = container.wrap_command([sys.executable, "-c", program])
        monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda *_: command)
        without = ControlGroup((), "none", container.folders[:1])
        monkeypatch.setattr("evaluator.job.process.control_group", lambda *_: nullcontext(without))
        assert failure_of(job, "container ran out") == "out_of_memory"


def test_run_inference_ends_model_that_does_not_load(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.job.watchdog.LOAD_SECONDS", 0.5)
    run_as_model(monkeypatch, events(ENVIRONMENT).replace("sys.exit(0)", "import time; time.sleep(600)"))
    code = failure_of(job, "not loaded within")
    assert code == "load_timeout" and not code.is_infrastructure


def test_run_inference_ends_model_that_does_not_answer(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check a tokenizer that never ends, which would hold the device until the limit of the whole evaluation."""
    monkeypatch.setattr("evaluator.job.watchdog.FIRST_ANSWER_SECONDS", 0.5)
    run_as_model(monkeypatch, events(ENVIRONMENT, LOADED).replace("sys.exit(0)", "import time; time.sleep(600)"))
    code = failure_of(job, "no answer within")
    assert code == "load_timeout" and not code.is_infrastructure


def test_remove_path_deletes_deep_folder(tmp_path: Path) -> None:
    begin = os.open(".", os.O_RDONLY)
    try:
        (tmp_path / "deep").mkdir()
        os.chdir(tmp_path / "deep")
        for _ in range(3000):
            Path("d").mkdir()
            os.chdir("d")
    finally:
        os.fchdir(begin)
        os.close(begin)
    assert size_of(tmp_path / "deep", 10**9) > 10**9
    remove_path(tmp_path / "deep")
    assert not (tmp_path / "deep").exists()


def test_keep_newest_removes_oldest(tmp_path: Path) -> None:
    for age, name in enumerate(("new", "middle", "old")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "weights").write_bytes(b"x" * 100_000)
        os.utime(tmp_path / name, (10**9 - age, 10**9 - age))
    assert keep_newest(tmp_path.iterdir(), 350_000) == []
    assert [path.name for path in keep_newest(tmp_path.iterdir(), 250_000)] == ["old"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["middle", "new"]
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "file").write_bytes(b"x")
    gone = tmp_path / "gone"
    assert gone in keep_newest([*tmp_path.iterdir(), gone], 0)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("reported", "exit_code", "code"),
    [
        # Only failures of the model itself are believed.
        *(
            ([{"event": "failed", "code": code}], 3, "model_error")
            for code in ("withheld", "disk_full", "internal_error")
        ),
        *(([{"event": "failed", "code": code}], 3, code) for code in ("out_of_memory", "nan_logits")),
        ([{"event": "loaded"}], 0, "model_error"),  # no batch size
        ([LOADED, {**LOADED, "batch_size": 1}], 0, "model_error"),  # tries to avoid a second run in smaller batches
        ([LOADED, *[{"event": "answered"}] * 1000], 0, "model_error"),
        ([LOADED], 5, "model_error"),  # exits without an event
        ([LOADED, {"event": "failed"}], 3, "model_error"),
        ([{**LOADED, "batch_size": 10**6}], 0, "model_error"),
        ([{**LOADED, "batch_size": 0}], 0, "model_error"),
        ([{**LOADED, "params": 10**30}], 0, "model_error"),
        ([{**LOADED, "params": -1}], 0, "model_error"),
    ],
)
def test_run_inference_judges_false_reports(
    job: Job, monkeypatch: pytest.MonkeyPatch, reported: list[dict[str, object]], exit_code: int, code: str
) -> None:
    run_as_model(monkeypatch, events(ENVIRONMENT, *reported, exit_code=exit_code))
    assert failure_of(job, alone=3) == code


def test_run_inference_stop_within_line_is_not_failure(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()
    line = json.dumps(ENVIRONMENT)
    run_as_model(
        monkeypatch, f"import time; print({line!r}); print('{{\"event\": ', end='', flush=True); time.sleep(600)"
    )
    threading.Timer(1, stop.set).start()
    with pytest.raises(EvaluationStopped):
        run_inference(job, 0, 8, 0, lambda *_: None, stop)


def test_discard_answers_removes_folders_in_place_of_marks(job: Job) -> None:
    for mark in (job.done_mark, job.measured_mark, job.answers_file):
        (mark / "in it").mkdir(parents=True)
    job.discard_answers(8)
    assert not job.done_mark.exists() and not job.answers_file.exists()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", None),  # as older versions wrote it
        (b"null", None),
        (b"41000000", 41_000_000),
        (b"-1", None),
        (b"4.1e7", None),
        (b'"41"', None),
        (b"9" * 5000, None),
        (b"[" * 5000, None),
        (b"NaN", None),
        (b"\xff", None),
    ],
)
def test_peak_gpu_memory_is_read_as_a_bounded_number(job: Job, content: bytes, expected: int | None) -> None:
    job.measured_mark.write_bytes(content)
    assert job.peak_gpu_memory() == expected


def test_peak_gpu_memory_is_unknown_without_a_regular_file(job: Job, tmp_path: Path) -> None:
    assert job.peak_gpu_memory() is None
    other = tmp_path / "other"
    other.write_bytes(b"41")
    job.measured_mark.symlink_to(other)
    assert job.peak_gpu_memory() is None
    job.measured_mark.unlink()
    job.measured_mark.mkdir()
    assert job.peak_gpu_memory() is None
    job.measured_mark.rmdir()
    os.mkfifo(job.measured_mark)
    assert job.peak_gpu_memory() is None


def test_run_inference_caps_progress(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[tuple[str, int, int]] = []
    answered = [{"event": "answered"}] * 12
    measured = [{"event": "measured"}] * 6
    run_as_model(monkeypatch, events(ENVIRONMENT, LOADED, *answered, *measured))
    run_inference(job, 0, 8, 3, lambda *progress: reported.append(progress))
    assert max(done for stage, done, _ in reported if stage == "infer") == 8
    assert max(done for stage, done, _ in reported if stage == "measure") == 3


def test_coarse_hides_exact_progress() -> None:
    """Check a past leak: progress once revealed a private question, one character per heartbeat."""
    assert len({coarse(done, 1500) for done in range(-5, 10**4)}) == 21
    assert [coarse(done, 4) for done in range(6)] == [0, 1, 2, 3, 4, 4]
    assert coarse(1500, 1500) == 1500 and coarse(3, 0) == 0


def test_worker_survives_answer_of_line_ends(settings: Settings, dummy_engine: None) -> None:
    """Check a past failure: an answer of 41 MB blocked the interpreter of board and worker for hours."""
    request = submit(settings, "tiny/extractive", "korquad-2")
    assert settings.models_dir
    model = Path(
        shutil.copytree(settings.models_dir / "tiny/extractive", settings.work_dir.parent / "models/tiny/extractive")
    )
    Queue(open_store(settings.store)).cancel(request.key)
    (model / "dummy.json").write_text(json.dumps({"answer": "1" + "\n" * 4_000_000 + "1"}))
    hostile = settings.model_copy(update={"models_dir": settings.work_dir.parent / "models", "limit": 3})
    request = submit(hostile, "tiny/extractive", "korquad-2")
    Worker(hostile).run_pending()
    store = open_store(hostile.store)
    private = open_private_store(hostile)
    path = next(path for path in store.snapshot().files if path.startswith("results/"))
    result = EvalResult.model_validate_json(store.read(path, store.head()))
    assert result.answers and result.answers.truncated == 3 and result.request_key == request.key
    details = private.read(f"details/{request.key[:2]}/{request.key}.jsonl").decode().splitlines()
    assert len(details) == 3 and all(len(json.loads(line)["answers"][0]) == MAX_ANSWER for line in details)


def test_check_times_rejects_too_short_times() -> None:
    def claimed(seconds: float) -> list[Answer]:
        return [Answer(str(n), "", "ok", seconds) for n in range(10)]

    check_times(claimed(10.0), 100.0)
    check_times(claimed(4.0), 100.0)  # the rest was a warm-up
    check_times(claimed(0.0), 20.0)
    check_times(claimed(100.0), 20.0)  # answers of an earlier run, or several at once
    with pytest.raises(EvaluationError) as error:
        check_times(claimed(0.0), 100.0)
    assert error.value.code == "model_error"
