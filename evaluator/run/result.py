"""From scored answers to the public result record: percentages with 4 decimals, milliseconds with 3."""

import shlex
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from evaluator.benchmarks.base import Benchmark
from evaluator.data_types import Answer, AnswerStatus, Item, Score
from evaluator.engines.base import MAX_PIXELS, ApiOptions
from evaluator.engines.generation_config import dropped_settings
from evaluator.run.bootstrap import mean_interval
from evaluator.run.job import Job
from evaluator.run.task import Task
from submissions.paths import ROOT
from submissions.records import (
    ALONE_PROTOCOL,
    MAX_REASONING_TOKENS,
    AnswerCounts,
    BatchInvariance,
    Bucket,
    Cost,
    Dataset,
    EvalResult,
    Generation,
    Inputs,
    Latency,
    Provenance,
    Reasoning,
    ResultConfig,
)

# Model loading is in neither. KorQuAD 2.0's is (preprocessing + inference) / questions over the whole run in batches.
TOTAL_PROTOCOL = "total/questions"


def sum_up(
    task: Task,
    items: Sequence[Item],
    scores: Sequence[Score],
    answers: Sequence[Answer],
    dataset: Dataset,
    job: Job,
    batch_invariance: BatchInvariance | None,
    worker: str | None,
) -> EvalResult:
    """The result record of a scored evaluation."""
    name, n = task.benchmark.name, len(scores)
    environment = job.environment()
    counts = {status: sum(s.status == status for s in scores) for status in get_args(AnswerStatus)}
    seconds = [a.seconds for a in answers]
    metrics = task.benchmark.metrics(scores) | {"em_stderr": _stderr([s.em for s in scores])}
    metrics |= task.benchmark.more(scores)
    means = {
        "em": [s.em for s in scores],
        "f1": [s.f1 for s in scores] if task.benchmark.f1_is_mean else [],
        "em_strict": [s.em_strict for s in scores if s.em_strict is not None],
    }
    clusters = [item.cluster for item in items]
    remote = task.api is not None and task.api.remote
    reasoning = _reasoning(scores, answers)
    return EvalResult(
        request_key=task.request.key,
        config=ResultConfig(
            model_name=task.request.model_id,
            # A server does not tell which weights it holds or in what precision; one of our own has the folder's.
            model_sha=None if remote else task.request.revision,
            model_dtype=task.request.precision if _known_precision(task.api) else None,
            model_type=task.request.model_type,
            params=task.request.params or environment["params"],
            license=task.request.license,
            weights="closed" if task.request.api else None if remote else "open",
            engine="api" if task.api else task.request.engine,
            server=server_name(task.api.spawn) if task.api and task.api.spawn else None,
            api_model=_api_model(answers) if remote else None,
            thinking=task.request.thinking,
            base_model=task.request.base_model,
            base_sha=task.request.base_revision,
            custom_code=task.request.custom_code,
            batch_size=environment["batch_size"],
            max_new_tokens=task.answer_tokens,
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
            **{axis: _breakdown(axis, items, scores) for axis in items[0].buckets},
            **_histogram(task.benchmark, scores),
        },
        answers=AnswerCounts(**counts),
        inputs=_inputs(answers),
        latency=_latency(task, answers, job, environment),
        batch_invariance=batch_invariance,
        generation=Generation(
            decoding="provider" if any(a.sampled for a in answers) else task.decoding,
            max_answer_tokens=task.answer_tokens,
            max_reasoning_tokens=task.max_reasoning_tokens if reasoning else None,
            dropped=[] if remote or task.decoding == "repository" else dropped_settings(task.model),
        )
        if task.request.engine != "extractive"
        else None,
        reasoning=reasoning,
        cost=_cost(task.api, [*answers, *job.alone().values()]) if remote and task.api else None,
        environment={k: str(v) for k, v in environment.items() if k in ("python", "torch", "transformers", "sandbox")},
        provenance=Provenance(kind="verified", worker=worker)
        if worker
        else Provenance(kind="reported", source="python -m evaluator run"),
        reproduce=_reproduce(task),
    )


def _latency(task: Task, answers: Sequence[Answer], job: Job, environment: Mapping[str, Any]) -> Latency:
    """By the questions asked one at a time; the mean of KorQuAD is its own: all of the run's time / questions."""
    alone = [answer.seconds for answer in job.alone().values()]
    whole = [answer.seconds for answer in answers]
    own = task.benchmark.name == "korquad-2" or not alone
    ordered = sorted(alone or whole)
    remote = task.api is not None and task.api.remote
    return Latency(
        protocol=TOTAL_PROTOCOL if own else ALONE_PROTOCOL,
        n=len(ordered),
        mean_ms=_ms(_mean(whole if own else alone)),
        p50_ms=_ms(statistics.median(ordered)),
        p95_ms=_ms(ordered[int(0.95 * (len(ordered) - 1))]),
        hardware="remote server" if remote else environment["hardware"],
        calibration_ms=None if remote else environment["calibration_ms"],
    )


def _reasoning(scores: Sequence[Score], answers: Sequence[Answer]) -> Reasoning | None:
    """None where no answer came with any."""
    tokens = [a.reasoning_tokens for a in answers if a.reasoning_tokens is not None]
    if not tokens:
        return None
    right = sum(s.em for s in scores) * len(answers) / len(scores)
    return Reasoning(
        tokens_mean=round(sum(tokens) / len(answers), 1),
        tokens_per_right=round(sum(tokens) / right, 1) if right else None,
        unfinished=sum(a.reasoning_tokens is not None and a.status == "truncated" and not a.text for a in answers),
    )


def _cost(api: ApiOptions, answers: Sequence[Answer]) -> Cost | None:
    """None where the server does not tell what it used."""
    asked = [(a.prompt_tokens, a.tokens) for a in answers if a.prompt_tokens is not None and a.tokens is not None]
    if not asked:
        return None
    given, written = sum(p for p, _ in asked), sum(t for _, t in asked)
    total = (given * api.prices[0] + written * api.prices[1]) / 1e6 if any(api.prices) else None
    return Cost(prompt_tokens=given, completion_tokens=written, total=None if total is None else round(total, 6))


def _api_model(answers: Sequence[Answer]) -> str | None:
    """What the server says has answered; all of them, should it have changed meanwhile."""
    names = sorted({a.model for a in answers if a.model})
    return ", ".join(names)[:200] or None


def _known_precision(api: ApiOptions | None) -> bool:
    return api is None or (api.spawn is not None and "{precision}" in api.spawn)


def server_name(command: str) -> str:
    """The program of a command that starts a server: `vllm serve {model}` is vllm."""
    words = shlex.split(command)
    module = words.index("-m") + 1 if "-m" in words else 0
    return words[module].partition(".")[0] if module else Path(words[0]).name


def _inputs(answers: Sequence[Answer]) -> Inputs:
    visual = [a.visual_tokens for a in answers if a.visual_tokens is not None]
    return Inputs(
        visual_tokens_mean=round(_mean(visual), 1) if visual else None,
        resized=sum(a.resize is not None and a.resize < 1 for a in answers),
        windowed=sum(a.windows is not None for a in answers),
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
    if task.api and task.api.spawn:
        words += ["--engine", "api", "--spawn", task.api.spawn]
    elif task.api:
        words = ["python", "-m", "evaluator", "run", "--engine", "api", "--base-url", "BASE_URL"]
        words += ["--model", str(task.api.model), "--benchmark", task.benchmark.name, "--out", "out"]
    if task.request.thinking:
        words += ["--thinking", task.request.thinking]
    if task.decoding != "greedy":
        words += ["--decoding", task.decoding]
    if task.max_new_tokens:
        words += ["--max-new-tokens", str(task.max_new_tokens)]
    if task.max_reasoning_tokens != MAX_REASONING_TOKENS:
        words += ["--max-reasoning-tokens", str(task.max_reasoning_tokens)]
    if task.request.custom_code:
        words += ["--trust-remote-code"]
    if task.limit:
        words += ["--limit", str(task.limit)]
    if task.max_pixels != MAX_PIXELS:
        words += ["--max-pixels", str(task.max_pixels)]
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


def invariance(
    task: Task,
    chosen: Sequence[tuple[Item, Sequence[str]]],
    answers: Mapping[str, Answer],
    alone: Mapping[str, Answer],
) -> BatchInvariance | None:
    """How the answers and scores of the chosen items, each with its prompts' ids, differ when each is asked alone."""
    measured = [(item, ids) for item, ids in chosen if all(i in alone for i in ids)]
    if not measured:
        return None
    items = [item for item, _ in measured]
    pairs = [[[given[i] for i in ids] for _, ids in measured] for given in (answers, alone)]
    changed = sum([a.text for a in x] != [a.text for a in y] for x, y in zip(*pairs, strict=True))
    scored = [task.benchmark.score(items, given) for given in pairs]
    differ = sum((x.em, x.f1, x.em_strict) != (y.em, y.f1, y.em_strict) for x, y in zip(*scored, strict=True))
    return BatchInvariance(n=len(items), answers_changed=changed, scores_changed=differ)
