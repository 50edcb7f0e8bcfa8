"""From a model and a benchmark to a result: prompts, the inference process, scores, one record."""

import json
import os
import shlex
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from evaluator.benchmarks.base import Benchmark
from evaluator.job import Job, JobSpec
from evaluator.source import Source
from evaluator.statistics import mean_interval
from evaluator.types import Answer, AnswerStatus, Item, ModelError, Prompt, Score
from submissions.records import (
    AnswerCounts,
    Bucket,
    Dataset,
    EvalRequest,
    EvalResult,
    Latency,
    Provenance,
    ResultConfig,
)

ROOT = Path(__file__).parent.parent
LATENCY_PROTOCOL = "total/questions"  # KorQuAD 2.0's: (preprocessing + inference) / questions, model loading left out

Progress = Callable[[str, int, int], None]  # stage, answered, of how many


class Stopped(Exception):
    """The evaluation was asked to stop; its answers so far are kept."""


@dataclass(frozen=True)
class Task:
    """One model on one benchmark."""

    request: EvalRequest
    model: Path  # folder with its files
    benchmark: Benchmark
    source: Source
    limit: int | None = None
    batch_size: int | None = None
    blind: bool = False  # ask without images and pages: what is right all the same was never read from them


@dataclass(frozen=True)
class Evaluation:
    result: EvalResult
    details: list[dict[str, object]]  # private: answers and scores by item


def load_items(task: Task) -> tuple[list[Item], Dataset]:
    """The items to ask, and what is said of their set. Raises DataError naming file and row."""
    items = task.benchmark.load(task.source.path)
    split = task.source.split
    if task.limit and task.limit < len(items):
        items, split = items[: task.limit], f"{split}[:{task.limit}]"  # another split: never ranked with the whole
    if task.blind:
        split = f"{split}/blind"
    return items, Dataset(id=task.source.id, revision=task.source.revision, split=split, n=len(items))


def evaluate(
    task: Task,
    items: Sequence[Item],
    dataset: Dataset,
    job_dir: Path,
    *,
    on_progress: Progress = lambda *_: None,
    stop: threading.Event | None = None,
    worker: str | None = None,
) -> Evaluation:
    """Ask, score and sum up. Continues where an earlier run of the same job stopped.

    Raises ModelError where the model cannot be evaluated, Stopped once `stop` is set.
    """
    prompts = {item.id: task.benchmark.prompts(item) for item in items}
    if task.blind:
        prompts = {key: [_blinded(p) for p in own] for key, own in prompts.items()}
    spec = JobSpec(
        engine=task.request.engine,
        model=str(task.model.resolve()),
        revision=task.request.revision,
        precision=task.request.precision,
        max_new_tokens=task.benchmark.max_new_tokens,
        batch_size=task.batch_size,
    )
    job = Job.prepare(job_dir, spec, (p for own in prompts.values() for p in own))
    infer(job, sum(map(len, prompts.values())), on_progress, stop)
    on_progress("score", len(prompts), len(prompts))
    answers = job.answers()
    scores = task.benchmark.score(items, [[answers[p.id] for p in prompts[item.id]] for item in items])
    result = sum_up(task, items, scores, list(answers.values()), dataset, job, worker)
    details: list[dict[str, object]] = [
        {
            "id": item.id,
            "answers": [answers[p.id].text for p in prompts[item.id]],
            "status": score.status,
            "em": score.em,
            "f1": score.f1,
            "em_strict": score.em_strict,
        }
        for item, score in zip(items, scores, strict=True)
    ]
    return Evaluation(result, details)


def _blinded(prompt: Prompt) -> Prompt:
    return replace(prompt, images=(), crops=(), page=None if prompt.page is None else "")


def infer(job: Job, total: int, on_progress: Progress, stop: threading.Event | None = None) -> None:
    """Run the inference process until every prompt has its answer. Raises ModelError or Stopped."""
    answered = len(job.answers())
    if answered == total:
        return
    on_progress("load", answered, total)
    with (
        job.log.open("ab") as log,
        subprocess.Popen(
            [sys.executable, "-m", "evaluator.inference", str(job.folder.resolve())],
            stdin=subprocess.PIPE,  # its end tells the child that we are gone
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=ROOT,
            env=_child_environment(),
        ) as child,
    ):
        assert child.stdout is not None
        if stop:
            threading.Thread(target=_kill_when_set, args=(stop, child), daemon=True).start()
        failure = None
        try:
            for line in child.stdout:
                event = json.loads(line)
                if event["event"] == "failed":
                    failure = event["code"]
                    continue  # its stage is the one it was in
                answered += event["event"] == "answered"
                on_progress("infer", answered, total)
            child.wait()  # before its stdin closes, which would end it half-way out
        except BaseException:
            child.kill()
            raise
    if child.returncode and stop and stop.is_set():
        raise Stopped
    if child.returncode < 0:
        raise ModelError("process_killed", f"the inference process was ended by signal {-child.returncode}")
    if child.returncode:
        raise ModelError(failure or "internal_error", _last_line(job.log))


def _kill_when_set(stop: threading.Event, child: subprocess.Popen[bytes]) -> None:
    while child.poll() is None:
        if stop.wait(0.2):
            child.kill()  # what it has answered stands in the file; at most one batch is asked again


def _child_environment() -> dict[str, str]:
    """No token, no setting of ours, nothing that could reach a hub."""
    keep = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "TMPDIR")
    kept = {name: os.environ[name] for name in keep if name in os.environ}
    return {**kept, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "true", "PYTHONUTF8": "1"}


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "no output"


def sum_up(
    task: Task,
    items: Sequence[Item],
    scores: Sequence[Score],
    answers: Sequence[Answer],
    dataset: Dataset,
    job: Job,
    worker: str | None,
) -> EvalResult:
    """The result record of a scored evaluation; percentages rounded to 4 decimals, milliseconds to 3."""
    name, n = task.benchmark.name, len(scores)
    environment = job.environment()
    counts = {status: sum(s.status == status for s in scores) for status in get_args(AnswerStatus)}
    if counts["infra_error"]:
        raise ModelError("internal_error", f"{counts['infra_error']} answers failed through no fault of the model")
    seconds = [a.seconds for a in answers]
    metrics = task.benchmark.metrics(scores) | {"em_stderr": _stderr([s.em for s in scores])}
    metrics |= task.benchmark.more(scores)
    means = {
        "em": [s.em for s in scores],
        "f1": [s.f1 for s in scores] if task.benchmark.f1_is_mean else [],
        "em_strict": [s.em_strict for s in scores if s.em_strict is not None],
    }
    clusters = [item.cluster for item in items]
    return EvalResult(
        request_key=task.request.key,
        config=ResultConfig(
            model_name=task.request.model_id,
            model_sha=task.request.revision,
            model_dtype=task.request.precision,
            model_type=task.request.model_type,
            params=task.request.params or environment["params"],
            license=task.request.license,
            engine=task.request.engine,
            batch_size=environment["batch_size"],
            max_new_tokens=task.benchmark.max_new_tokens,
        ),
        results={name: {metric: _percent(value) for metric, value in metrics.items()}},
        intervals={
            metric: (_percent(interval.low), _percent(interval.high))
            for metric, values in means.items()
            if values and (interval := mean_interval(values, clusters))
        },
        versions={name: task.benchmark.version},
        n_samples={name: {"original": dataset.n, "effective": n}},
        date=round(time.time(), 3),
        git_hash=_git_hash(),
        total_evaluation_time_seconds=round(sum(seconds), 3),
        dataset=dataset,
        breakdown={
            **{axis: _breakdown(axis, items, scores) for axis in task.benchmark.card.axes},
            **_histogram(task.benchmark, scores),
        },
        answers=AnswerCounts(**counts),
        latency=Latency(
            protocol=LATENCY_PROTOCOL,
            n=len(seconds),
            mean_ms=_ms(_mean(seconds)),
            p50_ms=_ms(statistics.median(seconds)),
            p95_ms=_ms(sorted(seconds)[int(0.95 * (len(seconds) - 1))]),
            hardware=environment["hardware"],
        ),
        environment={k: str(v) for k, v in environment.items() if k in ("python", "torch", "transformers")},
        provenance=Provenance(kind="verified", worker=worker)
        if worker
        else Provenance(kind="reported", source="python -m evaluator run"),
        reproduce=_reproduce(task),
    )


def _breakdown(axis: str, items: Sequence[Item], scores: Sequence[Score]) -> dict[str, Bucket]:
    by_bucket: dict[str, list[Score]] = {}
    for item, score in zip(items, scores, strict=True):
        by_bucket.setdefault(item.buckets[axis], []).append(score)
    return {
        bucket: Bucket(n=len(own), em=_percent(_mean([s.em for s in own])), f1=_percent(_mean([s.f1 for s in own])))
        for bucket, own in sorted(by_bucket.items())
    }


def _histogram(benchmark: Benchmark, scores: Sequence[Score]) -> dict[str, dict[str, Bucket]]:
    counted = benchmark.histogram(scores)
    return {counted[0]: {kind: Bucket(n=n) for kind, n in counted[1].items()}} if counted else {}


def _reproduce(task: Task) -> str:
    words = ["python", "-m", "evaluator", "run", "--model", task.request.model_id, "--revision", task.request.revision]
    words += ["--benchmark", task.benchmark.name, "--precision", task.request.precision, "--out", "out"]
    if task.limit:
        words += ["--limit", str(task.limit)]
    if task.blind:
        words.append("--no-images")
    return shlex.join(words)


def _git_hash() -> str | None:
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--verify", "-q", "HEAD"], cwd=ROOT, capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _stderr(values: Sequence[float]) -> float:
    return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def _percent(share: float) -> float:
    return round(100 * share, 4)


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 3)
