"""Build complete results as an evaluation on the ranked split gives them, with random numbers seeded by the request."""

import random
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.card import Card
from evaluator.statistics.intervals import wilson
from scripts.support.records import NOW, Make, result_of
from submissions.config.paths import SAMPLES
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest, Failure, Progress, Stage, Status
from submissions.records.result import EvalResult
from submissions.texts.failure_codes import FailureCode

F1_LEAD = 8  # points by which the F1 of an invented result is above its EM


@cache
def buckets(benchmark: str) -> dict[str, list[str]]:
    """Return the buckets in the sample set of a benchmark, by axis."""
    items = BENCHMARKS[benchmark].load(SAMPLES / benchmark)
    axes = BENCHMARKS[benchmark].card.axes
    return {axis.name: sorted({item.buckets[axis.name] for item in items}) for axis in axes}


def evaluated(request: EvalRequest, em: float, days_ago: float = 0.0, **changes: Any) -> EvalResult:
    """Return a verified result on the ranked split with this EM in percent, and with other fields as in `changes`.

    F1 is F1_LEAD points higher, strict EM three points lower. All other metrics, also the headline, have the value of EM.
    """
    name = request.benchmark
    card = BENCHMARKS[name].card
    rng = random.Random(f"{request.key} {em}")
    metrics = {metric.name: em for metric in BENCHMARKS[name].metrics if metric.lowest == 0}
    scores = metrics | {"em_strict": max(0.0, em - 3)} | _headline_scores(card, em)
    breakdown: dict[str, Any] = {
        axis: {bucket: _bucket(card, em, card.n // len(names), rng) for bucket in names}
        for axis, names in buckets(name).items()
    }
    if card.histogram:
        answers = BENCHMARKS[name].histogram([])
        breakdown[card.histogram.name] = {answer: {"n": rng.randint(100, 300)} for answer in answers}
    fields: dict[str, Any] = {
        "config": {
            "model_name": request.model_id,
            "model_sha": request.revision,
            "base_model": request.base_model,
            "model_dtype": "bfloat16",
            "params": rng.choice([1, 2, 4, 8, 14, 32]) * 10**9,
            "license": "apache-2.0",
            "weights": "open",
            "engine": "chat",
            "batch_size": 8,
            "max_new_tokens": 1024,
        },
        "results": {name: scores},
        "headline": card.headline,
        "intervals": {metric: _interval(score, card.n) for metric, score in _headline_scores(card, em).items()},
        "standard_errors": {"em": 1.0},
        "dataset": {"id": f"hannun/{name}", "revision": "1", "split": card.split, "n": card.n},
        "breakdown": breakdown,
        "answers": {"ok": card.n - 2, "truncated": 2},
        "latency": {
            "protocol": "one at a time",
            "n": 100,
            "mean_ms": 900.0,
            "p50_ms": 850.0,
            "p95_ms": 1700.0,
            "hardware": "NVIDIA A100",
            "calibration_ms": 3.0,
        },
        "batch_invariance": {"n": 100, "answers_changed": 1, "scores_changed": 0},
        "environment": {"python": "3.11", "torch": "2.13.0", "transformers": "5.23.0", "sandbox": "bubblewrap"},
        "reproduce": f"python -m evaluator run --model {request.model_id} --benchmark {name} --out out",
        "date": (datetime.now(UTC) - timedelta(days=days_ago)).timestamp(),
    }
    return result_of(request).evolve(**(fields | changes))


def _headline_scores(card: Card, em: float) -> dict[str, float]:
    """Return EM, F1 and the metric that the benchmark ranks by, which has the value of EM unless it is F1."""
    return {card.headline: em, "em": em, "f1": min(100.0, em + F1_LEAD)}


def _bucket(card: Card, em: float, n: int, rng: random.Random) -> dict[str, Any]:
    """Return the scores of a bucket of `n` items, up to 12 points above or below those of the whole set."""
    own_em = round(min(100.0, max(0.0, em + rng.uniform(-12, 12))), 2)
    scores = _headline_scores(card, own_em)
    return {"n": n, "scores": {metric: round(score, 2) for metric, score in scores.items()}}


def _interval(score: float, n: int) -> tuple[float, float]:
    low, high = wilson(score / 100, n)
    return round(100 * low, 4), round(100 * high, 4)


def submit_in_every_status(queue: Queue, make_request: Make) -> dict[str, EvalRequest]:
    """Put a request in every status into the queue, which must have heartbeats, and return them by name.

    The models are o/done (finished), o/wrong (failed), o/stuck (quarantined), o/busy (running) and o/next (pending).
    """
    names = ("done", "wrong", "stuck", "busy", "next")
    made = {name: make_request(model_id=f"o/{name}", benchmark="ko-vqa") for name in names}
    for name in names[:-1]:
        queue.submit(made[name])
        running = queue.claim("w", NOW)
        assert running is not None
        if name == "done":
            queue.publish(running, evaluated(running, 55.5), NOW)
        elif name == "wrong":
            queue.fail(running, Failure(stage=Stage.LOAD, code=FailureCode.NO_CHAT_TEMPLATE), NOW)
        elif name == "stuck":
            failure = Failure(stage=Stage.LOAD, code=FailureCode.OUT_OF_MEMORY)
            while queue.fail(running, failure, NOW).status == Status.PENDING:
                running = queue.claim("w", NOW)
                assert running is not None
        else:
            later = datetime.now(UTC) + timedelta(hours=1)  # keeps the lease however long the tests take
            queue.heartbeat(running, later, Progress(stage=Stage.INFER, done=30, total=45))
    queue.submit(made["next"])
    return made
