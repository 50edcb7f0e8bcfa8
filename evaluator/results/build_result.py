"""Build the public result record from scored answers: percentages with 4 decimals, milliseconds with 3."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Answer, Item, Score
from evaluator.engines.generation_config import dropped_settings
from evaluator.engines.hardware import LIBRARIES
from evaluator.engines.registry import ENGINES
from evaluator.results.latency import build_latency
from evaluator.results.reproduce import reproduce
from evaluator.results.rounding import Rounding, percent
from evaluator.results.score_answers import ScoredAnswers
from evaluator.results.task import Task
from evaluator.statistics.intervals import mean_interval, weighted_variance
from submissions.config.api_options import ApiOptions
from submissions.config.code_version import git_hash
from submissions.config.server_command import server_name
from submissions.hub_models.devices import visible_devices
from submissions.records.base import Decoding
from submissions.records.request import DEFAULT_REVISION
from submissions.records.result import (
    AnswerCounts,
    BatchInvariance,
    Bucket,
    Cost,
    Dataset,
    EvalResult,
    Generation,
    Inputs,
    Provenance,
    Reasoning,
    ResultConfig,
)

# Keys of the environment that are published.
ENVIRONMENT = ("python", *LIBRARIES, "server_version", "server_context", "image_processor", "sandbox", "cgroup")


def round_measures(result: EvalResult) -> EvalResult:
    """Return a copy of the result whose measures have two significant digits.

    Approved custom code runs in the process that measures and could encode information in further digits
    (docs/security.md).
    """

    def rounded(record: BaseModel | None, *names: str) -> dict[str, Any] | None:
        values = record.model_dump() if record else None
        return values and {**values, **{name: _two_digits(values[name]) for name in names}}

    return result.evolve(
        config={**result.config.model_dump(), "batch_size": _two_digits(result.config.batch_size)},
        latency=rounded(result.latency, "mean_ms", "p50_ms", "p95_ms", "gpu_memory_gb"),
        reasoning=rounded(result.reasoning, "tokens_mean", "tokens_per_right"),
        cost=rounded(result.cost, "prompt_tokens", "completion_tokens", "device_seconds", "total"),
        inputs=None,
        total_evaluation_time_seconds=_two_digits(result.total_evaluation_time_seconds),
    )


def _two_digits(value: float | None) -> float | None:
    return None if value is None else type(value)(float(f"{value:.2g}"))


def build_result(
    task: Task,
    items: Sequence[Item],
    scored: ScoredAnswers,
    dataset: Dataset,
    environment: Mapping[str, Any],
    invariance: BatchInvariance | None,
    worker: str | None,
    gpu_memory: int | None = None,
) -> EvalResult:
    """Return the public record of a scored evaluation.

    `gpu_memory` is the peak of one question at a time in bytes, or None if it is unknown or no GPU was used.
    """
    scores = scored.scores
    answers = list(scored.answers.values())
    singly = list(scored.singly.values())
    name = task.benchmark.name
    n = len(scores)
    benchmark = task.benchmark
    reasoning = _reasoning(benchmark, scores, answers)
    provenance = Provenance(kind="reported", source="python -m evaluator run")
    if worker:
        provenance = Provenance(kind="verified", worker=worker)
    return EvalResult(
        request_key=task.request.key,
        config=_config(task, answers, environment),
        headline=benchmark.card.headline,
        versions={name: task.version},
        n_samples={name: {"original": dataset.n, "effective": n}},
        date=round(time.time(), 3),
        git_hash=git_hash(),
        total_evaluation_time_seconds=round(sum(a.seconds for a in answers), 3),
        dataset=dataset,
        **scored_fields(benchmark, items, scores),
        inputs=_inputs(answers),
        latency=build_latency(task, answers, singly, environment, gpu_memory),
        batch_invariance=_published_invariance(benchmark, invariance, n),
        generation=_generation(task, answers, reasons=bool(reasoning)),
        reasoning=reasoning,
        cost=_cost(task, [*answers, *singly]),
        environment={k: str(v) for k, v in environment.items() if k in ENVIRONMENT},
        provenance=provenance,
        reproduce=reproduce(task),
    )


def _config(task: Task, answers: Sequence[Answer], environment: Mapping[str, Any]) -> ResultConfig:
    """Return what was evaluated, and with which engine or server."""
    request = task.request
    config = ResultConfig(
        model_name=request.model_id,
        model_sha=request.revision,
        model_dtype=request.precision,
        model_type=request.model_type,
        shown=request.shown,
        params=request.params or environment["params"],
        license=request.license,
        weights=_weights(task),
        engine=request.engine,
        thinking=request.thinking,
        base_model=request.base_model,
        base_sha=request.base_revision,
        custom_code=request.custom_code,
        requested_revision=None if request.requested_revision == DEFAULT_REVISION else request.requested_revision,
        batch_size=environment["batch_size"],
        max_new_tokens=task.options.max_new_tokens,
    )
    api = task.options.api
    if api is None:
        return config
    changes: dict[str, Any] = {"engine": "api"}
    if api.spawn:
        changes["server"] = server_name(api.spawn)
    if not _known_precision(api):
        changes["model_dtype"] = None
    if task.remote:  # a server started here uses the model folder; of another one the weights are unknown
        changes |= {"model_sha": None, "api_model": _api_model(answers)}
    return config.evolve(**changes)


def _published_invariance(benchmark: Benchmark, invariance: BatchInvariance | None, n: int) -> BatchInvariance | None:
    """Leave out the number of changed scores if results are coarse. A model could answer some questions in two ways."""
    if invariance is None or not Rounding(benchmark, n).is_coarse:
        return invariance
    return invariance.evolve(scores_changed=None)


def scored_fields(benchmark: Benchmark, items: Sequence[Item], scores: Sequence[Score]) -> dict[str, Any]:
    """Return the fields of a result that follow from its items and their scores alone."""
    rounding = Rounding(benchmark, len(scores))
    shares = benchmark.aggregate(scores)
    totals = {name: rounding.total(name, share) for name, share in shares.items()}
    means = [metric.name for metric in benchmark.metrics if metric.is_mean and metric.name in shares]
    means = [name for name in means if rounding.publishes_errors_of(name)]
    errors = {name: _standard_error(rounding, name, scores) for name in means}
    parts = {axis: _breakdown(rounding, axis, items, scores) for axis in items[0].buckets}
    published = {axis: buckets for axis, buckets in parts.items() if buckets}
    statuses = Counter(score.status for score in scores)
    return {
        "results": {benchmark.name: _known(totals)},
        "intervals": {name: _interval(rounding, name, items, scores) for name in means},
        "standard_errors": _known(errors),
        "breakdown": published | _histogram(benchmark, scores),
        "answers": AnswerCounts.model_validate(statuses),
    }


def _known(values: Mapping[str, float | None]) -> dict[str, float]:
    """Return the values that are published."""
    return {name: value for name, value in values.items() if value is not None}


def _reasoning(benchmark: Benchmark, scores: Sequence[Score], answers: Sequence[Answer]) -> Reasoning | None:
    """Return how much the model reasoned, or None if no answer contains reasoning."""
    tokens = [a.reasoning_tokens for a in answers if a.reasoning_tokens is not None]
    if not tokens:
        return None
    name = benchmark.item_metric.name
    right = round(sum(s.values[name] for s in scores)) * len(answers) / len(scores)
    return Reasoning(
        tokens_mean=round(sum(tokens) / len(answers), 1),
        tokens_per_right=round(sum(tokens) / right, 1) if right else None,
        unfinished=sum(a.reasoning_tokens is not None and a.status == "truncated" and not a.text for a in answers),
    )


def _weights(task: Task) -> Literal["open", "closed"] | None:
    """Return whether the weights are open, or None if a server that this board does not know has them."""
    if task.request.api:
        return "closed"
    return None if task.remote else "open"


def _generation(task: Task, answers: Sequence[Answer], *, reasons: bool) -> Generation | None:
    """Return how answers were generated, or None if the engine generates none."""
    if not ENGINES[task.request.engine].generates:
        return None
    decoding: Decoding = task.options.decoding
    if any(a.sampled for a in answers):
        decoding = "provider"
    keeps_settings = task.remote or task.options.decoding == "repository"
    return Generation(
        decoding=decoding,
        max_answer_tokens=task.options.max_new_tokens,
        max_reasoning_tokens=_reasoning_budget(task) if reasons else None,
        dropped=[] if keeps_settings else dropped_settings(task.options.model),
    )


def _cost(task: Task, answers: Sequence[Answer]) -> Cost | None:
    """Return the tokens, device time and price of the answers, or None if a remote server does not report its tokens."""
    asked = [(a.prompt_tokens, a.tokens) for a in answers if a.prompt_tokens is not None and a.tokens is not None]
    prompt = sum(p for p, _ in asked)
    completion = sum(c for _, c in asked)
    tokens = {"prompt_tokens": prompt, "completion_tokens": completion} if asked else {}
    if task.remote:
        prices = task.options.api.prices if task.options.api else (0.0, 0.0)
        if not asked:
            return None
        total = round((prompt * prices[0] + completion * prices[1]) / 1e6, 6) if any(prices) else None
        return Cost(**tokens, total=total)
    used = visible_devices() if task.devices is None else task.devices
    seconds = sum(a.seconds for a in answers)
    devices = len(used) or 1
    price = None if task.price_per_hour is None else round(task.price_per_hour * seconds / 3600, 6)
    return Cost(**tokens, device_seconds=round(seconds * devices, 3), devices=devices, total=price)


def _api_model(answers: Sequence[Answer]) -> str | None:
    """Return the name of the model that the server reports, or all of them if it changed during the run."""
    names = sorted({a.model for a in answers if a.model})
    return ", ".join(names)[:200] or None


def _reasoning_budget(task: Task) -> int:
    """Return the reasoning tokens allowed per answer: 0 if a remote server was not asked to reason."""
    return 0 if task.remote and not task.options.asks_for_reasoning else task.options.max_reasoning_tokens


def _known_precision(api: ApiOptions) -> bool:
    return api.spawn is not None and "{precision}" in api.spawn


def _inputs(answers: Sequence[Answer]) -> Inputs:
    visual = [a.visual_tokens for a in answers if a.visual_tokens is not None]
    mean = round(_mean(visual), 1) if visual else None
    return Inputs(
        visual_tokens_mean=mean,
        resized=sum(a.resize is not None and a.resize < 1 for a in answers),
        windowed=sum(a.windows is not None for a in answers),
    )


def _breakdown(rounding: Rounding, axis: str, items: Sequence[Item], scores: Sequence[Score]) -> dict[str, Bucket]:
    """Return the published scores of each bucket of an axis, or an empty dict if none is published."""
    by_bucket: dict[str, list[Score]] = {}
    for item, score in zip(items, scores, strict=True):
        by_bucket.setdefault(item.buckets[axis], []).append(score)
    buckets = {bucket: _bucket(rounding, part) for bucket, part in sorted(by_bucket.items())}
    return buckets if any(bucket.scores for bucket in buckets.values()) else {}


def _bucket(rounding: Rounding, scores: Sequence[Score]) -> Bucket:
    n = len(scores)
    shares = rounding.benchmark.aggregate(scores)
    values = {name: rounding.part(name, share, n) for name, share in shares.items()}
    return Bucket(n=n, scores=_known(values))


def _histogram(benchmark: Benchmark, scores: Sequence[Score]) -> dict[str, dict[str, Bucket]]:
    axis = benchmark.card.histogram
    counts = benchmark.histogram(scores)
    return {axis.name: {kind: Bucket(n=n) for kind, n in counts.items()}} if axis else {}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _interval(rounding: Rounding, metric: str, items: Sequence[Item], scores: Sequence[Score]) -> tuple[float, float]:
    """Return the 95 % interval of a mean metric, in percent, over the items that have this metric."""
    known = [
        (s.values[metric], item.cluster, s.weights.get(metric, 1))
        for s, item in zip(scores, items, strict=True)
        if metric in s.values
    ]
    values, clusters, weights = zip(*known, strict=True)
    low, high = mean_interval(values, clusters, rounding.benchmark.metric(metric).lowest / 100, weights)
    return rounding.interval(low, high)


def _standard_error(rounding: Rounding, metric: str, scores: Sequence[Score]) -> float | None:
    """Return the standard error of a mean metric in percent, or None if it cannot be estimated or is not published."""
    known = [s for s in scores if metric in s.values]
    values = [s.values[metric] for s in known]
    weights = [s.weights.get(metric, 1) for s in known]
    if len(values) < 2 or len(set(values)) == 1:
        return None  # equal scores do not mean that another set of questions would give the same ones
    error = weighted_variance(values, weights) ** 0.5
    if set(values) <= {0.0, 1.0}:
        return percent(error)  # it follows from the mean and reveals nothing more
    return None if rounding.is_coarse else percent(error, rounding.steps)


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 3)
