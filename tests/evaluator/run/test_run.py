"""`python -m evaluator run`: real processes, real models, killed and started again."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from evaluator.data_types import Answer, Prompt
from evaluator.engines.options import EngineOptions
from evaluator.run.job import Job
from evaluator.run.process import child_environment
from scripts.demo import make_smollm2
from submissions.paths import ROOT, SAMPLES
from submissions.results import EvalResult
from tests.conftest import SHARED

KORQUAD = SAMPLES / "korquad-2"


def run(environment: dict[str, str], *args: str, timeout: int = 300) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "evaluator", *args],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def timeless(result: Path) -> dict[str, Any]:
    """A result without what differs from run to run."""
    content = json.loads(result.read_text(encoding="utf-8"))
    for field in ("date", "latency", "total_evaluation_time_seconds", "git_hash"):
        content.pop(field)
    return dict(content)


@pytest.mark.parametrize(
    ("model", "benchmark", "n"),
    [
        ("image-text", "ko-vqa", 45),
        ("image-text", "ko-vdc", 20),
        ("image-text", "infochartqa", 31),
        ("extractive", "korquad-2", 44),
        ("image-text", "korquad-2", 6),
    ],
)
def test_each_benchmark_on_its_samples(
    environment: dict[str, str], models_dir: Path, tmp_path: Path, model: str, benchmark: str, n: int
) -> None:
    limit = ["--limit", "6"] if n == 6 else []
    done = run(
        environment, "run", "--model", str(models_dir / "tiny" / model), "--benchmark", benchmark,
        "--precision", "float32", "--out", str(tmp_path / "out"), *limit,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"n = {n}" in done.stdout
    result = EvalResult.model_validate_json((tmp_path / "out/result.json").read_bytes())
    assert result.dataset.n == n
    assert result.dataset.split == ("sample[:6]" if limit else "sample")
    assert result.answers and sum(result.answers.model_dump().values()) == n
    assert result.latency and result.latency.mean_ms > 0 and result.latency.hardware and result.latency.calibration_ms
    assert (result.latency.protocol == "total/questions") == (benchmark == "korquad-2")
    assert result.batch_invariance and result.batch_invariance.n == min(n, 25 if benchmark == "ko-vdc" else 100)
    assert result.inputs and (result.inputs.visual_tokens_mean is None) == (benchmark == "korquad-2")
    extra = {"em_strict", "em_chance_corrected", "consistency"}
    assert set(result.results[benchmark]) - extra == {"em", "em_stderr", "f1"}
    for metric, (low, high) in result.intervals.items():
        assert low <= (result.results[benchmark][metric] or 0) <= high and low < high
    assert ("f1" in result.intervals) == (benchmark != "ko-vdc"), "macro-F1 is no mean"
    if benchmark == "ko-vdc":
        assert sum(b.n or 0 for b in result.breakdown["letter"].values()) == 4 * n
    assert ("em_strict" in result.results[benchmark]) == (benchmark != "korquad-2")
    for axis, buckets in result.breakdown.items():
        assert axis == "letter" or sum(b.n or 0 for b in buckets.values()) == n
    details = (tmp_path / "out/details.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(details) == n
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["details.jsonl", "result.json"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--model", "no such folder", "--benchmark", "ko-vqa"], "not a model ID"),
        (["--model", "tiny/extractive", "--benchmark", "ko-vqa"], "KorQuAD 2.0 only"),
        (["--model", "tiny/extractive", "--benchmark", "korquad-2", "--data", "/nowhere"], "/nowhere"),
        (["--model", "tiny/extractive", "--benchmark", "korquad-2", "--engine", "chat"], "no_chat_template"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    environment: dict[str, str], tmp_path: Path, args: list[str], said: str
) -> None:
    done = run(environment, "run", *args, "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert said in done.stderr and "Traceback" not in done.stderr


def test_a_broken_row_stops_the_run_before_inference(environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "pages").mkdir(parents=True)
    (folder / "pages/1.html").write_text("<p>가</p>")
    good = {"id": "1", "question": "?", "answer": "가", "page": "pages/1.html", "length": "short", "form": "paragraph"}
    rows = [good, {**good, "id": "2", "answer": ""}]
    (folder / "items.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    done = run(
        environment, "run", "--model", "tiny/extractive", "--benchmark", "korquad-2",
        "--data", str(folder), "--out", str(tmp_path / "out"),
    )  # fmt: skip
    assert done.returncode == 2
    assert "items.jsonl, row 2" in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def _many_questions(folder: Path) -> Path:
    """The sample pages with their questions thirty times over: seconds of work, to be killed in."""
    data = folder / "data"
    shutil.copytree(KORQUAD, data)
    rows = [json.loads(line) for line in (KORQUAD / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    many = [{**row, "id": f"{row['id']}-{n}", "question": f"{row['question']} {n}"} for n in range(30) for row in rows]
    (data / "items.jsonl").write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in many), encoding="utf-8")
    return data


def test_a_killed_run_started_again_gives_the_same_result(environment: dict[str, str], tmp_path: Path) -> None:
    data = _many_questions(tmp_path)
    args = ["run", "--model", "tiny/extractive", "--benchmark", "korquad-2", "--data", str(data), "--out"]
    assert run(environment, *args, str(tmp_path / "undisturbed")).returncode == 0
    environment["HANNUN_WORK_DIR"] = str(tmp_path / "another")  # none of those answers at hand
    out = tmp_path / "killed"
    answers = out / "job/out/answers.jsonl"
    for lines in (5, 150):
        with (
            subprocess.Popen(
                [sys.executable, "-m", "evaluator", *args, str(out)],
                cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            ) as running,
            subprocess.Popen(
                ["tail", "-n", "+1", "-s", "0.05", "-F", str(answers)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            ) as tail,
        ):  # fmt: skip
            assert tail.stdout is not None
            for _ in range(lines):
                tail.stdout.readline()
            running.send_signal(signal.SIGKILL)
            running.wait()
            tail.kill()
        assert running.returncode == -signal.SIGKILL
        assert not (out / "result.json").exists(), "killed in the middle"
    before = answers.read_bytes()
    assert 150 <= before.count(b"\n") < 44 * 30
    assert run(environment, *args, str(out)).returncode == 0
    assert timeless(out / "result.json") == timeless(tmp_path / "undisturbed/result.json")
    assert (out / "details.jsonl").read_bytes() == (tmp_path / "undisturbed/details.jsonl").read_bytes()


def test_a_longer_run_uses_the_answers_of_a_shorter_one(environment: dict[str, str], tmp_path: Path) -> None:
    args = ["run", "--model", "tiny/extractive", "--benchmark", "korquad-2", "--alone", "0", "--out"]

    def seconds(*more: str) -> float:
        out = tmp_path / "-".join(more or ["whole"])
        assert run(environment, *args, str(out), *more).returncode == 0
        return float(json.loads((out / "result.json").read_text())["total_evaluation_time_seconds"])

    first = seconds("--limit", "10")
    whole = seconds()
    assert whole > first
    assert seconds("--limit", "44") == whole, "the answers and the time they took are those of the run before"
    assert seconds("--fresh") != whole


def _job(folder: Path, model: Path, prompts: list[Prompt]) -> Job:
    options = EngineOptions(model, "float32", 16, engine="extractive")
    return Job.prepare(folder, options, prompts)


def _infer(job: Job) -> list[dict[str, Any]]:
    """Run the inference process itself and give its events."""
    done = subprocess.Popen(
        [sys.executable, "-m", "evaluator.run.child", str(job.folder)],
        cwd=ROOT, env=child_environment(job.options()), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert done.stdout and done.stdin and done.stderr
    events = [json.loads(line) for line in done.stdout]
    code = done.wait()
    done.stdin.close()
    assert code == 0, done.stderr.read().decode()
    return events


def test_answered_items_are_not_asked_again(models_dir: Path, tmp_path: Path) -> None:
    prompts = [Prompt(str(n), "", question=f"질문 {n}", page=f"<p>문단 {n}</p>") for n in range(6)]
    model = models_dir / "tiny/extractive"
    job = _job(tmp_path / "job", model, prompts)
    assert [e["event"] for e in _infer(job)] == ["environment", "loaded"] + ["answered"] * 6
    whole = job.answers_file.read_bytes()
    lines = whole.splitlines(keepends=True)
    job.answers_file.write_bytes(b"".join(lines[:3]) + lines[3][:10])  # killed while writing the fourth
    again = _job(tmp_path / "job", model, prompts)
    assert list(again.answers()) == ["0", "1", "2"]
    assert [e["event"] for e in _infer(again)] == ["environment", "loaded"] + ["answered"] * 3
    assert again.answers_file.read_bytes().startswith(b"".join(lines[:3]))
    assert [a.text for a in again.answers().values()] == [json.loads(line)["text"] for line in lines]


def test_answers_may_hold_any_line_separator(tmp_path: Path) -> None:
    texts = ["가\u2028나", "가\x85나", "가\x0b\x0c\x1c나", "줄\n바꿈\r\n"]
    answers = [Answer(str(n), text, "ok", 0.1) for n, text in enumerate(texts)]
    job = _job(tmp_path / "job", tmp_path, [Prompt(answer.id, "") for answer in answers])
    keys = job.keys()
    job.answers_file.write_text("".join(job.row(keys[a.id], a) for a in answers), encoding="utf-8")
    assert list(job.answers().values()) == answers


def test_a_changed_prompt_never_keeps_an_old_answer(models_dir: Path, tmp_path: Path) -> None:
    model = models_dir / "tiny/extractive"
    job = _job(tmp_path / "job", model, [Prompt("1", "", question="하나", page="<p>가</p>")])
    _infer(job)
    assert job.answers()
    same = _job(tmp_path / "job", model, [Prompt("1", "", question="하나", page="<p>가</p>")])
    assert same.answers()
    changed = _job(tmp_path / "job", model, [Prompt("1", "", question="둘", page="<p>가</p>")])
    assert not changed.answers()


def test_the_inference_process_sees_no_gold_answer_and_no_token(
    environment: dict[str, str], models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("HANNUN_DETAILS_KEY", "secret")
    assert not {"HF_TOKEN", "HANNUN_DETAILS_KEY", "HOME"} & set(
        child_environment(EngineOptions(Path("m"), "float32", 16))
    )
    from evaluator.benchmarks import BENCHMARKS

    benchmark = BENCHMARKS["ko-vqa"]
    items = benchmark.load(SAMPLES / "ko-vqa")
    job = Job.prepare(
        tmp_path / "job",
        EngineOptions(Path("m"), "float32", 16),
        (p for i in items for p in benchmark.prompts(i)),
    )
    written = b"".join(p.read_bytes() for p in job.folder.rglob("*") if p.suffix in (".json", ".jsonl"))
    assert items[0].question.encode() in written
    assert not [i.id for i in items if i.answer.encode() in written]


def test_the_inference_process_ends_with_its_parent(models_dir: Path, tmp_path: Path) -> None:
    prompts = [Prompt(str(n), "", question=f"질문 {n}", page="<p>문단</p>" * 3000) for n in range(500)]
    job = _job(tmp_path / "job", models_dir / "tiny/extractive", prompts)
    reader, writer = os.pipe()
    child = subprocess.Popen(
        [sys.executable, "-m", "evaluator.run.child", str(job.folder)],
        cwd=ROOT, env=child_environment(job.options()), stdin=reader, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert child.stdout is not None
    assert [json.loads(child.stdout.readline())["event"] for _ in range(2)] == ["environment", "loaded"]
    os.close(reader)
    os.close(writer)
    assert child.wait(timeout=60) == 1
    child.stdout.close()
    assert len(job.answers()) < 500


def test_smollm2_reads_a_real_page(
    environment: dict[str, str], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A real language model, past its context on a real page. All four pages: see the README's commands."""
    pages = SHARED / "data/korquad2_docs.json"
    if not pages.exists():
        pytest.skip("the real KorQuAD pages are not here (CC BY-ND: they stay out of the project)")
    make_smollm2(tmp_path / "SmolLM2-135M-Instruct")
    done = run(
        environment, "run", "--model", str(tmp_path / "SmolLM2-135M-Instruct"), "--benchmark", "korquad-2",
        "--data", f"{pages}#dev", "--limit", "1", "--alone", "0", "--out", str(tmp_path / "out"), timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = EvalResult.model_validate_json((tmp_path / "out/result.json").read_bytes())
    assert (result.dataset.split, result.config.params) == ("dev[:1]", 134515008)


def test_extra_figures_are_cut_out_and_shown_after_the_image(tmp_path: Path) -> None:
    image = tmp_path / "chart.png"
    picture = Image.new("RGB", (100, 60), "white")
    picture.paste((255, 0, 0), (10, 20, 40, 50))
    picture.save(image)
    options = EngineOptions(Path("m"), "float32", 16)
    job = Job.prepare(tmp_path / "job", options, [Prompt("1", "?", (image,), crops=((10, 20, 30, 30),))])
    (prompt,) = job.prompts()
    assert [Image.open(p).size for p in prompt.images] == [(100, 60), (30, 30)]
    assert Image.open(prompt.images[1]).getcolors() == [(900, (255, 0, 0))]


def test_a_blind_run_sees_no_image(environment: dict[str, str], tmp_path: Path) -> None:
    args = ["run", "--model", "tiny/image-text", "--benchmark", "ko-vqa", "--limit", "4", "--no-images"]
    done = run(environment, *args, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    result = EvalResult.model_validate_json((tmp_path / "out/result.json").read_bytes())
    assert result.dataset.split == "sample[:4]/blind"
    assert result.reproduce and result.reproduce.endswith("--limit 4 --no-images")
