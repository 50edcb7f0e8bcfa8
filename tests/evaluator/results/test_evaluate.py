"""Test `python -m evaluator run` with real processes and models, including killed and restarted runs."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Answer, Prompt
from evaluator.core.errors import EvaluationError
from evaluator.datasets.source import Source
from evaluator.engines.options import EngineOptions
from evaluator.job.folder import Job
from evaluator.job.latency_pass import WARM_UP
from evaluator.results.reproduce import reproduce
from evaluator.results.task import Task, options_of
from evaluator.sandbox.environment import child_environment
from scripts.demo import make_smollm2
from scripts.support.engines import STOP_AFTER_FILE, LoggingEngine
from scripts.support.records import request_numbered
from scripts.support.serving import python
from submissions.config.api_options import ApiOptions
from submissions.config.paths import ROOT, SAMPLES
from submissions.records.request import EvalRequest
from submissions.records.result import EvalResult
from submissions.texts.refusals import REFUSALS, RefusalCode
from tests.conftest import SHARED
from tests.support.cli import Cli, Done, in_process

pytestmark = pytest.mark.integration


def timeless(result: Path) -> dict[str, Any]:
    """Return a result without the fields that differ between runs."""
    content = json.loads(result.read_text(encoding="utf-8"))
    for field in ("date", "latency", "total_evaluation_time_seconds", "git_hash"):
        content.pop(field)
    content["cost"].pop("device_seconds")
    return dict(content)


@pytest.fixture
def cli(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return in_process(environment, monkeypatch, capsys)


def check_outputs(done: Done, out: Path, benchmark: str, n: int, split: str = "sample") -> EvalResult:
    """Check what holds for every run of any model and benchmark, and return the result."""
    assert done.returncode == 0, done.stderr
    assert f"n = {n}" in done.stdout
    result = EvalResult.model_validate_json((out / "result.json").read_bytes())
    card = BENCHMARKS[benchmark].card
    assert (result.dataset.n, result.dataset.split) == (n, split)
    assert result.answers and sum(result.answers.model_dump().values()) == n
    assert result.latency and result.latency.mean_ms > 0 and result.latency.hardware and result.latency.calibration_ms
    assert (result.latency.protocol == "total/questions") == (BENCHMARKS[benchmark].latency_protocol == "total")
    prompts = len(BENCHMARKS[benchmark].prompts(BENCHMARKS[benchmark].load(SAMPLES / benchmark)[0]))  # of each item
    assert result.batch_invariance and result.batch_invariance.n == min(n, 100 // prompts)
    metrics = BENCHMARKS[benchmark].metrics
    assert {"em"} <= set(result.results[benchmark]) <= {metric.name for metric in metrics}
    for metric, (low, high) in result.intervals.items():
        assert low <= (result.results[benchmark][metric] or 0) <= high and low < high
    means = {metric.name for metric in metrics if metric.is_mean}
    assert set(result.intervals) == means & set(result.results[benchmark])
    assert set(result.standard_errors) <= set(result.intervals), "none if all scores are equal"
    for axis, buckets in result.breakdown.items():
        counted = prompts * n if card.histogram and axis == card.histogram.name else n
        assert sum(b.n or 0 for b in buckets.values()) == counted
    assert set(result.breakdown) == {a.name for a in (*card.axes, *((card.histogram,) if card.histogram else ()))}
    details = (out / "details.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(details) == n
    assert sorted(p.name for p in out.iterdir()) == ["details.jsonl", "result.json"]
    return result


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_run_each_benchmark_on_samples(cli: Cli, dummy_engine: None, tmp_path: Path, benchmark: str) -> None:
    n = len(BENCHMARKS[benchmark].load(SAMPLES / benchmark))
    model = "tiny/image-text" if BENCHMARKS[benchmark].inputs == "image" else "tiny/extractive"
    done = cli("run", "--model", model, "--benchmark", benchmark, "--out", str(tmp_path / "out"))
    check_outputs(done, tmp_path / "out", benchmark, n)


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize(
    ("model", "benchmark", "limit"),
    [("image-text", "ko-vqa", 12), ("extractive", "korquad-2", 20)],
)
def test_run_real_models_in_separate_process(
    environment: dict[str, str], models_dir: Path, tmp_path: Path, model: str, benchmark: str, limit: int
) -> None:
    words = ["-m", "evaluator", "run", "--model", str(models_dir / "tiny" / model), "--benchmark", benchmark]
    words += ["--precision", "float32", "--limit", str(limit), "--out", str(tmp_path / "out")]
    done = python(*words, environment=environment)
    ended = Done(done.returncode, done.stdout, done.stderr)
    result = check_outputs(ended, tmp_path / "out", benchmark, limit, f"sample[:{limit}]")
    assert result.inputs and (result.inputs.visual_tokens_mean is None) == (BENCHMARKS[benchmark].inputs == "page")
    assert result.environment["torch"] and result.config.params
    assert result.environment.keys() >= {"tokenizers", "pillow", "torchvision", "transformers", "python"}
    images = result.environment.get("image_processor")
    assert images == {"image-text": "CLIPImageProcessor", "extractive": None}[model], images


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--model", "no such folder", "--benchmark", "ko-vqa"], "not a valid model ID"),
        (["--model", "tiny/extractive", "--benchmark", "ko-vqa"], "(korquad-2)"),
        (["--model", "tiny/image-text", "--benchmark", "ko-vqa", "--engine", "extractive"], "only korquad-2"),
        (["--model", "tiny/extractive", "--benchmark", "korquad-2", "--data", "/nowhere"], "/nowhere"),
    ],
)
def test_run_rejects_bad_input_in_one_line(cli: Cli, tmp_path: Path, args: list[str], message: str) -> None:
    done = cli("run", *args, "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert message in done.stderr and len(done.stderr.splitlines()) == 1


def test_run_rejects_revision_of_folder_and_unusable_output(cli: Cli, models_dir: Path, tmp_path: Path) -> None:
    asked = ("run", "--model", str(models_dir / "tiny/extractive"), "--benchmark", "korquad-2")
    revised = cli(*asked, "--revision", "v2", "--out", str(tmp_path / "out"))
    assert revised.returncode == 2 and REFUSALS[RefusalCode.REVISION_NOT_FOUND].en in revised.stderr
    (tmp_path / "file").touch()
    (tmp_path / "taken" / "details.jsonl").mkdir(parents=True)
    for out in ("file", "taken"):
        refused = cli(*asked, "--out", str(tmp_path / out))
        assert refused.returncode == 2 and refused.stderr.startswith("hannun: --out ")


@pytest.mark.parametrize(("code", "exit_code"), [("no_chat_template", 2), ("out_of_memory", 1)])
def test_run_exit_code_distinguishes_failures(
    cli: Cli, dummy_engine: None, models_dir: Path, tmp_path: Path, code: str, exit_code: int
) -> None:
    shutil.copytree(models_dir / "tiny/extractive", tmp_path / "model")
    (tmp_path / "model/dummy.json").write_text(json.dumps({"fail": code}))
    done = cli("run", "--model", str(tmp_path / "model"), "--benchmark", "korquad-2", "--out", str(tmp_path / "out"))
    assert done.returncode == exit_code and f"hannun: {code}: " in done.stderr


def test_run_stops_before_inference_on_broken_row(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "pages").mkdir(parents=True)
    (folder / "pages/1.html").write_text("<p>가</p>")
    good = {"id": "1", "question": "?", "answer": "가", "page": "pages/1.html", "length": "short", "form": "paragraph"}
    rows = [good, {**good, "id": "2", "answer": ""}]
    (folder / "items.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    where = ("--data", str(folder), "--out", str(tmp_path / "out"))
    done = cli("run", "--model", "tiny/extractive", "--benchmark", "korquad-2", *where)
    assert done.returncode == 2
    assert "items.jsonl, row 2" in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_run_restarted_after_kill_gives_same_result(environment: dict[str, str], tmp_path: Path) -> None:
    engine = f"{LoggingEngine.__module__}:{LoggingEngine.__name__}"
    arguments = [
        "run",
        "--model",
        "tiny/extractive",
        "--benchmark",
        "korquad-2",
        "--sandbox",
        "none",
        "--latency-samples",
        "5",
    ]
    command = [sys.executable, "-m", "tests.support.cli", engine, *arguments, "--fresh", "--out"]
    out = tmp_path / "killed"
    undisturbed = tmp_path / "undisturbed"
    answers = out / "job/out/answers.jsonl"
    out.mkdir()

    def ended(folder: Path) -> None:
        subprocess.run([*command, str(folder)], cwd=ROOT, env=environment, check=True, capture_output=True)

    ended(undisturbed)
    for lines, stop_after in ((5, 5), (17, 12)):
        (out / STOP_AFTER_FILE).write_text(str(stop_after))
        with (
            subprocess.Popen(
                [*command, str(out)], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ) as running,
            subprocess.Popen(
                ["tail", "-n", "+1", "-s", "0.05", "-F", str(answers)],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ) as tail,
        ):
            assert tail.stdout is not None
            for _ in range(lines):
                tail.stdout.readline()
            running.send_signal(signal.SIGKILL)
            running.wait()
            tail.kill()
        assert running.returncode == -signal.SIGKILL
        assert not (out / "result.json").exists(), "the run was killed before its end"
    assert answers.read_bytes().count(b"\n") == 17
    (out / STOP_AFTER_FILE).unlink()
    ended(out)
    assert timeless(out / "result.json") == timeless(undisturbed / "result.json")
    assert (out / "details.jsonl").read_bytes() == (undisturbed / "details.jsonl").read_bytes()
    asked = (out / "asked.log").read_text().split()
    assert len(asked) == 44 + 5 + WARM_UP, "each question is asked once, and the measured ones again"


@pytest.mark.slow
def test_run_reuses_answers_of_shorter_run(cli: Cli, dummy_engine: None, tmp_path: Path) -> None:
    def seconds(*more: str) -> float:
        out = tmp_path / "-".join(more or ["whole"])
        args = [
            "run",
            "--model",
            "tiny/extractive",
            "--benchmark",
            "korquad-2",
            "--latency-samples",
            "0",
            "--out",
            str(out),
        ]
        assert cli(*args, *more).returncode == 0
        return float(json.loads((out / "result.json").read_text())["total_evaluation_time_seconds"])

    first = seconds("--limit", "10")
    whole = seconds()
    assert whole > first
    assert seconds("--limit", "44") == whole, "answers and their times come from the earlier run"
    kept = next((tmp_path / "work/answers").glob("*.jsonl"))
    kept.write_text(kept.read_text().replace('"seconds": 0.001', '"seconds": 0.5'))
    assert seconds("--limit", "43") > 20, "the times are read from the cache"
    assert seconds("--fresh") == whole


def _job(folder: Path, model: Path, prompts: list[Prompt]) -> Job:
    options = EngineOptions(model, "float32", 16, engine="evaluator.engines.dummy:DummyEngine")
    return Job.prepare(folder, options, prompts)


def _child(job: Job, stdin: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "evaluator.job.child", str(job.folder)]
    return subprocess.Popen(command, cwd=ROOT, env=child_environment(api=None), stdin=stdin, stdout=subprocess.PIPE)


def _infer(job: Job) -> list[dict[str, Any]]:
    """Run the inference process and return its events."""
    with _child(job, subprocess.PIPE) as child:
        assert child.stdout
        events = [json.loads(line) for line in child.stdout]
        assert child.wait() == 0
    return events


def test_child_skips_answered_prompts(models_dir: Path, tmp_path: Path) -> None:
    prompts = [Prompt(str(n), "", question=f"질문 {n}", page=f"<p>문단 {n}</p>") for n in range(6)]
    model = models_dir / "tiny/extractive"
    job = _job(tmp_path / "job", model, prompts)
    assert [e["event"] for e in _infer(job)] == ["environment", "loaded"] + ["answered"] * 6
    whole = job.answers_file.read_bytes()
    lines = whole.splitlines(keepends=True)
    job.answers_file.write_bytes(b"".join(lines[:3]) + lines[3][:10])  # as if killed while writing the fourth
    again = _job(tmp_path / "job", model, prompts)
    assert list(again.answers()) == again.prompt_ids[:3]
    assert [e["event"] for e in _infer(again)] == ["environment", "loaded"] + ["answered"] * 3
    assert again.answers_file.read_bytes().startswith(b"".join(lines[:3]))
    assert [a.text for a in again.answers().values()] == [json.loads(line)["text"] for line in lines]


def test_job_answers_keep_line_separators(tmp_path: Path) -> None:
    texts = ["가\u2028나", "가\x85나", "가\x0b\x0c\x1c나", "줄\n바꿈\r\n"]
    job = _job(tmp_path / "job", tmp_path, [Prompt(str(n), f"{n}") for n in range(len(texts))])
    answers = [Answer(prompt_id, text, "ok", 0.1) for prompt_id, text in zip(job.prompt_ids, texts, strict=True)]
    job.answers_file.write_text("".join(map(job.row, answers)), encoding="utf-8")
    assert list(job.answers().values()) == answers


def test_errors_do_not_quote_private_text(models_dir: Path, tmp_path: Path) -> None:
    """Check error messages, because they are logged and pydantic quotes its input by default."""
    prompts = [Prompt("1", "비밀 질문")]
    job = _job(tmp_path / "job", models_dir, prompts)
    row = {"id": job.ids["1"], "text": ["비밀 답변"], "status": "ok", "seconds": 0.1}
    job.answers_file.write_text(json.dumps(row, ensure_ascii=False) + "\n")
    with pytest.raises(EvaluationError) as error:
        job.answers()
    assert "비밀" not in str(error.value) and "answers.jsonl" in str(error.value)
    with pytest.raises(ValueError, match="model_id") as invalid:
        EvalRequest.model_validate({"model_id": "비밀"})
    assert "비밀" not in str(invalid.value)


def test_job_discards_answer_of_changed_prompt(models_dir: Path, tmp_path: Path) -> None:
    model = models_dir / "tiny/extractive"
    job = _job(tmp_path / "job", model, [Prompt("1", "", question="하나", page="<p>가</p>")])
    _infer(job)
    assert job.answers()
    same = _job(tmp_path / "job", model, [Prompt("1", "", question="하나", page="<p>가</p>")])
    assert same.answers()
    changed = _job(tmp_path / "job", model, [Prompt("1", "", question="둘", page="<p>가</p>")])
    assert not changed.answers()


def test_child_gets_no_gold_answer_and_no_token(
    environment: dict[str, str], models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("HANNUN_DETAILS_KEY", "secret")
    options = EngineOptions(Path("m"), "float32", 16)
    assert not {"HF_TOKEN", "HANNUN_DETAILS_KEY", "HOME"} & set(child_environment(options.api))
    benchmark = BENCHMARKS["ko-vqa"]
    items = benchmark.load(SAMPLES / "ko-vqa")
    job = Job.prepare(tmp_path / "job", options, (p for i in items for p in benchmark.prompts(i)))
    written = b"".join(p.read_bytes() for p in job.folder.rglob("*") if p.suffix in (".json", ".jsonl"))
    assert items[0].question.encode() in written
    assert not [i.id for i in items if i.answer.encode() in written]


def test_child_ends_with_its_parent(models_dir: Path, tmp_path: Path) -> None:
    prompts = [Prompt(str(n), "", question=f"질문 {n}") for n in range(500)]
    (tmp_path / "dummy.json").write_text('{"seconds": 0.05}')
    job = _job(tmp_path / "job", tmp_path, prompts)
    reader, writer = os.pipe()
    with _child(job, reader) as child:
        assert child.stdout
        assert [json.loads(child.stdout.readline())["event"] for _ in range(2)] == ["environment", "loaded"]
        os.close(reader)
        os.close(writer)
        assert child.wait(timeout=60) == 1
    assert len(job.answers()) < 500


@pytest.mark.slow
def test_run_smollm2_on_real_page(
    environment: dict[str, str], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Run a real language model on a page longer than its context; the README's commands run all four pages."""
    pages = SHARED / "data/korquad2_docs.json"
    if not pages.exists():
        pytest.skip("the real KorQuAD pages are not available (CC BY-ND: they are not part of the project)")
    make_smollm2(tmp_path / "SmolLM2-135M-Instruct")
    words = ["-m", "evaluator", "run", "--model", str(tmp_path / "SmolLM2-135M-Instruct"), "--benchmark", "korquad-2"]
    words += ["--data", f"{pages}#dev", "--limit", "1", "--latency-samples", "0", "--out", str(tmp_path / "out")]
    done = python(*words, environment=environment)
    assert done.returncode == 0, done.stderr
    result = EvalResult.model_validate_json((tmp_path / "out/result.json").read_bytes())
    assert (result.dataset.split, result.config.params) == ("dev[:1]", 134515008)


def test_job_crops_extra_figures(tmp_path: Path) -> None:
    image = tmp_path / "chart.png"
    picture = Image.new("RGB", (100, 60), "white")
    picture.paste((255, 0, 0), (10, 20, 40, 50))
    picture.save(image)
    options = EngineOptions(Path("m"), "float32", 16)
    job = Job.prepare(tmp_path / "job", options, [Prompt("1", "?", (image,), crops=((10, 20, 30, 30),))])
    (prompt,) = job.prompts()
    assert [Image.open(p).size for p in prompt.images] == [(100, 60), (30, 30)]
    assert Image.open(prompt.images[1]).getcolors() == [(900, (255, 0, 0))]


def test_run_refuses_to_replace_a_folder_of_something_else(cli: Cli, dummy_engine: None, tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "job/thesis.txt").write_text("years of work")
    done = cli("run", "--model", "tiny/image-text", "--benchmark", "ko-vqa", "--limit", "2", "--out", str(tmp_path))
    assert done.returncode == 2 and "a folder named job with other files" in done.stderr
    assert (tmp_path / "job/thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [(("--engine", "extractive"), "cannot evaluate ko-vqa"), (("--out", "/dev/null/x"), "--out /dev/null/x: ")],
)
def test_run_checks_everything_before_a_download(
    arguments: tuple[str, ...], reason: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(*_: object, **__: object) -> Path:
        raise AssertionError("60 GB were downloaded")

    monkeypatch.setattr("evaluator.commands.find_model.fetch_model", fetch)
    out = () if "--out" in arguments else ("--out", str(tmp_path / "out"))
    done = cli("run", "--model", "tiny/image-text", "--benchmark", "ko-vqa", *out, *arguments)
    assert done.returncode == 2 and reason in done.stderr


def test_command_to_reproduce_names_the_data_and_what_a_server_was_sent() -> None:
    benchmark = BENCHMARKS["korquad-2"]
    request = request_numbered(1, benchmark="korquad-2")
    api = ApiOptions(base_url="http://127.0.0.1:1", model="m", page_chars=5000, image_links=True)
    options = options_of(request, Path("m"), benchmark, api=api)
    of_makers = Task(request, options, benchmark, Source(Path("p"), "korquad-2", "dev", "5" * 40))
    command = reproduce(of_makers)
    assert "--data 'DATA#dev'" in command and "--page-chars 5000" in command and "--image-links" in command
    of_sample = replace(of_makers, source=Source(Path("p"), "samples/korquad-2", "sample"))
    assert "--data" not in reproduce(of_sample)


def test_run_without_images_is_blind(cli: Cli, dummy_engine: None, tmp_path: Path) -> None:
    args = ["run", "--model", "tiny/image-text", "--benchmark", "ko-vqa", "--limit", "4", "--no-images"]
    done = cli(*args, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    result = EvalResult.model_validate_json((tmp_path / "out/result.json").read_bytes())
    assert result.dataset.split == "sample[:4]/blind"
    assert result.reproduce and "--limit 4" in result.reproduce and result.reproduce.endswith("--no-images")
