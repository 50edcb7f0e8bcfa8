"""Build the public record of an evaluation, an `EvalResult`, from its scored answers.

`evaluate` calls `build_result` at the end of a run. `scored_fields` computes the fields that depend on the scores alone; an
erratum and the check of a revealed test set compute those again from stored answers.

Scores are published in percent with at most 4 decimals, times in seconds or, in fields that end in `_ms`, in milliseconds.

Results are *coarse* if the set is private and its answers are so short that they could be tried one by one, as letters and
numbers are (`coarse` of the benchmark's card). Most of their numbers are rounded further or left out (`rounding.py`), so that
nobody can compute the answers from the scores of many submissions.
"""

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
from evaluator.statistics.intervals import are_equal, mean_interval, variance_of_weighted_mean
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

# Keys of the environment, as the inference process reports it, that are published.
ENVIRONMENT = ("python", *LIBRARIES, "server_version", "server_context", "image_processor", "sandbox", "cgroup")
MAX_API_MODEL = 200  # characters of the model names that a server reported, joined


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

    Args:
        task: the request, with the options and the device of its evaluation
        items: the items that were asked, in the order of `scored.scores`
        scored: the answers and their scores; `singly` has the answers to a sample that was asked again one at a time
        dataset: where the items came from, and how many there are
        environment: library versions, hardware, batch size and parameters, as the inference process reports them
        invariance: how many answers changed when they were asked one at a time, or None if that was not measured
        worker: the name of the worker, which makes the result "verified"; None for a run by hand, which is "reported"
        gpu_memory: peak in bytes while asking one question at a time, or None if it is unknown or no GPU was used
    """
    benchmark = task.benchmark
    name = benchmark.name
    scores = scored.scores
    n = len(scores)
    answers = list(scored.answers.values())
    singly = list(scored.singly.values())
    reasoning = _reasoning(benchmark, scores, answers)
    if worker:
        provenance = Provenance(kind="verified", worker=worker)
    else:
        provenance = Provenance(kind="reported", source="python -m evaluator run")
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
        cost=_cost(task, answers, n),
        environment={key: str(value) for key, value in environment.items() if key in ENVIRONMENT},
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
    if not _sets_precision(api):
        changes["model_dtype"] = None
    if task.remote:  # a server that was not started here may have any weights
        changes |= {"model_sha": None, "api_model": _api_model(answers)}
    return config.evolve(**changes)


def _published_invariance(benchmark: Benchmark, invariance: BatchInvariance | None, n: int) -> BatchInvariance | None:
    """Return the invariance, without the number of changed scores if results over `n` items are coarse.

    A model that answers some questions in one way in batches and in another way alone would learn from that number which
    of the two ways is right.
    """
    if invariance is None or not Rounding(benchmark, n).is_coarse:
        return invariance
    return invariance.evolve(scores_changed=None)


def scored_fields(benchmark: Benchmark, items: Sequence[Item], scores: Sequence[Score]) -> dict[str, Any]:
    """Return the fields of an EvalResult that follow from its items and their scores alone, rounded for publication.

    The keys are `results`, `intervals`, `standard_errors`, `breakdown` and `answers`. `items` and `scores` have the same
    order and at least one element.
    """
    rounding = Rounding(benchmark, len(scores))
    shares = benchmark.aggregate(scores)
    totals = {name: rounding.total(name, share) for name, share in shares.items()}
    means = [metric.name for metric in benchmark.metrics if metric.is_mean and metric.name in shares]
    with_errors = [name for name in means if rounding.publishes_errors_of(name)]
    errors = {name: _standard_error(rounding, name, scores) for name in with_errors}
    breakdowns = {axis: _breakdown(rounding, axis, items, scores) for axis in items[0].buckets}
    published = {axis: buckets for axis, buckets in breakdowns.items() if buckets}
    statuses = Counter(score.status for score in scores)
    return {
        "results": {benchmark.name: _without_none(totals)},
        "intervals": {name: _interval(rounding, name, items, scores) for name in with_errors},
        "standard_errors": _without_none(errors),
        "breakdown": published | _histogram(benchmark, scores),
        "answers": AnswerCounts.model_validate(statuses),
    }


def _without_none(values: Mapping[str, float | None]) -> dict[str, float]:
    """Return the values that are published, which are those that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def _reasoning(benchmark: Benchmark, scores: Sequence[Score], answers: Sequence[Answer]) -> Reasoning | None:
    """Return how much the model reasoned, or None if no answer contains reasoning."""
    tokens = [a.reasoning_tokens for a in answers if a.reasoning_tokens is not None]
    if not tokens:
        return None
    name = benchmark.item_metric.name
    answers_per_item = len(answers) / len(scores)  # several for items that are asked in rotations
    # Rounded to whole items, so that the number of tokens reveals no more than the published score (docs/security.md).
    right_items = round(sum(score.values[name] for score in scores))
    right = right_items * answers_per_item
    return Reasoning(
        tokens_mean=round(sum(tokens) / len(answers), 1),
        tokens_per_right=round(sum(tokens) / right, 1) if right else None,
        unfinished=sum(a.reasoning_tokens is not None and a.status == "truncated" and not a.text for a in answers),
    )


def _weights(task: Task) -> Literal["open", "closed"] | None:
    """Return whether the weights are public, or None if a remote server has them and nobody has said so.

    `request.api` is set for a model that the operator offers behind an API, whose weights are not public.
    """
    if task.request.api:
        return "closed"
    return None if task.remote else "open"


def _generation(task: Task, answers: Sequence[Answer], *, reasons: bool) -> Generation | None:
    """Return how answers were generated, or None if the engine generates no text (it extracts a span of the page).

    `reasons` is whether any answer contains reasoning.
    """
    if not ENGINES[task.request.engine].generates:
        return None
    decoding: Decoding = task.options.decoding
    if any(answer.sampled for answer in answers):
        decoding = "provider"  # the server does not accept a temperature, so its provider decides how it samples
    # What a remote server drops of the settings in the model's repository is unknown; "repository" drops nothing.
    lists_none = task.remote or task.options.decoding == "repository"
    return Generation(
        decoding=decoding,
        max_answer_tokens=task.options.max_new_tokens,
        max_reasoning_tokens=_reasoning_budget(task) if reasons else None,
        dropped=[] if lists_none else dropped_settings(task.options.model),
    )


def _cost(task: Task, answers: Sequence[Answer], items: int) -> Cost | None:
    """Return the tokens, device time and price of the answers, or None if a remote server does not report its tokens.

    A remote server is priced per million tokens, this machine per hour. The total is None if no price is set.
    """
    counted = [(a.prompt_tokens, a.tokens) for a in answers if a.prompt_tokens is not None and a.tokens is not None]
    prompt_tokens = sum(prompt for prompt, _ in counted)
    completion_tokens = sum(completion for _, completion in counted)
    tokens = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens} if counted else {}
    if task.remote:
        if not counted:
            return None
        input_price, output_price = task.options.api.prices if task.options.api else (0.0, 0.0)
        total = None
        if input_price or output_price:
            total = round((prompt_tokens * input_price + completion_tokens * output_price) / 1e6, 6)
        return Cost(items=items, **tokens, total=total)
    used = visible_devices() if task.devices is None else task.devices
    devices = len(used) or 1  # without a GPU, the CPU is the device
    seconds = sum(answer.seconds for answer in answers)
    total = None if task.price_per_hour is None else round(task.price_per_hour * seconds / 3600, 6)
    device_seconds = round(seconds * devices, 3)
    return Cost(items=items, **tokens, device_seconds=device_seconds, devices=devices, total=total)


def _api_model(answers: Sequence[Answer]) -> str | None:
    """Return the name of the model that the server reports, or all of them if it changed during the run."""
    names = sorted({answer.model for answer in answers if answer.model})
    return ", ".join(names)[:MAX_API_MODEL] or None


def _reasoning_budget(task: Task) -> int:
    """Return the reasoning tokens allowed per answer: 0 if a remote server was not asked to reason."""
    if task.remote and not task.options.asks_for_reasoning:
        return 0
    return task.options.max_reasoning_tokens


def _sets_precision(api: ApiOptions) -> bool:
    """Return whether the server is started here by a command that contains the precision, so that it is known."""
    return api.spawn is not None and "{precision}" in api.spawn


def _inputs(answers: Sequence[Answer]) -> Inputs:
    """Return how images and pages were presented to the model."""
    visual_tokens = [answer.visual_tokens for answer in answers if answer.visual_tokens is not None]
    visual_tokens_mean = round(sum(visual_tokens) / len(visual_tokens), 1) if visual_tokens else None
    return Inputs(
        visual_tokens_mean=visual_tokens_mean,
        resized=sum(answer.resize is not None and answer.resize < 1 for answer in answers),
        windowed=sum(answer.windows is not None for answer in answers),
    )


def _breakdown(rounding: Rounding, axis: str, items: Sequence[Item], scores: Sequence[Score]) -> dict[str, Bucket]:
    """Return the published scores of each bucket of an axis, or an empty dict if none is published."""
    by_bucket: dict[str, list[Score]] = {}
    for item, score in zip(items, scores, strict=True):
        by_bucket.setdefault(item.buckets[axis], []).append(score)
    buckets = {name: _bucket(rounding, bucket_scores) for name, bucket_scores in sorted(by_bucket.items())}
    return buckets if any(bucket.scores for bucket in buckets.values()) else {}


def _bucket(rounding: Rounding, scores: Sequence[Score]) -> Bucket:
    """Return the number of items in a bucket and those of its scores that are published."""
    n = len(scores)
    shares = rounding.benchmark.aggregate(scores)
    values = {name: rounding.part(name, share, n) for name, share in shares.items()}
    return Bucket(n=n, scores=_without_none(values))


def _histogram(benchmark: Benchmark, scores: Sequence[Score]) -> dict[str, dict[str, Bucket]]:
    """Return the counts of each kind of answer as one more axis of the breakdown, or an empty dict."""
    axis = benchmark.card.histogram
    if axis is None:
        return {}
    return {axis.name: {kind: Bucket(n=n) for kind, n in benchmark.histogram(scores).items()}}


def _interval(rounding: Rounding, metric: str, items: Sequence[Item], scores: Sequence[Score]) -> tuple[float, float]:
    """Return the 95 % interval of a mean metric, in percent, over the items that have this metric."""
    having_metric = [(score, item) for score, item in zip(scores, items, strict=True) if metric in score.values]
    values = [score.values[metric] for score, _ in having_metric]
    weights = [score.weights.get(metric, 1) for score, _ in having_metric]
    clusters = [item.cluster for _, item in having_metric]
    lowest = rounding.benchmark.metric(metric).lowest / 100  # from percent
    low, high = mean_interval(values, clusters, lowest, weights)
    return rounding.interval(low, high)


def _standard_error(rounding: Rounding, metric: str, scores: Sequence[Score]) -> float | None:
    """Return the standard error of a mean metric in percent, or None if it cannot be estimated or is not published.

    As in the formats that it is exported to, items count as independent. The interval counts clusters (`_interval`).
    """
    having_metric = [score for score in scores if metric in score.values]
    values = [score.values[metric] for score in having_metric]
    weights = [score.weights.get(metric, 1) for score in having_metric]
    if len(values) < 2 or are_equal(values):
        return None  # equal scores do not mean that another set of questions would give the same ones
    error = variance_of_weighted_mean(values, weights) ** 0.5
    if set(values) <= {0.0, 1.0}:
        # With equal weights, the error follows from the mean, which is published anyway, so it reveals nothing more. Only
        # public sets have unequal weights.
        return percent(error)
    if rounding.is_coarse:
        return None
    return percent(error, rounding.steps)


def round_measures(result: EvalResult) -> EvalResult:
    """Return a copy of the result whose times, token counts and memory have two significant digits. Scores stay.

    `evaluate` calls this for a model with custom code, which runs in the process that measures and could encode information in
    further digits (docs/security.md). That process also chooses `config.batch_size`. `inputs` is left out for the same reason.
    """

    def rounded(record: BaseModel | None, *names: str) -> dict[str, Any] | None:
        if record is None:
            return None
        values = record.model_dump()
        return values | {name: _two_digits(values[name]) for name in names}

    return result.evolve(
        config=rounded(result.config, "batch_size"),
        latency=rounded(result.latency, "mean_ms", "p50_ms", "p95_ms", "gpu_memory_gb"),
        reasoning=rounded(result.reasoning, "tokens_mean", "tokens_per_right"),
        cost=rounded(result.cost, "prompt_tokens", "completion_tokens", "device_seconds", "total"),
        inputs=None,
        total_evaluation_time_seconds=_two_digits(result.total_evaluation_time_seconds),
    )


def _two_digits(value: float | None) -> float | None:
    """Return a number with two significant digits and its own type: 1234 -> 1200, 0.0567 -> 0.057."""
    return None if value is None else type(value)(float(f"{value:.2g}"))
